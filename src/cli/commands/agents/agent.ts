/**
 * `causeway agent <file>`: serves the agent that a module exports, over stdin and stdout or over HTTP.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isApiAgent } from "../../../agent/api_agent.ts";
import type { ApiAgentShape } from "../../../agent/api_agent.ts";
import type { McpAgentShape } from "../../../agent/mcp_agent.ts";
import { createAgentHandler, createModelHandler, toMcpServer } from "../../../agent/mod.ts";
import { serveHttp, serveStdio } from "../../../entry/local.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { hostsOf } from "../../serve/http.ts";
import { ended } from "../../serve/serve.ts";
import { requireToken } from "../../serve/token.ts";
import { writeError } from "../../terminal.ts";
import { oneLine } from "../../text/plain.ts";
import { exactWords } from "../talk/common.ts";

/** Serves it until its client is gone, or it is interrupted. */
export async function serveAgent(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [file = ""] = exactWords(line, ["file"]);
  const agent = await loadAgent(file);
  const { http } = line.serve ?? {};
  if (!http) {
    if (!isMcpAgent(agent)) {
      throw new UsageError(`Cannot serve "${file}" over stdio: it is a model without tools; add --port`);
    }
    const served = await serveStdio(toMcpServer(agent));
    await Promise.race([served.closed, ended(signal)]);
    if (!signal.aborted) return exitCodes.ok;
    await served.close();
    throw signal.reason;
  }
  const auth = http.tokenFile === undefined ? undefined : await requireToken(http.tokenFile);
  const options = { auth, allowedHosts: hostsOf(http.hostname) };
  const handler = isMcpAgent(agent) ? createAgentHandler(agent, options) : createModelHandler(agent, options);
  const host = await serveHttp(handler, { port: http.port, hostname: http.hostname }).catch((error: unknown) => {
    const why = oneLine(error instanceof Error ? error.message : String(error));
    throw new UsageError(`Cannot listen at "${http.hostname}", port ${http.port}: ${why}`);
  });
  try {
    const paths = [...(isMcpAgent(agent) ? ["/mcp"] : []), ...(isApiAgent(agent) ? ["/v1"] : [])];
    await writeError(`causeway: serves the agent at ${paths.map((path) => host.url + path).join(" and ")}\n`);
    await ended(signal);
    throw signal.reason;
  } finally {
    await host.close();
  }
}

/** What a module exports as `default` (or `agent`): an agent, or a class or function without parameters that makes one. */
async function loadAgent(file: string): Promise<McpAgentShape | ApiAgentShape> {
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
    throw new UsageError(`Cannot load the agent "${file}": ${error instanceof Error ? error.message : String(error)}`);
  }
  if (isMcpAgent(made) || isModel(made)) return made;
  throw new UsageError(
    `Cannot serve "${file}": expected an agent (getMcpToolDefinitions and executeMcpTool) as its default export`,
  );
}

/** A class has a prototype that cannot be replaced; other functions have another, or none. */
function isClass(made: object): boolean {
  return Object.getOwnPropertyDescriptor(made, "prototype")?.writable === false;
}

function isMcpAgent(value: unknown): value is McpAgentShape {
  return typeof value === "object" && value !== null && "getMcpToolDefinitions" in value && "executeMcpTool" in value &&
    typeof value.getMcpToolDefinitions === "function" && typeof value.executeMcpTool === "function";
}

function isModel(value: unknown): value is ApiAgentShape {
  return typeof value === "object" && value !== null && isApiAgent(value);
}
