/** The conformance server as a child process: started on a free port, ended by its process id. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { endProcess, startProcess } from "../process.ts";
import { bundle } from "./bundle.ts";
import { programOf, type Runtime } from "./outcome.ts";

const usual: ServerProgram = { program: "tests/conformance/server.ts" };
const worker = "tests/conformance/server_worker.ts";
/** Milliseconds that it may take to listen. */
const startTime = 20_000;
const keptCharacters = 4000;

/** What is started instead of the server itself. */
export interface ServerProgram {
  readonly program: string;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A server that listens. */
export interface RunningServer {
  /** `http://localhost:PORT/mcp` */
  readonly url: string;
  /** Whether it ended by itself. */
  ended(): boolean;
  /** The last of what it wrote since this was called before. */
  takeOutput(): string;
  /** Ends it and all that it started. */
  stop(): void;
}

/**
 * Starts it and waits for the line that names its URL.
 *
 * @throws {Error} When it ended instead or took too long, with what it wrote.
 */
export async function startServer(
  runtime: Runtime,
  scratch: string,
  { program, env }: ServerProgram = usual,
): Promise<RunningServer> {
  const child = startProcess(await serverCommand(runtime, scratch, program), { env: { ...env, PORT: "0" } });
  let output = "";
  let ended = false;
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (why: string) => {
      ended = true;
      endProcess(child);
      reject(new Error(`The conformance server on ${runtime} ${why}:\n${output}`));
    };
    const timer = setTimeout(() => fail(`did not listen within ${startTime} ms`), startTime);
    const take = (text: string) => {
      output = (output + text).slice(-keptCharacters);
      const [found] = /http:\/\/localhost:\d+\/mcp(?=\s)/.exec(output) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout?.setEncoding("utf8").on("data", take);
    child.stderr?.setEncoding("utf8").on("data", take);
    child.once("error", ({ message }) => fail(`could not be started (${message})`));
    child.once("exit", (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
  });
  output = "";
  return {
    url,
    ended: () => ended,
    takeOutput() {
      const taken = output;
      output = "";
      return taken;
    },
    stop: () => endProcess(child, "SIGTERM"),
  };
}

/** The command that starts it in a runtime; for Node and workerd it is bundled first. */
async function serverCommand(runtime: Runtime, scratch: string, program: string): Promise<string[]> {
  const command = programOf(runtime) ?? runtime;
  if (runtime === "bun") return [command, program];
  if (runtime === "deno") return [command, "run", "-A", "--no-check", "--quiet", program];
  const outfile = join(scratch, `server_${runtime}.mjs`);
  if (!existsSync(outfile)) await bundle({ entry: runtime === "node" ? program : worker, outfile, platform: runtime });
  return runtime === "node" ? [command, outfile] : [command, "tests/hosts/conformance_server_worker.ts", outfile];
}
