import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { createRuns } from "../../../src/agent/mod.ts";
import type { AgentQuestion } from "../../../src/agent/mod.ts";
import { systemWorld } from "../../../src/cli/auth/world.ts";
import { answer } from "../../../src/cli/commands/agents/questions.ts";
import { runAgent } from "../../../src/cli/commands/agents/run.ts";
import { DeadlineError } from "../../../src/cli/failure.ts";
import { readWords } from "../../../src/cli/program/read.ts";
import { openDatabase } from "../../../src/entry/local.ts";
import { assertFailure, causeway, inPlace, program, quote } from "../support.ts";
import type { Run, RunOptions } from "../support.ts";

const isOld = !("Bun" in globalThis) && !("Deno" in globalThis) &&
  process.getBuiltinModule?.("node:sqlite") === undefined;
const skip = isOld ? "Node has SQLite since 22.13" : false;

type Use = (words: string[], options?: RunOptions) => Promise<Run>;

/** A folder with a config of one server, whose `echo` needs no approval; `seen` is what it was sent. */
async function withPeer(run: (use: Use, place: { folder: string; seen: string }) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-run-"));
  const seen = join(folder, "seen");
  const script = `tee ${quote(seen)} | ${[...program("tests/servers/stdio_server.ts"), "modern"].map(quote).join(" ")}`;
  const peer = { command: "sh", args: ["-c", script], autoApprove: ["echo"] };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { peer } }));
  try {
    await run((words, options) => causeway(["run", ...words], { cwd: folder, ...options }), { folder, seen });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a line of the shell. */
function shell(script: string, cwd: string): Promise<{ readonly out: string; readonly err: string }> {
  const home = join(tmpdir(), "causeway-no-such-home");
  const env = { ...process.env, CAUSEWAY_HOME: home, NODE_DISABLE_COMPILE_CACHE: "1" };
  const child = spawn("sh", ["-c", script], { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => err += text);
  return new Promise((resolve, reject) => {
    // All that it started is of its group.
    const timer = setTimeout(() => child.pid && process.kill(-child.pid, "SIGKILL"), 20_000);
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      resolve({ out, err });
    });
  });
}

describe("causeway run", () => {
  test("follows directives; text on the standard output, all else beside it; what nobody approves is not called", async () => {
    await withPeer(async (use, { folder }) => {
      writeFileSync(join(folder, "task"), "call peer.echo text=hi\nthen\ncall peer.add a=1 b=2\n");
      const { code, out, err } = await use(["@task"]);
      assertEquals(code, 0);
      assertMatch(out, /^peer__echo: hi\npeer__add: Tool error: .*was denied: nobody is there who could be asked/);
      assertMatch(
        err,
        /calls peer\.echo \{"text":"hi"\}\ncauseway: peer\.echo: ok, \d+ ms\ncauseway: calls peer\.add .*\n.*peer\.add: denied/,
      );
      const yes = await use(["-", "--yes", "--json"], { input: "call peer.add a=1 b=2" });
      const events = yes.out.trim().split("\n").map((line) => JSON.parse(line));
      assertEquals([yes.code, yes.err, events.at(-1).type], [0, "", "succeeded"]);
      const observed = events.find(({ type }) => type === "observation");
      assertEquals(observed.observation.result.structuredContent, { sum: 3 });
    });
  });

  test("wrong directives, and words that are none, are wrong use: nothing is called, no run is kept", async () => {
    await withPeer(async (use, { folder, seen }) => {
      const cases: [string, RegExp][] = [
        [
          "call peer.ecko text=hi",
          /Nothing was called: Line 1: there is no tool "peer\.ecko", did you mean "peer\.echo"\?\n/,
        ],
        [
          "say hi\ncall peer.echo text=1\ncall peer.add a=two b",
          /Nothing was called: Line 3: cannot read the argument "b"/,
        ],
        ["call peer.echo text=hi\ncall\nsay", /Line 2: "call" names no tool; .*; Line 3: "say" has nothing to say/],
        [
          "what is new?",
          /There is no model, so only directives are followed: .*causeway run "call server\.tool key=value"/,
        ],
      ];
      for (const [text, says] of cases) {
        for (const more of [[], ["--json"]]) assertFailure(await use([text, "--yes", ...more]), 2, says);
      }
      assertFailure(await use([cases[0]?.[0] ?? "", "--runs", "runs.db"]), 2, /Nothing was called/);
      assertEquals(existsSync(join(folder, "runs.db")), false);
      assertEquals(readFileSync(seen, "utf8").includes("tools/call"), false);
    });
  });

  test("pins of the config hold: a tool that is not as it was pinned is not there, and it is told", async () => {
    await withPeer(async (use, { folder, seen }) => {
      const path = join(folder, "mcp.json");
      const { mcpServers: { peer } } = JSON.parse(readFileSync(path, "utf8"));
      const pinTo = (pins: object) => writeFileSync(path, JSON.stringify({ mcpServers: { peer: { ...peer, pins } } }));
      pinTo({ echo: "0".repeat(64) });
      const blocked = await use(["call peer.echo text=hi"]);
      assertEquals(readFileSync(seen, "utf8").includes("tools/call"), false, blocked.out);
      const [, digest = ""] = /the tool "echo" of "peer" is blocked: .* \(([\da-f]{64})\)\n/.exec(blocked.err) ?? [];
      assertEquals(digest.length, 64, blocked.err);
      pinTo({ echo: digest });
      assertEquals((await use(["call peer.echo text=hi"])).out, "hi\n");
    });
  });

  test("--json: what steers a terminal is escaped, and stays what it was", async () => {
    const text = "a\u009b31m\u202eb\u007f";
    await withPeer(async (use) => {
      const { out } = await use(["--json", `say ${text}`]);
      assertEquals(/[\u007f-\u009f\u202e]/.test(out), false);
      const events = out.trim().split("\n").map((line) => JSON.parse(line));
      assertEquals(events.find(({ type }) => type === "text")?.text, text);
    });
  });

  test("a model of its own, whose key comes from a variable and is never shown", async () => {
    const heard: string[] = [];
    const server = createServer((request, response) => {
      heard.push(String(request.headers.authorization));
      request.resume();
      response.setHeader("content-type", "application/json");
      const message = { role: "assistant", content: "Hello from the model" };
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    assert(typeof address === "object" && address !== null);
    const folder = mkdtempSync(join(tmpdir(), "causeway-model-"));
    try {
      const env = { CAUSEWAY_MODEL_KEY: "k3y-of-the-test", CAUSEWAY_MODEL: "m" };
      const words = ["run", "Hello?", "--model-url", `http://127.0.0.1:${address.port}/v1`];
      const { code, out, err } = await causeway(words, { env, cwd: folder });
      assertEquals([code, out, err], [0, "Hello from the model\n", ""]);
      assertEquals(heard, ["Bearer k3y-of-the-test"]);
    } finally {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    }
  });

  test("what the model says and takes back is not in a pipe; an answer that is cut off, or none, is told", async () => {
    const piece = (delta: object, reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    const unknown = { tool_calls: [{ index: 0, id: "1", function: { name: "nobody__knows", arguments: "{}" } }] };
    const done = "data: [DONE]\n\n";
    const answers: Record<string, string[]> = {
      "/broken": [piece({ content: "Hal" }), piece({ content: "Hello" }) + piece({}, "stop") + done],
      "/cut": [piece({ content: "Once upon" }) + piece({}, "length") + done],
      "/silent": [piece(unknown) + piece({}, "tool_calls") + done, piece({}, "stop") + done],
    };
    const server = createServer((request, response) => {
      request.resume();
      response.setHeader("content-type", "text/event-stream");
      response.end(answers[request.url?.replace("/chat/completions", "") ?? ""]?.shift());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    assert(typeof address === "object" && address !== null);
    const folder = mkdtempSync(join(tmpdir(), "causeway-model-"));
    const ask = async (path: string) => {
      const url = `http://127.0.0.1:${address.port}${path}`;
      const { code, out, err } = await causeway(["run", "x", "--model", "m", "--model-url", url], { cwd: folder });
      return [code, out, err];
    };
    try {
      const again = "causeway: asks the model again: ";
      assertEquals(await ask("/broken"), [
        0,
        "Hello\n",
        `${again}The answer of the model "m" ended early: it gave no reason to stop\n`,
      ]);
      assertEquals(await ask("/cut"), [0, "Once upon\n", "causeway: the model was cut off: its answer is not whole\n"]);
      const [code, out, err] = await ask("/silent");
      assertEquals([code, out], [0, ""]);
      assertMatch(
        String(err),
        /^causeway: nobody__knows: not called, \d+ ms\ncauseway: the model has ended without an answer\n$/,
      );
    } finally {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    }
  });

  test(
    "--runs: what was interrupted goes on, and what may have run is not done again by itself",
    { skip },
    async () => {
      await withPeer(async (use, { folder, seen }) => {
        let timer: ReturnType<typeof setInterval> | undefined;
        const first = await use(["call peer.echo text=before\nthen\ncall peer.slow", "--yes", "--runs", "runs.db"], {
          started(child) {
            timer = setInterval(() => {
              if (!existsSync(seen) || !readFileSync(seen, "utf8").includes('"slow"')) return;
              clearInterval(timer);
              process.kill(child.pid ?? 0, "SIGINT");
            }, 10);
          },
        });
        clearInterval(timer);
        const id = /causeway: the run (\S+)\n/.exec(first.err)?.[1] ?? "";
        assertEquals(first.code, 130);
        assertStringIncludes(first.err, `causeway: it goes on with causeway run --runs runs.db --resume ${id}\n`);
        const second = await use(["--runs", "runs.db", "--resume", id, "--yes"]);
        assertEquals(second.code, 0, second.err);
        assertMatch(second.out, /peer__echo: before\n/);
        assertMatch(second.err, /peer\.slow: unknown/);
        const calls = readFileSync(seen, "utf8").split("\n").filter((line) => line.includes('"tools/call"'));
        assertEquals(calls.length, 0, "the second process calls nothing again");
        assertFailure(await use(["--runs", "runs.db", "--resume", "nobody"]), 2, /Unknown run "nobody" in "runs\.db"/);
        // Of "causeway start", whose runs lie in a file too.
        const database = await openDatabase(join(folder, "runs.db"));
        const runs = createRuns({ database, agents: { helper: { execute: () => new Promise(() => {}) } } });
        const { id: other } = await runs.start({ agent: "helper", principal: "owner", input: "hi" });
        await runs.close();
        assertFailure(await use(["--runs", "runs.db", "--resume", other]), 2, /is of the agent "helper"/);
        assertEquals((await use(["--runs", "runs.db", "say hi"])).code, 0);
        const [row] = database.all("select state from agent_runs where id = ?", other);
        assertEquals(row?.["state"], "running", "it is left to the program that has its agent");
        database.close?.();
      });
    },
  );

  test("--runs: what ran out of time goes on, and it is said how", { skip }, async () => {
    await withPeer(async (_, { folder, seen }) => {
      const [config, runs] = [join(folder, "mcp.json"), join(folder, "runs.db")];
      const line = await readWords(["run", "call peer.slow", "--yes", "--config", config, "--runs", runs]);
      const stop = new AbortController();
      const timer = setInterval(() => {
        const isAsked = existsSync(seen) && readFileSync(seen, "utf8").includes('"slow"');
        if (isAsked) stop.abort(new DeadlineError("Not done within 5 ms"));
      }, 10);
      const { stderr } = process;
      const { write } = stderr;
      let err = "";
      Object.assign(stderr, { write: (text: string, done?: () => void) => (err += text, done?.(), true) });
      try {
        await assertRejects(() => runAgent(line, stop.signal, systemWorld), DeadlineError);
      } finally {
        Object.assign(stderr, { write });
        clearInterval(timer);
      }
      const id = /causeway: the run (\S+)\n/.exec(err)?.[1] ?? "";
      assertStringIncludes(err, `causeway: it goes on with causeway run --runs ${runs} --resume ${id}\n`);
    });
  });

  for (const keeping of ["", " --runs runs.db"]) {
    test(`a reader that goes away ends it${keeping}`, { skip: keeping ? skip : false }, async () => {
      await withPeer(async (_, { folder, seen }) => {
        // The first call is answered when the reader is gone; the second one, never.
        const server = [...program("tests/servers/stdio_server.ts"), "modern"].map(quote).join(" ");
        const late =
          'while read -r line; do case "$line" in *tools/call*) until [ -e gone ]; do sleep 0.05; done;; esac; ' +
          `printf '%s\\n' "$line"; done | tee ${quote(seen)} | ${server}`;
        const peer = { command: "sh", args: ["-c", late] };
        writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { peer } }));
        const words = ["run", "call peer.echo text=hi\nthen\ncall peer.slow", "--yes", "--json"];
        const command = [...program("src/cli/main.ts"), ...words].map(quote).join(" ") + keeping;
        const script = `{ ${command}; echo $? > code; } | { head -n 1; exec 0<&-; touch gone; }`;
        const { out, err } = await shell(script, folder);
        assertEquals(JSON.parse(out).type, "step");
        assertEquals(readFileSync(join(folder, "code"), "utf8"), "0\n");
        const [, id = ""] = /the run (\S+)\n/.exec(err) ?? [];
        const told = `causeway: the run ${id}\ncauseway: it goes on with causeway run --runs runs.db --resume ${id}\n`;
        assertEquals(err, keeping ? told : "");
      });
    });
  }

  test("does without servers where the config has none, or none that is not disabled", async () => {
    const off = { off: { command: "no-such-program", disabled: true } };
    for (const mcpServers of [{}, off]) {
      await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers }) }, async ({ run }) => {
        assertEquals(await run("run", "say done"), { code: 0, out: "done\n", err: "" });
        assertFailure(await run("search", "echo"), 2, /There is no server in "mcp\.json" that can be used/);
      });
    }
    const broken = { broken: { command: 5 } };
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers: broken }) }, async ({ run }) => {
      const { code, err } = await run("run", "say done");
      assertEquals(code, 2);
      assertMatch(err, /There is no server in "mcp\.json" that can be used/);
    });
  });

  test("bad input is one line, with 2; a server that is not there is told", async () => {
    await withPeer(async (use, { folder }) => {
      const cases: [string[], RegExp][] = [
        [[], /It is not said what to do: write causeway run "…"/],
        [["@none"], /Cannot read the file "none": there is no such file/],
        [["x", "--steps", "0"], /Cannot read --steps "0"/],
        [["x", "--model", "m"], /Cannot use a model by half: add --model-url/],
        [["x", "--model", "m", "--model-url", "nonsense"], /Cannot use the model: /],
        [["x", "--resume", "y"], /Cannot resume a run so/],
        [["x", "--servers", "pear"], /Unknown server "pear" \(did you mean "peer"\?\)/],
      ];
      for (const [words, says] of cases) assertFailure(await use(words), 2, says);
      writeFileSync(
        join(folder, "mcp.json"),
        '{ "mcpServers": { "dead": { "command": "causeway-no-such-program" } } }',
      );
      assertMatch((await use(["say hello"])).err, /^causeway: without "dead": .*causeway-no-such-program/);
    });
  });
});

describe("questions of a run at a terminal", () => {
  const call = { id: "1", server: "bank", tool: "pay", name: "bank__pay", arguments: { sum: 5 }, argumentsHash: "x" };
  const approval: AgentQuestion = {
    id: "q",
    server: "bank",
    message: "May it pay?",
    askedAt: 0,
    kind: "approval",
    call,
  };

  async function ask(question: AgentQuestion, ...said: (string | undefined)[]): Promise<[unknown, string]> {
    let shown = "";
    const terminal = {
      say: (text: string) => Promise.resolve(void (shown += text)),
      ask: (text: string) => Promise.resolve((shown += text, said.shift())),
    };
    return [await answer(question, terminal), shown];
  }

  test("an approval shows exactly what would be sent; nothing is a no", async () => {
    const [yes, shown] = await ask(approval, "what", "y");
    assertEquals(yes, { action: "accept" });
    assertStringIncludes(shown, 'May it pay?\n  bank.pay {\n    "sum": 5\n  }\nCall it? [y/N] ');
    assertEquals((await ask(approval, ""))[0], { action: "decline", reason: "the person said no" });
    assertEquals((await ask(approval, undefined))[0], { action: "cancel" });
  });

  test("a decision, a form, a page, and what a server asks the model", async () => {
    const decision: AgentQuestion = { ...approval, kind: "decision" };
    assertEquals((await ask(decision, "x", "a"))[0], { action: "retry" });
    assertEquals((await ask(decision, ""))[0], { action: "skip" });
    assertEquals((await ask(decision, "fail"))[0], { action: "fail" });
    const properties = { name: { type: "string" as const } };
    const request = { message: "Who?", requestedSchema: { type: "object" as const, properties, required: ["name"] } };
    const form: AgentQuestion = { id: "q", server: "s", message: "Who?", askedAt: 0, kind: "elicitation", request };
    assertEquals((await ask(form, "y", "Ada"))[0], { action: "accept", content: { name: "Ada" } });
    assertEquals((await ask(form, "n"))[0], { action: "decline" });
    const sampling: AgentQuestion = {
      id: "q",
      server: "s",
      message: "May it?",
      askedAt: 0,
      kind: "sampling",
      request: { a: 1 },
    };
    assertEquals((await ask(sampling, "yes"))[0], { action: "accept" });
  });
});
