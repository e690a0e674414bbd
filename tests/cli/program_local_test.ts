import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { helpText } from "../../src/cli/program/build.ts";
import { commandNames, commandTable } from "../../src/cli/program/commands.ts";
import { ownOptions } from "../../src/cli/program/options.ts";
import { completions } from "../../src/cli/program/complete.ts";
import { overviewText } from "../../src/cli/program/overview.ts";
import { readCommandLine } from "./session/read_line.ts";
import { assertFailure, causeway } from "./support.ts";

describe("the tables of the command", () => {
  test("each option of a command is one of the table, and each of the table has an owner", () => {
    const owned = new Set(commandTable.flatMap(({ options = [] }) => options));
    assertEquals([...owned].filter((name) => !Object.hasOwn(ownOptions, name)), []);
    assertEquals(Object.keys(ownOptions).filter((name) => !owned.has(name)), []);
  });

  test("each command has code, and words of its own", async () => {
    for (const spec of commandTable) {
      assertEquals(typeof await spec.load(), "function", spec.name);
      assert(spec.about !== "" && spec.group !== "", spec.name);
      assertEquals(readCommandLine([...spec.name.split(" "), ...(spec.words === "" ? [] : ["x"])]).command, spec.name);
    }
    assertEquals(new Set(commandTable.map(({ name }) => name)).size, commandTable.length);
  });

  test("help names every command, and no line is wider than the terminal", () => {
    for (const width of [40, 60, 80, 200]) {
      const help = overviewText(width);
      for (const name of commandNames()) assertMatch(help, new RegExp(`\\n  ${name}[ \\n]`));
      const texts = [helpText("call", width), helpText("servers", width), helpText("servers list", width), help];
      const wide = texts.flatMap((text) => text.split("\n")).filter((line) => line.length > width);
      assertEquals(wide, []);
    }
  });
});

describe("help of one command", () => {
  test("by help and by --help, also of a second word", async () => {
    const runs = await Promise.all(
      [["help", "call"], ["call", "-h"], ["servers", "list", "--help"]].map((words) => causeway(words)),
    );
    assertEquals(runs.map(({ code, err }) => [code, err]), [[0, ""], [0, ""], [0, ""]]);
    assertEquals(runs[0]?.out, runs[1]?.out);
    assertStringIncludes(runs[0]?.out ?? "", "Usage: causeway call <target> <tool> [argument …]");
    assertStringIncludes(runs[0]?.out ?? "", "--args <json>");
    assertStringIncludes(runs[2]?.out ?? "", "Usage: causeway servers list\n");
    assertFailure(await causeway(["help", "cal"]), 2, /Unknown command "cal" \(did you mean "call"\?\)/);
  });

  test("--header is offered by help and completion where it is taken, and nowhere else", async () => {
    const refusing = commandTable.filter(({ connects, name }) => !connects && name !== "record");
    assert(refusing.length > 10);
    for (const { name } of refusing) {
      assert(!helpText(name, 80).includes("--header"), name);
      assert(!(await completions([...name.split(" "), "--"])).includes("--header"), name);
    }
    for (const name of ["call", "tasks", "tasks get", "servers add", "bridge", "record"]) {
      assertStringIncludes(helpText(name, 80), "--header", name);
      assert((await completions([...name.split(" "), "--"])).includes("--header"), name);
    }
    assert((await completions(["--"])).includes("--header"));
  });

  test("the port that is taken without --port is that of each command", () => {
    const told = helpText("login", 200);
    for (const words of ["any that is free", "8080", "start: 8790"]) assertStringIncludes(told, words);
  });

  test("an option of another command is named with its owner; one before its command has to stand behind it", async () => {
    assertFailure(
      await causeway(["tools", "x", "--args", "{}"]),
      2,
      /--args belongs to causeway call, prompt and tasks detach: leave/,
    );
    assertFailure(await causeway(["--args", "{}", "call", "x", "y"]), 2, /"--args" stands before its command/);
  });
});
