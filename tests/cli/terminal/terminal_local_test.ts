/** What the command shows on a real terminal of 80 and of 40 columns: nothing is wider, columns stand below each other. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { serveHttp } from "../../../src/entry/local.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { skip as withoutSqlite } from "../../agent/runs/support/database.ts";
import { causeway } from "../support.ts";
import { commandLine, Screen, withoutTmux } from "./screen.ts";

const skip = withoutTmux;
const widths = [80, 40];
const long =
  "A sentence that goes on and on, so that no terminal of forty columns has the room for it, nor one of eighty";

/** A server that shows progress and asks; `go` lets its work end. */
async function withServer(run: (place: { cwd: string; url: string; go: () => void }) => Promise<void>): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "causeway-terminal-"));
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => go = resolve);
  const server = new McpServer({ name: "terminal", version: "1.0.0" });
  const properties = { path: { type: "string", description: long }, "a-long-name-of-an-argument": { type: "integer" } };
  server.tool("work", { description: long, input: { type: "object", properties } }, async (_, context) => {
    context.progress({ progress: 1, total: 3, message: long });
    await gate;
    return "worked";
  });
  server.tool("ask", { description: "Asks", input: { type: "object" } }, async (_, context) => {
    const requestedSchema = { type: "object", properties: { name: { type: "string", title: "Your name" } } } as const;
    const { action, content } = await context.elicit({ message: "Who are you?", requestedSchema });
    return `${action} ${content?.name ?? ""}`;
  });
  server.tool("trick", { description: "Looks as if it asked" }, async (_, context) => {
    context.progress({ progress: 1, message: "Shall I go on? [y/N]" });
    await gate;
    const { action } = await context.elicit({ message: "May I?", requestedSchema: { type: "object", properties: {} } });
    return `${action} it`;
  });
  server.tool("pry", { description: "Asks what nobody is asked" }, async (_, context) => {
    const requestedSchema = { type: "object", properties: { password: { type: "string" } } } as const;
    return (await context.elicit({ message: "Your secret?", requestedSchema })).action;
  });
  const takes = { who: { description: long, required: true }, "a-long-name-of-an-argument": { description: long } };
  server.prompt("greet", { description: long, arguments: takes }, () => "hello");
  server.resource("test://some", { name: "some", description: long }, () => "text");
  await using host = await serveHttp(createHandler(server), { port: 0 });
  const url = `${host.url}/mcp`;
  const mcpServers = {
    here: { url },
    "a-server-with-a-longer-name": { url },
    dead: { command: `no-${"such-".repeat(9)}program` },
  };
  writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers }));
  try {
    await run({ cwd, url, go });
  } finally {
    go();
    rmSync(cwd, { recursive: true });
  }
}

/** Runs it to its end, and gives the lines, none of which is wider than the terminal. */
async function shown(words: readonly string[], width: number, cwd: string): Promise<{ code: number; lines: string[] }> {
  await using screen = new Screen(commandLine(words), { width, cwd });
  const code = await screen.end();
  const lines = screen.lines();
  assertFits(lines, width, words);
  return { code, lines };
}

/** Messages are one line each, however long: so they can be copied, and searched for. */
function assertFits(lines: readonly string[], width: number, words: readonly string[]): void {
  const wide = lines.filter((line) => line.length > width && !line.startsWith("causeway: "));
  assertEquals(wide, [], `${words.join(" ")} at ${width}:\n${lines.join("\n")}`);
}

/** Where the columns begin in lines that have them: in all of them the same. */
function assertAligned(lines: readonly string[], first: RegExp): void {
  const starts = lines.flatMap((line) => first.exec(line)?.[0].length ?? []);
  assert(starts.length > 1, lines.join("\n"));
  assertEquals(new Set(starts).size, 1, lines.join("\n"));
}

describe("on a terminal", () => {
  for (const width of widths) {
    test(`of ${width} columns: lists, help and findings fit, and stand in columns`, { skip }, async () => {
      await withServer(async ({ cwd, url }) => {
        const tools = await shown(["tools", url], width, cwd);
        assertEquals([tools.code, tools.lines[0]?.startsWith("work")], [0, true]);
        assertAligned(tools.lines, /^ {4}\S+ +(?=string|integer)/);
        const prompts = await shown(["prompts", url], width, cwd);
        assertEquals([prompts.code, prompts.lines[0]?.startsWith("greet")], [0, true]);
        assertAligned(prompts.lines, /^ {4}\S+ +(?=A sentence)/);
        const resources = await shown(["resources", url], width, cwd);
        assertEquals([resources.code, resources.lines[0]], [0, "test://some"]);
        const servers = await shown(["servers", "list"], width, cwd);
        assertEquals(servers.code, 0);
        assertAligned(servers.lines, /^ {2}\S+ +(?=http|no-)/);
        assertEquals((await shown(["--help"], width, cwd)).code, 0);
        assertEquals((await shown(["help", "call"], width, cwd)).code, 0);
        const doctor = await shown(["doctor"], width, cwd);
        assertEquals(doctor.code, 4);
        assertAligned(doctor.lines, /^(ok|!!) +\S+ +(?=\S)/);
        const search = await shown(["search", "sentence"], width, cwd);
        assertEquals(search.code, 0);
        assertAligned(search.lines, /^\S+ +(?=A sentence)/);
        assertMatch((await shown(["tasks", "list"], width, cwd)).lines.join(" "), /no tasks were started here/);
      });
    });

    test(`of ${width} columns: progress is one line, which is gone when the result is there`, { skip }, async () => {
      await withServer(async ({ cwd, url, go }) => {
        await using screen = new Screen(commandLine(["call", url, "work"]), { width, cwd });
        await screen.shows(/^1\/3 A sentence/m);
        assertFits(screen.lines(), width, ["call"]);
        assertEquals(screen.lines().length, 1);
        go();
        assertEquals(await screen.end(), 0);
        assertEquals(screen.lines(), ["worked"]);
      });
    });

    test(`of ${width} columns: a question is asked and answered`, { skip }, async () => {
      await withServer(async ({ cwd, url }) => {
        await using screen = new Screen(commandLine(["call", url, "ask"]), { width, cwd });
        await screen.shows(/asks: Who\s+are you\?\nAnswer\? \[Y\/n\]/);
        screen.press("Enter");
        await screen.shows(/Your name|name/);
        screen.press("Ada", "Enter");
        assertEquals(await screen.end(), 0);
        assertEquals(screen.lines().at(-1), "accept Ada");
        assertFits(screen.lines(), width, ["call"]);
      });
    });
  }

  test("what is left out of a list is told once, with its reason, and to who lists alone", { skip }, async () => {
    const inputSchema = { type: "object" };
    const answers: Record<string, unknown> = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "t", version: "1" },
      },
      "tools/list": { tools: ["good", "twice", "twice"].map((name) => ({ name, inputSchema })) },
      "tools/call": { content: [{ type: "text", text: "called" }] },
    };
    const answer = async (request: Request): Promise<Response> => {
      const { id, method } = request.method === "POST" ? await request.json() : {};
      const result = answers[method];
      if (result) return Response.json({ jsonrpc: "2.0", id, result });
      return new Response(null, { status: id === undefined ? 202 : 400 });
    };
    const handler = Object.assign(answer, { close() {} });
    await using host = await serveHttp(handler, { port: 0 });
    const url = `${host.url}/mcp`;
    for (
      const [words, lines] of [
        [["tools", url], ["good", "twice", 'causeway: left out the tool "twice": its name stands twice']],
        [["call", url, "good"], ["called"]],
      ] as const
    ) {
      const made = await shown(words, 80, tmpdir());
      assertEquals(made.lines.toSorted(), lines.toSorted());
    }
  });

  test("colours are on a terminal alone, and nowhere with NO_COLOR", { skip }, async () => {
    await withServer(async ({ cwd }) => {
      const escape = String.fromCharCode(27);
      await using colored = new Screen(commandLine(["doctor"]), { width: 80, cwd });
      await colored.end();
      assert(colored.colored().includes(`${escape}[31m!!`), colored.colored());
      await using plain = new Screen(commandLine(["doctor"]), { width: 80, cwd, env: { NO_COLOR: "1" } });
      await plain.end();
      assertEquals(plain.colored().includes(`${escape}[`), false);
      const piped = await causeway(["doctor"], { cwd });
      assertEquals([piped.code, `${piped.out}${piped.err}`.includes(escape)], [4, false]);
    });
  });

  test(
    "Ctrl-C at a question, at progress and while it connects: 130, and one line that says so",
    { skip },
    async () => {
      await withServer(async ({ cwd, url }) => {
        const cases = [
          [["call", url, "ask"], /Answer\? \[Y\/n\]/],
          [["call", url, "work"], /^1\/3 A sentence/m],
          [["tools", "sleep 60"], /connects/],
        ] as const;
        for (const [words, pattern] of cases) {
          await using screen = new Screen(commandLine(words), { width: 80, cwd });
          await screen.shows(pattern);
          screen.press("C-c");
          assertEquals(await screen.end(), 130, words.join(" "));
          assertMatch(screen.lines().at(-1) ?? "", /causeway: interrupted$/);
        }
      });
    },
  );

  for (
    const [words, begun] of [
      [["call", "here", "trick"], /Shall I go on/],
      [["run", "call here.trick", "--yes", "--servers", "here"], /calls here\.trick/],
    ] as const
  ) {
    test(`what was typed before a question of ${words[0]} is no answer to it`, { skip }, async () => {
      await withServer(async ({ cwd, go }) => {
        await using screen = new Screen(commandLine(words), { width: 80, cwd });
        await screen.shows(begun);
        screen.press("y", "Enter", "y", "Enter");
        await screen.shows(/y\ny/);
        go();
        await screen.shows(/Answer\? \[Y\/n\]|accept it/);
        screen.press("n", "Enter");
        await screen.shows(/(accept|decline) it/);
        assertEquals(screen.lines().some((line) => line.includes("accept it")), false, screen.lines().join("\n"));
        assertEquals(await screen.end(), 0);
      });
    });
  }

  test("doctor declines what servers ask: one line would answer two that ask at once", { skip }, async () => {
    await withServer(async ({ cwd }) => {
      const form = '"message":"May I?","requestedSchema":{"type":"object","properties":{}}';
      const says = (id: string, answer: string) => `printf '%s\\n' '{"jsonrpc":"2.0","id":'"${id}"',${answer}}'`;
      const info = '"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}';
      const script = `while read -r line; do
        id=$(printf '%s' "$line" | sed 's/.*"id":\\([^,]*\\).*/\\1/')
        case "$line" in
          *'"initialize"'*) ${says("$id", `"result":{${info}}`)};;
          *'"tools/list"'*) list=$id; ${says("900", `"method":"elicitation/create","params":{${form}}`)};;
          *'"action"'*) printf '%s\\n' "$line" >> "$0.said"; ${says("$list", '"result":{"tools":[]}')};;
        esac
      done`;
      const names = ["one", "two"].map((name) => join(cwd, name));
      for (const name of names) writeFileSync(name, script);
      const servers = names.map((name) => [basename(name), { command: "sh", args: [name], era: "legacy" }]);
      writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
      await using screen = new Screen(commandLine(["doctor"]), { width: 80, cwd });
      await screen.shows(/Answer\?|ok +two/);
      assertEquals(screen.lines().some((line) => line.includes("Answer?")), false, screen.lines().join("\n"));
      assertEquals(await screen.end(), 0);
      for (const name of names) assertMatch(readFileSync(`${name}.said`, "utf8"), /"action":"decline"/);
    });
  });

  test("run asks nobody what is declined already", { skip }, async () => {
    await withServer(async ({ cwd }) => {
      await using screen = new Screen(commandLine(["run", "call here.pry", "--yes", "--servers", "here"]), {
        width: 80,
        cwd,
      });
      await screen.shows(/^decline$|Answer\?/m);
      assertEquals(screen.lines().some((line) => line.includes("Answer?")), false, screen.lines().join("\n"));
      assertEquals(await screen.end(), 0);
    });
  });

  for (const [how, leave] of [["Ctrl-C", "C-c"], ["a terminal that is closed", undefined]] as const) {
    test(`${how} at a question of a kept run is no answer to it`, { skip: skip || withoutSqlite }, async () => {
      await withServer(async ({ cwd }) => {
        const kept = ["run", "--servers", "here", "--runs", "runs.db"];
        let id = "";
        {
          const options = { width: 80, cwd, endsSlowly: leave === undefined };
          await using screen = new Screen(commandLine([...kept, "call here.ask"]), options);
          id = /the run (\w+)/.exec(await screen.shows(/Call it\? \[y\/N\]/))?.[1] ?? "";
          if (leave) {
            screen.press(leave);
            assertEquals(await screen.end(), 130);
          }
        }
        await using again = new Screen(commandLine([...kept, "--resume", id]), { width: 80, cwd });
        await again.shows(/Call it\? \[y\/N\]|denied/);
        assertEquals(again.lines().some((line) => line.includes("denied")), false, again.lines().join("\n"));
      });
    });
  }

  test("the end of the input at a question (Ctrl-D) is no answer", { skip }, async () => {
    await withServer(async ({ cwd, url }) => {
      await using screen = new Screen(commandLine(["call", url, "ask"]), { width: 80, cwd });
      await screen.shows(/Answer\? \[Y\/n\]/);
      screen.press("C-d");
      assertEquals(await screen.end(), 0);
      assertEquals(screen.lines().at(-1)?.trim().endsWith("cancel"), true, screen.lines().join("\n"));
    });
  });
});
