/**
 * Steps on a real local Workflow, whose workerd is killed in the middle of a call. A local Workflow does not resume by itself; an event
 * that is sent to it wakes it.
 */
import { assert, assertEquals } from "@std/assert";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { endProcess, startProcess } from "../../tools/process.ts";
import { bunPath, packagesInstalled, root } from "../../tools/programs.ts";

const skip = !packagesInstalled()
  ? "miniflare and esbuild are not installed"
  : "Bun" in globalThis
  ? false
  : "it is the same workerd from each runtime: once is enough, on Bun";

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The tool: counts calls, and does not answer the second one of each run. */
async function startTool(): Promise<{ server: Server; url: string; counts: Map<string, number> }> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const key = (request.url ?? "").slice(1);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    request.resume();
    // One that is kept is closed after seconds of silence, which a busy machine makes: a call on it would break off.
    response.setHeader("connection", "close");
    if (!key.endsWith("/2")) response.end("ok");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts };
}

interface Host {
  readonly child: ChildProcess;
  ask(path: string, id: string): Promise<{ readonly status?: string; readonly output?: unknown }>;
}

async function startHost(folder: string, ledger: string): Promise<Host> {
  const program = join(root, "tests", "workers", "workflow_host.ts");
  const child = startProcess([bunPath() ?? "bun", program, folder, ledger]);
  let problems = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => problems = (problems + text).slice(-4_000));
  const lines = child.stdout && createInterface({ input: child.stdout });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`The host ended early: ${problems}`)));
    lines?.on("line", (line) => {
      if (line.startsWith("ready ")) resolve(line.slice(6));
    });
  });
  return {
    child,
    async ask(path, id) {
      const response = await fetch(new URL(`${path}?id=${id}`, url), { signal: AbortSignal.timeout(10_000) });
      const text = await response.text();
      assertEquals(response.status, 200, text);
      return JSON.parse(text);
    },
  };
}

async function kill({ child }: Host): Promise<void> {
  const ended = once(child, "exit");
  endProcess(child);
  await ended;
}

async function until(look: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await pause(20)) if (await look()) return;
  throw new Error(`It does not come: ${what}`);
}

describe("an agent in a real Workflow", () => {
  test("killed in the middle of a call it goes on: what was done is not done again, and the doubt is told", {
    skip,
    timeout: 90_000,
  }, async () => {
    const cache = join(root, ".cache", "workflows");
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, "place-"));
    const tool = await startTool();
    let host = await startHost(folder, tool.url);
    try {
      await host.ask("/create", "instance");
      await until(() => tool.counts.has("instance/2"), "the second call");
      await kill(host);
      host = await startHost(folder, tool.url);
      const { status } = await host.ask("/answer", "instance");
      assert(status !== "complete" && status !== "errored", status);
      let last: Awaited<ReturnType<Host["ask"]>> = {};
      await until(async () => {
        last = await host.ask("/status", "instance");
        return last.status === "complete" || last.status === "errored";
      }, "the end of the instance");
      assertEquals([last.status, last.output], ["complete", `["ok","unknown","ok","accept","ok"]`]);
      assertEquals(Object.fromEntries(tool.counts), {
        "instance/1": 1,
        "instance/2": 1,
        "instance/3": 1,
        "instance/4": 1,
      });
    } finally {
      endProcess(host.child);
      tool.server.closeAllConnections();
      tool.server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
