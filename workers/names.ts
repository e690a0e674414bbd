/**
 * The names that a Worker is reached by.
 *
 * @module
 */
import type { HttpOptions } from "../src/server/mod.ts";

/** What the operator sets. */
export interface NamesEnv {
  /** The names that the Worker is reached by, with commas between: `mcp.example.com`. Without them, this machine's alone. */
  readonly ALLOWED_HOSTS?: string;
  /** The origins whose pages may use it, with commas between: `https://app.example.com`. */
  readonly ALLOWED_ORIGINS?: string;
}

/** The names that the environment allows, as options of an endpoint. */
export function namesOf({ ALLOWED_HOSTS, ALLOWED_ORIGINS }: NamesEnv): Pick<
  HttpOptions,
  "allowedHosts" | "allowedOrigins"
> {
  return { allowedHosts: listOf(ALLOWED_HOSTS), allowedOrigins: listOf(ALLOWED_ORIGINS) };
}

function listOf(text: string | undefined): string[] | undefined {
  const names = text?.split(",").map((name) => name.trim()).filter((name) => name !== "");
  return names?.length ? names : undefined;
}
