/**
 * The HTTP endpoint: `(request) => Promise<Response>`, made of web standards alone, for both eras.
 *
 * @module
 */
import { classify, isObject, isRequestId } from "../../protocol/json_rpc.ts";
import type { JsonRpcRequest } from "../../protocol/json_rpc.ts";
import { metaPrefix } from "../../protocol/modern.ts";
import { modernRevisions } from "../../protocol/revisions.ts";
import type { AuthInfo } from "../definitions.ts";
import { readBody, readRest, refusePost } from "./body.ts";
import { Guards } from "./guards.ts";
import { HeaderCheck, wrongClaim } from "./header_check.ts";
import { LegacyBinding } from "./legacy_binding.ts";
import { answerModern } from "./modern_call.ts";
import type { HttpOptions, Serving } from "./options.ts";
import { internalError, json, notAllowed, refuse, taken } from "./replies.ts";

const versionKey = metaPrefix + "protocolVersion";
const capabilitiesKey = metaPrefix + "clientCapabilities";

/** An HTTP endpoint, shaped like `fetch`: for `Bun.serve`, `Deno.serve`, Workers and Hono. */
export interface Handler {
  /** Answers one request. Never rejects. */
  (request: Request): Promise<Response>;
  /** Ends all streams and sessions. Requests that come later get 503. */
  close(): void;
}

/**
 * Makes the endpoint of what is served.
 *
 * @param serving The eras: at least one of them.
 * @throws {TypeError} When there is no era, or an option has no sense.
 */
export function createHandlerWith(serving: Serving, options: HttpOptions = {}): Handler {
  const endpoint = new Endpoint(serving, options);
  return Object.assign((request: Request) => endpoint.answer(request), { close: () => endpoint.close() });
}

class Endpoint {
  readonly #serving: Serving;
  readonly #options: HttpOptions;
  readonly #keepAlive: number;
  readonly #guards: Guards;
  readonly #check: HeaderCheck;
  readonly #legacy: LegacyBinding | undefined;
  #closed = false;

  constructor(serving: Serving, options: HttpOptions) {
    const { parts, modern, legacy } = serving;
    if (!modern && !legacy) throw new TypeError("Cannot serve nothing: expected at least one era");
    this.#serving = serving;
    this.#options = options;
    this.#keepAlive = options.keepAlive ?? 15_000;
    this.#guards = new Guards(options);
    this.#check = new HeaderCheck(parts.methods, parts.limits);
    this.#legacy = legacy &&
      new LegacyBinding(parts, legacy, { keepAlive: this.#keepAlive, sessions: options.sessions });
  }

  answer(request: Request): Promise<Response> {
    try {
      const origin = request.headers.get("origin");
      const refused = this.#guards.refuse(request, origin);
      if (refused) return readRest(request, refused, this.#serving.parts.clock);
      const answered = request.method === "OPTIONS"
        ? Promise.resolve(this.#guards.preflight(request))
        : this.#answerSafely(request);
      if (origin === null) return answered;
      // What `auth` gave may be no reply that can be sent.
      return answered.then((response) => this.#guards.open(origin, response))
        .catch((error) => this.#failed(request, error));
    } catch (error) {
      return Promise.resolve(this.#failed(request, error));
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#serving.modern?.close();
    this.#legacy?.close();
  }

  async #answerSafely(request: Request): Promise<Response> {
    let reply: Response;
    try {
      const auth = this.#closed
        ? refuse(503, "This server is closing", { code: -32603 })
        : this.#options.auth && await this.#options.auth(request);
      reply = auth instanceof Response ? auth : await this.#route(request, auth);
    } catch (error) {
      reply = this.#failed(request, error);
    }
    return request.bodyUsed ? reply : readRest(request, reply, this.#serving.parts.clock);
  }

  #failed({ method }: Request, error: unknown): Response {
    const fields = { method, error };
    this.#serving.parts.logger?.({ level: "error", message: "A request could not be answered", fields });
    return json(internalError(undefined), 500);
  }

  #route(request: Request, auth: AuthInfo | undefined): Response | Promise<Response> {
    if (request.method === "POST") return refusePost(request) ?? this.#post(request, auth);
    if (!this.#legacy) return notAllowed("POST");
    if (request.method === "GET") return this.#legacy.get(request, auth);
    return request.method === "DELETE" ? this.#legacy.delete(request, auth) : notAllowed("POST, GET, DELETE");
  }

  async #post(request: Request, auth: AuthInfo | undefined): Promise<Response> {
    const read = await readBody(request, this.#serving.parts);
    if ("refused" in read) return read.refused;
    const body = read.value;
    const kind = classify(body);
    if (!kind && !(this.#legacy && Array.isArray(body))) {
      const id = isObject(body) && isRequestId(body.id) ? body.id : undefined;
      return refuse(400, "Invalid Request: this is no JSON-RPC message that can be sent here", { id });
    }
    if ((kind === "request" || kind === "notification") && this.#isModern(request, body as JsonRpcRequest)) {
      return kind === "notification" ? taken() : await this.#modern(request, body as JsonRpcRequest, auth);
    }
    if (this.#legacy) return this.#legacy.post(request, body, auth);
    return refuse(400, "Invalid Request: only requests and notifications can be sent here");
  }

  /** The body decides the era; the header only where the body says nothing (specification 2026-07-28: Backward Compatibility). */
  #isModern({ headers }: Request, message: JsonRpcRequest): boolean {
    if (!this.#serving.modern) return false;
    if (!this.#legacy || claimOf(message) !== undefined) return true;
    const revision = headers.get("mcp-protocol-version") ?? "";
    return /^\d{4}-\d\d-\d\d$/.test(revision) && revision >= modernRevisions.at(-1)!;
  }

  #modern(request: Request, message: JsonRpcRequest, auth: AuthInfo | undefined): Response | Promise<Response> {
    const { parts, modern } = this.#serving;
    const claim = claimOf(message);
    if (claim === undefined && message.method === "initialize") return refuseHandshake(message);
    // What an envelope lacks comes before the headers, and so does a revision that nobody here speaks: the era says both.
    if (typeof claim === "string" && isComplete(message)) {
      const isSpoken = modernRevisions.some((revision) => revision === claim);
      const wrong = isSpoken ? this.#check.wrong(message, request.headers, claim) : wrongClaim(request.headers, claim);
      if (wrong !== undefined) return refuse(400, wrong, { code: -32020, id: message.id });
    }
    return answerModern({ parts, modern: modern!, keepAlive: this.#keepAlive, request, message, auth });
  }
}

/** The revision that a body claims to speak. */
function claimOf({ params }: JsonRpcRequest): unknown {
  return isObject(params?._meta) ? params._meta[versionKey] : undefined;
}

/** Whether the envelope has what each modern request has to have. */
function isComplete({ params }: JsonRpcRequest): boolean {
  return isObject(params?._meta) && isObject(params._meta[capabilitiesKey]);
}

/** A handshake where there is none: the error names what is spoken here. */
function refuseHandshake({ id, params }: JsonRpcRequest): Response {
  const requested = typeof params?.protocolVersion === "string" ? params.protocolVersion : null;
  const data = { supported: [...modernRevisions], requested };
  return refuse(400, "Unsupported protocol version: there is no handshake here", { code: -32022, id, data });
}
