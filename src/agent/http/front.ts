/**
 * What stands before the routes beside MCP: Host, Origin and caller are checked, bodies are bounded, nothing of an
 * unexpected error gets out.
 *
 * @module
 */
import { systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Logger, Random } from "../../ports.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { defaultLimits, fillIn, timeOr } from "../../protocol/limits.ts";
import type { Limits } from "../../protocol/limits.ts";
import type { AuthInfo } from "../../server/definitions.ts";
import { isJson, readBody, readRest } from "../../server/http/body.ts";
import { answerVerified, Guards } from "../../server/http/guards.ts";
import type { Handler, HttpOptions } from "../../server/http/mod.ts";
import { ModelError } from "../api_agent.ts";
import { errorReply, refuse, toModelError } from "./replies.ts";

/** Options of the routes beside MCP. */
export interface RouteOptions extends Pick<HttpOptions, "allowedHosts" | "allowedOrigins" | "auth" | "keepAlive"> {
  /** Bounds of what is taken and given: `messageBytes` of a body, and of what a model or a tool gives. Default: `defaultLimits`. */
  limits?: Partial<Limits> | undefined;
  /** Takes the operator's log lines. Default: none. */
  logger?: Logger | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
  /** Chance, for ids. Default: the runtime's. */
  random?: Random | undefined;
}

/** What every route works with. */
export interface RouteParts {
  readonly limits: Limits;
  readonly logger: Logger | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Silence on a stream before a comment is sent to keep it open, in milliseconds. */
  readonly keepAlive: number;
}

/** One request on its way to a route. */
export interface Asked {
  readonly request: Request;
  /** The path of its URL, as it was sent. */
  readonly path: string;
  readonly auth: AuthInfo | undefined;
}

/** Some routes that belong together. */
export interface Routes {
  /** Whether a path is one of theirs. */
  has(path: string): boolean;
  /** Whether anybody may ask for it, verified or not. */
  isPublic?(path: string): boolean;
  /** Answers. What it throws is answered by the front. */
  answer(asked: Asked): Response | Promise<Response>;
  /** Ends what goes on after an answer: streams. */
  close?(): void;
}

/** Fills in the options. */
export function createRouteParts(options: RouteOptions): RouteParts {
  const { limits, logger, clock = systemClock, random = systemRandom, keepAlive } = options;
  return { limits: fillIn(defaultLimits, limits), logger, clock, random, keepAlive: timeOr(5_000, keepAlive) };
}

/**
 * Puts the front before routes.
 *
 * @throws {TypeError} When an allowed origin is none.
 */
export function createFront(routes: readonly Routes[], options: RouteOptions): Handler {
  const front = new Front(routes, options);
  return Object.assign((request: Request) => front.answer(request), { close: () => front.close() });
}

class Front {
  readonly #routes: readonly Routes[];
  readonly #options: RouteOptions;
  readonly #guards: Guards;
  #closed = false;

  constructor(routes: readonly Routes[], options: RouteOptions) {
    this.#routes = routes;
    this.#options = options;
    this.#guards = new Guards(options);
  }

  async answer(request: Request): Promise<Response> {
    const { clock = systemClock } = this.#options;
    if (this.#guards.refuse(request)) {
      const refused = refuse(403, "This Origin or Host is not in allowedOrigins or allowedHosts", {
        code: "forbidden",
      });
      return await readRest(request, refused, clock);
    }
    const origin = request.headers.get("origin");
    try {
      const response = request.method === "OPTIONS"
        ? preflight(this.#guards, request)
        : await readRest(request, await this.#route(request), clock);
      return this.#open(origin, response);
    } catch (error) {
      // What `auth` gave may be no reply that can be sent.
      return this.#open(origin, this.#failed(error));
    }
  }

  /** Lets the page read it, and what programs of OpenAI's library look at before they ask again. */
  #open(origin: string | null, response: Response): Response {
    const reply = this.#guards.open(origin, response);
    if (origin !== null) reply.headers.append("access-control-expose-headers", "X-Should-Retry");
    return reply;
  }

  close(): void {
    this.#closed = true;
    for (const routes of this.#routes) routes.close?.();
  }

  async #route(request: Request): Promise<Response> {
    if (this.#closed) return refuse(503, "This server is closing", { code: "closing" });
    const path = new URL(request.url).pathname;
    const routes = this.#routes.find((routes) => routes.has(path));
    const answer = (auth: AuthInfo | undefined) => this.#answer(routes, { request, path, auth });
    return await answerVerified(request, this.#options.auth, answer, routes?.isPublic?.(path));
  }

  async #answer(routes: Routes | undefined, asked: Asked): Promise<Response> {
    try {
      return await routes?.answer(asked) ?? refuse(404, "There is nothing here", { code: "not_found" });
    } catch (error) {
      return this.#failed(error);
    }
  }

  #failed(error: unknown): Response {
    return errorReply(toModelError(error, this.#options.logger, "A request could not be answered"));
  }
}

/** Programs of OpenAI's library send headers of their own from pages too. */
function preflight(guards: Guards, request: Request): Response {
  const response = guards.preflight(request);
  const allowed = response.headers.get("access-control-allow-headers");
  const asked = request.headers.get("access-control-request-headers") ?? "";
  const more = asked.split(",").map((name) => name.trim()).filter((name) =>
    /^(x-stainless-[a-z-]{1,40}|openai-(organization|project|beta))$/i.test(name)
  );
  if (allowed !== null && more.length) {
    response.headers.set("access-control-allow-headers", [allowed, ...more].join(", "));
  }
  return response;
}

/**
 * Reads a body that is a JSON object, under limits.
 *
 * @throws {ModelError} When it is not (400), is of another type (415), is too long (413) or comes too slowly (408).
 */
export async function readObject(
  request: Request,
  parts: Pick<RouteParts, "limits" | "clock">,
): Promise<JsonObject> {
  if (!isJson(request.headers.get("content-type"))) {
    throw new ModelError('The Content-Type has to be "application/json"', { status: 415, code: "wrong_content_type" });
  }
  const read = await readBody(request, parts);
  if ("refused" in read) {
    if (read.refused.status === 413) {
      const message = `The body is longer than ${parts.limits.messageBytes} bytes`;
      throw new ModelError(message, { status: 413, code: "body_too_long" });
    }
    if (read.refused.status === 408) {
      throw new ModelError("The body took too long to come", { status: 408, code: "body_too_slow" });
    }
    const message = "The body is not JSON in UTF-8, nests too deep or holds too many values";
    throw new ModelError(message, { status: 400, code: "invalid_json" });
  }
  if (isObject(read.value)) return read.value as JsonObject;
  throw new ModelError("The body has to be a JSON object", { status: 400, code: "invalid_json" });
}

/** What tells whether the caller of a request is gone. */
export interface Leaving {
  readonly signal: AbortSignal;
  /** Says that the caller is gone: nobody is watched any more. */
  leave(): void;
  /** Resolves when the caller is gone. */
  readonly left: Promise<void>;
  /** Stops watching. */
  done(): void;
}

/**
 * Watches whether the caller leaves.
 *
 * @param done Called when nobody watches any more.
 */
export function watchCaller(request: Request, done?: () => void): Leaving {
  const controller = new AbortController();
  let resolve: () => void = () => {};
  const left = new Promise<void>((settle) => resolve = settle);
  const end = (): void => {
    controller.abort(new DOMException("The caller is gone", "AbortError"));
    resolve();
  };
  const stop = (): void => {
    request.signal?.removeEventListener("abort", leave);
    done?.();
  };
  const leave = (): void => {
    stop();
    end();
  };
  // Some runtimes give requests of a program's own making no signal.
  if (request.signal?.aborted) end();
  else request.signal?.addEventListener("abort", leave);
  return { signal: controller.signal, leave, left, done: stop };
}
