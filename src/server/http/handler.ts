/**
 * The HTTP endpoint: `(request) => Promise<Response>`, made of web standards alone, for both eras.
 *
 * @module
 */
import { classify, isObject, isRequestId } from "../../protocol/json_rpc.ts";
import type { JsonRpcRequest } from "../../protocol/json_rpc.ts";
import { timeOr } from "../../protocol/limits.ts";
import { modernRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { AuthInfo } from "../definitions.ts";
import { readRest, refusePost, takeBody } from "./body.ts";
import { answerVerified, Guards } from "./guards.ts";
import { HeaderCheck, wrongClaim } from "./header_check.ts";
import type { LegacyBinding } from "./legacy_binding.ts";
import { answerModern } from "./modern_call.ts";
import type { ModernCallOptions } from "./modern_call.ts";
import type { HttpOptions, Serving } from "./options.ts";
import { capabilitiesKey, versionKey } from "../common/meta_keys.ts";
import { closing, internalError, json, notAllowed, refuse, taken } from "./replies.ts";
import { isPromise } from "../../protocol/promise.ts";

/** An HTTP endpoint, shaped like `fetch`: for `Bun.serve`, `Deno.serve`, Workers and Hono. */
export interface Handler {
  /** Answers one request. Never rejects. */
  (request: Request): Promise<Response>;
  /**
   * Ends streams of changes, and sessions once their calls are answered or nobody waits for that any more. Requests that come later
   * get 503.
   */
  close(): void;
}

/**
 * Makes the endpoint of what is served.
 *
 * @param serving The eras: at least one of them.
 * @param Binding What binds the legacy era to HTTP, where that is served: handed in, so that others need not have it.
 * @throws {TypeError} When there is no era, or an option has no sense.
 */
export function createHandlerWith(
  serving: Serving,
  options: HttpOptions = {},
  Binding?: typeof LegacyBinding,
): Handler {
  const endpoint = new Endpoint(serving, options, Binding);
  return Object.assign((request: Request) => endpoint.answer(request), { close: () => endpoint.close() });
}

class Endpoint {
  readonly #serving: Serving;
  readonly #options: HttpOptions;
  readonly #keepAlive: number;
  readonly #guards: Guards;
  readonly #check: HeaderCheck;
  readonly #legacy: LegacyBinding | undefined;
  #closed: boolean | undefined;

  constructor(serving: Serving, options: HttpOptions, Binding: typeof LegacyBinding | undefined) {
    const { parts, modern, legacy } = serving;
    if (!modern && !legacy) throw new TypeError("Cannot serve nothing: expected at least one era");
    this.#serving = serving;
    this.#options = options;
    this.#keepAlive = timeOr(5_000, options.keepAlive);
    this.#guards = new Guards(options);
    this.#check = new HeaderCheck(parts.methods, parts.limits);
    this.#legacy = legacy && Binding &&
      new Binding(parts, legacy, { keepAlive: this.#keepAlive, sessions: options.sessions });
  }

  answer(request: Request): Promise<Response> {
    try {
      const origin = request.headers.get("origin");
      const refused = this.#guards.refuse(request, origin);
      if (refused) return this.#unread(request, refused);
      const answered = request.method === "OPTIONS"
        ? Promise.resolve(this.#guards.preflight(request))
        : this.#options.auth || this.#closed
        ? this.#answerSafely(request)
        : Promise.resolve(this.#route(request, undefined));
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
      reply = this.#closed
        ? closing()
        : await answerVerified(request, this.#options.auth, (auth) => this.#route(request, auth));
    } catch (error) {
      reply = this.#failed(request, error);
    }
    return request.bodyUsed ? reply : this.#unread(request, reply);
  }

  #unread(request: Request, reply: Response): Promise<Response> {
    return readRest(request, reply, this.#serving.parts.clock);
  }

  #failed({ method }: Request, error: unknown): Response {
    const fields = { method, error };
    this.#serving.parts.logger?.({ level: "error", message: "A request could not be answered", fields });
    return json(internalError(undefined), 500);
  }

  #route(request: Request, auth: AuthInfo | undefined): Response | Promise<Response> {
    const { method } = request;
    if (method === "POST") {
      const refused = refusePost(request);
      return refused ? this.#unread(request, refused) : this.#post(request, auth);
    }
    if (!this.#legacy) return this.#unread(request, notAllowed("POST"));
    if (method !== "GET" && method !== "DELETE") return this.#unread(request, notAllowed("POST, GET, DELETE"));
    const answered = method === "GET" ? this.#legacy.get(request, auth) : this.#legacy.delete(request, auth);
    return isPromise(answered) ? answered.catch((error) => this.#failed(request, error)) : answered;
  }

  /** Never rejects. All that becomes of a POST goes into this one promise. */
  #post(request: Request, auth: AuthInfo | undefined): Promise<Response> {
    return new Promise((resolve) => {
      const failed = (error: unknown): void => resolve(this.#failed(request, error));
      takeBody(request, this.#serving.parts, (read) => {
        if ("refused" in read) return resolve(read.refused);
        // While it was verified and read.
        if (this.#closed) return resolve(closing());
        try {
          const answered = this.#body(request, read.value, auth, resolve);
          if (isPromise(answered)) answered.then(resolve, failed);
          else if (answered) resolve(answered);
        } catch (error) {
          failed(error);
        }
      });
    });
  }

  /** @returns The reply; undefined when it was or will be given to `reply`. */
  #body(
    request: Request,
    body: unknown,
    auth: AuthInfo | undefined,
    reply: (response: Response) => void,
  ): Response | Promise<Response> | undefined {
    const kind = classify(body);
    if (!kind && !(this.#legacy && Array.isArray(body))) {
      const id = isObject(body) && isRequestId(body.id) ? body.id : undefined;
      return refuse(400, "Invalid Request: this is no JSON-RPC message that can be sent here", { id });
    }
    if (kind === "request" || kind === "notification") {
      const message = body as JsonRpcRequest;
      const meta = message.params?._meta;
      const said = isObject(meta) ? meta : undefined;
      if (this.#isModern(request, said)) {
        return kind === "notification" ? taken() : this.#modern({ request, message, auth, reply }, said);
      }
    }
    if (this.#legacy) return this.#legacy.post(request, body, auth);
    return refuse(400, "Invalid Request: a response cannot be sent here");
  }

  /** The body decides the era; the header only where the body says nothing (specification 2026-07-28: Backward Compatibility). */
  #isModern({ headers }: Request, said: Said): boolean {
    if (!this.#serving.modern) return false;
    if (!this.#legacy || said?.[versionKey] !== undefined) return true;
    const revision = headers.get("mcp-protocol-version") ?? "";
    return /^\d{4}-\d\d-\d\d$/.test(revision) && revision >= modernRevisions.at(-1)!;
  }

  #modern(asked: Asked, said: Said): Response | undefined {
    const { request: { headers }, message } = asked;
    const claim = said?.[versionKey];
    if (claim === undefined && message.method === "initialize") return refuseHandshake(message);
    // What an envelope lacks comes before the headers, and so does a revision that nobody here speaks: the era says both.
    if (typeof claim === "string" && isObject(said?.[capabilitiesKey])) {
      const isSpoken = modernRevisions.includes(claim as Revision);
      const wrong = isSpoken ? this.#check.wrong(message, headers, claim) : wrongClaim(headers, claim);
      if (wrong !== undefined) return refuse(400, wrong, { code: -32020, id: message.id });
    }
    const { parts, modern } = this.#serving;
    answerModern({ parts, modern: modern!, keepAlive: this.#keepAlive, ...asked });
    return undefined;
  }
}

/** A modern request, and what takes its reply. */
type Asked = Pick<ModernCallOptions, "request" | "message" | "auth" | "reply">;

/** What a message says of itself in `_meta`: the revision that it speaks, what its client can do. */
type Said = Record<string, unknown> | undefined;

/** A handshake where there is none: the error names what is spoken here. */
function refuseHandshake({ id, params }: JsonRpcRequest): Response {
  const requested = typeof params?.protocolVersion === "string" ? params.protocolVersion : null;
  const data = { supported: [...modernRevisions], requested };
  return refuse(400, "Unsupported protocol version: there is no handshake here", { code: -32022, id, data });
}
