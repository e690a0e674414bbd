/**
 * Streams of changes: `subscriptions/listen` (specification 2026-07-28: subscriptions).
 *
 * @module
 */
import type { JsonObject, RequestId } from "../../protocol/json_rpc.ts";
import { metaPrefix } from "../../protocol/modern.ts";
import type { Incoming, ServerChange, ServerParts } from "../seam.ts";
import { ChangeFilter } from "./filter.ts";

const subscriptionId = metaPrefix + "subscriptionId";

/** One open stream. */
interface Stream {
  readonly incoming: Incoming;
  readonly filter: ChangeFilter;
  end(gracefully: boolean): void;
}

/** All open streams of one server. They share one watcher, which is there only while somebody listens. */
export class Subscriptions {
  readonly #parts: ServerParts;
  readonly #streams = new Set<Stream>();
  /** Changes of this turn: a hundred new tools are told of once. */
  readonly #changes = new Map<string, ServerChange>();
  #unwatch: (() => void) | undefined;
  #closed: boolean | undefined;

  /** Makes none yet. */
  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  /**
   * Opens a stream; resolves when it has ended. It ends with the caller, with `close`, and with the proof of who the
   * caller is.
   *
   * @param taskIds Tasks that it tells of: the caller's own.
   * @returns The `_meta` of the result that ends it gracefully; undefined when nobody is there to read one.
   * @throws {InvalidParamsError} When what is wanted cannot be read.
   */
  listen(incoming: Incoming, taskIds: readonly string[] = []): Promise<JsonObject | undefined> {
    const { message: { id, params }, signal, auth } = incoming;
    const { methods, clock, limits, tasks } = this.#parts;
    const filter = ChangeFilter.read(params ?? {}, methods.capabilities(), limits.items);
    if (signal.aborted) return Promise.resolve(undefined);
    // What changed before is not told here.
    this.#flush();
    const notifications = filter.toWire();
    if (taskIds[0]) notifications.taskIds = [...taskIds];
    tell(incoming, "notifications/subscriptions/acknowledged", { notifications });
    const watched = methods.watched?.();
    for (const uri of filter.uris) watched?.add(uri);
    const unwatchTasks = taskIds[0]
      ? tasks?.modern.watch(taskIds, (task) => tell(incoming, "notifications/tasks", task))
      : undefined;
    return new Promise((resolve) => {
      const stopped = () => stream.end(false);
      const stream: Stream = {
        incoming,
        filter,
        end: (gracefully) => {
          signal.removeEventListener("abort", stopped);
          cancelTimer?.();
          unwatchTasks?.();
          watched?.clear();
          this.#drop(stream);
          resolve(gracefully ? tag(id) : undefined);
        },
      };
      const expire = () => stream.end(true);
      const cancelTimer = auth?.expiresAt === undefined
        ? undefined
        : clock.schedule(expire, Math.max(0, auth.expiresAt - clock.now()), { background: true });
      signal.addEventListener("abort", stopped, { once: true });
      this.#streams.add(stream);
      this.#unwatch ??= methods.watch((change) => this.#changed(change));
      if (this.#closed) stream.end(true);
      // By what was told already.
      if (signal.aborted) stopped();
    });
  }

  /** Ends all streams gracefully; what is opened later ends at once. */
  close(): void {
    this.#closed = true;
    this.#flush();
    for (const stream of this.#streams) stream.end(true);
  }

  #drop(stream: Stream): void {
    this.#streams.delete(stream);
    if (this.#streams.size) return;
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#changes.clear();
  }

  #changed(change: ServerChange): void {
    if (!this.#changes.size) queueMicrotask(() => this.#flush());
    this.#changes.set(change.type === "resource" ? `resource ${change.uri}` : change.type, change);
  }

  #flush(): void {
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    for (const stream of this.#streams) {
      try {
        for (const change of changes) if (stream.filter.covers(change)) tellChange(stream.incoming, change);
      } catch {
        // One that cannot be written to must not keep the others from hearing.
        stream.end(false);
      }
    }
  }
}

function tellChange(incoming: Incoming, change: ServerChange): void {
  if (change.type === "resource") tell(incoming, "notifications/resources/updated", { uri: change.uri });
  else tell(incoming, `notifications/${change.type}/list_changed`, {});
}

/** Everything on a stream names it (S-056). */
function tell(incoming: Incoming, method: string, params: JsonObject): void {
  incoming.notify({ jsonrpc: "2.0", method, params: { _meta: tag(incoming.message.id), ...params } });
}

function tag(id: RequestId): JsonObject {
  return { [subscriptionId]: id };
}
