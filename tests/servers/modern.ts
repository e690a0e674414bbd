/**
 * A strict server of 2026-07-28 over Streamable HTTP. The function `fetch` is the seam: in memory with `memoryFetch`, or
 * behind `Bun.serve`, `Deno.serve` or a Worker.
 *
 * @module
 */
import type { Execution, LedgerView } from "./core/ledger.ts";
import { checkHeaders, nameOf } from "./core/modern_headers.ts";
import { createModernPeer, type ModernIo, type ModernPeer, type ModernPeerOptions } from "./core/modern_peer.ts";
import { createSseStream, jsonResponse, sseResponse, type SseStream } from "./core/sse.ts";
import { Dropped } from "./core/subscriptions.ts";
import type { TaskStore } from "./core/tasks.ts";
import {
  createRunning,
  errorOf,
  isJsonObject,
  isRequest,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  resultOf,
  RpcFailure,
  type ServerChange,
  stringAt,
} from "./core/wire.ts";

export type { Execution, LedgerView, ServerChange };

/** What a modern server over HTTP lets one choose. */
export interface ModernOptions extends ModernPeerOptions {
  /**
   * How requests are answered: `auto` streams only when there is a notification to send, `json` never (notifications are
   * lost), `sse` always (`auto`). A subscription is always a stream; so is nothing that fails with an HTTP status.
   */
  reply?: "auto" | "json" | "sse";
  /** Origins that a browser may come from, beside the server's own (none). */
  origins?: string[];
  /** A token that every request has to carry as `Authorization: Bearer` (none). */
  token?: string;
}

/** A modern server, and what a test may see of it and do to it. */
export interface ModernServer extends LedgerView {
  fetch(request: Request): Promise<Response>;
  /** Tells all who listen; a task's change is told by itself. */
  emit(change: ServerChange): void;
  /** How many subscriptions are open. */
  listeners(): number;
  /** Ends all subscriptions gracefully. */
  endSubscriptions(): void;
  /** Closes all subscriptions without a result. */
  dropSubscriptions(): void;
  /** Lets every `slow` call without a time go on; says how many. */
  release(): number;
  /** The tasks by id. */
  readonly tasks: TaskStore;
}

/** Makes a modern server. Its making does no I/O, so it may stand at the top of a Worker. */
export function createModernServer(options: ModernOptions = {}): ModernServer {
  const peer = createModernPeer(options);
  const { core, subscriptions, tasks } = peer;
  const { ledger } = core;
  return {
    ...ledger.view(),
    tasks,
    emit: (change) => subscriptions.emit(change),
    listeners: () => subscriptions.size,
    endSubscriptions: () => subscriptions.end(),
    dropSubscriptions: () => subscriptions.drop(),
    release: () => core.release(),
    async fetch(request) {
      let id: JsonRpcRequest["id"] | undefined;
      try {
        const text = request.method === "POST" ? await request.text() : "";
        const message = parse(text);
        ledger.http(request, isJsonObject(message) ? message : undefined);
        const refused = refuse(request, options);
        if (refused !== undefined) return refused;
        notePast(request, (violation) => ledger.violation(violation));
        if (!isJsonObject(message)) throw unreadable(message);
        if (isRequest(message)) id = message.id;
        return await accept(request, message, { peer, options });
      } catch (error) {
        return jsonResponse(errorOf(id, error), error instanceof RpcFailure ? error.status : 500);
      }
    },
  };
}

interface Scope {
  readonly peer: ModernPeer;
  readonly options: ModernOptions;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreadable(message: unknown): RpcFailure {
  return message === undefined
    ? new RpcFailure(-32700, "Parse error", { status: 400 })
    : new RpcFailure(-32600, "The body is not one JSON-RPC message", { status: 400 });
}

function refuse(request: Request, options: ModernOptions): Response | undefined {
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== new URL(request.url).origin && !options.origins?.includes(origin)) {
    return jsonResponse(errorOf(undefined, new RpcFailure(-32600, "Origin is not allowed")), 403);
  }
  if (options.token !== undefined && request.headers.get("authorization") !== `Bearer ${options.token}`) {
    return new Response("", { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } });
  }
  if (request.method !== "POST") return new Response("", { status: 405, headers: { allow: "POST" } });
  const type = request.headers.get("content-type") ?? "";
  if (type.split(";")[0]?.trim().toLowerCase() !== "application/json") return new Response("", { status: 415 });
  const accepted = request.headers.get("accept") ?? "";
  if (!accepted.includes("application/json") || !accepted.includes("text/event-stream")) {
    return jsonResponse(errorOf(undefined, new RpcFailure(-32600, "Accept has to list both media types")), 406);
  }
  return undefined;
}

/** What belongs to the past is overlooked by a server, and written down for the test. */
function notePast(request: Request, complain: (violation: string) => void): void {
  for (const name of ["mcp-session-id", "last-event-id"]) {
    if (request.headers.has(name)) complain(`the header ${name} does not exist in 2026-07-28`);
  }
}

async function accept(request: Request, message: JsonObject, scope: Scope): Promise<Response> {
  const { peer } = scope;
  const method = stringAt(message, "method");
  if (!isRequest(message)) {
    if (method !== undefined && message.id === undefined) {
      if (method === "notifications/cancelled") peer.core.ledger.violation("cancelled by a notice instead of a close");
      return new Response(null, { status: 202 });
    }
    if (method === undefined) peer.core.ledger.violation("a JSON-RPC response was posted");
    throw new RpcFailure(-32600, "The body is neither a request nor a notification", { status: 400 });
  }
  peer.check(message);
  const params = message.params ?? {};
  const tool = message.method === "tools/call" ? peer.core.tool(String(params.name), "2026-07-28") : undefined;
  checkHeaders(request.headers, message, tool);
  if (request.headers.has("mcp-name") && nameOf(message.method, params) === undefined) {
    peer.core.ledger.violation(`${message.method} has no name, Mcp-Name was sent`);
  }
  return await reply(request, message, scope);
}

function reply(request: Request, call: JsonRpcRequest, scope: Scope): Promise<Response> {
  const { peer, options } = scope;
  const mode = call.method === "subscriptions/listen" ? "sse" : options.reply ?? "auto";
  const running = createRunning(() => request.signal);
  let stream: SseStream | undefined;
  return new Promise<Response>((resolve) => {
    const send = (message: JsonRpcNotification | JsonRpcResponse) => {
      if (stream === undefined) {
        stream = createSseStream((reason) => running.abort(reason));
        resolve(sseResponse(stream));
      }
      stream.send({ data: JSON.stringify(message) });
    };
    const io: ModernIo = {
      get signal() {
        return running.signal;
      },
      get aborted() {
        return running.aborted;
      },
      notify(notification) {
        if (mode !== "json" && !running.aborted) send(notification);
      },
    };
    const finish = (response: JsonRpcResponse, status: number) => {
      if (running.aborted) resolve(new Response("", { status: 499 }));
      else if (stream !== undefined || (mode === "sse" && status === 200)) send(response);
      else resolve(jsonResponse(response, status));
      stream?.close();
    };
    peer.dispatch(call, io).then(
      (result) => finish(resultOf(call.id, result), 200),
      (error: unknown) => {
        if (error instanceof Dropped) stream?.close();
        else finish(errorOf(call.id, error), error instanceof RpcFailure ? error.status : 500);
      },
    );
  });
}
