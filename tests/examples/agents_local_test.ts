import { readFileSync } from "node:fs";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { InvalidParamsError } from "../../mod.ts";
import { connect } from "../../src/entry/local.ts";
import { example, refusal, startHttp, withExample } from "./support.ts";

const counts = { lines: 3, blank: 1, comments: 1, functions: 1, longestLine: 18, todos: 1 };
const code = "// TODO: more\n\nfunction more() {}";

describe("the project agent, over stdio", () => {
  test("it says who it is to a client that asks", async () => {
    await using client = await connect(example("project_agent"));
    const { name, version } = client.info?.server ?? {};
    assertEquals([client.era, name, version], ["modern", "Causeway ProjectAgent", "2.0.0"]);
  });

  test("its tool, its prompt and its resource", () =>
    withExample("project_agent", [], async (client) => {
      assertEquals((await client.listTools()).tools.map(({ name }) => name), ["get-status"]);
      assertEquals((await client.callTool("get-status")).structuredContent, { open: 1, doing: 1, done: 1 });
      assertEquals((await client.callTool("get-status", { owner: "ada" })).structuredContent, {
        open: 1,
        doing: 0,
        done: 1,
      });
      const { prompts } = await client.listPrompts();
      assertEquals(prompts.map(({ name }) => name), ["daily-standup"]);
      const { messages } = await client.getPrompt("daily-standup", { owner: "grace" });
      const [message] = messages;
      assert(message?.content.type === "text" && message.content.text.includes("Serve it over HTTP (doing)"));
      const { resources } = await client.listResources();
      assertEquals(resources.map(({ uri }) => uri), ["project://dashboard"]);
      const [dashboard] = (await client.readResource("project://dashboard")).contents;
      assertEquals(dashboard?.mimeType, "text/markdown");
      assert(dashboard?.text?.startsWith("# Dashboard"));
      await assertRejects(() => client.callTool("nothing"), InvalidParamsError, "Unknown tool: nothing");
    }));
});

describe("the code agent", () => {
  test("over stdio: its tool", () =>
    withExample("code_agent", [], async (client) => {
      assertEquals((await client.listTools()).tools.map(({ name }) => name), ["analyze-code"]);
      assertEquals((await client.callTool("analyze-code", { code })).structuredContent, counts);
      assertEquals((await client.callTool("analyze-code", {})).isError, true);
    }));

  test("over HTTP: its tool by MCP in both eras, its model, and nothing for foreign pages", async () => {
    await using served = await startHttp("code_agent");
    for (const era of ["modern", "legacy"] as const) {
      await using client = await connect(`${served.url}/mcp`, { verdict: { era } });
      assertEquals(client.era, era);
      assertEquals((await client.callTool("analyze-code", { code })).structuredContent, counts);
    }
    const models = await (await fetch(`${served.url}/v1/models`)).json();
    const [{ id, max_input_tokens, max_output_tokens }] = models.data;
    assertEquals([id, max_input_tokens, max_output_tokens], ["causeway-code", 32_768, 8_192]);
    const body = { model: "causeway-code", messages: [{ role: "user", content: `Look:\n\`\`\`ts\n${code}\n\`\`\`` }] };
    const ask = (more: object, headers: Record<string, string> = {}) =>
      fetch(`${served.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ ...body, ...more }),
      });
    const { choices } = await (await ask({})).json();
    assert(choices[0].message.content.startsWith("lines: 3\nblank: 1\n"), choices[0].message.content);
    const streamed = await (await ask({ stream: true })).text();
    assert(streamed.endsWith("data: [DONE]\n\n"), streamed);
    const refused = await ask({}, { origin: "https://evil.example" });
    assertEquals(refused.status, 403);
    await refused.body?.cancel();
  });
});

describe("docs/AGENTS.md", () => {
  const page = readFileSync(`${process.cwd()}/docs/AGENTS.md`, "utf8");
  const snippets = [...page.matchAll(/```json\n([^]*?)```/g)].map(([, text = ""]) => JSON.parse(text).servers);

  test("each example has a snippet for VS Code, over stdio and over HTTP", () => {
    const names = snippets.flatMap((servers) => Object.keys(servers));
    assertEquals(names, ["files", "files", "project", "project", "code", "code"]);
    for (const servers of snippets) {
      for (const { type, command, args, url } of Object.values<Record<string, string>>(servers)) {
        if (type === "http") assertEquals(url, "http://127.0.0.1:8787/mcp");
        else assertEquals([type, command, typeof args], ["stdio", "bun", "object"]);
      }
    }
  });

  test("what they start is there and answers", async () => {
    for (const server of snippets.flatMap((servers) => Object.values<{ args?: string[] }>(servers))) {
      if (!server.args) continue;
      const [file = "", ...more] = server.args.map((text) => text.replace("${workspaceFolder}", process.cwd()));
      const name = /examples\/(\w+)\.ts$/.exec(file)?.[1] ?? "";
      await using client = await connect(example(name, ...more));
      assert((await client.listTools()).tools.length > 0, file);
    }
  });
});

describe("an example that cannot start says so in one line", () => {
  test("a strange port, an option that is none, a folder that is not there", async () => {
    assertEquals(await refusal("project_agent", "--http", "99999"), "there is no port 99999, expected at most 65535");
    assertEquals(await refusal("file_agent", "--htpp"), 'there is no option "--htpp", expected --http [port]');
    assertEquals(await refusal("file_agent", "/no/such/folder"), '"/no/such/folder" is no folder');
  });

  test("a port that is taken", async () => {
    await using served = await startHttp("project_agent");
    assert((await refusal("code_agent", "--http", new URL(served.url).port)).length > 0);
  });
});
