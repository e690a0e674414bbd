import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { readOwn, saveServers } from "../../../src/cli/config/own.ts";
import { resolveTarget } from "../../../src/cli/target/target.ts";
import { assertFailure, causeway, inPlace, peer, program, quote } from "../support.ts";

describe("a server of a config", () => {
  test("is not asked what it speaks where the config says so", async () => {
    const [command, ...args] = [...program("tests/servers/stdio_server.ts"), "exit-on-probe"];
    const [asked, told] = [{ command, args }, { command, args, era: "legacy" }];
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers: { asked, told } }) }, async ({ run }) => {
      for (const [name, count] of [["asked", 1], ["told", 0]] as const) {
        const { code, out, err } = await run("tools", name, "--verbose");
        assertEquals([code, out.includes("echo")], [0, true], err);
        assertEquals(err.split('"server/discover"').length - 1, count, err);
      }
    });
  });

  test("has the headers of the command line in the place of its own, in whatever letters they are written", async () => {
    const headers = { Authorization: "Bearer of-the-config", "X-Other": "kept" };
    const config = JSON.stringify({ mcpServers: { web: { url: "https://localhost/mcp", headers } } });
    await inPlace({ "app/mcp.json": config }, async ({ root }) => {
      const found = await resolveTarget("web", {
        config: join(root, "app", "mcp.json"),
        headers: { authorization: "Bearer of-mine" },
      });
      assertEquals(found.headers, { "X-Other": "kept", authorization: "Bearer of-mine" });
    });
  });

  test("its own time bounds calls, and --timeout comes before it", async () => {
    const [command, ...args] = program("tests/servers/stdio_server.ts");
    const config = JSON.stringify({ mcpServers: { lazy: { command, args, timeout: 3_000 } } });
    await inPlace({ "app/mcp.json": config }, async ({ run }) => {
      const [own, told] = await Promise.all([
        run("call", "lazy", "slow"),
        run("call", "lazy", "slow", "--timeout", "5"),
      ]);
      assertFailure(own, 4, /No answer .*within 3000 ms: .*--timeout/);
      assertFailure(told, 4, /ithin 5000 ms: /);
    });
  });

  test("that is not there in time is told of with what it wrote to its standard error", async () => {
    const args = ["-c", "echo 'Sign in at https://a.test/in with a-t0ken-of-mine' >&2; cat > /dev/null; :"];
    const config = JSON.stringify({ mcpServers: { waits: { command: "sh", args, env: { KEY: "a-t0ken-of-mine" } } } });
    await inPlace({ "app/mcp.json": config }, async ({ run }) => {
      const late = await run("tools", "waits", "--timeout", "4");
      assertFailure(
        late,
        4,
        /ithin 4000 ms: .*; its standard error ends with: Sign in at https:\/\/a\.test\/in with \[/,
      );
    });
  });

  test("that is not there in the time of its config is told of with what it wrote to its output", async () => {
    const talks = { command: "sh", args: ["-c", "echo 'Sign in first'; cat > /dev/null; :"], timeout: 3_000 };
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers: { talks } }) }, async ({ run }) => {
      const pattern = /within 3000 ms: .*; its output began with "Sign in first", which is no MCP message$/m;
      const [one, several, bridged] = await Promise.all([
        run("tools", "talks"),
        run("search", "x"),
        run("bridge", "talks"),
      ]);
      for (const late of [one, several]) assertFailure(late, 4, pattern);
      assertMatch(bridged.err, pattern);
    });
  });

  test("tools that its config leaves out are told to who names the server: tools, call, tasks detach", async () => {
    const [command, ...args] = program("tests/servers/stdio_server.ts");
    const tools = { allow: ["echo", "add", "job*"], deny: ["add"] };
    const mcpServers = { some: { command, args: [...args, "modern"], tools }, all: { command, args } };
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers }) }, async ({ run }) => {
      const listed = await run("tools", "some", "--json");
      const names = JSON.parse(listed.out).tools.map(({ name }: { name: string }) => name);
      assertEquals([listed.code, names.includes("add"), names.includes("echo")], [0, true, true]);
      assertMatch(
        listed.err,
        /^causeway: its config leaves these out for serve, bridge, run, search and start: .*"add"/,
      );
      assertEquals(/"echo"|"job"/.test(listed.err), false, listed.err);
      const why = 'causeway: warning: its config leaves out the tool "add"; it is called since you name it\n';
      const called = await run("call", "some", "add", "a=1", "b=2");
      assertEquals([called.code, called.err], [0, why]);
      assertMatch(called.out, /3/);
      assertStringIncludes((await run("tasks", "detach", "some", "add", "a=1", "b=2")).err, why);
      assertEquals((await run("call", "some", "echo", "text=hi")).err, "");
      assertEquals((await run("tools", "all")).err, "");
    });
  });

  test("a tool that is not what the pins of its config say is told of, and called since it is named", async () => {
    const [command, ...args] = program("tests/servers/stdio_server.ts");
    const some = { command, args, pins: { add: "0".repeat(64) } };
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers: { some } }) }, async ({ root, run }) => {
      const [changed, unknown] = await Promise.all([
        run("call", "some", "add", "a=1", "b=2"),
        run("call", "some", "echo", "text=hi"),
      ]);
      const why =
        /^causeway: warning: the tool "(?:add|echo)" is not as "pins" of its config has it \(([\da-f]{64})\); it is called since you name it\n$/;
      assertEquals([changed.code, unknown.code], [0, 0]);
      assertMatch(changed.out, /3/);
      assertMatch(unknown.err, why);
      const [, digest = ""] = why.exec(changed.err) ?? [];
      assertMatch((await run("tasks", "detach", "some", "add", "a=1", "b=2")).err, /is not as "pins"/);
      const pinned = { mcpServers: { some: { ...some, pins: { add: digest } } } };
      writeFileSync(join(root, "app/mcp.json"), JSON.stringify(pinned));
      assertEquals((await run("call", "some", "add", "a=1", "b=2")).err, "");
    });
  });

  test("what VS Code would ask for is a variable here, and a value that is missing says which", async () => {
    const [command, ...args] = program("tests/servers/stdio_server.ts");
    const config = JSON.stringify({
      inputs: [{ id: "the-era", type: "promptString", description: "Which era", password: true }],
      servers: { asking: { type: "stdio", command, args: [...args, "${input:the-era}"] } },
    });
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "causeway-inputs-")));
    const path = join(folder, "mcp.json");
    const words = ["call", "asking", "echo", "text=hello", "--config", path];
    try {
      writeFileSync(path, config);
      const [missing, given] = await Promise.all([
        causeway(words),
        causeway(words, { env: { CAUSEWAY_INPUT_THE_ERA: "modern" } }),
      ]);
      assertFailure(missing, 2, /the input "the-era" was not answered: .*CAUSEWAY_INPUT_THE_ERA/);
      assertEquals(given, { code: 0, out: "hello\n", err: "" });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("causeway servers add", () => {
  test("asks the server first, writes it for this user alone, and it can be used by its name", async () => {
    await inPlace({}, async ({ own, run, json }) => {
      const added = await run("servers", "add", "one", `KEY=\${TEST_NAME} ${peer("modern")}`);
      assertEquals([added.code, added.err], [0, ""]);
      assertMatch(added.out, /^Added one to .*causeway\.json: \d+ tools, 2026-07-28\n$/);
      assertEquals(json(own).mcpServers.one?.env, { KEY: "${TEST_NAME}" });
      assertEquals(statSync(own).mode & 0o777, 0o600);
      assertEquals(readdirSync(dirname(own)), ["causeway.json"]);
      assertEquals((await run("call", "one", "echo", "text=hello")).out, "hello\n");
      assertStringIncludes((await run("servers", "list")).out, "\n  one  ");
      assertFailure(
        await run("servers", "add", "one", peer("modern")),
        2,
        /"one" is in ".*" already: take another name/,
      );
    });
  });

  test("what is relative to this folder means the same in another one; what is copied from a folder's config, too", async () => {
    const config = JSON.stringify({
      servers: {
        inside: { command: "sh", args: ["${workspaceFolder}/start.sh"] },
        beside: { command: "sh", args: ["start.sh"], cwd: "." },
        plain: { command: "sh", args: ["start.sh"] },
        elsewhere: { command: "npx", args: ["-y", "server"] },
      },
    });
    const start = `exec ${peer("modern")}\n`;
    await inPlace({ "app/start.sh": start, "app/.vscode/mcp.json": config }, async ({ root, own, run, json }) => {
      assertEquals((await run("servers", "add", "mine", "sh ./start.sh")).err, "");
      assertEquals((await run("servers", "import", "--all")).err, "");
      const servers = json(own).mcpServers;
      const app = join(root, "app");
      assertEquals(servers.mine, { command: "sh", args: ["./start.sh"], cwd: app });
      assertEquals(servers.inside, { command: "sh", args: [join(app, "start.sh")] });
      assertEquals([servers.beside?.cwd, servers.plain?.cwd, servers.elsewhere?.cwd], [app, app, undefined]);
      for (const name of ["mine", "inside", "beside", "plain"]) {
        const { code, out, err } = await run("call", name, "echo", "text=hello", "--config", own);
        assertEquals([code, out, err], [0, "hello\n", ""], name);
      }
      assertEquals((await run("servers", "add", "here", "sh ./start.sh", "--here")).err, "");
      assertEquals(json(join(app, "causeway.json")).mcpServers.here, { command: "sh", args: ["./start.sh"] });
    });
  });

  test("of several that are added at the same moment none is lost without a word", () =>
    inPlace({}, async ({ own, json }) => {
      const names = ["a", "b", "c", "d"];
      const kept = await readOwn(own, "try again");
      const added = await Promise.allSettled(
        names.map((name) => saveServers(kept, new Map([[name, { command: name }]]))),
      );
      const told = names.filter((_, at) => added[at]?.status === "fulfilled");
      assertEquals([told.length, Object.keys(json(own).mcpServers)], [1, told]);
      const reasons = added.flatMap((one) => one.status === "rejected" ? [String(one.reason)] : []);
      for (const reason of reasons) assertStringIncludes(reason, "somebody else has changed it meanwhile; try again");
      assertEquals([reasons.length, readdirSync(dirname(own))], [3, ["causeway.json"]]);
    }));

  test("one that does not answer is not saved, unless nobody is to ask", async () => {
    await inPlace({}, async ({ own, run, root, json }) => {
      assertFailure(await run("servers", "add", "bad", "causeway-no-such-program"), 4, /causeway-no-such-program/);
      assertEquals(existsSync(own), false);
      const added = await run("servers", "add", "bad", "causeway-no-such-program", "--unchecked", "--here");
      assertEquals([added.code, added.err], [0, ""]);
      assertEquals(json(join(root, "app", "causeway.json")).mcpServers, {
        bad: { command: "causeway-no-such-program", args: [] },
      });
    });
  });

  test("what a variable brought along is not shown by a program that fails", async () => {
    await inPlace({}, async ({ run }) => {
      const script = "echo got $0 >&2; exit 3";
      const failed = await run("servers", "add", "bad", `sh -c ${quote(script)} \${TEST_NAME}`);
      assertFailure(failed, 4, /got \[redacted\]/);
      assertEquals(failed.err.includes("filled"), false, failed.err);
    });
  });

  test("headers are kept as they are written, and never shown", async () => {
    await inPlace({}, async ({ own, run, json }) => {
      const words = ["servers", "add", "web", "https://localhost/mcp", "--unchecked", "--header"];
      assertEquals((await run(...words, "Authorization: Bearer ${TEST_NAME}")).code, 0);
      assertEquals(json(own).mcpServers.web, {
        url: "https://localhost/mcp",
        headers: { Authorization: "Bearer ${TEST_NAME}" },
      });
      assertEquals((await run("servers", "list")).out.includes("filled"), false);
    });
  });

  test("bad input is one line, with 2", async () => {
    await inPlace({ "app/mcp.json": '{ "mcpServers": {} }' }, async ({ run }) => {
      const cases: [string[], RegExp][] = [
        [["add"], /The name is missing: write causeway servers add <name> <target>/],
        [["add", "x"], /The target is missing/],
        [["add", "a b", "sh"], /Cannot use the name "a b": use letters/],
        [["add", "x", "sh", "-c"], /Unknown option "-c"/],
        [["add", "x", "sh", "more"], /Unexpected "more" after the target: put a command with spaces into quotes/],
        [["add", "x", "sh", "--config", "mcp.json"], /Cannot write "mcp\.json": only files named causeway\.json/],
        [["add", "x", "sh", "--config", "causeway.json", "--here"], /Cannot use --here with --config/],
        [["remove"], /The name is missing: write causeway servers remove <name>/],
        [["remove", "x"], /Unknown server "x" in ".*causeway\.json"/],
        [["import"], /It is not said which: name them, or add --all/],
        [["import", "x"], /Unknown server "x"/],
      ];
      for (const [words, says] of cases) assertFailure(await run("servers", ...words), 2, says);
    });
  });
});
