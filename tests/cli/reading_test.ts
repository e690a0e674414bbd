import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { buildArguments } from "../../src/cli/arguments/values.ts";
import { readValue } from "../../src/protocol/arguments/values.ts";
import { fillForm, visitPage } from "../../src/cli/ask/form.ts";
import { UsageError } from "../../src/cli/failure.ts";
import { readShellWords } from "../../src/cli/target/shell_words.ts";
import { resolveTarget } from "../../src/cli/target/target.ts";
import { nearest } from "../../src/hub/config/nearest.ts";
import { firstLine, oneLine, plain } from "../../src/cli/text/plain.ts";
import { hasRounded, resultText, unsaid } from "../../src/cli/text/result.ts";
import { typeText } from "../../src/cli/text/schema.ts";
import type { JsonValue } from "../../src/protocol/json_rpc.ts";
import type { ElicitRequest } from "../../src/protocol/mod.ts";
import { stopwatch } from "../support/clocks/stopwatch.ts";

describe("words of a command", () => {
  test("are split as a POSIX shell splits them", () => {
    const cases: [string, string[]][] = [
      ["bun server.ts", ["bun", "server.ts"]],
      ["  a\t b\nc ", ["a", "b", "c"]],
      [`a 'b c' "d e"f`, ["a", "b c", "d ef"]],
      [`'a\\b' "a\\b" "a\\"b\\\\" a\\ b`, ["a\\b", "a\\b", 'a"b\\', "a b"]],
      [`'' "" x''`, ["", "", "x"]],
      [`'it'\\''s' "it's"`, ["it's", "it's"]],
      ["$HOME ; rm | * > x", ["$HOME", ";", "rm", "|", "*", ">", "x"]],
      ["a \\\nb", ["a", "b"]],
      ["", []],
    ];
    for (const [text, words] of cases) assertEquals(readShellWords(text), { words }, text);
  });

  test("an open quote or a lone backslash at the end is refused", async () => {
    for (const text of ["a 'b", 'a "b', "a\\"]) {
      await assertRejects(() => resolveTarget(text, { headers: {} }), UsageError, "close the quotes");
    }
  });
});

describe("arguments by the schema", () => {
  const schema = (type: unknown) => ({ type });
  test("a text is what the schema allows, and a text where it allows texts", () => {
    assertEquals(readValue("5", schema("string")), "5");
    assertEquals(readValue("5", schema(["string", "number"])), "5");
    assertEquals(readValue("5", undefined), "5");
    assertEquals(readValue("-5.5e1", schema("number")), -55);
    assertEquals(readValue("0x10", schema("number")), "0x10");
    assertThrows(
      () => readValue("-9007199254740993", schema("integer")),
      TypeError,
      "it would arrive as -9007199254740992",
    );
    assertThrows(
      () => readValue("[9007199254740993]", schema("array")),
      TypeError,
      "Cannot send the number 9007199254740993",
    );
    assertEquals(readValue("9007199254740992", schema("integer")), 9007199254740992);
    assertEquals(readValue('["9007199254740993\\"", 0.1234567890123456789]', schema("array")), [
      '9007199254740993"',
      0.12345678901234568,
    ]);
    assertEquals(readValue("1e999", schema("number")), "1e999");
    assertEquals(readValue("true", schema("boolean")), true);
    assertEquals(readValue("yes", schema("boolean")), "yes");
    assertEquals(readValue("null", schema(["integer", "null"])), null);
    assertEquals(readValue("3", { anyOf: [{ type: "null" }, { type: "integer" }] }), 3);
    assertEquals(readValue("2", { enum: [1, 2] }), 2);
    assertEquals(readValue('{"a":1}', schema("object")), { a: 1 });
    assertEquals(readValue("{a", schema("object")), "{a");
    assertEquals(readValue("[1,2]", schema("array")), [1, 2]);
    assertEquals(readValue("3", { type: "array", items: { type: "integer" } }), [3]);
  });

  test("later ones win over whole objects; lists grow; anything else twice is refused", () => {
    const properties = { tag: { type: "array", items: { type: "string" } }, name: { type: "string" } };
    const build = (pieces: Parameters<typeof buildArguments>[0]) =>
      buildArguments(pieces, { type: "object", properties });
    assertEquals(build([{ object: { name: "a", x: 1 } }, { key: "name", text: "b" }]), { name: "b", x: 1 });
    assertEquals(build([{ key: "tag", text: "a" }, { key: "tag", text: "b" }]), { tag: ["a", "b"] });
    assertThrows(() => build([{ key: "name", text: "a" }, { key: "name", text: "b" }]), UsageError, "given twice");
    const odd = build([{ key: "__proto__", value: { polluted: true } }]);
    assertEquals([Object.keys(odd), Reflect.get({}, "polluted")], [["__proto__"], undefined]);
  });
});

describe("text of servers", () => {
  const escape = "\u001b";
  test("loses escape sequences, control characters and turned direction", () => {
    assertEquals(plain(`${escape}[1;31mred${escape}[0m`), "red");
    assertEquals(plain(`${escape}]8;;http://evil\u0007link${escape}]8;;\u0007`), "link");
    assertEquals(plain(`a${escape}Pdevice${escape}\\b`), "ab");
    assertEquals(plain("a\u0008\u009b2Jb\u007f\u202ec\u2066\u0000"), "a2Jbc");
    assertEquals(plain("a\r\nb\tc\rd"), "a\nb\tcd");
    assertEquals(plain(`${escape}`), "");
    assertEquals(oneLine(" a\n\n b\u2028c "), "a b c");
    assertEquals(firstLine("\n first\nsecond"), "first");
    assertEquals(firstLine("x".repeat(300)).length, 160);
  });

  test("types are written in a few characters", () => {
    assertEquals(typeText({ type: "array", items: { enum: ["a", "b"] } }), '("a" | "b")[]');
    assertEquals(typeText({ anyOf: [{ type: "string" }, { type: "null" }] }), "string | null");
    assertEquals(typeText({ $ref: "#/$defs/Point" }), "Point");
    assertEquals(typeText(true), "any");
    assertEquals(typeText({ enum: Array(100).fill("long") }).length, 80);
  });

  test("data of nothing but padding is counted, however long", () => {
    // Work that grows with the square takes a minute here.
    const took = stopwatch();
    const data = `${"=".repeat(200_000)}A`;
    const shown = resultText({ content: [{ type: "image", data, mimeType: "image/png" }] });
    assertEquals(shown, "[image image/png, 150000 bytes: --json gives the data]\n");
    assert(took() < 5_000);
  });

  test("whether a text says the same as the structured content is looked at once for it, however many texts there are", () => {
    let looks = 0;
    const structuredContent: unknown = { toJSON: () => ({ looks: looks++ }) };
    const content = Array.from({ length: 1_000 }, () => ({ type: "text", text: "1" }));
    const shown = resultText({ content, structuredContent } as Parameters<typeof resultText>[0]);
    assert(shown.startsWith("1\n1\n") && looks <= 2, `${looks} looks`);
  });

  test("structured content is shown when no text says the same", () => {
    const text = (value: string) => ({ type: "text" as const, text: value });
    assertEquals(resultText({ content: [text('{ "a": 1 }')], structuredContent: { a: 1 } }), '{ "a": 1 }\n');
    assertEquals(resultText({ content: [text("one")], structuredContent: { a: 1 } }), 'one\n{\n  "a": 1\n}\n');
    assertEquals(
      resultText({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }),
      "[image image/png, 3 bytes: --json gives the data]\n",
    );
    // What servers say that have nothing to say.
    const bytes = { type: "resource", resource: { uri: "x:a", mimeType: null, text: null, blob: "AAAA" } };
    const spoken = { content: [text("one"), bytes], structuredContent: null };
    assertEquals(
      resultText(spoken as unknown as Parameters<typeof resultText>[0]),
      "one\n[resource x:a, 3 bytes: --json gives the data]\n",
    );
    assertEquals(resultText({ content: [], structuredContent: null }), "null\n");
    // What is shown as JSON may have lost digits; a text has all of its own.
    const structuredContent = { id: 2 ** 53 };
    const rounded = ["found", '{ "id": 9007199254740993 }'].map((value) =>
      hasRounded(unsaid({ content: [text(value)], structuredContent }))
    );
    assertEquals(rounded, [true, false]);
  });

  test("what a server puts under `result` since it is no object is not shown a second time", () => {
    const shown = (texts: readonly string[], structuredContent: JsonValue) =>
      resultText({ content: texts.map((text) => ({ type: "text", text })), structuredContent });
    assertEquals(shown(["done"], { result: "done" }), "done\n");
    assertEquals(shown(["3.0"], { result: 3 }), "3.0\n");
    assertEquals(shown(["[1, 2]"], { result: [1, 2] }), "[1, 2]\n");
    assertEquals(shown(["one", '{ "b": 2 }'], { result: ["one", { b: 2 }] }), 'one\n{ "b": 2 }\n');
    // What no text says whole is.
    assertEquals(shown(["one"], { result: ["one", "two"] }), 'one\n{\n  "result": [\n    "one",\n    "two"\n  ]\n}\n');
    assertEquals(shown(["done"], { result: "done", took: 1 }), 'done\n{\n  "result": "done",\n  "took": 1\n}\n');
    assertEquals(shown([], { result: [] }), '{\n  "result": []\n}\n');
  });

  test("the nearest name: few changes, case, dashes and turned words do not count", () => {
    const names = ["get-sum", "echo", "list_issues", "create_issue"];
    assertEquals(nearest("ecko", names), "echo");
    assertEquals(nearest("Get_Sum", names), "get-sum");
    assertEquals(nearest("issue-create", names), "create_issue");
    assertEquals(nearest("delete-everything", names), undefined);
    assertEquals(nearest("x", []), undefined);
  });
});

describe("questions of servers", () => {
  const terminal = (answers: string[]) => {
    const told: string[] = [];
    const say = (text: string) => Promise.resolve(void told.push(text));
    const ask = (question: string) => Promise.resolve((told.push(question), answers.shift()));
    return { told, say, ask };
  };
  const form: ElicitRequest = {
    message: "Who?",
    requestedSchema: {
      type: "object",
      properties: {
        name: { type: "string", default: "Ada" },
        age: { type: "integer", minimum: 0 },
        member: { type: "boolean" },
        size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }] },
        tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
      },
      required: ["age"],
    },
  };

  test("a form: what does not fit is asked again, what is left out stays out", async () => {
    const person = terminal(["y", "", "old", "-1", "41", "no", "large", "a, b"]);
    assertEquals(await fillForm(form, "shop", person), {
      action: "accept",
      content: { age: 41, member: false, size: "l", tags: ["a", "b"] },
    });
    assertEquals(person.told.filter((text) => text.startsWith("  age")).length, 3);
  });

  test("it is said that several may be chosen, and how a date is written; what has not the format is asked again", async () => {
    const person = terminal([
      "y",
      "a c",
      "a,b",
      "nobody",
      "ada@example.com",
      "tomorrow",
      "2026-01-31",
      "noon",
      "",
      "",
      "",
    ]);
    const requestedSchema: object = {
      type: "object",
      properties: {
        tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
        mail: { type: "string", format: "email" },
        day: { type: "string", format: "date" },
        at: { type: "string", format: "date-time" },
        page: { type: "string", format: "uri" },
        other: { type: "string", format: "toString" },
      },
      required: ["tags", "mail", "day"],
    };
    const request = { message: "When?", requestedSchema } as ElicitRequest;
    const { content } = await fillForm(request, "shop", person);
    assertEquals(content, { tags: ["a", "b"], mail: "ada@example.com", day: "2026-01-31" });
    const said = [...new Set(person.told.slice(2))];
    assertEquals(said, [
      "  tags (some of a | b, with commas between): ",
      '  must be one of "a", "b"\n',
      "  mail (email, as ada@example.com): ",
      '  must have the format "email"\n',
      "  day (date, as 2026-01-31): ",
      '  must have the format "date"\n',
      "  at (date-time, as 2026-01-31T12:00:00Z) [skip]: ",
      '  must have the format "date-time"\n',
      "  page (uri, as https://example.com) [skip]: ",
      "  other (string) [skip]: ",
    ]);
  });

  test("a choice is what is shown of it, also where that has a comma, or is the value of another one", async () => {
    const filled = async (field: object, answer: string): Promise<unknown> => {
      const requestedSchema = { type: "object", properties: { it: field }, required: ["it"] };
      const request: object = { message: "Which?", requestedSchema };
      const { content } = await fillForm(request as ElicitRequest, "s", terminal(["", answer]));
      return content?.it;
    };
    const titled = [{ const: "p", title: "Paris, France" }, { const: "l", title: "London" }];
    const swapped = [{ const: "1", title: "2" }, { const: "2", title: "1" }];
    assertEquals(
      [
        await filled(
          { type: "array", items: { enum: ["Paris, France", "London", "Paris"] } },
          "Paris, France,London, Paris",
        ),
        await filled({ type: "array", items: { anyOf: titled } }, "london, paris, france"),
        await filled({ type: "array", items: { anyOf: titled } }, "l,"),
        await filled({ type: "array", items: { anyOf: titled } }, ""),
        await filled({ type: "string", oneOf: swapped }, "1"),
        await filled({ type: "string", enum: ["Berlin", "berlin"] }, "berlin"),
        await filled({ type: "string", enum: ["  A  B ", "b"] }, "A B"),
      ],
      [["Paris, France", "London", "Paris"], ["l", "p"], ["l"], [], "2", "berlin", "  A  B "],
    );
  });

  test("no is a decline, the end of the input a cancel", async () => {
    assertEquals(await fillForm(form, "shop", terminal(["n"])), { action: "decline" });
    assertEquals(await fillForm(form, "shop", terminal([])), { action: "cancel" });
    assertEquals(await fillForm(form, "shop", terminal(["", "Bo"])), { action: "cancel" });
    const long = terminal(["", "Bo", "9007199254740993"]);
    assertEquals(await fillForm(form, "shop", long), { action: "cancel" });
    assertEquals(long.told.at(-1), long.told.at(-3), "it is asked again");
  });

  test("a page is shown in full with its host, and only a yes accepts", async () => {
    const url = "https://example.com.evil.test/sign?next=https://example.com";
    const person = terminal([""]);
    assertEquals(await visitPage({ message: "Sign", url }, "shop", person), { action: "decline" });
    assertEquals(person.told[0], `"shop" asks you to visit a page at example.com.evil.test: Sign\n  ${url}\n`);
    assertEquals(await visitPage({ message: "Sign", url }, "shop", terminal(["yes"])), { action: "accept" });
  });
});
