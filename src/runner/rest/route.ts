/**
 * A route: one row of the table that serves, is documented, and is checked for its policy.
 *
 * @module
 */
import type { JsonSchema } from "../../protocol/types.ts";
import type { Action } from "../access/types.ts";
import type { Call } from "./call.ts";
import type { RouteInput } from "./route_input.ts";

/** Who may use a route. */
export type RoutePolicy =
  /** Anybody whose Host and Origin are allowed. */
  | { readonly kind: "public"; readonly why: string }
  /** Whoever is signed in: it gives and changes nothing but what is the caller's own. */
  | { readonly kind: "signed-in"; readonly why: string }
  /** What the policy says of this action; each answer is preceded by a look at it. */
  | { readonly kind: "decided"; readonly actions: readonly Action[]; readonly about: string };

/** What a route replies when all is well. */
export interface RouteReply {
  /** What it means. */
  readonly description: string;
  /** The type of its body; none: it has no body. */
  readonly type?: string | undefined;
  /** What its body looks like. */
  readonly schema?: JsonSchema | undefined;
}

/** One route. */
export interface Route extends RouteInput {
  /** The method; `ALL` leaves it to who answers. */
  readonly method: "GET" | "POST" | "DELETE" | "ALL";
  /** The path; a part that begins with a colon is a parameter. */
  readonly path: string;
  /** What it does, in one sentence. */
  readonly summary: string;
  /** Who may use it. */
  readonly policy: RoutePolicy;
  /** Headers that it reads, by name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** By status. */
  readonly replies: Readonly<Record<number, RouteReply>>;
  /** Whether errors are in a form of its own (MCP). */
  readonly isForeign?: boolean | undefined;
  /** Whether a person's browser is sent to it: there errors are in words, where it asks for a page. */
  readonly isPage?: boolean | undefined;
  /** Answers; what it throws is answered by the runner. */
  answer(call: Call): Response | Promise<Response>;
}

/** The methods of a route: those of MCP where it leaves them to who answers. */
export function methodsOf({ method }: Pick<Route, "method">): readonly string[] {
  return method === "ALL" ? ["POST", "GET", "DELETE"] : [method];
}

/** The parameters of a path that fits, as they stand in it. */
export function paramsOf(wanted: readonly string[], given: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (let at = 0; at < wanted.length; at++) {
    const part = wanted[at] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = given[at] ?? "";
  }
  return params;
}

/** Whether the parts of a path are those that a pattern has, or stand where it has a parameter: something has to. */
export function fits(wanted: readonly string[], given: readonly string[]): boolean {
  if (wanted.length !== given.length) return false;
  // From the end: the beginnings are the same for most.
  for (let at = wanted.length - 1; at >= 0; at--) {
    const part = wanted[at];
    if (part !== given[at] && (!part?.startsWith(":") || given[at] === "")) return false;
  }
  return true;
}

/** The path of a URL as `Request` writes it: making a `URL` of it is dear on some runtimes. */
export function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", start);
  const fragment = url.indexOf("#", start);
  const end = query < 0 || fragment >= 0 && fragment < query ? fragment : query;
  return end < 0 ? url.slice(start) : url.slice(start, end);
}
