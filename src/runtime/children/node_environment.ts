/**
 * The environment of children on Bun and Node.
 *
 * @module
 */
import process from "node:process";
import { platform } from "./child.ts";
import { safeEnvironment } from "./environment.ts";

/** The environment that a child of this process may have, with `extra` over it. */
export function baseEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return safeEnvironment(platform, process.env, extra);
}
