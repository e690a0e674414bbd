/**
 * An HTTP endpoint over stand-ins for the eras, and a small client for it.
 *
 * @module
 */
import type { JsonObject, JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from "../../../src/protocol/json_rpc.ts";
import type { Limits } from "../../../src/protocol/limits.ts";
import type { Revision } from "../../../src/protocol/revisions.ts";
import type { Tool } from "../../../src/protocol/types.ts";
import type { LogRecord } from "../../../src/ports.ts";
import { createHandlerWith } from "../../../src/server/http/handler.ts";
import type { Handler } from "../../../src/server/http/handler.ts";
import { LegacyBinding } from "../../../src/server/http/legacy_binding.ts";
import type { HttpOptions, Serving } from "../../../src/server/http/options.ts";
import { createParts } from "../../../src/server/parts.ts";
import type { Answer, Incoming, LegacyOutlet, LegacyServing, Methods } from "../../../src/server/seam.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { heldRequest } from "../../support/held_request.ts";

export const url = "http://localhost:3000/mcp";
export const modernRevision = "2026-07-28";
const prefix = "io.modelcontextprotocol/";

/** What an era is asked to do with a request. */
export type Answering = (incoming: Incoming) => Answer | undefined | Promise<Answer | undefined>;

/** What a test may say about its endpoint. */
export interface WorldOptions extends HttpOptions {
  eras?: "both" | "modern" | "legacy";
  modern?: Answering;
  legacy?: Answering;
  revision?: Revision;
  tools?: Tool[];
  limits?: Partial<Limits>;
}

/** A legacy session of the stand-in. */
export class FakeSession implements LegacyServing {
  readonly revision: Revision;
  open = false;
  closed = false;
  readonly seen: JsonRpcMessage[] = [];
  readonly outlet: LegacyOutlet;
  readonly #answering: Answering;

  constructor(outlet: LegacyOutlet, answering: Answering, revision: Revision) {
    this.outlet = outlet;
    this.#answering = answering;
    this.revision = revision;
  }

  async answer(incoming: Incoming): Promise<Answer | undefined> {
    this.seen.push(incoming.message);
    if (incoming.message.method !== "initialize") return await this.#answering(incoming);
    if (incoming.message.params?.refuse) {
      return {
        response: { jsonrpc: "2.0", id: incoming.message.id, error: { code: -32602, message: "No" } },
        status: 200,
      };
    }
    this.open = true;
    return result(incoming, { protocolVersion: this.revision });
  }

  notified(notification: JsonRpcMessage): void {
    this.seen.push(notification);
  }

  answered(response: JsonRpcResponse): boolean {
    this.seen.push(response);
    return true;
  }

  close(): void {
    this.closed = true;
  }
}

/** An endpoint under test. */
export interface World {
  handler: Handler;
  clock: VirtualClock;
  sessions: FakeSession[];
  seen: Incoming[];
  logs: LogRecord[];
  modernClosed: () => boolean;
}

/** An answer that holds a result. */
export function result({ message }: Incoming, value: JsonObject = {}): Answer {
  return { response: { jsonrpc: "2.0", id: message.id, result: value }, status: 200 };
}

/** Opens an endpoint; each era answers `{}` unless the test says otherwise. */
export function world(options: WorldOptions = {}): World {
  const { eras = "both", modern = (incoming) => result(incoming), legacy = (incoming) => result(incoming) } = options;
  const clock = new VirtualClock();
  const logs: LogRecord[] = [];
  const seen: Incoming[] = [];
  const sessions: FakeSession[] = [];
  const methods = { tool: (name: string) => options.tools?.find((tool) => tool.name === name) } as unknown as Methods;
  const state = { seal: () => Promise.resolve(""), open: () => Promise.resolve(undefined) };
  const parts = createParts(methods, {
    clock,
    limits: options.limits,
    logger: (record) => void logs.push(record),
    state: () => state,
  });
  let isClosed = false;
  const serving: Serving = {
    parts,
    modern: eras === "legacy" ? undefined : {
      answer: async (incoming) => {
        seen.push(incoming);
        return await modern(incoming);
      },
      close: () => void (isClosed = true),
    },
    legacy: eras === "modern" ? undefined : (outlet) => {
      const session = new FakeSession(outlet, legacy, options.revision ?? "2025-11-25");
      sessions.push(session);
      return session;
    },
  };
  return {
    handler: createHandlerWith(serving, options, LegacyBinding),
    clock,
    sessions,
    seen,
    logs,
    modernClosed: () => isClosed,
  };
}

/** The envelope of a modern request. */
export function modernMeta(revision: string = modernRevision): JsonObject {
  return { [`${prefix}protocolVersion`]: revision, [`${prefix}clientCapabilities`]: {} };
}

/** A POST of JSON with sound headers; `undefined` takes a header away. */
export function post(body: unknown, headers: Record<string, string | undefined> = {}, init: RequestInit = {}): Request {
  return send("POST", { "content-type": "application/json", ...headers }, {
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
}

/** Any request. */
export function send(
  method: string,
  headers: Record<string, string | undefined> = {},
  init: RequestInit = {},
  target: string = url,
): Request {
  const all = { accept: "application/json, text/event-stream", ...headers };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return heldRequest(target, { method, headers: given, ...init });
}

/** A sound modern request. */
export function modernPost(
  method: string,
  params: JsonObject = {},
  headers: Record<string, string | undefined> = {},
  init: RequestInit = {},
): Request {
  const name = params.name ?? params.uri ?? params.taskId;
  const body = { jsonrpc: "2.0", id: 1, method, params: { _meta: modernMeta(), ...params } };
  return post(body, {
    "mcp-protocol-version": modernRevision,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
    ...headers,
  }, init);
}

/** A legacy request. */
export function rpc(method: string, id: string | number = 1, params: JsonObject = {}): JsonRpcRequest {
  return { jsonrpc: "2.0", id, method, params };
}

/** Begins a legacy session, and gives the headers that later requests have to carry. */
export async function initialize(
  { handler }: World,
  headers: Record<string, string> = {},
): Promise<Record<string, string>> {
  const response = await handler(post(rpc("initialize", "init", { protocolVersion: "2025-11-25" }), headers));
  await response.body?.cancel();
  return { ...headers, "mcp-session-id": response.headers.get("mcp-session-id") ?? "none" };
}

/** The error of a reply: its status and its code. */
export async function refusal(response: Response): Promise<[number, number | undefined]> {
  const body = await response.json() as JsonRpcResponse;
  return [response.status, body.error?.code];
}

/** One event of a stream. */
export interface SeenEvent {
  id?: string;
  data?: string;
  retry?: string;
  comment?: string;
}

/** Reads events as they come. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    this.#reader = response.body!.getReader();
  }

  /** The next event, or undefined at the end. */
  async next(): Promise<SeenEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const lines = this.#text.slice(0, end).split("\n");
        this.#text = this.#text.slice(end + 2);
        return Object.fromEntries(lines.map((line) => {
          const [name = "", ...rest] = line.split(": ");
          return [name === "" ? "comment" : name, rest.join(": ")];
        }));
      }
      const part = await this.#reader.read();
      if (part.done) return undefined;
      this.#text += this.#decoder.decode(part.value, { stream: true });
    }
  }

  /** The next message: events without data are passed over. */
  async message(): Promise<JsonRpcMessage | undefined> {
    for (;;) {
      const event = await this.next();
      if (!event) return undefined;
      if (event.data) return JSON.parse(event.data) as JsonRpcMessage;
    }
  }

  /** All that is left. */
  async rest(): Promise<SeenEvent[]> {
    const events: SeenEvent[] = [];
    for (let event; (event = await this.next());) events.push(event);
    return events;
  }

  /** Breaks off. */
  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

/** A promise that is settled from outside. */
export function gate<Value = void>(): { promise: Promise<Value>; open: (value: Value) => void } {
  let open: (value: Value) => void = () => {};
  const promise = new Promise<Value>((resolve) => void (open = resolve));
  return { promise, open };
}
