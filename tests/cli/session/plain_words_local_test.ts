import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { takeApart } from "../../../src/cli/program/build.ts";
import { commandTable } from "../../../src/cli/program/commands.ts";
import { readPlain } from "../../../src/cli/program/plain.ts";

const commands = commandTable.map(({ name }) => name);
const own = ["--json", "--args", "--timeout", "--help", "-h", "-v", "--", "-", "--header=a: b", "--bogus", "help", ""];

describe("words that nobody has to take apart", () => {
  test("mean what they mean to who takes all words apart", () => {
    let read = 0;
    const word = fc.oneof(
      fc.constantFrom(...commands, ...own, "bun server.ts", "key=value", "{}", "@file", "ünï"),
      fc.string({ maxLength: 6 }),
    );
    const plain = fc.array(
      fc.oneof(fc.constantFrom(...commands, "--json", "help", "", "bun server.ts", "key=value"), fc.string()),
    );
    const lines = fc.oneof(
      fc.array(word, { maxLength: 6 }),
      fc.tuple(fc.constantFrom(...commands), plain).map(([command, words]) => [command, ...words]),
    );
    fc.assert(
      fc.property(lines, (argv) => {
        const found = readPlain(argv);
        if (!found) return;
        read++;
        assertEquals({ ...found, given: { ...found.given, json: undefined } }, {
          ...takeApart(argv),
          given: { ...takeApart(argv).given, json: undefined },
        });
        assertEquals("json" in found.given, "json" in takeApart(argv).given);
      }),
      { numRuns: 1_000 },
    );
    assertEquals(read > 50, true, `only ${read} lines were read`);
  });

  test("are a question for help or the version, alone", () => {
    for (const word of ["help", "--help", "-h", "--version", "-v"]) {
      assertEquals(readPlain([word]), takeApart([word]), word);
    }
  });

  test("are not those of commands that take more, nor those with other options", () => {
    const others = [
      "",
      "help call",
      "--help call",
      "servers list",
      "servers",
      "record f call x",
      "run x",
      "call x --args {}",
      "call x -",
      "call -h",
    ];
    for (const line of others) assertEquals(readPlain(line.split(" ")), undefined, line);
    assertEquals(readPlain([]), undefined);
    assertEquals(readPlain(["tasks list", "x"]), undefined);
    assertEquals(readPlain(["call", "bun server.ts", "echo", "a=1", "--json"]), {
      ...{ command: "call", words: ["bun server.ts", "echo", "a=1"], given: { json: [""] } },
    });
  });
});
