import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { newServer, refusal, run } from "./support.ts";

describe("filling prompts in", () => {
  test("a text is one message of the user, with the prompt's description", async () => {
    const server = newServer();
    server.prompt("hello", { description: "Greets" }, () => "Hello");
    server.prompt("bare", {}, () => Promise.resolve("Bare"));
    const messages = (text: string) => [{ role: "user", content: { type: "text", text } }];
    assertEquals(await run(server, "prompts/get", { name: "hello" }), {
      description: "Greets",
      messages: messages("Hello"),
    });
    assertEquals(await run(server, "prompts/get", { name: "bare" }), { messages: messages("Bare") });
  });

  test("messages of its own making go out as they are", async () => {
    const server = newServer();
    const result = {
      messages: [
        { role: "user" as const, content: { type: "image" as const, data: "AA==", mimeType: "image/png" } },
        { role: "assistant" as const, content: { type: "text" as const, text: "ok" } },
      ],
    };
    server.prompt("own", {}, () => result);
    assertEquals(await run(server, "prompts/get", { name: "own" }), result);
  });

  test("the handler gets the arguments that it names, as text", async () => {
    const server = newServer();
    const seen: unknown[] = [];
    const options = { arguments: { a: { required: true }, b: {} } };
    server.prompt("args", options, (args) => `${seen.push(args)}`);
    await run(server, "prompts/get", { name: "args", arguments: { a: "", c: "extra" } });
    await run(server, "prompts/get", { name: "args", arguments: { a: "1", b: "2" } });
    assertEquals(seen, [{ a: "" }, { a: "1", b: "2" }]);
  });

  test("bad parameters are refused with the name of what is wrong (S-081)", async () => {
    const server = newServer();
    server.prompt("args", { arguments: { topic: { required: true } } }, () => "");
    const cases: [object, string][] = [
      [{ name: "nope" }, "Unknown prompt: nope"],
      [{}, '"name" is missing'],
      [{ name: "args" }, 'the argument "topic" is missing'],
      [{ name: "args", arguments: { other: "a" } }, 'the argument "topic" is missing'],
      [{ name: "args", arguments: { topic: 5 } }, '"arguments.topic" is a number: expected a string'],
      [{ name: "args", arguments: { topic: null } }, '"arguments.topic" is null'],
      [{ name: "args", arguments: ["a"] }, '"arguments" is an array'],
    ];
    for (const [params, part] of cases) {
      const { message } = await refusal(run(server, "prompts/get", params as { name: string }));
      assert(message.includes(part), message);
    }
  });

  test("what is no prompt, and what is thrown, is not the caller's fault", async () => {
    for (const value of [5, {}, { messages: [{ role: "system", content: { type: "text", text: "a" } }] }]) {
      const server = newServer();
      server.prompt("bad", {}, () => value as unknown as string);
      await assertRejects(() => run(server, "prompts/get", { name: "bad" }), TypeError, "no sound messages");
    }
    const server = newServer();
    server.prompt("bad", {}, () => Promise.reject(new Error("inner")));
    await assertRejects(() => run(server, "prompts/get", { name: "bad" }), Error, "inner");
  });
});

describe("registering prompts", () => {
  test("prompts are listed with all that is said of them, without what completes them", async () => {
    const server = newServer();
    const complete = () => ["a"];
    const options = { title: "T", description: "D", icons: [{ src: "https://example.org/a.png" }], meta: { a: 1 } };
    server.prompt("Any name, really", {
      ...options,
      arguments: { one: { title: "One", description: "First", required: true, complete }, two: {} },
    }, () => "");
    server.prompt("bare", {}, () => "");
    const { meta, ...listed } = options;
    assertEquals(await run(server, "prompts/list"), {
      prompts: [{
        name: "Any name, really",
        ...listed,
        arguments: [{ name: "one", title: "One", description: "First", required: true }, { name: "two" }],
        _meta: meta,
      }, { name: "bare" }],
    });
  });

  test("what is wrong is named at once", () => {
    const server = newServer();
    server.prompt("taken", {}, () => "");
    assertThrows(() => server.prompt("taken", {}, () => ""), TypeError, '"taken"');
    assertThrows(() => server.prompt("", {}, () => ""), TypeError, '"name" is ""');
    assertThrows(() => server.prompt("a", { arguments: [] as never }, () => ""), TypeError, '"arguments" is an array');
    const schema = { argsSchema: { topic: {} } };
    assertThrows(() => server.prompt("a", schema as object, () => ""), TypeError, 'expected it, not "argsSchema"');
    const bad = [
      [{ required: "yes" }, '"arguments.x.required" is a string'],
      [5, '"arguments.x" is a number'],
      [{ complete: [] }, '"arguments.x.complete" is [], expected a function'],
    ] as const;
    for (const [x, part] of bad) {
      assertThrows(() => server.prompt("a", { arguments: { x: x as object } }, () => ""), TypeError, part);
    }
  });
});
