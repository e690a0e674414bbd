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
  /** Answers; what it throws is answered by the runner. */
  answer(call: Call): Response | Promise<Response>;
}

/** The parameters of a path, or undefined when it is another one. What cannot be decoded stays as it is. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const text = given[at] ?? "";
    if (!part.startsWith(":")) {
      if (part !== text) return undefined;
    } else if (text === "") return undefined;
    else params[part.slice(1)] = decode(text);
  }
  return params;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
