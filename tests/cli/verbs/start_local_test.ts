/** `causeway start`: the runner, with an agent that has a model and keeps its runs. */
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { serveHttp } from "../../../src/entry/local.ts";
import { skip } from "../../agent/runs/support/database.ts";
import { createModernServer } from "../../servers/modern.ts";
import { until } from "../../suites/spawn.ts";
import { assertFailure, causeway } from "../support.ts";
import type { Run, RunOptions } from "../support.ts";

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-start-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Ask = (path: string, body?: object) => Promise<{ readonly status: number; readonly text: string }>;

/** Starts it, uses it, and interrupts it. */
async function whileStarted(
  words: readonly string[],
  options: RunOptions,
  use: (ask: Ask) => Promise<void>,
): Promise<Run> {
  let [out, failure]: [string, unknown] = ["", undefined];
  let begun = false;
  const run = await causeway(["start", "--port", "0", "--key", ...words], {
    ...options,
    started(child) {
      options.started?.(child);
      child.stdout?.on("data", (text: string) => {
        out += text;
        const [, url = "", key] = /The runner is at (\S+), [^]*API key: (\S+)\n/.exec(out) ?? [];
        if (key === undefined || begun) return;
        begun = true;
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const ask: Ask = async (path, body) => {
          const asked = await fetch(url + path, {
            headers,
            ...(body && { method: "POST", body: JSON.stringify(body) }),
          });
          return { status: asked.status, text: await asked.text() };
        };
        void use(ask).catch((error: unknown) => failure = error).then(() => process.kill(child.pid ?? 0, "SIGINT"));
      });
    },
  });
  if (failure !== undefined) throw failure;
  assertEquals(run.code, 130, run.err);
  return run;
}

/** Starts a run and waits for its end. */
async function finish(ask: Ask, input: string): Promise<string> {
  const { id } = JSON.parse((await ask("/api/runs", { agent: "helper", input })).text);
  for (let turns = 0; turns < 800; turns++) {
    const { text } = await ask(`/api/runs/${id}`);
    if (!["queued", "running"].includes(JSON.parse(text).state)) return text;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the run did not end");
}

describe("causeway start", () => {
  test("what should be looked at in a config is told", async () => {
    await inFolder(async (cwd) => {
      const odd = { command: "no-such-program", disabled: true, enw: {} };
      writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { odd } }));
      const { err } = await whileStarted([], { cwd }, () => Promise.resolve());
      assertMatch(err, /^causeway: warning: mcp\.json: mcpServers\.odd\.enw: unknown field \(did you mean "env"\?\)/);
    });
  });

  test("--verbose shows the wire, each line with the server and without its secrets", async () => {
    await using server = await serveHttp(createModernServer().fetch, { port: 0 });
    await inFolder(async (cwd) => {
      const config = { url: `${server.url}/mcp`, headers: { "X-Key": "Gives back the text" } };
      writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { mine: config } }));
      let err = "";
      const started = (child: ChildProcess): void => void child.stderr?.on("data", (text: string) => err += text);
      await whileStarted(["--verbose"], { cwd, started }, async () => {
        await until(() => /^< mine \d+ ms .*"tools":/m.test(err), "the list of tools");
      });
      assertMatch(err, /^> mine \d+ ms \{"jsonrpc":"2\.0",/m);
      assertEquals(err.includes("Gives back"), false, err);
    });
  });

  test("the runner at a port of this machine, until it is interrupted", async () => {
    await inFolder(async (cwd) => {
      const run = await whileStarted([], { cwd }, async (ask) => {
        assertEquals((await ask("/")).status, 200, "the link leads to the page");
        assertEquals((await ask("/api/servers")).status, 200);
      });
      assertMatch(
        run.out,
        /^The runner is at http:\/\/127\.0\.0\.1:\d+, with 0 servers\nBegin here, once, within ten minutes: /,
      );
    });
    assertFailure(await causeway(["start", "--port", "x"]), 2, /Cannot read --port "x"/);
  });

  test("runs are kept in --store, and are there when it is started again", { skip }, async () => {
    await inFolder(async (cwd) => {
      await using host = await serveHttp(createModernServer().fetch, { port: 0 });
      const config = { mcpServers: { peer: { url: `${host.url}/mcp`, autoApprove: ["echo"] } } };
      writeFileSync(join(cwd, "mcp.json"), JSON.stringify(config));
      await whileStarted(["--store", "kept"], { cwd }, async (ask) => {
        for (let turns = 0; turns < 800 && !(await ask("/api/tools")).text.includes("peer__echo"); turns++) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        assertMatch(await finish(ask, "call peer.echo text=kept"), /"state":"succeeded"/);
      });
      assert(existsSync(join(cwd, "kept", "runs.db")));
      await whileStarted(["--runs", join("kept", "runs.db")], { cwd }, async (ask) => {
        assertMatch((await ask("/api/runs")).text, /"state":"succeeded"/);
      });
    });
  });

  test("what cannot be kept is told at the terminal, with the reason, and not again each time", { skip }, async () => {
    await inFolder(async (cwd) => {
      const run = await whileStarted(["--store", "kept", "--runs", "runs.db"], { cwd }, async (ask) => {
        rmSync(join(cwd, "kept"), { recursive: true });
        writeFileSync(join(cwd, "kept"), "");
        for (let times = 0; times < 3; times++) assertEquals((await ask("/api/servers")).status, 503);
      });
      const told = run.err.split("\n").filter((line) => line.startsWith("causeway: The store of servers failed"));
      assertEquals(told.length, 1, run.err);
      assertMatch(told[0] ?? "", /: Cannot use ".*kept": it is a file, expected a folder$/);
    });
  });

  test("the agent thinks with the model of the options, of CAUSEWAY_MODEL, or of OPENAI_MODEL", { skip }, async () => {
    const asked: string[] = [];
    const model = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => text += chunk);
      request.on("end", () => {
        asked.push(`${JSON.parse(text).model} ${request.headers.authorization ?? "-"}`);
        const chunk = { choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }] };
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
      });
    });
    await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
    const address = model.address();
    const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1`;
    const openAi = { OPENAI_MODEL: "three", OPENAI_BASE_URL: url, OPENAI_API_KEY: "key-3" };
    const ours = { CAUSEWAY_MODEL: "two", CAUSEWAY_MODEL_URL: url, CAUSEWAY_MODEL_KEY: "key-2" };
    try {
      await inFolder(async (cwd) => {
        const cases = [[["--model", "one", "--model-url", url], openAi], [[], { ...openAi, ...ours }], [
          [],
          openAi,
        ]] as const;
        for (const [words, env] of cases) {
          await whileStarted(words, { cwd, env }, async (ask) => {
            assertMatch(await finish(ask, "hello"), /"state":"succeeded"/);
          });
        }
      });
      assertEquals(asked, ["one -", "two Bearer key-2", "three Bearer key-3"]);
      const none = await whileStarted([], { env: { OPENAI_API_KEY: "key" } }, async () => {});
      assertMatch(none.err, /^causeway: OPENAI_MODEL is not set: the agent follows directives\n/);
    } finally {
      model.closeAllConnections();
      model.close();
    }
  });
});
