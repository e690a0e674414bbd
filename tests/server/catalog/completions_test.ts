import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { McpServer } from "../../../src/server/mod.ts";
import { newServer, refusal, run } from "./support.ts";

const prompt = { type: "ref/prompt", name: "trip" };
const template = { type: "ref/resource", uri: "test://{city}/{street}" };

/** A server with a prompt and a template that suggest values. */
function withCompleters(): McpServer {
  const server = newServer();
  server.prompt("trip", {
    arguments: {
      city: { complete: (value) => ["Paris", "Parma", "Rome"].filter((city) => city.startsWith(value)) },
      many: { complete: (_, { count = "0" }) => Array.from({ length: Number(count) }, (_, at) => `${at}`) },
      bare: {},
    },
  }, () => "");
  server.template("test://{city}/{street}", {
    complete: { street: (value, { city }) => Promise.resolve([`${city}: ${value}`]) },
  }, () => "");
  server.resource("test://fixed", {}, () => "");
  return server;
}

function complete(ref: JsonObject, name: string, value = "", context?: JsonObject): Promise<JsonObject> {
  const params = { ref, argument: { name, value }, ...(context && { context }) };
  return run(withCompleters(), "completion/complete", params);
}

describe("suggestions", () => {
  test("for arguments of prompts and variables of templates", async () => {
    assertEquals(await complete(prompt, "city", "Par"), {
      completion: { values: ["Paris", "Parma"], total: 2, hasMore: false },
    });
    assertEquals(await complete(template, "street", "Ma", { arguments: { city: "Rome" } }), {
      completion: { values: ["Rome: Ma"], total: 1, hasMore: false },
    });
  });

  test("nobody completes it: none", async () => {
    const none = { completion: { values: [], total: 0, hasMore: false } };
    assertEquals(await complete(prompt, "bare", "a"), none);
    assertEquals(await complete(template, "city", "a"), none);
  });

  test("at most 100, with the whole count (S-082)", async () => {
    for (const [count, hasMore] of [[100, false], [101, true], [250, true]] as const) {
      const { completion } = await complete(prompt, "many", "", { arguments: { count: `${count}` } });
      const { values, total, hasMore: more } = completion as { values: string[]; total: number; hasMore: boolean };
      assertEquals([values.length, values[99], total, more], [100, "99", count, hasMore]);
    }
  });

  test("what is unknown or malformed is refused with its name", async () => {
    const cases: [Promise<JsonObject>, string][] = [
      [complete({ type: "ref/prompt", name: "nope" }, "city"), "Unknown prompt: nope"],
      [complete({ type: "ref/resource", uri: "test://nope" }, "city"), "Unknown resource template: test://nope"],
      [complete(prompt, "nope"), "Unknown argument: nope"],
      [complete(template, "nope"), "Unknown argument: nope"],
      [complete({ type: "ref/resource", uri: "test://fixed" }, "id"), "Unknown argument: id"],
      [complete({ type: "ref/other", name: "trip" }, "city"), '"ref.type" is a string'],
      [complete({ type: "ref/prompt" }, "city"), '"ref.name" is missing'],
      [complete({ type: "ref/resource" }, "city"), '"ref.uri" is missing'],
      [complete(prompt, "city", 5 as never), '"argument.value" is a number'],
      [complete(prompt, "city", "", { arguments: { a: 1 } }), '"context.arguments.a" is a number'],
      [run(withCompleters(), "completion/complete", { ref: prompt }), '"argument" is missing'],
      [run(withCompleters(), "completion/complete"), '"ref" is missing'],
    ];
    for (const [running, part] of cases) {
      const { message } = await refusal(running);
      assert(message.includes(part), message);
    }
  });

  test("a completer that gives no texts is not the caller's fault", async () => {
    const server = newServer();
    server.prompt("bad", { arguments: { a: { complete: () => [5] as unknown as string[] } } }, () => "");
    const params = { ref: { type: "ref/prompt", name: "bad" }, argument: { name: "a", value: "" } };
    await assertRejects(() => run(server, "completion/complete", params), TypeError, "no list of texts");
  });
});
