import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertRejects, assertStrictEquals } from "@std/assert";
import { directiveModel } from "../../../src/agent/mod.ts";
import type { LanguageModelMessage, LanguageModelRequest, LanguageModelToolCall } from "../../../src/agent/mod.ts";
import { readDirectives, splitArguments } from "../../../src/agent/model/directives/read.ts";
import type { CallToolResult } from "../../../src/protocol/types.ts";
import { collect, tool } from "./support.ts";

const tools = [
  tool("math__add", { a: { type: "number" }, b: { type: "number" } }),
  tool("text__echo", { text: { type: "string" }, times: { type: "integer" }, tags: { type: "array" } }),
  tool("my_server__read-file_v1"),
  tool("search_tools"),
];

interface Turn {
  readonly text: string;
  readonly calls: LanguageModelToolCall[];
}

async function turn(request: LanguageModelRequest): Promise<Turn> {
  const parts = await collect(directiveModel().stream(request));
  const calls = parts.flatMap((part) => part.type === "tool_call" ? [part.call] : []);
  const end = {
    type: "end",
    reason: calls.length > 0 ? "tool_calls" : "stop",
    usage: { inputTokens: 0, outputTokens: 0 },
  };
  assertEquals<unknown>(parts.at(-1), end);
  return { text: parts.flatMap((part) => part.type === "text" ? [part.text] : []).join(""), calls };
}

const ask = (content: string, more: Partial<LanguageModelRequest> = {}): Promise<Turn> =>
  turn({ messages: [{ role: "user", content }], tools, ...more });

/** Goes on until it calls nothing more; each call gives what `run` says. */
async function play(
  content: string,
  run: (call: LanguageModelToolCall) => CallToolResult = textResult,
  more: Partial<LanguageModelRequest> = {},
): Promise<{ turns: Turn[]; messages: LanguageModelMessage[] }> {
  const messages: LanguageModelMessage[] = [{ role: "user", content }];
  const turns: Turn[] = [];
  while (turns.length < 10) {
    const now = await turn({ messages, tools, ...more });
    turns.push(now);
    messages.push({ role: "assistant", content: now.text, ...(now.calls.length > 0 && { toolCalls: now.calls }) });
    if (now.calls.length === 0) break;
    for (const call of now.calls) messages.push({ role: "tool", id: call.id, name: call.name, result: run(call) });
  }
  return { turns, messages };
}

function textResult({ name, arguments: given }: LanguageModelToolCall): CallToolResult {
  return { content: [{ type: "text", text: `${name} got ${JSON.stringify(given)}` }] };
}

describe("arguments of a directive", () => {
  test("are split at white space, quotes and JSON apart", () => {
    const cases: [string, string[]][] = [
      [" a=1  b:=2 ", ["a=1", "b:=2"]],
      [`text="a b" x='it is'`, ["text=a b", "x=it is"]],
      [`text="say \\"hi\\"\\\\\\n"`, ['text=say "hi"\\\n']],
      ["text=it's", ["text=it's"]],
      [`list:=[1, "] x", {"a": 2}] b=1`, [`list:=[1, "] x", {"a": 2}]`, "b=1"]],
      [`{"a": {"b": "}"}} c=1`, [`{"a": {"b": "}"}}`, "c=1"]],
      [`s:="a b"`, [`s:="a b"`]],
      ["url=http://x/?a=b", ["url=http://x/?a=b"]],
      ["a=", ["a="]],
      ["alone", ["alone"]],
    ];
    for (const [text, words] of cases) assertEquals(splitArguments(text), words, text);
  });
});

describe("a message without directives", () => {
  test("is told that there is no model, and the form", async () => {
    for (const content of ["What is the weather?", "", "please call me", "recall x", "then", "# note"]) {
      const { text, calls } = await ask(content);
      assertMatch(text, /^No language model is configured.*\ncall server\.tool key=value/);
      assertEquals(calls, []);
    }
    assertMatch((await turn({ messages: [] })).text, /^No language model/);
  });
});

describe("calls", () => {
  const called = async (content: string): Promise<[string, unknown][]> =>
    (await ask(content)).calls.map(({ name, arguments: given }) => [name, given]);

  test("by a dot, by the whole name, and by a name of its own", async () => {
    assertEquals(await called("call math.add"), [["math__add", {}]]);
    assertEquals(await called("CALL math__add"), [["math__add", {}]]);
    assertEquals(await called("call search_tools"), [["search_tools", {}]]);
    assertEquals(await called("call my_server.read-file.v1"), [["my_server__read-file_v1", {}]]);
  });

  test("with values as the schema wants them", async () => {
    assertEquals(await called("call math.add a=1 b:=2.5"), [["math__add", { a: 1, b: 2.5 }]]);
    assertEquals(await called(`call text.echo text=1 times=2 tags=x tags=y`), [
      ["text__echo", { text: "1", times: 2, tags: ["x", "y"] }],
    ]);
    assertEquals(await called(`call text.echo {"text": "a b", "tags": [1]} times=3`), [
      ["text__echo", { text: "a b", tags: [1], times: 3 }],
    ]);
    assertEquals(await called("call text.echo other=5 __proto__=x"), [
      ["text__echo", JSON.parse('{"other":"5","__proto__":"x"}')],
    ]);
  });

  test("in parts of a user's message", async () => {
    const content = [{ type: "text" as const, text: "call math.add a=1" }, {
      type: "text" as const,
      text: "call math.add a=2",
    }];
    const { calls } = await turn({ messages: [{ role: "user", content }], tools });
    assertEquals(calls.map(({ id }) => id), ["directive_1_1", "directive_1_2"]);
  });
});

describe("blocks", () => {
  test("a block is asked for at once; then, or a blank line, waits", async () => {
    const { turns } = await play(
      "say first\ncall math.add a=1\ncall math.add a=2\nsay both are there\n\n\ncall text.echo text=x\nTHEN\ncall text.echo text=y\nsay bye",
    );
    assertEquals(turns.map(({ text, calls }) => [text.split("\n")[0], calls.map(({ id }) => id)]), [
      ["first", ["directive_1_1", "directive_1_2"]],
      ["both are there", ["directive_2_1"]],
      ["", ["directive_3_1"]],
      ["bye", []],
    ]);
    assertEquals(
      turns.at(-1)?.text,
      'bye\nmath__add: math__add got {"a":1}\nmath__add: math__add got {"a":2}\n' +
        'text__echo: text__echo got {"text":"x"}\ntext__echo: text__echo got {"text":"y"}',
    );
  });

  test("one result stands alone, failures are told, long ones are cut", async () => {
    assertEquals((await play("call math.add a=1")).turns.at(-1)?.text, 'math__add got {"a":1}');
    const failing = await play("call math.add", () => ({ content: [{ type: "text", text: "no" }], isError: true }));
    assertEquals(failing.turns.at(-1)?.text, "Tool error: no");
    const structured = await play("call math.add", () => ({ content: [], structuredContent: { sum: 3 } }));
    assertEquals(structured.turns.at(-1)?.text, '{"sum":3}');
    const long = await play("call math.add", () => ({ content: [{ type: "text", text: "x".repeat(9_000) }] }));
    assertEquals(long.turns.at(-1)?.text.length, 4_001);
  });

  test("only say: it is said, and lines that are no directives are named", async () => {
    assertEquals((await ask("say hello there")).text, "hello there");
    assertEquals(
      (await ask("Dear agent,\nsay hello\nthanks\n# note")).text,
      "hello\n(Lines 1, 3: no directive, passed over)",
    );
  });

  test("the next message of the user begins anew, and ids do not repeat", async () => {
    const { messages } = await play("call math.add a=1");
    messages.push({ role: "user", content: "call math.add a=2" });
    const { calls } = await turn({ messages, tools });
    assertEquals(calls, [{ id: "directive_1_1_2", name: "math__add", arguments: { a: 2 } }]);
    messages.push({ role: "user", content: "thank you" });
    assertMatch((await turn({ messages, tools })).text, /^No language model/);
  });

  test("the same question gives the same answer", async () => {
    const content = "call math.add a=1\nthen\ncall text.echo text=x";
    assertEquals(await play(content), await play(content));
  });
});

describe("wrong directives", () => {
  test("are named by their lines, and nothing is called", async () => {
    const cases: [string, string][] = [
      ["call", 'Line 1: "call" names no tool; write call server.tool key=value'],
      ["call a=1", 'Line 1: "a=1" is no tool; write call server.tool key=value'],
      ["say", 'Line 1: "say" has nothing to say; write say some text'],
      ["call math.add 5", 'Line 1: cannot read the argument "5"; write key=value, key:=json or a JSON object'],
      ["call math.add =5", 'Line 1: cannot read the argument "=5"; write key=value, key:=json or a JSON object'],
      ['call text.echo text="a b', 'Line 1: the quote that begins with "\\"a b" has no end'],
      ["call text.echo tags:=[1, 2", 'Line 1: the JSON that begins with "[1, 2" has no end'],
      ["call math.add a=1 a=2", 'Line 1: The argument "a" is given twice: give it once, or write a list as a:=[…]'],
      ["call math.ad a=1", 'Line 1: there is no tool "math.ad", did you mean "math.add"?'],
      ["call zzz", 'Line 1: there is no tool "zzz"'],
    ];
    for (const [line, fault] of cases) {
      const { text, calls } = await ask(`${line}\ncall math.add a=1`);
      assertEquals([text, calls], [`${fault}\nNothing was called: correct this and send it again.`, []]);
    }
    assertMatch((await ask("call math.add a:=1x")).text, /^Line 1: Cannot read the value of "a": it is not JSON/);
    assertMatch((await ask("call math.add {]}")).text, /^Line 1: Cannot read the argument: it is not JSON/);
    const late = await ask("call math.add a=1\nthen\ncall math.nothing\ncall x y");
    assertEquals(late.calls, []);
    assertEquals(late.text.split("\n").map((line) => line.slice(0, 30)), [
      'Line 3: there is no tool "math',
      "Line 4: cannot read the argume",
      "Nothing was called: correct th",
    ]);
  });

  test("without tools, and where none may be called", async () => {
    assertMatch((await ask("call math.add", { tools: undefined })).text, /no tool "math\.add": no tools are connected/);
    assertMatch((await ask("call math.add", { toolChoice: "none" })).text, /tools may not be called now/);
  });

  test("a message of many lines is read in one go", () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `call a.b c=${index} d:={"x": [${index}]}`);
    assertEquals(readDirectives(lines.join("\n"))?.turns[0]?.calls.length, 20_000);
  });
});

describe("an answer for a schema", () => {
  const output = (schema: object): Partial<LanguageModelRequest> => ({ output: { name: "n", schema: { ...schema } } });
  const last = async (content: string, result: CallToolResult, schema: object): Promise<unknown> =>
    JSON.parse((await play(content, () => result, output(schema))).turns.at(-1)?.text ?? "");
  const structured = {
    content: [{ type: "text" as const, text: "sum is 3" }],
    structuredContent: { sum: 3, more: true },
  };

  test("is the last result, as far as the schema knows it", async () => {
    const properties = { sum: { type: "number" } };
    assertEquals(await last("call math.add", structured, { type: "object", properties }), { sum: 3, more: true });
    const closed = { type: "object", properties, additionalProperties: false };
    assertEquals(await last("call math.add", structured, closed), { sum: 3 });
    const answer = {
      ...closed,
      properties: { ...properties, answer: { type: "string" } },
      required: ["sum", "answer"],
    };
    assertEquals(await last("call math.add", structured, answer), { sum: 3, answer: "sum is 3" });
  });

  test("is read from a text of JSON, or from what is said", async () => {
    const text = { content: [{ type: "text" as const, text: '{"a":1}' }] };
    assertEquals(await last("call math.add", text, { type: "object" }), { a: 1 });
    assertEquals(await last('call math.add\nsay {"b": 2}', text, { type: "object" }), { b: 2 });
    assertEquals(await last('say {"b": 2}', text, { type: "object" }), { b: 2 });
    assertEquals(await last("call math.add", { ...text, isError: true }, { type: "object" }), {});
  });

  test("comes again when a better one is asked for", async () => {
    const content = "call math.add";
    const { messages, turns } = await play(content, () => structured, output({ type: "object" }));
    messages.push({ role: "user", content: "Your answer does not fit: give JSON" });
    assertEquals((await turn({ messages, tools, ...output({ type: "object" }) })).text, turns.at(-1)?.text);
  });
});

describe("calling off", () => {
  test("gives the caller's own reason", async () => {
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    const thrown = await assertRejects(() => collect(directiveModel().stream({ messages: [] }, { signal })));
    assertStrictEquals(thrown, reason);
    assert(directiveModel().id === "directives");
  });
});
