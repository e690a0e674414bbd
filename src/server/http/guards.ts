/**
 * What stands before every route: the Host and Origin of a request, who sends it, and what browsers have to be told (CORS).
 *
 * @module
 */
import type { AuthInfo } from "../definitions.ts";
import type { Authenticate, HttpOptions } from "./options.ts";
import { refuse } from "./replies.ts";
import { readUrl } from "../../egress/url.ts";

const methods = "POST, GET, DELETE, OPTIONS";
/** Headers that a page may send; those that mirror arguments are added by name when they are asked for. */
const headers = "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, " +
  "Last-Event-ID, traceparent, tracestate, baggage";
const exposed = "Mcp-Session-Id, WWW-Authenticate, Retry-After";
/** How long a browser may keep what a preflight said, in seconds. */
const preflightAge = "7200";

type Rule = (value: string) => boolean;

/** Holds each request against the allowed hosts and origins. */
export class Guards {
  readonly #isHost: Rule;
  readonly #isOrigin: Rule;
  /** The last host that was let through: most requests name the same. */
  #lastHost: string | undefined;

  /** @throws {TypeError} When an allowed origin is none (`https://app.example.com` is one), or an allowed host is a URL. */
  constructor({ allowedHosts, allowedOrigins }: Pick<HttpOptions, "allowedHosts" | "allowedOrigins">) {
    this.#isHost = hostRule(allowedHosts);
    this.#isOrigin = originRule(allowedOrigins);
  }

  /** The 403 for a request that must not be looked at further (specification: Streamable HTTP, Security). */
  refuse(request: Request, origin: string | null = request.headers.get("origin")): Response | undefined {
    if (origin !== null && !this.#isOrigin(origin)) return refuse(403, "This Origin is not in allowedOrigins");
    const host = request.headers.get("host") ?? new URL(request.url).host;
    if (host !== this.#lastHost && !this.#isHost(host)) return refuse(403, "This Host is not in allowedHosts");
    this.#lastHost = host;
    return undefined;
  }

  /** Answers the question of a browser whether a page may send what it wants to. The guard was passed. */
  preflight(request: Request): Response {
    const asked = request.headers.get("access-control-request-headers") ?? "";
    const mirrored = asked.split(",").map((name) => name.trim()).filter((name) =>
      /^mcp-param-[\w!#$%&'*+.^`|~-]+$/i.test(name)
    );
    const reply = { allow: methods };
    if (!request.headers.has("origin")) return new Response(null, { status: 204, headers: reply });
    return new Response(null, {
      status: 204,
      headers: {
        ...reply,
        "access-control-allow-methods": methods,
        "access-control-allow-headers": [headers, ...mirrored].join(", "),
        "access-control-max-age": preflightAge,
        vary: "Access-Control-Request-Headers",
      },
    });
  }

  /** Lets the page read the reply. */
  open(origin: string | null, response: Response): Response {
    if (origin === null) return response;
    // What `auth` gave may come from another fetch, whose headers cannot be changed.
    const reply = new Response(response.body, response);
    reply.headers.set("access-control-allow-origin", origin);
    reply.headers.set("access-control-expose-headers", exposed);
    reply.headers.append("vary", "Origin");
    return reply;
  }
}

/**
 * Has a request verified, and then answered. Who verified it has the last word on the answer.
 *
 * @param isPublic Whether anybody may ask for this, verified or not.
 */
export async function answerVerified(
  request: Request,
  verify: Authenticate | undefined,
  answer: (auth: AuthInfo | undefined) => Response | Promise<Response>,
  isPublic?: boolean,
): Promise<Response> {
  const auth = isPublic ? undefined : await verify?.(request);
  if (isReply(auth)) return auth;
  const response = await answer(auth);
  return verify?.complete?.(response, auth) ?? response;
}

/**
 * Whether what verified a request gave the reply to it. Told by what it has: of the class `Response` it may not be, since libraries put
 * one of their own in its place (`@hono/node-server`), and who was refused would be let in.
 *
 * @throws {TypeError} When it is neither that nor a caller: `false` was meant to refuse.
 */
export function isReply(verified: AuthInfo | Response | undefined): verified is Response {
  if (verified !== undefined && typeof verified !== "object") throw new TypeError(`"auth" gave a ${typeof verified}`);
  return (verified as Response | undefined)?.arrayBuffer !== undefined;
}

function hostRule(allowed: HttpOptions["allowedHosts"]): Rule {
  if (allowed === undefined) return (host) => isThisMachine(withoutPort(host));
  const list = listed(allowed);
  if (list.includes("*")) return () => true;
  const names = new Set(list.map((name) => {
    // It would never be the name of anything.
    if (/[/\s@*,]/.test(name)) {
      throw new TypeError(`Cannot allow the host "${name}": expected one like "app.example.com"`);
    }
    return name.toLowerCase();
  }));
  return (host) => names.has(host.toLowerCase()) || names.has(withoutPort(host).toLowerCase());
}

function originRule(allowed: HttpOptions["allowedOrigins"]): Rule {
  if (allowed === undefined) return isLoopbackOrigin;
  const list = listed(allowed);
  if (list.includes("*")) return () => true;
  const origins = new Set(list.map(originOf));
  return (origin) => origins.has(origin.toLowerCase());
}

/** A text is one name: `"*.example.com"` is not any. */
function listed(allowed: readonly string[] | string): readonly string[] {
  return typeof allowed === "string" ? [allowed] : [...allowed];
}

function originOf(text: string): string {
  const url = readUrl(text);
  // Schemes that the standard does not know (`vscode-webview:`) have no origin of their own in it.
  const origin = !url ? "null" : url.origin !== "null" ? url.origin : url.host && `${url.protocol}//${url.host}`;
  // With a "*" in it, it would never be anybody's.
  if (!origin || origin === "null" || /\*/.test(origin)) {
    throw new TypeError(`Cannot allow the origin "${text}": expected one like "https://app.example.com"`);
  }
  return origin.toLowerCase();
}

function isLoopbackOrigin(origin: string): boolean {
  const url = /^https?:\/\//i.test(origin) ? readUrl(origin) : undefined;
  // What has a user, a path or a query is no origin.
  return url !== undefined && url.origin === origin.toLowerCase() && isThisMachine(url.hostname);
}

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, "");
}

/** Names and addresses that no other machine can have: a name cannot end with a number or stand in brackets. */
function isThisMachine(hostname: string): boolean {
  return /^(([\w-]+\.)*localhost|127(\.\d{1,3}){3}|\[[0:]+1\])$/i.test(hostname);
}
