/**
 * What stands before every route: Host, Origin, who asks, quotas, request ids, headers; and the last word on what went wrong.
 *
 * @module
 */
import { toHex } from "../../ports.ts";
import { readRest } from "../../server/http/body.ts";
import { Guards } from "../../server/http/guards.ts";
import type { Caller } from "../access/access.ts";
import { cookieOf } from "../access/access.ts";
import type { RunnerParts } from "../parts.ts";
import { Call } from "./call.ts";
import { asModelError, problemReply, Refusal, refusalOf } from "./problem.ts";
import { matchPath, pathOf } from "./route.ts";
import type { Route } from "./route.ts";

const requestHeaders = "Idempotency-Key, X-Request-Id, Causeway-Tenant, Causeway-Approval";
const exposedHeaders = "X-Request-Id, Location, Retry-After, WWW-Authenticate, Mcp-Session-Id";
const always: readonly (readonly [string, string])[] = [
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"],
];
const idBytes = 16;
/** Headers of replies that do not say it themselves. */
const otherwise: readonly (readonly [string, string])[] = [
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
  ["cache-control", "no-store"],
];

/** The front of all routes. */
export class Front {
  readonly #parts: RunnerParts;
  readonly #routes: readonly Route[];
  readonly #guards: Guards;
  #chance: Uint8Array = new Uint8Array(0);
  #isClosed = false;

  /** @throws {TypeError} When an allowed origin is none. */
  constructor(parts: RunnerParts, routes: readonly Route[]) {
    this.#parts = parts;
    this.#routes = routes;
    this.#guards = new Guards(parts.guards);
  }

  /** Takes no further requests. */
  close(): void {
    this.#isClosed = true;
  }

  /** Answers a request. Never rejects. */
  async answer(route: Route | undefined, request: Request): Promise<Response> {
    const requestId = this.#requestId(request);
    let response: Response;
    let isOpened = false;
    try {
      this.#guard(request);
      isOpened = true;
      response = request.method === "OPTIONS" ? this.#preflight(request) : await this.#serve(route, request, requestId);
    } catch (error) {
      const refusal = refusalOf(error, this.#parts.logger);
      const isModel = pathOf(request.url).startsWith("/v1/");
      response = problemReply(isModel ? asModelError(refusal) : refusal, requestId);
    }
    if (response.status === 101) return response;
    // What was read to its end leaves no rest.
    const left = request.method !== "GET" && !request.bodyUsed;
    const reply = left ? await readRest(request, response, this.#parts.clock) : response;
    return this.#dress(reply, request, { requestId, isOpened });
  }

  /** Who asks: as a route does, for what is no route (a WebSocket). */
  async admit(
    request: Request,
  ): Promise<{ readonly caller: Caller; readonly tenant: string; readonly leave: () => void }> {
    this.#guard(request);
    if (this.#isClosed) throw new Refusal(503, "closing", "The runner is closing");
    const caller = await this.#parts.access.identify(request);
    if (caller.way === "session") checkPage(request);
    const tenant = tenantOf(request, caller);
    return { caller, tenant, leave: this.#parts.quotas.enter(caller.principal.tenant) };
  }

  /** Our own pages are where we are: whether that is allowed, the Host says. */
  #guard(request: Request): void {
    const origin = isOwnOrigin(request) ? null : request.headers.get("origin");
    if (!this.#guards.refuse(request, origin)) return;
    throw new Refusal(403, "forbidden", "This Origin or Host is not allowed here");
  }

  async #serve(route: Route | undefined, request: Request, requestId: string): Promise<Response> {
    const pathname = pathOf(request.url);
    const params = route && matchPath(route.path, pathname);
    if (!route || !params || (route.method !== "ALL" && route.method !== request.method)) throw this.#nothing(pathname);
    if (this.#isClosed) throw new Refusal(503, "closing", "The runner is closing");
    const shared = { parts: this.#parts, route, request, params, requestId };
    if (route.policy.kind === "public") {
      const call = new Call({ ...shared, caller: undefined, tenant: "", judge: undefined });
      return await finished(route, call, () => {});
    }
    const caller = await this.#parts.access.identify(request);
    if (caller.way === "session") (request.method === "GET" ? checkReading : checkPage)(request);
    const tenant = tenantOf(request, caller);
    // Whoever asks pays, whatever they ask for.
    const leave = this.#parts.quotas.enter(caller.principal.tenant);
    try {
      const judge = this.#parts.access.judge(caller.principal, tenant, requestId);
      return await finished(route, new Call({ ...shared, caller, tenant, judge }), leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  #nothing(path: string): Refusal {
    const methods = this.#routes.filter((route) => matchPath(route.path, path)).map(({ method }) => method);
    if (!methods.length) return new Refusal(404, "not_found", "There is nothing here");
    const allow = [...new Set(methods)].join(", ");
    return new Refusal(405, "method_not_allowed", `Only ${allow} can be used here`, { headers: { allow } });
  }

  #preflight(request: Request): Response {
    const response = this.#guards.preflight(request);
    const allowed = response.headers.get("access-control-allow-headers");
    const asked = (request.headers.get("access-control-request-headers") ?? "").split(",").map((name) => name.trim());
    // Programs of OpenAI's library send headers of their own from pages too.
    const more = asked.filter((name) => /^(x-stainless-[a-z-]{1,40}|openai-(organization|project|beta))$/i.test(name));
    if (allowed !== null) {
      response.headers.set("access-control-allow-headers", [allowed, requestHeaders, ...more].join(", "));
    }
    return response;
  }

  #requestId(request: Request): string {
    const given = request.headers.get("x-request-id");
    return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : this.#newId();
  }

  /** Chance is dear where it comes in small pieces. */
  #newId(): string {
    if (!this.#chance.length) this.#chance = this.#parts.random.bytes(64 * idBytes);
    const id = toHex(this.#chance.subarray(0, idBytes));
    this.#chance = this.#chance.subarray(idBytes);
    return id;
  }

  #dress(
    given: Response,
    request: Request,
    { requestId, isOpened }: { readonly requestId: string; readonly isOpened: boolean },
  ): Response {
    const origin = request.headers.get("origin");
    const response = withHeaders(given, always);
    const { headers } = response;
    for (const [name, value] of otherwise) if (!headers.has(name)) headers.set(name, value);
    headers.set("x-request-id", requestId);
    if (request.url.startsWith("https:")) headers.set("strict-transport-security", "max-age=31536000");
    // Never with credentials: a cookie is good for our own pages alone.
    headers.delete("access-control-allow-credentials");
    if (isOpened && origin !== null) {
      headers.set("access-control-allow-origin", origin);
      headers.set("access-control-expose-headers", exposedHeaders);
      headers.append("vary", "Origin");
    }
    return response;
  }
}

/** The same reply with headers: what came of a fetch has some that cannot be changed, and is copied. */
function withHeaders(given: Response, added: typeof always): Response {
  try {
    for (const [name, value] of added) given.headers.set(name, value);
    return given;
  } catch {
    return withHeaders(new Response(given.body, given), added);
  }
}

/** Answers, and lets go of what the call holds when the reply is over. */
async function finished(route: Route, call: Call, leave: () => void): Promise<Response> {
  let isStream = false;
  const finish = (): void => {
    call.finish();
    leave();
  };
  try {
    const response = await route.answer(call);
    if (route.policy.kind === "decided" && response.ok && !call.wasAsked) {
      await response.body?.cancel();
      throw new TypeError(`The route ${route.method} ${route.path} did not ask the policy`);
    }
    isStream = response.body !== null && response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const count = call.isCounted || call.way === undefined ? undefined : countOf(call);
    if (!isStream) return count ? withEnd(response, { count }) : response;
    // A host may let go of a stream that it does not read without a word, and tell of it by the request alone.
    void call.leaving.left.then(finish);
    return withEnd(response, { finish, count });
  } finally {
    if (!isStream) finish();
  }
}

/** Counts what comes and goes where a route reads and writes by itself. */
function countOf(call: Call): (bytes: number) => void {
  call.count(Number(call.request.headers.get("content-length")) || 0);
  return (bytes) => call.count(bytes);
}

/** The same reply, which tells how much of it is read, and when nobody reads it any more. */
function withEnd(
  response: Response,
  { finish = () => {}, count }: {
    readonly finish?: () => void;
    readonly count: ((bytes: number) => void) | undefined;
  },
): Response {
  const reader = response.body?.getReader();
  if (!reader) return response;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          count?.(value.length);
          return controller.enqueue(value);
        }
        finish();
        controller.close();
      } catch (error) {
        finish();
        controller.error(error);
      }
    },
    async cancel(reason) {
      finish();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, response);
}

/**
 * What changes something by a cookie has to come from our own page.
 *
 * @throws {Refusal} 403.
 */
export function checkPage(request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  if (isOwnOrigin(request) && site === "same-origin" && cookieOf(request)) return;
  throw new Refusal(403, "forbidden", "A cookie is good for this runner's own page alone");
}

/**
 * What reads with a cookie, streams too, is our own page or a person that opens it: a page of another port of this machine is of the
 * same site, so that its requests bring the cookie along.
 *
 * @throws {Refusal} 403.
 */
function checkReading(request: Request): void {
  const site = request.headers.get("sec-fetch-site") ?? "none";
  const origin = request.headers.get("origin");
  if (origin !== null) return checkPage(request);
  if (site !== "same-origin" && site !== "none") {
    throw new Refusal(403, "forbidden", "A cookie is good for this runner's own page alone");
  }
}

/** Whether a page of this very host asks. Its scheme is the browser's business: a proxy may have taken TLS off. */
function isOwnOrigin({ headers, url }: Request): boolean {
  const origin = headers.get("origin");
  if (origin === null) return false;
  const host = headers.get("host") ?? new URL(url).host;
  return origin === `https://${host}` || origin === `http://${host}`;
}

function tenantOf(request: Request, { principal }: Caller): string {
  const given = request.headers.get("causeway-tenant");
  if (given === null) return principal.tenant;
  if (/^[\x21-\x7e]{1,128}$/.test(given)) return given;
  throw new Refusal(400, "invalid_request", '"Causeway-Tenant": expected 1 to 128 visible ASCII characters');
}
