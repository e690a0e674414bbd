import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { findJsonFault } from "../../../src/hub/models/call/json_fault.ts";
import { nearestNames } from "../../../src/hub/models/call/nearest.ts";
import { runToolCall, runToolCalls } from "../../../src/hub/models/mod.ts";
import { ConnectError } from "../../../src/protocol/errors.ts";
import { FakeHub } from "../support/fake_hub.ts";

function createHub(): FakeHub {
  return new FakeHub({
    github: {
      tools: {
        create_issue: {},
        list_issues: {},
        broken: { run: () => Promise.reject(new ConnectError('Cannot connect to "github": it is down')) },
        buggy: { run: () => Promise.reject(new RangeError("a mistake of ours")) },
      },
    },
    mail: { tools: { send: {} } },
  });
}

describe("the arguments of a model", () => {
  const good: [string, unknown, object][] = [
    ["an object", { title: "A" }, { title: "A" }],
    ["a text", '{"title":"A"}', { title: "A" }],
    ["an empty text", " ", {}],
    ["nothing", undefined, {}],
    ["null", null, {}],
  ];
  for (const [name, given, args] of good) {
    test(name, async () => {
      const hub = createHub();
      const result = await runToolCall(hub, { name: "github__create_issue", arguments: given });
      assertEquals(result.isError, undefined);
      assertEquals(hub.calls.map((call) => [call.server, call.name, call.args]), [["github", "create_issue", args]]);
    });
  }

  const bad: [string, unknown, string][] = [
    ["an array", "[1]", "the arguments are an array, expected a JSON object"],
    ["a number", 5, "the arguments are a number, expected a JSON object"],
    ["the text null", "null", "the arguments are null, expected a JSON object"],
    [
      "a comma at the end",
      '{"title": "A",}',
      'the arguments are not JSON at line 1, column 15, after "{"title": "A",": ' +
      'expected a name in double quotes, found "}"',
    ],
    [
      "a text that breaks off",
      '{"title":\n "A',
      'the arguments are not JSON at line 2, column 4, after "{"title":\n "A": ' +
      "expected the end of the text that begins at character 12, found the end of the text",
    ],
    [
      "an escape that other languages have",
      '{"title": "\\U0001F600"}',
      'the arguments are not JSON at line 1, column 12, after "{"title": "": expected an escape of JSON, found "\\U0001F600"}"',
    ],
    [
      "single quotes",
      "{'title': 1}",
      'the arguments are not JSON at line 1, column 2, after "{": ' +
      'expected a name in double quotes or "}", found "\'title\': 1}"',
    ],
  ];
  for (const [name, given, message] of bad) {
    test(`${name}: the model is told, and nothing is called`, async () => {
      const hub = createHub();
      const result = await runToolCall(hub, { name: "github__create_issue", arguments: given });
      const text = `Cannot call "github__create_issue": ${message}`;
      assertEquals(result, { content: [{ type: "text", text }], isError: true });
      assertEquals(hub.calls, []);
    });
  }

  test("the place of a fault is where JSON ends, whatever the runtime", () => {
    const faults: [string, number][] = [
      ["", 0],
      ["{", 1],
      ['{"a"}', 4],
      ['{"a":}', 5],
      ['{"a":1 "b":2}', 7],
      ["[1,]", 3],
      ["[1,,2]", 3],
      ["01", 0],
      ["-", 0],
      ["1.", 0],
      ["tru", 0],
      ["truest", 0],
      ['"\u0001"', 1],
      ['"\\x"', 1],
      ['"\\u12g4"', 1],
      ["{} {}", 3],
      ["]", 0],
      ["[}", 1],
      ["NaN", 0],
    ];
    for (const [text, at] of faults) {
      assertEquals(findJsonFault(text)?.at, at, JSON.stringify(text));
    }
    for (const text of ["{}", "[]", " [1, -2.5e+3, null] ", '{"a":{"b":[true,false,"\\u00e9\\n"]}}', '""', "0"]) {
      assertEquals(findJsonFault(text), undefined, text);
    }
  });

  test("the finder agrees with JSON.parse on damaged texts", () => {
    const whole = '{"a":[1,-2.5e3,{"b":"c\\n\\u00e9"},true,null],"d":{}}';
    const letters = ['"', ",", ":", "{", "}", "[", "]", "\\", "0", "-", "x", " "];
    for (let at = 0; at <= whole.length; at++) {
      const damaged = [whole.slice(0, at) + whole.slice(at + 1), whole.slice(0, at)];
      for (const letter of letters) damaged.push(whole.slice(0, at) + letter + whole.slice(at));
      for (const text of damaged) assertEquals(findJsonFault(text) === undefined, isJson(text), text);
    }
  });
});

describe("the tool of a model", () => {
  test("one that is not there is answered with the nearest names", async () => {
    const result = await runToolCall(createHub(), { name: "create_isue", arguments: "{}" });
    assertEquals(result, {
      content: [{
        type: "text",
        text: 'Cannot call "create_isue": there is no tool of this name, did you mean ' +
          '"github__create_issue"?',
      }],
      isError: true,
    });
    assertEquals((await runToolCall(createHub(), { name: "zzz" })).content, [
      { type: "text", text: 'Cannot call "zzz": there is no tool of this name' },
    ]);
  });

  test("names are near that share letters, with or without the server", () => {
    const names = ["github__create_issue", "github__list_issues", "gitlab__create_issue", "mail__send"];
    assertEquals(nearestNames("gitlab_create_issue", names)[0], "gitlab__create_issue");
    assertEquals(nearestNames("email__send", names)[0], "mail__send");
    assertEquals(nearestNames("listIssues", names)[0], "github__list_issues");
    assertEquals(nearestNames("", names), []);
  });

  test("server.tool is a name too", async () => {
    const hub = createHub();
    await runToolCall(hub, { name: "mail.send" });
    assertEquals(hub.calls.map(({ server, name }) => [server, name]), [["mail", "send"]]);
  });

  test("an error of the house is a result, a mistake is thrown", async () => {
    assertEquals(await runToolCall(createHub(), { name: "github__broken" }), {
      content: [{ type: "text", text: 'Cannot connect to "github": it is down' }],
      isError: true,
    });
    await assertRejects(() => runToolCall(createHub(), { name: "github__buggy" }), RangeError, "a mistake of ours");
  });

  test("signal, time and progress go down; an abort comes up", async () => {
    const hub = new FakeHub({
      slow: {
        tools: {
          wait: {
            run: (_, { signal, onProgress }) => {
              onProgress?.({ progress: 0.5 });
              return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
            },
          },
        },
      },
    });
    const controller = new AbortController();
    const seen: unknown[] = [];
    const running = runToolCalls(hub, [{ id: "1", name: "slow__wait" }, { id: "2", name: "slow__wait" }], {
      signal: controller.signal,
      timeout: 500,
      onProgress: (progress, call) => seen.push([call.id, progress.progress]),
    });
    await Promise.resolve();
    const reason = new Error("enough");
    controller.abort(reason);
    assertStrictEquals(await running.catch((error: unknown) => error), reason);
    assertEquals(seen, [["1", 0.5], ["2", 0.5]]);
    assertEquals(hub.calls.map(({ options }) => options.timeout), [500, 500]);
    assertStrictEquals(
      await runToolCall(hub, { name: "slow__wait" }, { signal: controller.signal }).catch((error: unknown) => error),
      reason,
    );
    assertEquals(hub.calls.length, 2);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
