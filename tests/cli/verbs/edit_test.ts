import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { editJson, putJson } from "../../../src/cli/config/edit.ts";
import { UsageError } from "../../../src/cli/failure.ts";

const commented = `// mine
{
    // the servers
    "mcpServers": {
        "docs": { "url": "https://x/" }, // by hand
        /* a { in a comment */ "files": {
            "command": "sh" // "," and }
        }
        // the end
    },
    "other": [1, { "a": "}" }],
}
`;

describe("changing a config as text", () => {
  test("a new member stands at the end; comments, order and indentation stay", () => {
    const edited = editJson(commented, ["mcpServers", "new"], { command: "a", args: [] });
    assertEquals(
      edited,
      commented.replace(
        "        }\n        // the end\n",
        '        },\n        // the end\n        "new": {\n          "command": "a",\n          "args": []\n        }\n',
      ),
    );
  });

  test("a member is replaced where it is", () => {
    assertEquals(
      editJson(commented, ["mcpServers", "docs"], { url: "https://y/" }),
      commented.replace('{ "url": "https://x/" }', '{\n          "url": "https://y/"\n        }'),
    );
  });

  test("several are put in as they would be one after the other", () => {
    const values = { late: { a: 1 }, files: { command: "a" }, docs: { url: "u" }, last: [1] };
    for (
      const text of [commented, commented.replaceAll("\n", "\r\n"), '{"mcpServers":{}}', '{"mcpServers":{"docs":1}}']
    ) {
      const each = Object.entries(values).reduce(
        (text, [name, value]) => editJson(text, ["mcpServers", name], value),
        text,
      );
      assertEquals(putJson(text, ["mcpServers"], new Map(Object.entries(values))), each);
    }
    assertEquals(putJson('{"a":1}', [], new Map([["b", 2], ["c", 3]])), '{"a":1, "b": 2, "c": 3}');
    assertThrows(() => putJson('{"a":1,"a":2}', [], new Map([["b", 2]])), UsageError);
  });

  test("a member is taken out with its comma, the last one with the comma before it", () => {
    assertEquals(
      editJson(commented, ["mcpServers", "docs"], undefined),
      commented.replace('\n        "docs": { "url": "https://x/" },', ""),
    );
    assertEquals(editJson('{"a":{"b":1,"c":2}}', ["a", "c"], undefined), '{"a":{"b":1}}');
    assertEquals(editJson('{"a":{"b":1}}', ["a", "b"], undefined), '{"a":{}}');
    assertEquals(editJson('{\n  "a": 1,\n  "b": 2\n}\n', ["b"], undefined), '{\n  "a": 1\n}\n');
  });

  test("a member is taken out between a comment and what follows on its line", () => {
    const text = `{ "servers": {\n    // kept\n    "one": 1, "two": 2 } }`;
    const without = editJson(text, ["servers", "one"], undefined);
    assertEquals(without, `{ "servers": {\n    // kept\n     "two": 2 } }`);
    assertEquals(editJson(without, ["servers", "two"], undefined), `{ "servers": {\n    // kept\n      } }`);
  });

  test("lines end as they do in the text", () => {
    const windows = commented.replaceAll("\n", "\r\n");
    for (const value of [{ command: "a", args: ["b"] }, undefined]) {
      const name = value ? "new" : "docs";
      const edited = editJson(commented, ["mcpServers", name], value);
      assertEquals(editJson(windows, ["mcpServers", name], value), edited.replaceAll("\n", "\r\n"));
    }
  });

  test("a word goes into an object on one line, and out of it without a trace", () => {
    for (
      const [text, on] of [
        ['{ "a": { "b": 1 } }', '{ "a": { "b": 1, "off": true } }'],
        ['{ "a": { "b": 1 /* c */ } }', '{ "a": { "b": 1, /* c */ "off": true } }'],
      ] as const
    ) {
      assertEquals(editJson(text, ["a", "off"], true), on);
      assertEquals(editJson(on, ["a", "off"], undefined), text);
    }
    assertEquals(editJson('{ "a": { "b": 1, } }', ["a", "off"], true), '{ "a": { "b": 1, "off": true } }');
  });

  test("into an empty object, and at the top", () => {
    assertEquals(editJson("{}", ["mcpServers"], {}), '{\n  "mcpServers": {}\n}');
    assertEquals(
      editJson('{\n  "mcpServers": {}\n}\n', ["mcpServers", "a"], { url: "u" }),
      '{\n  "mcpServers": {\n    "a": {\n      "url": "u"\n    }\n  }\n}\n',
    );
    assertEquals(editJson('{ "a": [1, 2], }', ["b"], 'say "x"'), '{ "a": [1, 2], "b": "say \\"x\\"" }');
  });

  test("what cannot be changed without harm is refused", () => {
    const refused: [string, string[]][] = [
      ["{", ["a"]],
      ['{"a":1,"a":2}', ["a"]],
      ['{"a":[]}', ["a", "b"]],
      ["[]", ["a"]],
    ];
    for (const [text, path] of refused) assertThrows(() => editJson(text, path, 1), UsageError, "change it by hand");
    assertThrows(() => editJson("{}", ["a"], undefined), UsageError, "change it by hand");
  });
});
