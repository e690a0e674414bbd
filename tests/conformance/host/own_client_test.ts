import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { type Client, connect } from "../../../mod.ts";
import type { ConnectOptions, LogMessage, Progress, Verdict } from "../../../mod.ts";
import { createAnswer } from "./answer.ts";

const ways: readonly { name: string; verdict: Verdict | undefined }[] = [
  { name: "2026-07-28", verdict: undefined },
  { name: "2025-11-25", verdict: { era: "legacy" } },
  { name: "2025-06-18", verdict: { era: "legacy", revision: "2025-06-18" } },
  { name: "2025-03-26", verdict: { era: "legacy", revision: "2025-03-26" } },
];
const answers = { name: "Alice", ok: true, color: "blue", context: "none" };

/** Our client at our server, without a network. */
async function using(options: ConnectOptions, use: (client: Client) => Promise<void>): Promise<void> {
  const answer = createAnswer();
  const client = await connect("http://localhost/mcp", {
    fetch: (url, init) => answer(new Request(url, init)),
    stream: true,
    ...options,
    handlers: {
      elicitation: ({ requestedSchema }) => {
        const asked = Object.keys(requestedSchema?.properties ?? {});
        return {
          action: "accept",
          content: Object.fromEntries(Object.entries(answers).filter(([key]) => asked.includes(key))),
        };
      },
      sampling: () => ({ role: "assistant", model: "none", content: { type: "text", text: "Paris" } }),
      roots: [{ uri: "file:///test/root" }],
      ...options.handlers,
    },
  });
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

async function call(client: Client, name: string, args = {}): Promise<string> {
  const { content } = await client.callTool(name, args);
  return content.map((block) => block.type === "text" ? block.text : block.type).join(" ");
}

for (const { name, verdict } of ways) {
  describe(`our client at our conformance server, ${name}`, () => {
    test("reads all that is there", async () => {
      await using({ verdict }, async (client) => {
        assertEquals(client.info?.server?.name, "causeway-conformance");
        const { tools, rejected = [] } = await client.listTools();
        assertEquals([rejected, tools.length > 20], [[], true]);
        assertEquals(await call(client, "test_multiple_content_types"), "Multiple content types test: image resource");
        assertEquals(await call(client, "test_x_mcp_header", { region: "Zürich" }), "Region: Zürich");
        const { contents } = await client.readResource("test://template/a%20b/data");
        assertStringIncludes(contents[0]?.text ?? "", '"templateTest":true');
        const { messages } = await client.getPrompt("test_prompt_with_arguments", { arg1: "a", arg2: "b" });
        assertStringIncludes(JSON.stringify(messages), "arg1='a', arg2='b'");
      });
    });

    test("answers what it is asked, one thing after the other and three at once", async () => {
      await using({ verdict }, async (client) => {
        const rounds = (tool: string) => call(client, `test_input_required_result_${tool}`);
        if (name >= "2025-06-18") {
          assertEquals(await rounds("elicitation"), "Hello, Alice!");
          assertEquals(await rounds("multi_round"), "Alice likes blue");
          assertEquals(await rounds("multiple_inputs"), "Paris Alice, you have 1 roots");
          const { messages } = await client.getPrompt("test_input_required_result_prompt");
          assertStringIncludes(JSON.stringify(messages), "Use this context: none");
        }
        assertEquals(await rounds("list_roots"), "Roots: file:///test/root");
        assertEquals(await call(client, "test_sampling", { prompt: "Hello?" }), "LLM response: Paris");
      });
    });

    test("hears of progress, logs and changes", async () => {
      const progress: Progress[] = [];
      const logs: LogMessage[] = [];
      const options: ConnectOptions = { verdict, logLevel: "info", handlers: { log: (message) => logs.push(message) } };
      await using(options, async (client) => {
        await client.callTool("test_tool_with_progress", {}, { onProgress: (sign) => progress.push(sign) });
        await client.callTool("test_tool_with_logging");
        assertEquals(progress.at(-1)?.progress, 100);
        assertEquals(logs.map(({ data }) => data)[0], "Tool execution started");
        const subscription = client.listen({ tools: true });
        await subscription.acknowledged;
        await client.callTool("test_trigger_tool_change");
        assertEquals((await subscription.next()).value, { type: "tools" });
      });
    });

    test("comes back for the rest of a call whose stream was let go", async () => {
      await using({ verdict }, async (client) => {
        assertStringIncludes(await call(client, "test_reconnection"), "Reconnection test completed");
      });
    });
  });
}
