/**
 * Loads the agent of a module that a person has named.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isApiAgent } from "../../../agent/api_agent.ts";
import type { ApiAgentShape } from "../../../agent/api_agent.ts";
import type { McpAgentShape } from "../../../agent/mcp_agent.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import { UsageError } from "../../failure.ts";

/**
 * What a module exports as `default` (or `agent`): an agent, or a class or function without parameters that makes one.
 *
 * @throws {UsageError} When there is no such file, it cannot be loaded, or exports no agent.
 */
export async function loadAgent(file: string): Promise<McpAgentShape | ApiAgentShape> {
  const path = resolve(file);
  if (!await stat(path).then((found) => found.isFile(), () => false)) {
    throw new UsageError(`Cannot read the agent "${file}": there is no such file; correct the path`);
  }
  let made: unknown;
  try {
    const module: unknown = await import(pathToFileURL(path).href);
    made = isObject(module) ? module.default ?? module.agent : undefined;
    if (typeof made === "function") {
      made = isClass(made) ? Reflect.construct(made, []) : await Reflect.apply(made, undefined, []);
    }
  } catch (error) {
    throw new UsageError(`Cannot load the agent "${file}": ${reasonOf(error)}`);
  }
  if (isMcpAgent(made) || isModel(made)) return made;
  throw new UsageError(
    `Cannot serve "${file}": expected an agent (getMcpToolDefinitions and executeMcpTool) as its default export`,
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node before 22.18, of which 20 is one that the command runs on.
  const isUnread = "code" in error && error.code === "ERR_UNKNOWN_FILE_EXTENSION" && error.message.includes('".ts"');
  return isUnread
    ? "this Node reads no TypeScript; take 22.18 or later, Bun or Deno, or write the agent in JavaScript (.js)"
    : error.message;
}

/** A class has a prototype that cannot be replaced; other functions have another, or none. */
function isClass(made: object): boolean {
  return Object.getOwnPropertyDescriptor(made, "prototype")?.writable === false;
}

/** Whether it has tools. */
export function isMcpAgent(value: unknown): value is McpAgentShape {
  return typeof value === "object" && value !== null && "getMcpToolDefinitions" in value && "executeMcpTool" in value &&
    typeof value.getMcpToolDefinitions === "function" && typeof value.executeMcpTool === "function";
}

function isModel(value: unknown): value is ApiAgentShape {
  return typeof value === "object" && value !== null && isApiAgent(value);
}
