/**
 * The legacy era over HTTP: sessions, their POST, GET and DELETE (specification 2025-03-26 to 2025-11-25: Streamable HTTP).
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import { classify, isObject, isRequestId } from "../../protocol/json_rpc.ts";
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from "../../protocol/json_rpc.ts";
import { timeOr } from "../../protocol/limits.ts";
import { legacyRevisions } from "../../protocol/revisions.ts";
import type { AuthInfo } from "../definitions.ts";
import type { ServerParts } from "../seam.ts";
import { accepts } from "./body.ts";
import { EventStore } from "./event_store.ts";
import { LegacyExchange } from "./legacy_exchange.ts";
import type { HttpSession } from "./legacy_session.ts";
import { SessionTable, type UseSession } from "./legacy_sessions.ts";
import type { HttpOptions, Serving } from "./options.ts";
import { json, refuse, taken } from "./replies.ts";

/** The revision whose clients may send arrays. */
const batched = "2025-03-26";

/** Options of the legacy era, filled in. */
type Filled = { readonly keepAlive: number } & Pick<HttpOptions, "sessions">;

/** Serves the legacy era at one endpoint. */
export class LegacyBinding {
  readonly #newId: () => string;
  readonly #sessions: SessionTable;

  constructor(parts: ServerParts, legacy: NonNullable<Serving["legacy"]>, { keepAlive, sessions = {} }: Filled) {
    const {
      max = 10_000,
      idle,
      events = 1_000,
      eventCharacters = 16 * 2 ** 20,
      hold,
      retry = hold && 1_000,
      newId = () => randomHex(parts.random, 32),
      store,
    } = sessions;
    this.#newId = newId;
    const bounds = { max, idle: timeOr(1_800_000, idle) };
    const made = {
      parts,
      legacy,
      keepAlive,
      // The official client for Java gives a stream up at this line: it is for those who have a use for it.
      retry: retry === undefined ? "" : `retry: ${retry}\n`,
      hold,
      store: new EventStore(events, eventCharacters),
    };
    this.#sessions = store?.open(made, bounds) ?? new SessionTable(made, bounds);
  }

  /** Answers a POST: one message, or an array of them. */
  post(request: Request, body: unknown, auth: AuthInfo | undefined): Response | Promise<Response> {
    const isFirst = classify(body) === "request" && (body as JsonRpcRequest).method === "initialize" &&
      !request.headers.has("mcp-session-id");
    if (isFirst) return wrongRevision(request) ?? this.#initialize(request, body as JsonRpcRequest, auth);
    return this.#find(
      request,
      auth,
      (session) =>
        Array.isArray(body) ? this.#batch(session, request, body, auth) : this.#single(session, request, body, auth),
    );
  }

  /** Answers a GET: the session's own stream, or one that broke off. */
  get(request: Request, auth: AuthInfo | undefined): Response | Promise<Response> {
    if (!accepts(request.headers, "text/event-stream")) {
      return refuse(406, 'The Accept header has to name "text/event-stream"');
    }
    const lastEventId = request.headers.get("last-event-id");
    return this.#find(
      request,
      auth,
      (session) => lastEventId === null ? session.listen(request, auth) : session.resume(request, lastEventId, auth),
    );
  }

  /** Answers a DELETE: the session ends. */
  delete(request: Request, auth: AuthInfo | undefined): Response | Promise<Response> {
    return this.#find(request, auth, (session) => this.#sessions.delete(session));
  }

  /** Ends all sessions. */
  close(): void {
    this.#sessions.close();
  }

  /** Finds the session of a request, and has it used; one that is kept elsewhere is woken. */
  #find(
    request: Request,
    auth: AuthInfo | undefined,
    use: UseSession,
  ): Response | Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    return wrongRevision(request) ??
      (id === null
        ? refuse(400, "The header Mcp-Session-Id is missing")
        : this.#sessions.use(id, { auth, request }, use));
  }

  async #initialize(request: Request, message: JsonRpcRequest, auth: AuthInfo | undefined): Promise<Response> {
    if (!this.#sessions.hasRoom()) {
      return refuse(503, "Too many sessions", {
        code: -32603,
        id: message.id,
        headers: { "retry-after": "60" },
      });
    }
    const session = this.#sessions.begin(this.#newId(), auth);
    const headers = { "mcp-session-id": session.id };
    const over = (): void => {
      if (!session.serving.open) this.#sessions.end(session);
    };
    const messages = [message];
    const { reply } = new LegacyExchange({ session, request, auth, messages, isBatch: false, headers, over });
    const response = await reply;
    // A stream has begun before the answer: it shows later whether there is a session.
    if (session.serving.open || session.isRunning(message.id)) return response;
    response.headers.delete("mcp-session-id");
    return response;
  }

  #single(
    session: HttpSession,
    request: Request,
    body: unknown,
    auth: AuthInfo | undefined,
  ): Response | Promise<Response> {
    switch (classify(body)) {
      case "request": {
        const message = body as JsonRpcRequest;
        if (session.isRunning(message.id)) return refuse(400, "A request with this id is running already");
        return new LegacyExchange({ session, request, auth, messages: [message], isBatch: false }).reply;
      }
      case "notification":
        session.serving.notified(body as JsonRpcNotification);
        return taken();
      case "response":
        session.answered(body as JsonRpcResponse);
        return taken();
      default:
        return refuse(400, "Invalid Request");
    }
  }

  #batch(
    session: HttpSession,
    request: Request,
    items: readonly unknown[],
    auth: AuthInfo | undefined,
  ): Response | Promise<Response> {
    const mostAtOnce = 256;
    if (!session.serving.open || session.serving.revision !== batched || !items.length || items.length > mostAtOnce) {
      return refuse(400, `An array is taken in ${batched} alone, with 1 to ${mostAtOnce} messages`);
    }
    const responses: JsonRpcResponse[] = [];
    // What comes behind a request may call it off: it has to run by then.
    const later: JsonRpcNotification[] = [];
    const messages: JsonRpcRequest[] = [];
    for (const item of items) {
      const kind = classify(item);
      if (kind === "notification") {
        if (messages[0]) later.push(item as JsonRpcNotification);
        else session.serving.notified(item as JsonRpcNotification);
      } else if (kind === "response") session.answered(item as JsonRpcResponse);
      else {
        const message = item as JsonRpcRequest;
        const isWrong = kind !== "request" || message.method === "initialize" || messages.some((other) =>
          other.id === message.id
        ) ||
          session.isRunning(message.id);
        if (isWrong) responses.push(noMessage(item));
        else messages.push(message);
      }
    }
    if (!messages[0]) return responses[0] ? json(responses, 400) : taken();
    const { reply } = new LegacyExchange({ session, request, auth, messages, isBatch: true, responses });
    for (const notification of later) session.serving.notified(notification);
    return reply;
  }
}

function noMessage(item: unknown): JsonRpcResponse {
  const id = isObject(item) && isRequestId(item.id) ? item.id : null;
  return { jsonrpc: "2.0", id, error: { code: -32600, message: "Invalid Request" } };
}

/** The 400 for a revision that is not served here; without the header it is 2025-03-26, or what the session agreed on. */
function wrongRevision({ headers }: Request): Response | undefined {
  const revision = headers.get("mcp-protocol-version");
  if (revision === null || legacyRevisions.some((known) => known === revision)) return undefined;
  return refuse(400, `Unsupported MCP-Protocol-Version: expected one of ${legacyRevisions.join(", ")}`);
}
