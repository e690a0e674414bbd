/**
 * `subscriptions/listen` of 2026-07-28.
 *
 * @module
 */
import {
  deferred,
  type JsonObject,
  type JsonRpcNotification,
  notificationOf,
  orAborted,
  type RequestId,
  type ServerChange,
} from "./wire.ts";

/** Thrown when a subscription is cut off without a result. */
export class Dropped extends Error {}

/** All who listen. */
export interface Subscriptions {
  /** How many listen. */
  readonly size: number;
  /** Acknowledges, and resolves with the result when it is ended gracefully. */
  open(
    id: RequestId,
    filter: JsonObject,
    io: { signal: AbortSignal; notify(notification: JsonRpcNotification): void },
  ): Promise<JsonObject>;
  /** Tells all who asked for it; `task` is the task's full state. */
  emit(change: ServerChange, task?: JsonObject): void;
  /** Ends all gracefully: each gets its result. */
  end(): void;
  /** Cuts all off. */
  drop(): void;
}

interface Listener {
  readonly filter: JsonObject;
  tell(method: string, params: JsonObject): void;
  finish(error?: Dropped): void;
}

const key = "io.modelcontextprotocol/subscriptionId";

/** Makes an empty set of subscriptions. */
export function createSubscriptions(): Subscriptions {
  const listeners = new Set<Listener>();
  return {
    get size() {
      return listeners.size;
    },
    async open(id, filter, io) {
      const done = deferred<void>();
      const tell = (method: string, params: JsonObject) =>
        io.notify(notificationOf(method, { ...params, _meta: { [key]: id } }));
      const honoured = honour(filter);
      const listener: Listener = {
        filter: honoured,
        tell,
        finish: (error) => error === undefined ? done.resolve() : done.reject(error),
      };
      tell("notifications/subscriptions/acknowledged", { notifications: honoured });
      listeners.add(listener);
      try {
        await orAborted(done.promise, io.signal);
      } finally {
        listeners.delete(listener);
      }
      return { _meta: { [key]: id } };
    },
    emit(change, task = {}) {
      for (const listener of listeners) {
        const told = notificationFor(change, listener.filter, task);
        if (told !== undefined) listener.tell(told[0], told[1]);
      }
    },
    end() {
      for (const listener of listeners) listener.finish();
    },
    drop() {
      for (const listener of listeners) listener.finish(new Dropped("the subscription was cut off"));
    },
  };
}

function honour(filter: JsonObject): JsonObject {
  const honoured: JsonObject = {};
  for (const name of ["toolsListChanged", "promptsListChanged", "resourcesListChanged"]) {
    if (filter[name] === true) honoured[name] = true;
  }
  for (const name of ["resourceSubscriptions", "taskIds"]) {
    const wanted = filter[name];
    if (Array.isArray(wanted)) honoured[name] = wanted.filter((item) => typeof item === "string");
  }
  return honoured;
}

function notificationFor(change: ServerChange, filter: JsonObject, task: JsonObject): [string, JsonObject] | undefined {
  switch (change.type) {
    case "task":
      return includes(filter.taskIds, change.taskId) ? ["notifications/tasks", task] : undefined;
    case "resource":
      return includes(filter.resourceSubscriptions, change.uri)
        ? ["notifications/resources/updated", { uri: change.uri }]
        : undefined;
    default:
      return filter[`${change.type}ListChanged`] === true
        ? [`notifications/${change.type}/list_changed`, {}]
        : undefined;
  }
}

function includes(list: unknown, value: string): boolean {
  return Array.isArray(list) && list.includes(value);
}
