/**
 * Notices of changes to a legacy client (S-060): of lists where that was declared, of resources where it asked for it.
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcNotification } from "../../protocol/json_rpc.ts";
import type { ServerCapabilities } from "../../protocol/types.ts";
import type { Methods, ServerChange } from "../seam.ts";
import { longestUri } from "./bounds.ts";

/** What a session tells of changes. Several of one kind at once are told once. */
export class ChangeNotices {
  readonly #send: (notice: JsonRpcNotification) => void;
  readonly #declared: ServerCapabilities;
  readonly #most: number;
  readonly #watched: Set<string>;
  readonly #unwatch: () => void;
  /** What is to be told, by what it is of. */
  readonly #due = new Map<string, JsonRpcNotification>();
  #ready: boolean | undefined;

  /**
   * @param declared What was declared to the client.
   * @param most How many resources one session may watch.
   */
  constructor(
    methods: Methods,
    declared: ServerCapabilities,
    most: number,
    send: (notice: JsonRpcNotification) => void,
  ) {
    this.#declared = declared;
    this.#most = most;
    this.#send = send;
    this.#watched = methods.watched?.() ?? new Set();
    this.#unwatch = methods.watch((change) => this.#changed(change));
  }

  /** The client is ready: what changed since the answer to `initialize` is told now (S-016). */
  open(): void {
    this.#ready = true;
    this.#flush();
  }

  /**
   * The client wants to hear of a resource.
   *
   * @throws {InvalidParamsError} When `uri` is missing, or too many are watched.
   */
  watch(params: JsonObject): void {
    const uri = uriOf(params);
    if (this.#watched.size >= this.#most && !this.#watched.has(uri)) {
      throw new InvalidParamsError(`No more than ${this.#most} resources can be watched`, { rpcCode: -32602 });
    }
    this.#watched.add(uri);
  }

  /**
   * The client does not want to hear of it any more.
   *
   * @throws {InvalidParamsError} When `uri` is missing.
   */
  unwatch(params: JsonObject): void {
    const uri = uriOf(params);
    this.#watched.delete(uri);
    this.#due.delete(`resource ${uri}`);
  }

  /** Nothing is told any more. */
  close(): void {
    this.#unwatch();
    this.#watched.clear();
    this.#due.clear();
  }

  #changed(change: ServerChange): void {
    if (change.type === "resource") {
      const { uri } = change;
      if (this.#watched.has(uri)) {
        this.#plan(`resource ${uri}`, { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
      }
    } else if (this.#declared[change.type]) {
      this.#plan(change.type, { jsonrpc: "2.0", method: `notifications/${change.type}/list_changed` });
    }
  }

  #plan(key: string, notice: JsonRpcNotification): void {
    const first = !this.#due.size;
    this.#due.set(key, notice);
    if (first && this.#ready) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const due = [...this.#due.values()];
    this.#due.clear();
    for (const notice of due) this.#send(notice);
  }
}

function uriOf({ uri }: JsonObject): string {
  if (typeof uri === "string" && uri !== "" && uri.length <= longestUri) return uri;
  throw new InvalidParamsError(`"uri" has to be text of at most ${longestUri} characters`, { rpcCode: -32602 });
}
