/** Starts an example: over its standard input and output, or with `--http [port]` on this machine's own address. */
import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import process from "node:process";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createAgentHandler, type McpAgentShape, toMcpServer } from "../src/agent/mod.ts";
import { serveStdio } from "../src/entry/local.ts";
import type { Logger } from "../src/ports.ts";
import type { Handler } from "../src/server/mod.ts";

const defaultPort = 8787;

/** The standard output belongs to the protocol: what is said goes to the standard error. */
const logger: Logger = ({ level, message, fields }) => console.error(level, message, fields ?? "");

/**
 * Starts an agent when its file is the program that runs; does nothing where it is imported.
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
  const { port, rest } = readArguments(process.argv.slice(2));
  const agent = create(rest);
  if (port === undefined) {
    const serving = await serveStdio(toMcpServer(agent, { logger }), { logger });
    await serving.closed;
  } else serveHttp(createAgentHandler(agent, { logger }), port);
}

function readArguments(given: readonly string[]): { port: number | undefined; rest: string[] } {
  const at = given.indexOf("--http");
  if (at < 0) return { port: undefined, rest: [...given] };
  const next = given[at + 1];
  const hasPort = next !== undefined && /^\d{1,5}$/.test(next);
  const rest = given.filter((_, index) => index !== at && !(hasPort && index === at + 1));
  return { port: hasPort ? Number(next) : defaultPort, rest };
}

/** `node:http` is there in Bun, Deno and Node. */
function serveHttp(handler: Handler, port: number): void {
  const server = createServer((incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch((error: unknown) => {
      console.error(error);
      outgoing.destroy();
    });
  });
  // On this address nobody else's machine can reach it.
  server.listen(port, "127.0.0.1", () => {
    const address = server.address();
    const bound = typeof address === "object" && address !== null ? address.port : port;
    console.error(`Serving at http://127.0.0.1:${bound}/mcp`);
  });
}

async function answer(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = "GET", url = "/", headers } = incoming;
  const controller = new AbortController();
  outgoing.on("close", () => controller.abort());
  const list = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one])
  );
  const hasBody = method !== "GET" && method !== "HEAD";
  const init = {
    method,
    headers: list,
    signal: controller.signal,
    ...(hasBody && { body: Readable.toWeb(incoming), duplex: "half" }),
  } as RequestInit;
  const base = `http://${/^[\w.:[\]-]+$/.test(headers.host ?? "") ? headers.host : "unknown"}`;
  const response = await handler(new Request(new URL(url, base), init));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  for await (const chunk of response.body ?? []) {
    if (!outgoing.write(chunk) && !outgoing.closed) await drained(outgoing);
    if (outgoing.closed) break;
  }
  outgoing.end();
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => outgoing.once("drain", resolve).once("close", resolve));
}
