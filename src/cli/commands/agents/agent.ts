/**
 * `causeway agent <file>`: serves the agent that a module exports, over stdin and stdout or over HTTP.
 *
 * @module
 */
import { isApiAgent } from "../../../agent/api_agent.ts";
import { createAgentHandler, createModelHandler, toMcpServer } from "../../../agent/mod.ts";
import { serveHttp, serveStdio } from "../../../entry/local.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { cannotListen, hostsOf } from "../../serve/http.ts";
import { ended } from "../../serve/serve.ts";
import { requireToken } from "../../serve/token.ts";
import { writeError } from "../../terminal.ts";
import { exactWords } from "../talk/common.ts";
import { isMcpAgent, loadAgent } from "./load.ts";

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
    throw cannotListen(error, http);
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
