/**
 * A server of the handshake revisions over Streamable HTTP (2025-03-26 to 2025-11-25): sessions, the GET stream, resumption.
 *
 * @module
 */
import { type Core, createCore } from "./core/core.ts";
import type { LedgerView } from "./core/ledger.ts";
import { createLegacySession, type LegacySession, type LegacySessionOptions } from "./core/legacy_session.ts";
import { createEventStream, type EventStream, parseEventId, type StreamOptions } from "./core/legacy_streams.ts";
import { jsonResponse } from "./core/sse.ts";
import {
  errorOf,
  isJsonObject,
  isRequest,
  type JsonObject,
  type JsonRpcResponse,
  RpcFailure,
  type ServerChange,
} from "./core/wire.ts";

/** How a legacy server answers what comes without a session and is no `initialize`: `server/discover` above all. */
export type ProbeAnswer = "bad-request" | "not-found" | "method-not-allowed" | "rpc-error" | "html" | "empty";

/** What a legacy server over HTTP lets one choose. */
export interface LegacyOptions extends LegacySessionOptions {
  /** Hands out session ids (true). Without, there is one session for all. */
  sessions?: boolean;
  /** How requests are answered: `json` sends the rest over the GET stream, `auto` streams when there is more (`sse`). */
  reply?: "sse" | "json" | "auto";
  /** Offers the GET stream (true); else 405. */
  getStream?: boolean;
  /** Lets a session be ended by DELETE (true); else 405. */
  deletable?: boolean;
  /** Gives ids to events (true). */
  resumable?: boolean;
  /** Begins each stream with an id and no data (true from 2025-11-25 on). */
  priming?: boolean;
  /** The `retry` of that event, in milliseconds (1). */
  retry?: number;
  /** How it answers `server/discover` before `initialize` (`bad-request`). */
  probe?: ProbeAnswer;
  /** Sends the answers to a batch in one array (false; 2025-03-26). */
  batchReplies?: boolean;
  /** A token that every request has to carry as `Authorization: Bearer` (none). */
  token?: string;
}

/** A legacy server, and what a test may see of it and do to it. */
export interface LegacyServer extends LedgerView {
  fetch(request: Request): Promise<Response>;
  /** The ids of the sessions that live. */
  sessionIds(): string[];
  /** The newest session that lives. */
  session(): LegacySession | undefined;
  /** Forgets all sessions: what comes with their ids gets 404. */
  forgetSessions(): void;
  /** Ends every open stream of every session, cleanly or by an error; what is to come waits for resumption. */
  dropStreams(how?: "end" | "break"): void;
  /** How many GET streams are open. */
  getStreams(): number;
  /** Tells all sessions, on their GET streams. */
  emit(change: ServerChange): void;
  release(): number;
}

interface HttpSession {
  readonly id: string;
  readonly session: LegacySession;
  readonly streams: Map<string, EventStream>;
  readonly general: EventStream;
  nextStream: number;
}

interface Scope {
  readonly core: Core;
  readonly options: LegacyOptions;
  readonly sessions: Map<string, HttpSession>;
  readonly batches: Map<JsonObject, JsonObject[]>;
}

/** Makes a legacy server. */
export function createLegacyServer(options: LegacyOptions = {}): LegacyServer {
  const core = createCore(options);
  const { ledger } = core;
  const scope: Scope = { core, options, sessions: new Map(), batches: new Map() };
  const all = () => [...scope.sessions.values()];
  return {
    ...ledger.view(),
    sessionIds: () => [...scope.sessions.keys()],
    session: () => all().at(-1)?.session,
    getStreams: () => all().filter((session) => session.general.attached).length,
    emit: (change) => all().forEach(({ session }) => session.emit(change)),
    release: () => core.release(),
    forgetSessions() {
      for (const session of all()) end(session, scope);
    },
    dropStreams(how = "end") {
      for (const stream of all().flatMap((session) => [session.general, ...session.streams.values()])) {
        if (how === "end") stream.detach();
        else stream.breakOff(new TypeError("connection reset"));
      }
    },
    async fetch(request) {
      const text = request.method === "POST" ? await request.text() : "";
      const body = parse(text);
      ledger.http(request, isJsonObject(body) ? body : undefined);
      try {
        if (options.token !== undefined && request.headers.get("authorization") !== `Bearer ${options.token}`) {
          return new Response("", { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } });
        }
        if (request.method === "POST") return await post(request, body, scope);
        if (request.method === "GET") return get(request, scope);
        if (request.method === "DELETE") return remove(request, scope);
        return new Response("", { status: 405, headers: { allow: "GET, POST, DELETE" } });
      } catch (error) {
        return jsonResponse(errorOf(undefined, error), error instanceof RpcFailure ? error.status : 500);
      }
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function end(session: HttpSession, scope: Scope): void {
  scope.sessions.delete(session.id);
  session.session.close();
  session.general.finish();
  for (const stream of session.streams.values()) stream.finish();
}

function open(scope: Scope): HttpSession {
  const { options } = scope;
  const streamOptions = streamOptionsOf(options);
  const general = createEventStream("s0", streamOptions);
  const id = options.sessions === false ? "" : crypto.randomUUID();
  const push = (message: unknown) => general.push(JSON.stringify(message));
  const session = createLegacySession(scope.core, push, options);
  return { id, session, streams: new Map(), general, nextStream: 1 };
}

function streamOptionsOf(options: LegacyOptions): StreamOptions {
  const resumable = options.resumable ?? true;
  const priming = options.priming ?? (options.revision ?? "2025-11-25") >= "2025-11-25";
  return { resumable, priming: priming && resumable, retry: options.retry ?? 1 };
}

/** Finds the session of a request, or says with a failure why there is none. */
function sessionOf(request: Request, scope: Scope): HttpSession {
  const id = scope.options.sessions === false ? "" : request.headers.get("mcp-session-id");
  if (id === null) throw new RpcFailure(-32000, "Bad Request: Mcp-Session-Id is required", { status: 400 });
  const session = scope.sessions.get(id);
  if (session === undefined && id === "") throw new RpcFailure(-32000, "Server not initialized", { status: 400 });
  if (session === undefined) throw new RpcFailure(-32001, "Session not found", { status: 404 });
  const version = request.headers.get("mcp-protocol-version");
  const agreed = session.session.revision ?? "";
  if (version !== null && version !== agreed) {
    throw new RpcFailure(-32000, `Bad Request: unsupported protocol version ${version}`, { status: 400 });
  }
  if (version === null && agreed >= "2025-06-18") {
    scope.core.ledger.violation(`${request.method} without MCP-Protocol-Version`);
  }
  return session;
}

async function post(request: Request, body: unknown, scope: Scope): Promise<Response> {
  const accepted = request.headers.get("accept") ?? "";
  if (!accepted.includes("application/json") || !accepted.includes("text/event-stream")) {
    throw new RpcFailure(-32000, "Not Acceptable: both media types have to be listed", { status: 406 });
  }
  const type = request.headers.get("content-type") ?? "";
  if (!type.includes("application/json")) throw new RpcFailure(-32000, "Unsupported Media Type", { status: 415 });
  if (body === undefined) throw new RpcFailure(-32700, "Parse error", { status: 400 });
  if (isJsonObject(body) && body.method === "initialize") return await initialize(request, body, scope);
  const probe = isJsonObject(body) && body.method === "server/discover" ? probed(body, scope.options) : undefined;
  if (probe !== undefined) return probe;
  const session = sessionOf(request, scope);
  if (Array.isArray(body)) return batch(body, session, scope);
  if (!isJsonObject(body)) throw new RpcFailure(-32600, "Invalid Request", { status: 400 });
  if (!isRequest(body)) {
    if (body.id !== undefined && typeof body.method === "string") {
      throw new RpcFailure(-32600, "Bad id", { status: 400 });
    }
    await session.session.receive(body, { send: () => {}, closeStream: () => {} });
    return new Response(null, { status: 202 });
  }
  return await reply([body], session, { scope, array: false });
}

async function initialize(request: Request, body: JsonObject, scope: Scope): Promise<Response> {
  const given = request.headers.get("mcp-session-id");
  if (given !== null) scope.core.ledger.violation("initialize carries a session id");
  const session = open(scope);
  const response = await session.session.receive(body, { send: () => {}, closeStream: () => {} });
  if (response?.error !== undefined) return jsonResponse(response, 400);
  if (scope.options.sessions === false) { for (const old of scope.sessions.values()) end(old, scope); }
  scope.sessions.set(session.id, session);
  const headers: Record<string, string> = session.id === "" ? {} : { "mcp-session-id": session.id };
  if (scope.options.reply === "json" || response === undefined) return jsonResponse(response, 200, headers);
  const stream = nextStream(session, scope);
  const connection = stream.attach(undefined);
  stream.push(JSON.stringify(response));
  stream.finish();
  return eventResponse(connection, headers);
}

/** What a server that has never heard of 2026-07-28 says to `server/discover`. */
function probed(body: JsonObject, options: LegacyOptions): Response | undefined {
  const id = typeof body.id === "number" || typeof body.id === "string" ? body.id : undefined;
  switch (options.probe ?? (options.sessions === false ? "rpc-error" : "bad-request")) {
    case "bad-request":
      return jsonResponse(errorOf(undefined, new RpcFailure(-32000, "Bad Request: no valid session ID provided")), 400);
    case "not-found":
      return new Response("Not Found", { status: 404 });
    case "method-not-allowed":
      return new Response("Method Not Allowed", { status: 405 });
    case "rpc-error":
      return jsonResponse(errorOf(id, new RpcFailure(-32601, "Method not found")));
    case "html":
      return new Response("<html>Bad request</html>", { status: 400, headers: { "content-type": "text/html" } });
    case "empty":
      return new Response(null, { status: 400 });
  }
}

function nextStream(session: HttpSession, scope: Scope): EventStream {
  const stream = createEventStream(`s${session.nextStream++}`, streamOptionsOf(scope.options));
  if (session.streams.size >= 1_000) session.streams.delete(session.streams.keys().next().value ?? "");
  session.streams.set(stream.id, stream);
  return stream;
}

async function batch(items: unknown[], session: HttpSession, scope: Scope): Promise<Response> {
  if (session.session.revision !== "2025-03-26") {
    throw new RpcFailure(-32600, "Batches do not exist in this revision", { status: 400 });
  }
  const messages = items.filter(isJsonObject);
  if (items.length === 0 || messages.length < items.length || messages.some((item) => item.method === "initialize")) {
    throw new RpcFailure(-32600, "Invalid batch", { status: 400 });
  }
  for (const message of messages) {
    if (!isRequest(message)) await session.session.receive(message, { send: () => {}, closeStream: () => {} });
  }
  const requests = messages.filter(isRequest);
  if (requests.length === 0) return new Response(null, { status: 202 });
  return await reply(requests, session, { scope, array: true });
}

function reply(
  requests: JsonObject[],
  session: HttpSession,
  options: { scope: Scope; array: boolean },
): Promise<Response> {
  const { scope, array } = options;
  const mode = scope.options.reply ?? "sse";
  const together = array && (mode === "json" || scope.options.batchReplies === true);
  const answers: JsonRpcResponse[] = [];
  return new Promise<Response>((resolve) => {
    let stream: EventStream | undefined;
    const opened = () => {
      if (stream !== undefined) return stream;
      stream = nextStream(session, scope);
      resolve(eventResponse(stream.attach(undefined)));
      if (!together) { for (const response of answers) stream.push(JSON.stringify(response)); }
      return stream;
    };
    if (mode === "sse") opened();
    const io = {
      send: (message: unknown) => (mode === "json" ? session.general : opened()).push(JSON.stringify(message)),
      closeStream: () => stream?.detach(),
    };
    const work = requests.map(async (request) => {
      const response = await session.session.receive(request, io);
      if (response === undefined) return;
      answers.push(response);
      if (stream !== undefined && !together) stream.push(JSON.stringify(response));
    });
    void Promise.all(work).then(() => {
      const whole = JSON.stringify(array ? answers : answers[0] ?? null);
      if (stream === undefined) {
        resolve(answers.length === 0 ? new Response(null, { status: 202 }) : new Response(whole, json));
        return;
      }
      if (together && answers.length > 0) stream.push(whole);
      stream.finish();
    });
  });
}

const json = { headers: { "content-type": "application/json" } };

function eventResponse(body: ReadableStream<Uint8Array>, headers: Record<string, string> = {}): Response {
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache", ...headers },
  });
}

function get(request: Request, scope: Scope): Response {
  if (scope.options.getStream === false) return new Response("", { status: 405, headers: { allow: "POST, DELETE" } });
  if (!(request.headers.get("accept") ?? "").includes("text/event-stream")) {
    throw new RpcFailure(-32000, "Not Acceptable: text/event-stream has to be listed", { status: 406 });
  }
  const session = sessionOf(request, scope);
  const last = request.headers.get("last-event-id");
  if (last === null) {
    if (session.general.attached) throw new RpcFailure(-32000, "Conflict: one GET stream per session", { status: 409 });
    return eventResponse(session.general.attach(undefined));
  }
  const [id, number] = parseEventId(last) ?? [];
  const stream = id === "s0" ? session.general : session.streams.get(id ?? "");
  if (stream === undefined || number === undefined) {
    throw new RpcFailure(-32000, "Bad Request: unknown Last-Event-ID", { status: 400 });
  }
  return eventResponse(stream.attach(number));
}

function remove(request: Request, scope: Scope): Response {
  if (scope.options.deletable === false) return new Response("", { status: 405, headers: { allow: "GET, POST" } });
  end(sessionOf(request, scope), scope);
  return new Response(null, { status: 204 });
}
