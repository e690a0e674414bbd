/**
 * A legacy session whose lasting state is kept in a store.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import { Turns } from "../../auth/stores/turns.ts";
import type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from "../../protocol/json_rpc.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { AuthInfo } from "../definitions.ts";
import type { SessionCaller } from "../http/legacy_sessions.ts";
import type { Answer, Incoming, LegacyServing } from "../seam.ts";
import { inTime } from "../common/store_steps.ts";
import type { Lasting, SessionRecord, SessionRecords } from "./records.ts";

/** What a kept session works with. */
export interface KeptSessionOptions {
  readonly id: string;
  readonly principal: string | null;
  readonly serving: LegacyServing;
  readonly records: SessionRecords;
  readonly clock: Clock;
  /** How long what was read may be relied on, in milliseconds. */
  readonly fresh: number;
  /** How old the time of use in the store may become, in milliseconds. */
  readonly touchPause: number;
  /** How long one waits for what another request of it has begun, in milliseconds: a Worker may have ended that. */
  readonly patience: number;
  /** The most that may be kept, in characters. */
  readonly maxCharacters: number;
  /** The store failed. */
  failed(message: string, error: unknown): void;
  closed(): void;
  /** Whether a stream is open or a call at work. */
  isUsed(): boolean;
}

/** A change of what lasts. */
interface Change {
  /** What it is of: a later one of the same takes its place. */
  readonly of: string;
  apply(lasting: Lasting): Lasting;
}

/** How soon what could not be written is written again, in milliseconds. */
const retryPause = 1_000;
/** How many changes may wait for that. */
const mostWaiting = 1_000;
const nothing: Lasting = { initialize: {}, resources: [] };
const initialized: JsonRpcNotification = { jsonrpc: "2.0", method: "notifications/initialized" };

/** Serves a session, and writes down what lasts of it before the client has its answer. */
export class KeptSession implements LegacyServing {
  /** The handshake that is played again, while it is; and for good when it could not be. */
  waking: Promise<boolean> | undefined;
  readonly #options: KeptSessionOptions;
  #lasting: Lasting | undefined;
  /** Whether what serves it was told that the client is ready. */
  #isReady = false;
  /** Whether it is in the store, as far as is known. */
  #isKept = false;
  #readAt = -Infinity;
  #writtenAt = -Infinity;
  /** Writes happen one after another, and what is read comes after them. */
  readonly #turns: Turns;
  /** What the store has not taken yet. */
  readonly #unwritten = new Map<string, Change>();
  #over = false;

  constructor(options: KeptSessionOptions) {
    this.#options = options;
    this.#turns = new Turns(options.clock, options.patience);
  }

  get revision(): Revision {
    return this.#options.serving.revision;
  }

  get open(): boolean {
    return this.#options.serving.open;
  }

  async answer(incoming: Incoming): Promise<Answer | undefined> {
    const { serving, maxCharacters } = this.#options;
    const { message } = incoming;
    if (message.method !== "initialize" && message.method !== "ping") this.ready();
    const change = changeOf(message);
    if (!change) return await serving.answer(incoming);
    if (JSON.stringify(change.apply(this.#lasting ?? nothing)).length > maxCharacters) {
      const error = { code: -32600, message: `No more than ${maxCharacters} characters can be kept of a session` };
      return { response: { jsonrpc: "2.0", id: message.id, error }, status: 200 };
    }
    const answer = await serving.answer(incoming);
    if (answer && "result" in answer.response) await this.#keep(change);
    return answer;
  }

  notified(notification: JsonRpcNotification): void {
    if (notification.method === initialized.method) this.ready();
    else this.#options.serving.notified(notification);
  }

  /** Its client is ready, whoever was told so: one that comes with more than the handshake has said it, perhaps to another process. */
  ready(): void {
    if (this.#isReady || !this.open) return;
    this.#isReady = true;
    this.#options.serving.notified(initialized);
  }

  answered(response: JsonRpcResponse): boolean {
    return this.#options.serving.answered(response);
  }

  isOf(auth: AuthInfo | undefined): boolean {
    return this.#options.serving.isOf?.(auth) ?? true;
  }

  close(): void {
    this.#options.closed();
    this.#options.serving.close();
  }

  /** Its client has ended it: resolves when nothing more will be written. */
  async leave(): Promise<void> {
    this.#over = true;
    await this.#alone(() => Promise.resolve());
  }

  /** Plays a handshake again, and what came after it. False when it cannot be; throws when that may pass. */
  wake({ lasting, at }: SessionRecord, caller: SessionCaller): Promise<boolean> {
    this.#isKept = true;
    this.#readAt = this.#options.clock.monotonic();
    this.#writtenAt = this.#readAt - Math.max(0, this.#options.clock.now() - at);
    return this.waking = this.#play(lasting, caller).then((isDone) => {
      if (isDone) this.waking = undefined;
      return isDone;
    });
  }

  /**
   * Takes over what another process has changed. False when the session was ended there.
   *
   * @throws {unknown} When it could not be woken, or whoever wakes it is not done in time.
   */
  async refresh(): Promise<boolean> {
    const { id, clock, fresh, failed, patience } = this.#options;
    const { waking } = this;
    if (waking && !await inTime(clock, patience, () => waking)) return false;
    if (this.#isKept && clock.monotonic() - this.#readAt >= fresh) {
      try {
        const record = await this.#alone(async () => (await this.#options.records.read(id))?.record);
        if (!record) return false;
        this.#readAt = clock.monotonic();
        await this.#follow(this.#withUnwritten(record.lasting));
      } catch (error) {
        // It is served from memory meanwhile, and not each request waits for the store.
        this.#readAt = clock.monotonic();
        failed("A session could not be read from its store", error);
      }
    }
    this.touch();
    return true;
  }

  /** Tells the store of one that is used without a request. */
  touchUsed(): void {
    if (this.#options.isUsed()) this.touch();
  }

  /** It was used: the store hears of it from time to time, and of what it has not taken yet. */
  touch(): void {
    const pause = this.#unwritten.size ? retryPause : this.#options.touchPause;
    if (this.#lasting && this.#options.clock.monotonic() - this.#writtenAt >= pause) void this.#flush();
  }

  async #play(lasting: Lasting, caller: SessionCaller): Promise<boolean> {
    const { initialize, resources, level } = lasting;
    const answer = await this.#options.serving.answer({ ...incomingOf("initialize", initialize), ...caller });
    // It may be there the next time.
    if (answer?.status === 500) throw new Error("What serves the session could not be opened");
    if (!answer || !("result" in answer.response)) return false;
    this.ready();
    this.#lasting = { initialize, resources: [] };
    await this.#follow({ initialize, resources, ...(level !== undefined && { level }) });
    return true;
  }

  async #follow(next: Lasting): Promise<void> {
    const { level, resources = [] } = this.#lasting ?? {};
    const { serving } = this.#options;
    this.#lasting = next;
    if (next.level !== undefined && next.level !== level) {
      await serving.answer(incomingOf("logging/setLevel", { level: next.level }));
    }
    for (const uri of next.resources) {
      if (!resources.includes(uri)) await serving.answer(incomingOf("resources/subscribe", { uri }));
    }
    for (const uri of resources) {
      if (!next.resources.includes(uri)) await serving.answer(incomingOf("resources/unsubscribe", { uri }));
    }
  }

  #keep(change: Change): Promise<void> {
    this.#unwritten.set(change.of, change);
    const [oldest = ""] = this.#unwritten.keys();
    if (this.#unwritten.size > mostWaiting) this.#unwritten.delete(oldest);
    this.#lasting = change.apply(this.#lasting ?? nothing);
    return this.#flush();
  }

  /** Writes down what is not yet. A store that fails is told to the operator, not to the client. */
  #flush(): Promise<void> {
    this.#writtenAt = this.#options.clock.monotonic();
    return this.#alone(() => this.#write()).catch((error: unknown) => {
      this.#options.failed("A session could not be written to its store", error);
    });
  }

  #alone<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#turns.alone("", work);
  }

  #withUnwritten(lasting: Lasting): Lasting {
    return [...this.#unwritten.values()].reduce((before, change) => change.apply(before), lasting);
  }

  async #write(): Promise<void> {
    const { id, principal, records, clock } = this.#options;
    while (!this.#over) {
      // What another process has written meanwhile stays; what it has ended stays ended.
      const kept = this.#isKept ? await records.read(id) : undefined;
      if (this.#isKept && !kept) return;
      const changes = [...this.#unwritten.values()];
      const lasting = kept ? this.#withUnwritten(kept.record.lasting) : this.#lasting!;
      const record = { principal, at: clock.now(), lasting };
      const isWritten = await records.write(id, record, () => this.#over, kept?.text);
      this.#isKept = true;
      if (!isWritten) continue;
      for (const change of changes) if (this.#unwritten.get(change.of) === change) this.#unwritten.delete(change.of);
      return;
    }
  }
}

/** What a message changes of what lasts; undefined: nothing. */
function changeOf({ method, params = {} }: JsonRpcRequest): Change | undefined {
  switch (method) {
    case "initialize": {
      const { protocolVersion, capabilities, clientInfo } = params;
      const said = JSON.parse(JSON.stringify({ protocolVersion, capabilities, clientInfo })) as JsonObject;
      return { of: "handshake", apply: (lasting) => ({ ...lasting, initialize: said }) };
    }
    case "logging/setLevel":
      return { of: "level", apply: (lasting) => ({ ...lasting, level: String(params.level) }) };
    case "resources/subscribe":
      return watching(String(params.uri), (others, uri) => [...others, uri]);
    case "resources/unsubscribe":
      return watching(String(params.uri), (others) => others);
    default:
      return undefined;
  }
}

function watching(uri: string, change: (others: string[], uri: string) => string[]): Change {
  return {
    of: `resource ${uri}`,
    apply: (lasting) => ({
      ...lasting,
      resources: change(lasting.resources.filter((other) => other !== uri), uri),
    }),
  };
}

/** A request that nobody waits for. */
function incomingOf(method: string, params: JsonObject): Incoming {
  return {
    message: { jsonrpc: "2.0", id: "kept", method, params },
    signal: new AbortController().signal,
    auth: undefined,
    notify: () => {},
  };
}
