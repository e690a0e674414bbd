/** Starts the examples in the runtime of the test. */
import { spawn } from "node:child_process";
import { delimiter, dirname } from "node:path";
import process from "node:process";
import { assertEquals } from "@std/assert";
import { connect } from "../../src/entry/local.ts";
import type { Client } from "../../mod.ts";
import { runProcess } from "../../tools/process.ts";
import { bunPath } from "../../tools/programs.ts";

/** The command that runs an example. */
export function example(name: string, ...args: string[]): { command: string; args: string[] } {
  // The tests run from the repository's root, also where they were bundled to somewhere else.
  const file = `${process.cwd()}/examples/${name}.ts`;
  // Node runs what was compiled for it: its loader is named by an option.
  const loaders = process.execArgv.filter((option) => option.startsWith("--import="));
  const run = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : "Bun" in globalThis ? [] : loaders;
  return { command: process.execPath, args: [...run, file, ...args] };
}

/** Runs an example that ends by itself, and gives the lines that it prints; it fails where the example does. */
export async function story(name: string): Promise<string[]> {
  const { command, args } = example(name);
  return await linesOf([command, ...args]);
}

/** Runs a program to its end, and gives the lines that it prints; it fails where the program does, or takes a minute. */
export async function linesOf(command: readonly string[]): Promise<string[]> {
  // What a person types is `bun`, wherever it is.
  const path = `${dirname(bunPath() ?? process.execPath)}${delimiter}${process.env["PATH"]}`;
  const { code, timedOut, output, standardOutput } = await runProcess(command, {
    timeout: 60_000,
    env: { PATH: path },
  });
  assertEquals([code, timedOut], [0, false], output);
  return standardOutput.trimEnd().split("\n");
}

/** Connects to an example over its standard input and output, in each era. */
export async function withExample(
  name: string,
  args: readonly string[],
  run: (client: Client) => Promise<void>,
): Promise<void> {
  for (const era of ["modern", "legacy"] as const) {
    await using client = await connect(example(name, ...args), { verdict: { era } });
    assertEquals(client.era, era);
    await run(client);
  }
}

/** Starts an example over HTTP on a free port; ends it when it is disposed of. */
export async function startHttp(name: string, ...args: string[]): Promise<AsyncDisposable & { readonly url: string }> {
  const { command, args: all } = example(name, ...args, "--http", "0");
  const child = spawn(command, all, { stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += chunk;
      const found = /Serving at (http:\S+)\/mcp/.exec(said);
      if (found?.[1]) resolve(found[1]);
    });
    child.once("exit", () => reject(new Error(`It ended: ${said}`)));
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Starts an example that cannot start, and gives the one line that it says; it fails where there is more. */
export async function refusal(name: string, ...args: string[]): Promise<string> {
  const { command, args: all } = example(name, ...args);
  const child = spawn(command, all, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => said += chunk);
  const code = await new Promise((resolve) => child.once("close", resolve));
  const [, line] = /^Cannot start: (.*)\n$/.exec(said) ?? [];
  assertEquals([code, line === undefined ? said : ""], [1, ""]);
  return line ?? "";
}
