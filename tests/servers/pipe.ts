/**
 * The fake peers over a pipe of messages: in memory, over stdio and over WebSocket.
 *
 * @module
 */
import type { Core } from "./core/core.ts";
import type { LedgerView } from "./core/ledger.ts";
import { createLegacySession, type LegacySession, type LegacySessionOptions } from "./core/legacy_session.ts";
import { createModernPeer, type ModernIo, type ModernPeer, type ModernPeerOptions } from "./core/modern_peer.ts";
import { Dropped } from "./core/subscriptions.ts";
import {
  createRunning,
  errorOf,
  isId,
  isJsonObject,
  isRequest,
  type JsonObject,
  type JsonRpcRequest,
  notificationOf,
  objectAt,
  type RequestId,
  resultOf,
  RpcFailure,
  type Running,
  type ServerChange,
  stringAt,
} from "./core/wire.ts";

/** What a server on a pipe lets one choose. */
export interface PipeOptions extends LegacySessionOptions, ModernPeerOptions {
  /** Which eras it speaks. `both`: a request that claims a modern version is modern, `initialize` begins a session. */
  era: "modern" | "legacy" | "both";
  /** Takes each message that the server sends: one JSON text without a line end. */
  send(text: string): void;
  /** A legacy server that answers nothing to `server/discover`, or ends because of it (`error`). */
  probe?: "error" | "silent" | "exit";
  /** Called when the server ends by itself. */
  exit?(): void;
}

/** A server on a pipe, and what a test may see of it and do to it. */
export interface PipeServer extends LedgerView {
  /** Takes one message: a line without its end, or a frame. */
  receive(text: string): void;
  /** Ends all that runs. */
  close(): void;
  emit(change: ServerChange): void;
  /** How many modern subscriptions are open. */
  listeners(): number;
  /** Ends all modern subscriptions: gracefully with a result, or by a notice alone. */
  endSubscriptions(how?: "graceful" | "drop"): void;
  release(): number;
  /** The legacy side. */
  readonly session: LegacySession;
}

interface Scope {
  readonly core: Core;
  readonly modern: ModernPeer;
  readonly legacy: LegacySession;
  readonly options: PipeOptions;
  readonly running: Map<RequestId, Running>;
  readonly send: (message: unknown) => void;
}

/** Makes a server on a pipe. */
export function createPipeServer(options: PipeOptions): PipeServer {
  const modern = createModernPeer(options);
  const { core } = modern;
  const send = (message: unknown) => options.send(JSON.stringify(message));
  const legacy = createLegacySession(core, send, options);
  const scope: Scope = { core, modern, legacy, options, running: new Map(), send };
  return {
    ...core.ledger.view(),
    session: legacy,
    listeners: () => modern.subscriptions.size,
    endSubscriptions: (how = "graceful") => how === "drop" ? modern.subscriptions.drop() : modern.subscriptions.end(),
    release: () => core.release(),
    emit(change) {
      modern.subscriptions.emit(change);
      legacy.emit(change);
    },
    receive: (text) => receive(text, scope),
    close() {
      legacy.close();
      for (const running of scope.running.values()) running.abort(new Error("the pipe ended"));
    },
  };
}

/** Splits text into lines, whatever the chunks are. */
export function createLineSplitter(line: (text: string) => void): (chunk: string) => void {
  let rest = "";
  return (chunk) => {
    if (!chunk.includes("\n")) {
      rest += chunk; // a long line costs no second look
      return;
    }
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) if (text.trim() !== "") line(text);
  };
}

function receive(text: string, scope: Scope): void {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    scope.core.ledger.violation(`no JSON: ${text.slice(0, 100)}`);
    return scope.send(errorOf(undefined, new RpcFailure(-32700, "Parse error")));
  }
  if (Array.isArray(message)) return receiveBatch(message, scope);
  if (!isJsonObject(message)) return scope.send(errorOf(undefined, new RpcFailure(-32600, "Invalid Request")));
  scope.core.ledger.pipe(message);
  if (isModern(message, scope)) receiveModern(message, scope);
  else receiveLegacy(message, scope);
}

function isModern(message: JsonObject, scope: Scope): boolean {
  if (scope.options.era !== "both") return scope.options.era === "modern";
  const params = objectAt(message, "params");
  if (message.method === "notifications/cancelled" && isId(params.requestId)) {
    return scope.running.has(params.requestId);
  }
  if (objectAt(params, "_meta")["io.modelcontextprotocol/protocolVersion"] !== undefined) return true;
  return message.method !== "initialize" && scope.legacy.revision === undefined;
}

function receiveModern(message: JsonObject, scope: Scope): void {
  const { ledger } = scope.core;
  if (isRequest(message)) {
    if (scope.running.has(message.id)) ledger.violation(`the id ${JSON.stringify(message.id)} is in flight already`);
    void answerModern(message, scope);
    return;
  }
  if (message.method === "notifications/cancelled") {
    const { requestId, reason } = objectAt(message, "params");
    const running = isId(requestId) ? scope.running.get(requestId) : undefined;
    if (running === undefined) ledger.violation(`cancelled what does not run: ${JSON.stringify(requestId)}`);
    running?.abort(String(reason ?? ""));
  } else if (typeof message.method !== "string") ledger.violation("a JSON-RPC response was sent");
}

async function answerModern(request: JsonRpcRequest, scope: Scope): Promise<void> {
  const { id } = request;
  const running = createRunning();
  scope.running.set(id, running);
  const send = (message: unknown) => {
    if (!running.aborted) scope.send(message);
  };
  const over = () =>
    send(notificationOf("notifications/cancelled", { requestId: id, reason: "the subscription is over" }));
  try {
    scope.modern.check(request);
    const io: ModernIo = {
      get signal() {
        return running.signal;
      },
      get aborted() {
        return running.aborted;
      },
      notify: send,
    };
    const result = await scope.modern.dispatch(request, io);
    send(resultOf(id, result));
    if (request.method === "subscriptions/listen") over();
  } catch (error) {
    if (error instanceof Dropped) over();
    else send(errorOf(id, error));
  } finally {
    if (scope.running.get(id) === running) scope.running.delete(id);
  }
}

function receiveLegacy(message: JsonObject, scope: Scope): void {
  if (message.method === "server/discover") {
    if (scope.options.probe === "exit") return scope.options.exit?.();
    if (scope.options.probe === "silent") return;
    const id = isId(message.id) ? message.id : undefined;
    return scope.send(errorOf(id, new RpcFailure(-32601, "Method not found")));
  }
  void answerLegacy([message], scope);
}

function receiveBatch(items: unknown[], scope: Scope): void {
  const messages = items.filter(isJsonObject);
  const legal = scope.legacy.revision === "2025-03-26" && items.length > 0 && messages.length === items.length &&
    messages.every((message) => stringAt(message, "method") !== "initialize");
  if (!legal) return scope.send(errorOf(undefined, new RpcFailure(-32600, "Invalid batch")));
  for (const message of messages) scope.core.ledger.pipe(message);
  void answerLegacy(messages, scope);
}

async function answerLegacy(messages: JsonObject[], scope: Scope): Promise<void> {
  const io = { send: scope.send, closeStream: () => {} };
  const all = await Promise.all(messages.map((message) => scope.legacy.receive(message, io)));
  const responses = all.filter((response) => response !== undefined);
  if (messages.length > 1 && responses.length > 0) scope.send(responses);
  else if (responses[0] !== undefined) scope.send(responses[0]);
}
