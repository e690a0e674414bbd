/** What is made and taken fits the types of the providers' own packages: of OpenAI's itself, of others as they are written there. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type OpenAI from "openai";
import { runOpenAiFunctionCalls, toLangChainMessages } from "../../../src/hub/models/mod.ts";
import { FakeHub } from "../support/fake_hub.ts";

describe("the types of providers", () => {
  test("OpenAI: all items of a response are taken", async () => {
    const call = { type: "function_call", call_id: "c", name: "s__t", arguments: "{}" } as const;
    const search = { type: "tool_search_call", call_id: null } as OpenAI.Responses.ResponseOutputItem;
    const output: OpenAI.Responses.ResponseOutputItem[] = [search, call];
    const answers: OpenAI.Responses.ResponseInputItem[] = await runOpenAiFunctionCalls(new FakeHub({}), output);
    assertEquals(answers.length, 1);
  });

  test("LangChain: a message has any fields", () => {
    type Message = { role: string; content: unknown } & Record<string, unknown>;
    const messages: Message[] = toLangChainMessages({
      messages: [{ role: "user", content: { type: "text", text: "a" } }],
    });
    assertEquals(messages, [{ role: "user", content: "a" }]);
  });
});
