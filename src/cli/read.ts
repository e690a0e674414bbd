/**
 * Files as people write them.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { isObject } from "../protocol/json_rpc.ts";
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

function why(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
