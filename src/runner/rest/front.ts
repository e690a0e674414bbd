/**
 * What stands before every route: Host, Origin, who asks, quotas, request ids, headers; and the last word on what went wrong.
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import { readRest } from "../../server/http/body.ts";
import { Guards } from "../../server/http/guards.ts";
import type { Caller } from "../access/access.ts";
import { cookieOf } from "../access/access.ts";
import { watchStanding } from "../access/standing.ts";
import type { RunnerParts } from "../parts.ts";
import { Call } from "./call.ts";
import type { CallOptions } from "./call.ts";
import { Dressing } from "./dress.ts";
import { asModelError, closing, problemReply, Refusal, refusalOf, wordsOf } from "./problem.ts";
import { fits, methodsOf, pathOf } from "./route.ts";
import type { Route } from "./route.ts";
import { isPromise } from "../../protocol/promise.ts";

const requestHeaders = "Idempotency-Key, X-Request-Id, Causeway-Tenant, Causeway-Approval";
/** Hexadecimal digits. */
const idLength = 32;

/** A route, and the parameters of the path that led to it. */
export interface FoundRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The front of all routes. */
export class Front {
  readonly #parts: RunnerParts;
  readonly #routes: readonly Route[];
  readonly #guards: Guards;
  /** Digits that no id has yet, from a place on. */
  #chance = "";
  #chanceAt = 0;
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

  /** Answers a request; without `found` there is no such route. Never rejects. */
  async answer(request: Request, found?: FoundRoute): Promise<Response> {
    const { headers } = request;
    const origin = headers.get("origin");
    const requestId = this.#requestId(headers);
    const dressing = new Dressing(requestId, request.url);
    let response: Response;
    try {
      this.#guard(request, origin);
      dressing.open(origin);
      response = request.method === "OPTIONS"
        ? this.#preflight(request)
        : await this.#serve(request, found, { requestId, dressing });
    } catch (error) {
      const refusal = refusalOf(error, this.#parts.logger);
      const isModel = pathOf(request.url).startsWith("/v1/");
      response = found?.route.isPage && headers.get("accept")?.includes("text/html")
        ? wordsOf(refusal)
        : problemReply(isModel ? asModelError(refusal) : refusal, requestId);
    }
    if (response.status === 101) return response;
    // What was read to its end leaves no rest.
    const left = request.method !== "GET" && !request.bodyUsed;
    const reply = left ? await readRest(request, response, this.#parts.clock) : response;
    return dressing.put(reply);
  }

  /** Who asks: as a route does, for what is no route (a WebSocket). */
  async admit(
    request: Request,
  ): Promise<{ readonly caller: Caller; readonly tenant: string; readonly leave: () => void }> {
    this.#guard(request, request.headers.get("origin"));
    if (this.#isClosed) throw closing();
    const caller = await this.#parts.access.identify(request);
    if (caller.way === "session") checkPage(request);
    const tenant = tenantOf(request, caller);
    return { caller, tenant, leave: this.#parts.quotas.enter(caller.principal.tenant) };
  }

  /** Our own pages are where we are: whether that is allowed, the Host says. */
  #guard(request: Request, origin: string | null): void {
    if (!this.#guards.refuse(request, isOwnOrigin(request, origin) ? null : origin)) return;
    throw new Refusal(403, "forbidden", "This Origin or Host is not in allowedOrigins or allowedHosts");
  }

  async #serve(
    request: Request,
    found: FoundRoute | undefined,
    { requestId, dressing }: Pick<CallOptions, "requestId" | "dressing">,
  ): Promise<Response> {
    if (!found) throw this.#nothing(pathOf(request.url));
    if (this.#isClosed) throw closing();
    const parts = this.#parts;
    const { route, params } = found;
    if (route.policy.kind === "public") {
      const nobody = { caller: undefined, tenant: "", judge: undefined };
      const call = new Call({ parts, route, request, params, requestId, dressing, ...nobody });
      return await finished(route, call, () => {});
    }
    const known = parts.access.identify(request);
    const caller = isPromise(known) ? await known : known;
    if (caller.way === "session") (request.method === "GET" ? checkReading : checkPage)(request);
    const tenant = tenantOf(request, caller);
    // Whoever asks pays, whatever they ask for.
    const leave = parts.quotas.enter(caller.principal.tenant);
    try {
      const judge = parts.access.judge(caller.principal, tenant, requestId);
      const call = new Call({ parts, route, request, params, requestId, dressing, caller, tenant, judge });
      // At once: until the policy is asked others would come in.
      call.countBody();
      return await finished(route, call, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  #nothing(path: string): Refusal {
    const parts = path.split("/");
    const methods = this.#routes.filter((route) => fits(route.path.split("/"), parts)).flatMap(methodsOf);
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

  #requestId(headers: Headers): string {
    const given = headers.get("x-request-id");
    return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : this.#newId();
  }

  /** Chance is dear where it comes in small pieces. */
  #newId(): string {
    if (this.#chanceAt >= this.#chance.length) {
      this.#chance = randomHex(this.#parts.random, 64 * idLength / 2);
      this.#chanceAt = 0;
    }
    return this.#chance.slice(this.#chanceAt, this.#chanceAt += idLength);
  }
}

/** Answers, and lets go of what the call holds when the reply is over. */
async function finished(route: Route, call: Call, leave: () => void): Promise<Response> {
  let isStream = false;
  let stop = (): void => {};
  const finish = (): void => {
    stop();
    call.finish(leave);
  };
  try {
    const response = await route.answer(call);
    if (route.policy.kind === "decided" && response.ok && !call.wasAsked) {
      await response.body?.cancel();
      throw new TypeError(`The route ${route.method} ${route.path} did not ask the policy`);
    }
    isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true && response.body !== null;
    const count = call.isCounted || call.way === undefined ? undefined : (bytes: number) => call.count(bytes);
    if (!isStream) return count ? withEnd(response, { count }) : response;
    // A host may let go of a stream that it does not read without a word, and tell of it by the request alone.
    void call.leaving.left.then(finish);
    const watch = (gone: () => void): void => {
      if (isListening(call)) stop = whileLetIn(call, gone);
    };
    return withEnd(response, { finish, count, watch });
  } finally {
    if (!isStream) finish();
  }
}

/** Whether it is a stream of what happens, and not the answer to a call: that is given to its end. */
function isListening({ way, request: { method, headers } }: Call): boolean {
  return way !== undefined && (method === "GET" || headers.get("mcp-method") === "subscriptions/listen");
}

/** Looks whether who listens would be let in now, too. */
function whileLetIn(call: Call, gone: () => void): () => void {
  const { request, parts: { access, clock } } = call;
  return watchStanding({ clock, isGood: () => access.isStill(request, call), gone });
}

/** The same reply, which tells how much of it is read, and when nobody reads it any more; `watch` may end it. */
function withEnd(
  response: Response,
  { finish = () => {}, count, watch = () => {} }: {
    readonly finish?: () => void;
    readonly count: ((bytes: number) => void) | undefined;
    readonly watch?: (gone: () => void) => void;
  },
): Response {
  const reader = response.body?.getReader();
  if (!reader) return response;
  watch(() => {
    // Perhaps nobody reads it.
    finish();
    void reader.cancel().catch(() => {});
  });
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
  const origin = request.headers.get("origin");
  if (isOwnOrigin(request, origin) && site === "same-origin" && cookieOf(request)) return;
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
function isOwnOrigin({ headers, url }: Request, origin: string | null): boolean {
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
