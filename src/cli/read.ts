/**
 * Files and JSON as people write them.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { isObject } from "../protocol/json_rpc.ts";
import type { JsonValue } from "../protocol/json_rpc.ts";
import { UsageError } from "./failure.ts";

/**
 * The text of a file; undefined when there is none.
 *
 * @param where What the message calls it: `the config "mcp.json"`.
 * @throws {UsageError} When it is there and cannot be read.
 */
export async function readText(path: string, where: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isObject(error) && error.code === "ENOENT") return undefined;
    throw new UsageError(`Cannot read ${where}: ${why(error)}`);
  }
}

/**
 * Reads JSON, with or without a byte order mark.
 *
 * @param where What the message calls it.
 * @param remedy What to do about it, for the end of the message.
 * @throws {UsageError} When it is not JSON.
 */
export function parseJson(text: string, where: string, remedy: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text.replace(/^\uFEFF/, ""));
    return value;
  } catch (error) {
    throw new UsageError(`Cannot read ${where}: it is not JSON (${why(error)}); ${remedy}`);
  }
}

function why(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
