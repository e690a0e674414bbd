/** `server-everything` through `causeway bridge` and `causeway serve`: to the official client in both eras, and to ours. */
import { assert, assertEquals } from "@std/assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { connect } from "../../src/entry/local.ts";
import type { Client } from "../../mod.ts";
import { program, quote } from "../cli/support.ts";
import { everything, skip } from "./peers.ts";
import { loadSdk, skipSdk } from "./server/official.ts";
import type { SdkClient } from "./server/official.ts";

const { command, args } = everything("stdio");
const home = { CAUSEWAY_HOME: join(tmpdir(), "causeway-no-such-home") };

/** The command that bridges it. */
function bridge(): { command: string; args: string[] } {
  const [runtime = "", ...words] = program("src/cli/main.ts");
  return { command: runtime, args: [...words, "bridge", [command, ...args].map(quote).join(" ")] };
}

for (const [mode, era] of [["auto", "modern"], ["legacy", "legacy"]] as const) {
  const name = `server-everything through the gateway, the official client, ${era}`;
  if (skip || skipSdk) test(name, { skip: skip || skipSdk }, () => {});
  else describe(name, () => official(mode, era));
}

function official(mode: string, era: string): void {
  let straight: Client;
  let client: SdkClient;

  before(async () => {
    const { Client, StdioClientTransport } = await loadSdk();
    const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
    client = new Client({ name: "official", version: "2.4.0" }, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
    client.setRequestHandler("sampling/createMessage", () => ({
      role: "assistant",
      content: { type: "text", text: "roses" },
      model: "poet",
    }));
    client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///srv/project" }] }));
    await client.connect(
      new StdioClientTransport({ ...bridge(), env: { ...process.env, ...home }, stderr: "ignore" }),
    );
    straight = await connect({ command, args }, {
      handlers: {
        elicitation: () => ({ action: "decline" }),
        elicitationUrl: () => ({ action: "decline" }),
        sampling: () => undefined,
        samplingTools: true,
        roots: [],
      },
    });
  });
  after(async () => {
    await client?.close();
    await straight?.close();
  });

  test("speaks its era", () => assertEquals(client.getProtocolEra(), era));

  test("sees the same tools, resources, templates and prompts", async () => {
    const named = (items: readonly { name: string }[]) => items.map(({ name }) => name).sort();
    const mine = (await straight.listTools()).tools;
    const { tools } = await client.listTools();
    assertEquals(named(tools), named(mine));
    for (const tool of tools) {
      const other = mine.find(({ name }) => name === tool.name);
      assertEquals([tool.title, tool.annotations], [other?.title, other?.annotations]);
      assertEquals<unknown>(tool.outputSchema, other?.outputSchema);
    }
    const uris = (items: readonly { uri: string }[]) => items.map(({ uri }) => uri).sort();
    assertEquals(uris((await client.listResources()).resources), uris((await straight.listResources()).resources));
    const { resourceTemplates } = await straight.listResourceTemplates();
    assertEquals(
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort(),
      resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort(),
    );
    assertEquals(named((await client.listPrompts()).prompts), named((await straight.listPrompts()).prompts));
  });

  test("calls tools, with structured results, progress and errors", async () => {
    assertEquals((await client.callTool({ name: "echo", arguments: { message: "hi" } })).content, [
      { type: "text", text: "Echo: hi" },
    ]);
    const weather = { name: "get-structured-content", arguments: { location: "Chicago" } };
    const own = await straight.callTool(weather.name, weather.arguments);
    assertEquals((await client.callTool(weather)).structuredContent, own.structuredContent);
    const signs = async (duration: number): Promise<number[]> => {
      const seen: number[] = [];
      await client.callTool(
        { name: "trigger-long-running-operation", arguments: { duration, steps: 4 } },
        { onprogress: ({ progress }) => void seen.push(progress) },
      );
      return seen;
    };
    // The official client drops those that it reads in one piece with the result: the last one, and after a stall those before.
    // No stall is as long as the pauses of a call of twelve seconds.
    const seen = [await signs(1)];
    if (!seen[0]?.includes(3)) seen.push(await signs(12));
    assert(seen.at(-1)?.includes(3), seen.join(" and "));
    const wrong = await client.callTool({ name: "echo", arguments: {} });
    assertEquals(wrong.isError, true);
  });

  test("calls a tool that has to be a task: the gateway waits for it", async () => {
    const research = { name: "simulate-research-query", arguments: { topic: "bridges" } };
    const result = await client.callTool(research, { timeout: 60_000 });
    assert(result.content.some(({ text }) => text?.includes("bridges")), JSON.stringify(result));
  });

  test("is asked by the server, and its answers arrive", async () => {
    const sampled = await client.callTool({
      name: "trigger-sampling-request",
      arguments: { prompt: "flowers", maxTokens: 10 },
    });
    assert(sampled.content.some(({ text }) => text?.includes("roses")), JSON.stringify(sampled));
    const asked = await client.callTool({ name: "trigger-elicitation-request", arguments: {} });
    assert(asked.content.some(({ text }) => text?.includes("declined")), JSON.stringify(asked));
  });

  test("reads resources and prompts, and completes", async () => {
    const [first] = (await straight.listResources()).resources;
    const { contents } = await client.readResource({ uri: first?.uri ?? "" });
    const own = (await straight.readResource(first?.uri ?? "")).contents;
    assertEquals(contents[0]?.text?.length, own[0] && "text" in own[0] ? own[0].text.length : undefined);
    const prompt = await client.getPrompt({ name: "simple-prompt" });
    assertEquals(prompt.messages.length, 1);
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "completable-prompt" },
      argument: { name: "department", value: "E" },
    });
    assertEquals(completion.values, ["Engineering"]);
  });
}

describe("server-everything through causeway serve, our own client", () => {
  test("under the names of the hub, beside a server that cannot be started", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-serve-"));
    const config = join(folder, "mcp.json");
    const servers = { everything: { command, args }, broken: { command: join(folder, "nothing") } };
    writeFileSync(config, JSON.stringify({ mcpServers: servers }));
    const [runtime = "", ...words] = program("src/cli/main.ts");
    try {
      await using client = await connect({ command: runtime, args: [...words, "serve", config], env: home });
      const { tools } = await client.listTools();
      assert(tools.every(({ name }) => name.startsWith("everything__")), JSON.stringify(tools.map(({ name }) => name)));
      const result = await client.callTool("everything__echo", { message: "hub" });
      assertEquals(result.content, [{ type: "text", text: "Echo: hub" }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
