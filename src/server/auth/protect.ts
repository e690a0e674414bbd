/**
 * A protected resource: an endpoint that takes bearer tokens which are meant for it, and says where they come from
 * (specification: Authorization; RFC 6750, RFC 8707, RFC 9728).
 *
 * @module
 */
import { Redactor } from "../../egress/redact.ts";
import { systemClock } from "../../ports.ts";
import type { Clock, Logger, TokenClaims } from "../../ports.ts";
import { InvalidRequestError, McpError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { checkClockTolerance } from "../../protocol/limits.ts";
import type { AuthInfo } from "../definitions.ts";
import { internalError, json, refuse } from "../http/replies.ts";
import { createSafeLogger } from "../../egress/safe_logger.ts";
import { readBearer } from "./bearer.ts";
import { type Challenge, challenge, writeChallenge } from "./challenge.ts";
import { Audience, checkClaims } from "./claims.ts";
import { checkScope, createMetadata, serveMetadata } from "./metadata.ts";
import type { ProtectedResource, ProtectOptions } from "./options.ts";
import { readResource, type ResourceUrl, wellKnown } from "./resource_url.ts";

/** When a caller may try again whose token could not be verified, in seconds. */
const retryAfter = "5";
/** The parts of a token that are kept out of log lines each for itself: a JWE has five. */
const mostParts = 5;

/**
 * Protects an endpoint by bearer tokens. It is the `auth` of `createHandler`, `createSocketEndpoint`, `createAgentHandler` and
 * their like, which then serve its metadata too: at `/.well-known/oauth-protected-resource/mcp` for a resource at `/mcp`, and
 * at the root. Those `paths` have to be routed to the same handler.
 *
 * A token is taken from the Authorization header alone. It has to be verified by `verify`, come from one of
 * `authorizationServers`, be meant for `resource` (RFC 8707), be unexpired, and hold `requiredScopes`. Streams and
 * sockets end with it. What comes in never goes on to others: a handler is told who it is, not the token.
 *
 * @throws {TypeError} When an option makes no sense.
 *
 * @example A server that nobody uses without a token
 * ```ts
 * import { createHandler, McpServer, protectResource } from "@causeway/mcp/server";
 *
 * const resource = protectResource({
 *   resource: "http://localhost:8080/mcp",
 *   authorizationServers: ["https://auth.example.com"],
 *   verify: (token) => token === "t0ken" ? { subject: "ada", audience: "http://localhost:8080/mcp" } : undefined,
 * });
 * const handler = createHandler(new McpServer({ name: "private", version: "1.0.0" }), { auth: resource });
 * const response = await handler(new Request("http://localhost:8080/mcp", { method: "POST" }));
 * console.assert(response.status === 401);
 * ```
 */
export function protectResource(options: ProtectOptions): ProtectedResource {
  const guard = new Guard(options);
  return Object.assign((request: Request) => guard.authenticate(request), {
    complete: (response: Response, auth: AuthInfo | undefined) => guard.complete(response, auth),
    demand: (auth: AuthInfo | undefined, ...scopes: string[]) => guard.demand(auth, scopes),
    paths: [...new Set([guard.url.metadataPath, wellKnown])],
    metadata: guard.metadata,
    metadataUrl: guard.url.metadataUrl,
  });
}

class Guard {
  readonly url: ResourceUrl;
  readonly metadata: JsonObject;
  readonly #options: ProtectOptions;
  readonly #required: readonly string[];
  readonly #audience: Audience | undefined;
  readonly #clock: Clock;
  readonly #tolerance: number;
  readonly #logger: Logger | undefined;
  /** What handlers demanded of a caller beyond what it has. */
  readonly #demanded = new WeakMap<AuthInfo, readonly string[]>();

  constructor(options: ProtectOptions) {
    const { resource, audience = resource, requiredScopes = [], clock = systemClock, clockTolerance = 5_000 } = options;
    if (typeof options.verify !== "function") throw new TypeError('Cannot protect a resource: "verify" is no function');
    checkClockTolerance(clockTolerance);
    if (audience !== false && !audience.length) {
      throw new TypeError(
        "Cannot protect a resource for no audience: name one, or say `false` where `verify` checks it",
      );
    }
    this.url = readResource(resource);
    this.metadata = createMetadata(options, this.url);
    this.#options = options;
    this.#required = [...requiredScopes];
    this.#audience = audience === false ? undefined : new Audience(audience);
    this.#clock = clock;
    this.#tolerance = clockTolerance;
    this.#logger = createSafeLogger(options.logger);
  }

  async authenticate(request: Request): Promise<AuthInfo | Response> {
    const metadata = serveMetadata(request, this.metadata, this.url);
    if (metadata) return metadata;
    const bearer = readBearer(request);
    if (bearer.token === undefined) {
      const { wrong } = bearer;
      if (wrong !== undefined) return this.#refuse({ error: "invalid_request", description: wrong });
      return this.#refuse({ scopes: this.#required });
    }
    try {
      const claims = await this.#options.verify(bearer.token, request) ?? undefined;
      return claims === undefined ? this.#invalid("The token is not valid") : this.#judge(checkClaims(claims));
    } catch (error) {
      return this.#failed(error, bearer.token);
    }
  }

  complete(response: Response, auth: AuthInfo | undefined): Response {
    const scopes = response.status === 403 && auth && this.#demanded.get(auth);
    if (!scopes) return response;
    const reply = new Response(response.body, response);
    reply.headers.set("www-authenticate", writeChallenge(this.#insufficient(scopes)));
    return reply;
  }

  demand(auth: AuthInfo | undefined, scopes: readonly string[]): void {
    for (const scope of scopes) checkScope(scope);
    if (auth && this.#grants(auth.scopes, scopes)) return;
    // All that the request needs goes into one challenge.
    const needed = [...new Set([...this.#required, ...scopes])];
    if (auth) this.#demanded.set(auth, needed);
    throw new InvalidRequestError(`More scope is needed: ${needed.join(" ")}`, {
      rpcCode: -32600,
      status: 403,
      data: { requiredScopes: needed },
    });
  }

  #judge(claims: TokenClaims): AuthInfo | Response {
    const { subject, issuer, audience, scopes, clientId, expiresAt, extra } = claims;
    const { authorizationServers, principal } = this.#options;
    if (issuer !== undefined && !authorizationServers.includes(issuer)) {
      return this.#invalid("The token comes from another authorization server");
    }
    if (this.#audience && !this.#audience.has(audience)) {
      if (audience === undefined) {
        this.#warn("Claims name no audience: `verify` has to give it, or to check it (`audience: false`)");
      }
      return this.#invalid("The token is not meant for this resource");
    }
    const end = expiresAt === undefined ? undefined : expiresAt + this.#tolerance;
    if (end !== undefined && end <= this.#clock.now()) return this.#invalid("The token has expired");
    if (!this.#grants(scopes, this.#required)) return challenge(this.#insufficient(this.#required));
    if (issuer === undefined && !principal && authorizationServers.length > 1) {
      throw new TypeError('Cannot name the caller: with several servers "verify" has to give "issuer"');
    }
    const name = principal ? principal(claims) : issuer === undefined ? subject : `${issuer}#${subject}`;
    if (typeof name !== "string" || name === "") {
      throw new TypeError('Cannot name the caller: "principal" gave no text');
    }
    return { principal: name, scopes: scopes ?? [], clientId, expiresAt: end, extra };
  }

  #grants(granted: readonly string[] = [], wanted: readonly string[]): boolean {
    const { includes } = this.#options;
    return wanted.every((scope) =>
      granted.includes(scope) || (includes && granted.some((has) => includes(has, scope) === true))
    );
  }

  #invalid(description: string): Response {
    return this.#refuse({ error: "invalid_token", description, scopes: this.#required });
  }

  #insufficient(scopes: readonly string[]): Challenge {
    const { metadataUrl } = this.url;
    return { error: "insufficient_scope", description: "The token allows too little", scopes, metadataUrl };
  }

  #refuse(said: Omit<Challenge, "metadataUrl">): Response {
    return challenge({ ...said, metadataUrl: this.url.metadataUrl });
  }

  /** Nothing could be found out: whoever it is stays outside. */
  #failed(error: unknown, token: string): Response {
    const isPassing = error instanceof McpError && error.retryable;
    if (this.#logger) {
      const redactor = new Redactor();
      // A redactor has room for so many secrets: whoever sends more parts must not push the token itself out.
      for (const secret of [token, ...token.split(".", mostParts)]) redactor.add(secret);
      const text = redactor.redact(String(error instanceof Error ? error.stack ?? error : error));
      const level = isPassing ? "warning" : "error";
      this.#logger({ level, message: "A token could not be verified", fields: { error: text } });
    }
    if (!isPassing) return json(internalError(undefined), 500);
    return refuse(503, "Tokens cannot be verified now", { code: -32603, headers: { "retry-after": retryAfter } });
  }

  #warn(message: string): void {
    this.#logger?.({ level: "warning", message });
  }
}
