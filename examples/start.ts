/** Starts an example: over its standard input and output, or with `--http [port]` on this machine's own address. */
import { realpathSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createAgentHandler, type McpAgentShape, toMcpServer } from "@causeway/mcp/agent";
import { serveHttp, serveStdio } from "@causeway/mcp/local";
import type { Logger } from "@causeway/mcp/transport";

const defaultPort = 8787;

/** The standard output belongs to the protocol: what is said goes to the standard error. */
const logger: Logger = ({ level, message, fields }) => console.error(level, message, fields ?? "");

/**
 * Starts an agent when its file is the program that runs; does nothing where it is imported. What keeps it from starting
 * is one line on the standard error, and exit code 1.
 *
 * @param meta `import.meta` of its file.
 * @param create Makes the agent, from the arguments that are no options.
 */
export async function startWhenMain(
  meta: ImportMeta,
  create: (parameters: readonly string[]) => McpAgentShape,
): Promise<void> {
  const program = process.argv[1];
  if (program === undefined || realpathSync(program) !== realpathSync(fileURLToPath(meta.url))) return;
  try {
    const { port, rest } = readArguments(process.argv.slice(2));
    await start(create(rest), port);
  } catch (error) {
    console.error(`Cannot start: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

async function start(agent: McpAgentShape, port: number | undefined): Promise<void> {
  if (port === undefined) {
    const serving = await serveStdio(toMcpServer(agent, { logger }), { logger });
    return await serving.closed;
  }
  const { url } = await serveHttp(createAgentHandler(agent, { logger }), { port });
  console.error(`Serving at ${url}/mcp`);
}

/** @throws {RangeError} When there is an option that is none. */
function readArguments(given: readonly string[]): { port: number | undefined; rest: string[] } {
  const at = given.indexOf("--http");
  const next = at < 0 ? undefined : given[at + 1];
  const hasPort = next !== undefined && /^\d{1,5}$/.test(next);
  const rest = given.filter((_, index) => at < 0 || (index !== at && !(hasPort && index === at + 1)));
  const unknown = rest.find((word) => word.startsWith("-"));
  if (unknown !== undefined) throw new RangeError(`there is no option "${unknown}", expected --http [port]`);
  const port = hasPort ? Number(next) : defaultPort;
  if (port > 65_535) throw new RangeError(`there is no port ${port}, expected at most 65535`);
  return { port: at < 0 ? undefined : port, rest };
}
