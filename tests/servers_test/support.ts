/**
 * Plain calls of the fake peers, without the library under test.
 *
 * @module
 */
import { memoryFetch } from "../servers/memory_fetch.ts";
import { isJsonObject, type JsonObject, objectAt } from "../servers/core/wire.ts";

/** Whatever answers a Request. */
export interface Target {
  fetch(request: Request): Promise<Response>;
}

/** An event as it was read. */
export interface ReadEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly retry: string | undefined;
  readonly data: string | undefined;
}

/** What a request brought back. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** All messages, in order: one for a JSON body, all events with data for a stream. */
  readonly messages: JsonObject[];
  readonly events: ReadEvent[];
  readonly text: string;
}

const url = "http://fake.test/mcp";

/** The `_meta` of a modern request. */
export function modernMeta(capabilities: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/clientInfo": { name: "plain", version: "1" },
    ...more,
  };
}

/** A correct modern request; what is given in `headers` replaces, or with null removes, a header. */
export function modernRequest(
  method: string,
  params: JsonObject = {},
  options: { id?: number | string; meta?: JsonObject; headers?: Record<string, string | null>; signal?: AbortSignal } =
    {},
): Request {
  const _meta = options.meta ?? modernMeta();
  const headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
  });
  const name = params.name ?? params.uri ?? params.taskId;
  if (typeof name === "string" && method !== "server/discover") headers.set("mcp-name", name);
  for (const [key, value] of Object.entries(options.headers ?? {})) {
    if (value === null) headers.delete(key);
    else headers.set(key, value);
  }
  const body = JSON.stringify({ jsonrpc: "2.0", id: options.id ?? 1, method, params: { ...params, _meta } });
  const signal = options.signal;
  return new Request(url, { method: "POST", headers, body, ...(signal === undefined ? {} : { signal }) });
}

/** Sends a correct modern request and reads all that comes back. */
export async function callModern(
  server: Target,
  method: string,
  params: JsonObject = {},
  options: Parameters<typeof modernRequest>[2] = {},
): Promise<Reply> {
  return await readReply(await server.fetch(modernRequest(method, params, options)));
}

/** Posts any JSON to a legacy server. */
export function postLegacy(
  server: Target,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return memoryFetch(server)(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Opens the GET stream of a legacy server. */
export function getLegacy(server: Target, headers: Record<string, string> = {}): Promise<Response> {
  return memoryFetch(server)(url, { method: "GET", headers: { accept: "text/event-stream", ...headers } });
}

/** Makes a session; gives the headers that later requests carry. */
export async function handshake(
  server: Target,
  options: { revision?: string; capabilities?: JsonObject } = {},
): Promise<{ headers: Record<string, string>; result: JsonObject }> {
  const params = {
    protocolVersion: options.revision ?? "2025-11-25",
    capabilities: options.capabilities ?? {},
    clientInfo: { name: "plain", version: "1" },
  };
  const response = await postLegacy(server, { jsonrpc: "2.0", id: "init", method: "initialize", params });
  const result = objectAt((await readReply(response)).messages[0] ?? {}, "result");
  const headers: Record<string, string> = { "mcp-protocol-version": String(result.protocolVersion) };
  const id = response.headers.get("mcp-session-id");
  if (id !== null) headers["mcp-session-id"] = id;
  await postLegacy(server, { jsonrpc: "2.0", method: "notifications/initialized" }, headers);
  return { headers, result };
}

/** Reads a reply to its end. */
export async function readReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const events = (response.headers.get("content-type") ?? "").includes("event-stream") ? readEvents(text) : [];
  const texts = events.length > 0 ? events.map((event) => event.data ?? "") : [text];
  const messages = texts.flatMap((part) => {
    try {
      const value: unknown = JSON.parse(part);
      return Array.isArray(value) ? value.filter(isJsonObject) : isJsonObject(value) ? [value] : [];
    } catch {
      return [];
    }
  });
  return { status: response.status, headers: response.headers, messages, events, text };
}

/** Reads whole events out of a text. */
export function readEvents(text: string): ReadEvent[] {
  return text.split("\n\n").filter((block) => block !== "").map((block) => {
    const field = (name: string) =>
      block.split("\n").filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
    const data = field("data");
    return {
      id: field("id")[0],
      event: field("event")[0],
      retry: field("retry")[0],
      data: data.length > 0 ? data.join("\n") : undefined,
    };
  });
}

/** Reads a stream one event at a time. */
export interface EventReader {
  next(): Promise<ReadEvent | undefined>;
  /** The next event that carries a message. */
  message(): Promise<JsonObject>;
  cancel(): Promise<void>;
}

/** Makes a reader of a reply's events. */
export function eventReader(response: Response): EventReader {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const ready: ReadEvent[] = [];
  let rest = "";
  const next = async (): Promise<ReadEvent | undefined> => {
    while (ready.length === 0) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) return undefined;
      rest += decoder.decode(chunk.value, { stream: true });
      const end = rest.lastIndexOf("\n\n");
      if (end < 0) continue;
      ready.push(...readEvents(rest.slice(0, end + 2)));
      rest = rest.slice(end + 2);
    }
    return ready.shift();
  };
  return {
    next,
    async message() {
      for (;;) {
        const event = await next();
        if (event === undefined) throw new Error("the stream ended");
        if (event.data === undefined || event.data === "") continue;
        const value: unknown = JSON.parse(event.data);
        if (isJsonObject(value)) return value;
      }
    },
    async cancel() {
      await reader?.cancel();
    },
  };
}

/** The error code of the only message. */
export function codeOf(reply: Reply): unknown {
  return objectAt(reply.messages[0] ?? {}, "error").code;
}

/** The result of the last message. */
export function resultOf(reply: Reply): JsonObject {
  return objectAt(reply.messages.at(-1) ?? {}, "result");
}

/** The text of the first content of a result. */
export function textOf(result: JsonObject): unknown {
  const content = result.content;
  const first = Array.isArray(content) ? content[0] : undefined;
  return isJsonObject(first) ? first.text : undefined;
}

/** Waits until `condition` holds, letting other work run; fails after so many turns, and not before 20 seconds are over. */
export async function until(condition: () => boolean, turns: number = 1_000): Promise<void> {
  const end = performance.now() + 20_000;
  for (let turn = 0; turn < turns || performance.now() < end; turn++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  throw new Error("it did not happen");
}
