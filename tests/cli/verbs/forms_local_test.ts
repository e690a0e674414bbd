import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { readCallForm } from "../../../src/cli/arguments/call_form.ts";
import { UsageError } from "../../../src/cli/failure.ts";
import { assertFailure, causeway, inPlace, program } from "../support.ts";
import type { Run } from "../support.ts";

async function withConfig(run: (use: (...words: string[]) => Promise<Run>) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-forms-"));
  const [command = "", ...args] = program("tests/servers/stdio_server.ts");
  const mcpServers = {
    peer: { command, args: [...args, "modern"] },
    "peer.two": { command, args: [...args, "legacy", "--name=two"] },
    "my peer": { command, args: [...args, "modern"] },
    dead: { command: "causeway-no-such-program" },
  };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers }));
  try {
    await run((...words) => causeway(words, { cwd: folder }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("a call as programmers write it", () => {
  test("keys without quotes, texts in either quotes, JSON for the rest", () => {
    assertEquals(readCallForm("tool"), { name: "tool", args: undefined });
    assertEquals(readCallForm("tool()"), { name: "tool", args: {} });
    assertEquals(readCallForm(`a.b(x: 1, y-z: 'it\\'s "so"', "q": [true, null, -2.5e3], o: { k: "a:b, c" })`), {
      name: "a.b",
      args: { x: 1, "y-z": `it's "so"`, q: [true, null, -2500], o: { k: "a:b, c" } },
    });
    assertEquals(readCallForm('t({"a": "b(c)"})').args, { a: "b(c)" });
  });

  test("a number that cannot be sent is named", () => {
    assertEquals(readCallForm("t(a: '9007199254740993', b: 9007199254740992)").args?.b, 9007199254740992);
    assertThrows(() => readCallForm("t(a: 9007199254740993)"), UsageError, "Cannot send the number 9007199254740993");
  });

  test("anything else is refused", () => {
    for (const text of ["t(1)", "t(a: )", "t(a: b)", "t(a: 1", "t(a: 'x)", "t([1])"].slice(0, 6)) {
      if (!text.endsWith(")")) assertEquals(readCallForm(text).args, undefined);
      else assertThrows(() => readCallForm(text), UsageError, "write it like tool(key: 1");
    }
  });
});

test("a number in a result that may have lost digits is told, where its own text is not shown", async () => {
  await withConfig(async (use) => {
    const told = async (b: number, ...more: string[]) =>
      (await use("call", "peer", "add", "a=9007199254740990", `b=${b}`, ...more)).err;
    assertMatch(await told(2, "--json"), /^causeway: warning: a whole number in the result is beyond 2\^53: .*\n$/);
    assertEquals([await told(1, "--json"), await told(2)], ["", ""]);
  });
});

describe("causeway without a verb, and server.tool", () => {
  test("each form reaches the same tool", async () => {
    await withConfig(async (use) => {
      const runs = await Promise.all([
        use("call", "peer.echo", "text=1"),
        use("call", "peer.echo(text: '2')"),
        use("call", "peer", 'echo(text: "3")'),
        use("peer.echo", "text=4"),
        use("peer", "echo", "text=5"),
        use("peer.echo(text: 'no')", "text=6"),
        use("peer.two.echo", "text=7", "--json"),
      ]);
      assertEquals(runs.map(({ code, err }) => [code, err]), runs.map(() => [0, ""]));
      assertEquals(runs.slice(0, 6).map(({ out }) => out), ["1\n", "2\n", "3\n", "4\n", "5\n", "6\n"]);
      assertEquals(JSON.parse(runs[6]?.out ?? "").content[0].text, "7");
      assertMatch((await use("peer")).out, /^echo {2}Echo: /);
    });
  });

  test("also where the server's name has a space in it", async () => {
    await withConfig(async (use) => {
      const runs = await Promise.all([
        use("call", "my peer", "echo", "text=1"),
        use("call", "my peer.echo", "text=2"),
        use("call", "my peer.echo(text: '3')"),
        use("my peer.echo", "text=4"),
        use("my peer", "echo", "text=5"),
      ]);
      assertEquals(runs.map(({ code, out, err }) => [code, out, err]), runs.map((_, at) => [0, `${at + 1}\n`, ""]));
      assertMatch((await use("my peer")).out, /^echo {2}Echo: /);
      // With a space in what is no such name it is a program.
      assertFailure(await use("call", "peer.echo text=1", "x"), 4, /Cannot start "peer\.echo"/);
    });
  });

  test("a config behind the one that has the server is not looked at, also where that name has a space in it", async () => {
    const [command = "", ...args] = program("tests/servers/stdio_server.ts");
    const mcpServers = { "my peer": { command, args: [...args, "modern"] } };
    const files = { "app/causeway.json": JSON.stringify({ mcpServers }), "app/mcp.json": "[1, 2" };
    await inPlace(files, async ({ run }) => {
      assertEquals(await run("call", "my peer", "echo", "text=1"), { code: 0, out: "1\n", err: "" });
    });
  });

  test("what a tool does not know is sent, and warned of", async () => {
    await withConfig(async (use) => {
      const { code, out, err } = await use("call", "peer", "echo", "text=1", "txt=2");
      assertEquals([code, out], [0, "1\n"]);
      const says = 'among the arguments of "echo" there is no "txt" (did you mean "text"?); it is called all the same';
      assertEquals(err, `causeway: warning: ${says}\n`);
    });
  });

  test("what no config has is an unknown command; bad calls are one line", async () => {
    await withConfig(async (use) => {
      assertFailure(await use("pear"), 2, /Unknown command "pear"/);
      assertFailure(await use("pear.echo"), 2, /Unknown command "pear\.echo"/);
      assertFailure(await use("peer.ecko"), 2, /Unknown tool "ecko" .*did you mean "echo"/);
      assertFailure(await use("call", "peer.echo(text)"), 2, /Cannot read the call "echo\(text\)": write it like/);
      assertFailure(await use("call", "peer"), 2, /The tool is missing/);
      // A program whose arguments look like a call is a program.
      assertFailure(await use("tools", "sh -c 'exit $(echo 3)'"), 4, /"sh" ended with exit code 3/);
      assertFailure(await use("call", "sh -c 'exit $(echo 3)'", "x"), 4, /"sh" ended with exit code 3/);
    });
  });
});

describe("causeway search", () => {
  test("ranks the tools of all servers, and names those that are not there", async () => {
    await withConfig(async (use) => {
      const [text, json] = await Promise.all([
        use("search", "adds", "numbers", "--limit", "2"),
        use("search", "adds numbers", "--json", "--servers", "peer", "--limit", "1"),
      ]);
      assertEquals(text.code, 0);
      assertMatch(text.out, /^peer\.add +Adds two numbers\npeer\.two\.add +Adds two numbers\n$/);
      assertMatch(text.err, /^causeway: not searched: "dead": .*causeway-no-such-program/);
      const [best] = JSON.parse(json.out);
      assertEquals([best.server, best.qualifiedName, best.tool.name, json.err], ["peer", "peer__add", "add", ""]);
      assert(best.score > 0);
    });
  });

  test("bad input is one line, with 2", async () => {
    assertFailure(await causeway(["search"]), 2, /It is not said what for/);
    assertFailure(await causeway(["search", "x", "--limit", "0"]), 2, /Cannot read --limit "0"/);
    assertFailure(await causeway(["search", "x", "--header", "A: b"]), 2, /--header belongs to/);
  });
});
