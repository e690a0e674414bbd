/** The loopback server that tests in every runtime may call; see `tests/support/server_url.ts`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endProcess, startProcess } from "../process.ts";
import { root, scriptCommand } from "../programs.ts";

/** The running server. */
export interface TestServer {
  readonly url: string;
  /** Ends it and all that it started. */
  stop(): void;
}

/** Starts `tests/hosts/test_server.ts`, which prints its URL first; undefined when there is no such file. */
export async function startTestServer(): Promise<TestServer | undefined> {
  const program = join(root, "tests", "hosts", "test_server.ts");
  const script = scriptCommand();
  if (!existsSync(program) || script === undefined) return undefined;
  const child = startProcess([...script, program]);
  const stop = () => endProcess(child);
  let problems = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => problems = (problems + text).slice(-4096));
  const firstLine = new Promise<string>((resolve, reject) => {
    if (child.stdout !== null) createInterface({ input: child.stdout }).once("line", resolve);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`it ended with exit code ${code}: ${problems}`)));
    setTimeout(() => reject(new Error(`it printed no URL within 20 s: ${problems}`)), 20_000).unref();
  });
  try {
    const url = new URL((await firstLine).trim()).href.replace(/\/$/, "");
    child.stdout?.resume();
    return { url, stop };
  } catch (error) {
    stop();
    throw new Error(`Cannot start tests/hosts/test_server.ts: ${error instanceof Error ? error.message : error}`);
  }
}
