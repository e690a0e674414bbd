import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { InternalError, InvalidParamsError, MissingCapabilityError, RpcError } from "../../../src/protocol/errors.ts";
import type { LogRecord } from "../../../src/ports.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { InputNeeded } from "../../../src/server/modern/mod.ts";
import type { Checked } from "../../../src/server/mod.ts";
import { call, context, failure, newServer, numbers, refusal, returning, run, textOf } from "./support.ts";

/** Compiles only where both types are the same. */
function same<One, Other>(
  _isSame: (<T>() => T extends One ? 1 : 2) extends (<T>() => T extends Other ? 1 : 2) ? true : false,
): void {}

describe("arguments of tools", () => {
  test("what fits reaches the handler; a missing object is an empty one", async () => {
    const server = newServer();
    const seen: unknown[] = [];
    server.tool("any", { input: { type: "object" } }, (args, { era }) => void seen.push(args, era));
    assertEquals(await call(server, "any", { a: [1] }), { content: [] });
    assertEquals(await call(server, "any"), { content: [] });
    assertEquals(seen, [{ a: [1] }, "modern", {}, "modern"]);
  });

  test("what does not fit is a result that names path and expectation (S-072)", async () => {
    const server = newServer();
    let ran = 0;
    server.tool("deep", {
      input: {
        type: "object",
        properties: { list: { type: "array", items: { type: "integer" } } },
        required: ["list", "name"],
      },
    }, () => void ran++);
    const text = failure(await call(server, "deep", { list: [1, "two"] }));
    assert(text.includes('Cannot call "deep"'), text);
    assert(text.includes('"/list/1" must be an integer') || text.includes('"/list/1" must be'), text);
    assert(text.includes('"name"'), text);
    assertEquals(ran, 0);
  });

  test("a tool without input takes no arguments", async () => {
    const server = newServer();
    server.tool("none", {}, () => "ran");
    assertEquals(textOf(await call(server, "none", {})), "ran");
    assert(failure(await call(server, "none", { a: 1 })).includes('"/a" must not be there'));
  });

  test("an unknown tool and malformed parameters are refused with the field's name", async () => {
    const server = newServer();
    server.tool("tool", {}, () => "ran");
    assertEquals((await refusal(call(server, "nope"))).message, "Unknown tool: nope");
    assertEquals((await refusal(call(server, "__proto__"))).message, "Unknown tool: __proto__");
    assert((await refusal(run(server, "tools/call", {}))).message.includes('"name" is missing: expected a string'));
    assert((await refusal(run(server, "tools/call", { name: 5 }))).message.includes('"name" is a number'));
    assert((await refusal(call(server, "tool", [1]))).message.includes('"arguments" is an array'));
    assert((await refusal(call(server, "tool", "a=1"))).message.includes('"arguments" is a string'));
    assert((await refusal(call(server, "x".repeat(9_999)))).message.length < 300);
  });

  test("work that only a hostile caller makes is refused, not let through unchecked", async () => {
    const server = newServer();
    let ran = 0;
    server.tool("sum", {
      input: { type: "object", properties: { list: { type: "array", items: { type: "number", minimum: 0 } } } },
    }, () => void ran++);
    const list = Array.from({ length: 300_000 }, () => 1);
    assert(failure(await call(server, "sum", { list: [...list, "no number"] })).includes("cannot be checked"));
    assertEquals(ran, 0);
  });

  for (const isSlow of [false, true]) {
    test(`a Standard Schema checks ${isSlow ? "later" : "at once"}, and its types reach the handler`, async () => {
      const server = newServer();
      const input = numbers(["a", "b"], { isSlow });
      server.tool("add", { input }, (args) => {
        same<typeof args, Record<"a" | "b", number>>(true);
        return args.a + args.b + Object.keys(args).length;
      });
      assertEquals((await call(server, "add", { a: 1, b: 2, c: 9 })).structuredContent, 5);
      const text = failure(await call(server, "add", { a: 1, b: "2" }));
      assert(text.includes('"/b" Expected a number'), text);
    });
  }

  test("types: JSON Schemas and no schema at all give JSON objects", async () => {
    const server = newServer();
    server.tool("json", { input: { type: "object", properties: {} } }, (args) => {
      same<typeof args, JsonObject>(true);
      return "";
    });
    server.tool("none", { title: "None" }, (args) => {
      same<typeof args, JsonObject>(true);
      return "";
    });
    // A library whose `types` may be missing, and whose output is another type than its input.
    type Library = { "~standard": { version: 1; types?: { input: string; output: Date } | undefined } };
    same<Checked<Library>, Date>(true);
    assertEquals(textOf(await call(server, "none")), "");
  });
});

describe("what handlers of tools throw", () => {
  test("is a result with the message, and is logged", async () => {
    const records: LogRecord[] = [];
    const server = newServer({ logger: (record) => void records.push(record) });
    const thrown = [new Error("Disk full: Bearer abcdefghijklmnop"), new TypeError(""), "a text", undefined, 7n];
    let at = 0;
    server.tool("bad", {}, () => {
      throw thrown[at++];
    });
    const texts: string[] = [];
    for (const _ of thrown) texts.push(failure(await call(server, "bad")));
    assertEquals(texts, ["Disk full: Bearer abcdefghijklmnop", "TypeError", "a text", "undefined", "7"]);
    assertEquals(records.map(({ fields }) => fields?.tool), thrown.map(() => "bad"));
    assert(!JSON.stringify(records).includes("abcdefghijklmnop"), "the log is redacted");
  });

  test("a promise that rejects is the same, and a failed check of the schema's library too", async () => {
    const server = newServer();
    server.tool("late", {}, () => Promise.reject(new Error("too late")));
    const broken = {
      "~standard": { version: 1 as const, vendor: "t", validate: () => Promise.reject(new Error("broken")) },
    };
    server.tool("broken", { input: broken }, () => "ran");
    assertEquals(failure(await call(server, "late")), "too late");
    assertEquals(failure(await call(server, "broken")), "broken");
  });

  test("errors of the protocol go on as they are", async () => {
    const server = newServer();
    const thrown: RpcError[] = [
      new InternalError("On purpose", { rpcCode: -32603 }),
      new MissingCapabilityError("No", { rpcCode: -32021, data: { requiredCapabilities: {} } }),
    ];
    for (const error of thrown) {
      const remove = server.tool("bad", {}, () => {
        throw error;
      });
      assertEquals(await assertRejects(() => call(server, "bad"), RpcError), error);
      remove();
    }
  });

  test("objects of the author's own classes are failures too, and so is what another peer answered", async () => {
    class Refusal {
      readonly message = "Closed on Mondays";
    }
    const thrown: [unknown, string][] = [
      [new Refusal(), "Closed on Mondays"],
      [new Map(), "It threw an object without a message"],
      [
        new InvalidParamsError("no such row", { rpcCode: -32602, server: "upstream", method: "tools/call" }),
        "no such row",
      ],
      [
        new RpcError("User rejected sampling", { rpcCode: -1, method: "sampling/createMessage" }),
        "User rejected sampling",
      ],
    ];
    for (const [error, text] of thrown) {
      const server = newServer();
      server.tool("bad", {}, () => {
        throw error;
      });
      assertEquals(failure(await call(server, "bad")), text);
    }
  });

  test("the signal of an era goes through every kind of handler untouched", async () => {
    const signal = new InputNeeded("key");
    const server = newServer();
    const ask = (): never => {
      throw signal;
    };
    server.tool("ask", {}, ask);
    server.tool("later", {}, async () => await Promise.resolve().then(ask));
    server.prompt("ask", {}, ask);
    server.resource("test://ask", {}, ask);
    const runs: [string, Record<string, string>][] = [
      ["tools/call", { name: "ask" }],
      ["tools/call", { name: "later" }],
      ["prompts/get", { name: "ask" }],
      ["resources/read", { uri: "test://ask" }],
    ];
    for (const [method, params] of runs) {
      const run = async () => await server.methods.run(method, params, context());
      const seen: unknown = await run().then(() => "no signal", (error) => error);
      assert(seen === signal, method);
    }
  });
});

describe("what tools give", () => {
  test("a text is one block, nothing is nothing, { error } is a failure", async () => {
    assertEquals(await returning("hello"), { content: [{ type: "text", text: "hello" }] });
    assertEquals(await returning(Promise.resolve("later")), { content: [{ type: "text", text: "later" }] });
    const thenable = { then: (give: (text: string) => void) => give("some day") };
    assertEquals(await returning(thenable), { content: [{ type: "text", text: "some day" }] });
    assertEquals(await returning(undefined), { content: [] });
    assertEquals(await returning({ error: "Out of luck" }), {
      content: [{ type: "text", text: "Out of luck" }],
      isError: true,
    });
  });

  test("any other JSON is structured, and the same as text (S-071)", async () => {
    for (const value of [{ a: [1, null] }, [1, 2], 0, false, null, {}, { error: "x", code: 5 }, { error: 5 }]) {
      const result = await returning(value);
      assertEquals(result.structuredContent, value);
      assertEquals(result, { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value });
    }
  });

  test("content of its own making goes out as it is", async () => {
    const whole = {
      content: [
        { type: "text", text: "a", annotations: { audience: ["user"] } },
        { type: "image", data: "AAAA", mimeType: "image/png" },
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource", resource: { uri: "test://a", text: "b" } },
        { type: "resource_link", uri: "test://a", name: "a" },
      ],
      _meta: { "example.org/a": 1 },
    };
    assertEquals(await returning(whole), whole);
    assertEquals(await returning({ content: [] }), { content: [] });
    const failed = { content: [{ type: "text", text: "no" }], isError: true };
    assertEquals(await returning(failed), failed);
    const both = { content: [{ type: "text", text: "short" }], structuredContent: { long: true } };
    assertEquals(await returning(both), both);
    const [link, text] = [{ type: "resource_link", uri: "a://b", name: "b" }, { type: "text", text: "[1]" }];
    // What is no object is said in text too (SEP-2106), once.
    for (const content of [[link], [link, text]]) {
      assertEquals(await returning({ content, structuredContent: [1] }), {
        content: [link, text],
        structuredContent: [1],
      });
    }
    assertEquals(await returning({ content: [], structuredContent: 5 }), {
      content: [{ type: "text", text: "5" }],
      structuredContent: 5,
    });
  });

  test("data that only looks like content is data", async () => {
    const page = { title: "A page", content: ["one", "two"] };
    assertEquals((await returning(page)).structuredContent, page);
  });

  test("content that is not sound is a failure that says where", async () => {
    for (
      const [value, place] of [
        [{ content: [{ type: "text" }] }, '"content[0].text"'],
        [{ content: [{ type: "text", text: "a" }, { type: "image", data: "AAAA" }] }, '"content[1].mimeType"'],
        [{ content: ["a"] }, '"content[0]"'],
        [{ content: [{ type: "resource", resource: { text: "a" } }] }, '"content[0].resource.uri"'],
        [{ content: [], isError: "yes" }, '"isError"'],
      ] as const
    ) {
      const text = failure(await returning(value));
      assert(text.includes(place), text);
    }
  });

  test("what is no JSON is a failure that says so, never a crash", async () => {
    const cycle: Record<string, unknown> = { name: "a" };
    cycle.self = { inner: [cycle] };
    const deep = Array.from({ length: 5_000 }).reduce<unknown>((inner) => [inner], 1);
    const cases: [unknown, string][] = [
      [cycle, "holds itself"],
      [deep, "nested deeper than 128 levels"],
      [{ a: { b: 10n } }, '"a.b" is a bigint'],
      [10n, "it is a bigint"],
      [{ run: () => 1 }, '"run" is a function'],
      [{ list: [1, Number.NaN] }, '"list.1" is NaN'],
      [Infinity, "it is Infinity"],
      [Symbol("s"), "it is a symbol"],
      [[undefined], '"0" is undefined'],
      [new Map([["a", 1]]), "the class Map"],
      [{ set: new Set([1]) }, '"set" is of the class Set'],
      [new Uint8Array(3), "the class Uint8Array"],
      [{
        get a() {
          throw new Error("gone");
        },
      }, "gone"],
      [{ content: [{ type: "text", text: "a", _meta: { n: 1n } }] }, '"content.0._meta.n" is a bigint'],
    ];
    for (const [value, part] of cases) {
      const text = failure(await returning(value));
      assert(text.includes("cannot be written as JSON") && text.includes(part), text);
      assert(text.length < 1_000, `${text.length}`);
    }
  });

  test("dates and undefined properties are what JSON makes of them", async () => {
    const { structuredContent, content } = await returning({ at: new Date(0), gone: undefined });
    assertEquals(structuredContent, { at: "1970-01-01T00:00:00.000Z" });
    assertEquals(content, [{ type: "text", text: '{"at":"1970-01-01T00:00:00.000Z"}' }]);
    class Point {
      x = 1;
    }
    class Row {
      readonly id = 1;
      toJSON(): this {
        return this;
      }
    }
    const rows = (await returning({ rows: [new Row()] })).structuredContent;
    assertEquals(JSON.stringify(rows), '{"rows":[{"id":1}]}');
    assertEquals(JSON.stringify((await returning(new Point())).structuredContent), '{"x":1}');
  });
});

describe("output schemas", () => {
  const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  /** The result of a tool with that output schema. */
  function withOutput(value: unknown, schema: Parameters<typeof newServer>[0] | object = output) {
    const server = newServer();
    server.tool("tool", { output: schema as typeof output }, () => value as string);
    return call(server, "tool");
  }

  test("what fits goes out, what does not is a failure with the place", async () => {
    assertEquals((await withOutput({ n: 1 })).structuredContent, { n: 1 });
    for (const value of [{ n: "1" }, {}, "text", undefined, [1], null]) {
      assert(failure(await withOutput(value)).includes("does not fit its output schema"), JSON.stringify(value));
    }
    assert(failure(await withOutput({ n: 0.5 })).includes('"/n" must be'));
  });

  test("whole results are checked too, unless they are failures", async () => {
    const content = [{ type: "text", text: "one" }];
    const whole = { content, structuredContent: { n: 1 } };
    assertEquals(await withOutput(whole), whole);
    assert(failure(await withOutput({ content, structuredContent: { n: "1" } })).includes('"/n"'));
    assert(failure(await withOutput({ content })).includes("does not fit"));
    assertEquals(await withOutput({ content, isError: true }), { content, isError: true });
    assertEquals(await withOutput({ error: "no" }), { content: [{ type: "text", text: "no" }], isError: true });
  });

  test("values that are no objects: a text is structured then, and written as JSON (SEP-2106)", async () => {
    assertEquals(await withOutput("a", { type: "string" }), {
      content: [{ type: "text", text: '"a"' }],
      structuredContent: "a",
    });
    assertEquals((await withOutput([1], { type: "array" })).structuredContent, [1]);
    assertEquals((await withOutput(null, { type: "null" })).structuredContent, null);
  });

  test("a Standard Schema lets through what it knows, at once or later", async () => {
    for (const isSlow of [false, true]) {
      const result = await withOutput({ n: 1, secret: "s" }, numbers(["n"], { isSlow }));
      assertEquals(result, { content: [{ type: "text", text: '{"n":1}' }], structuredContent: { n: 1 } });
      assert(failure(await withOutput({ n: "1" }, numbers(["n"], { isSlow }))).includes('"/n" Expected a number'));
    }
  });

  test("a cycle does not break the check", async () => {
    const cycle: Record<string, unknown> = { n: 1 };
    cycle.self = cycle;
    const schema = { ...output, additionalProperties: { $ref: "#" } };
    assert(failure(await withOutput(cycle, schema)).includes("cannot be written as JSON"));
  });
});
