/** The agents of `examples/editor/mcp.json`: started as that says, by us and by the official client. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { root } from "../../tools/programs.ts";
import { loadSdk, skipSdk } from "../interop/server/official.ts";
import { example, story } from "./support.ts";

const skip = "Bun" in globalThis ? false : "the config says bun";
const config = JSON.parse(readFileSync(join(root, "examples/editor/mcp.json"), "utf8"));

describe("agents in an editor", () => {
  test("the config is filled in, and what it starts is used", { skip }, async () => {
    const [tools] = await story("editor/try");
    assertEquals(tools, "files__read-file files__write-file project__get-status code__analyze-code");
  });

  for (const mode of ["auto", "legacy"] as const) {
    test(`the official client drives them over stdio, ${mode}`, { skip: skipSdk }, async () => {
      const { Client, StdioClientTransport } = await loadSdk();
      const seen: string[] = [];
      for (const { args: [file, ...more] } of Object.values<{ args: string[] }>(config.servers)) {
        const name = /examples\/(\w+)\.ts$/.exec(file ?? "")?.[1] ?? "";
        const client = new Client({ name: "editor", version: "1.0.0" }, { versionNegotiation: { mode } });
        const started = example(name, ...more.map((text) => text.replace("${workspaceFolder}", process.cwd())));
        await client.connect(new StdioClientTransport({ ...started, stderr: "inherit" }));
        try {
          assertEquals(client.getProtocolEra(), mode === "auto" ? "modern" : "legacy");
          seen.push(...(await client.listTools()).tools.map(({ name }) => name));
          if (name === "code_agent") {
            const { structuredContent } = await client.callTool({ name: "analyze-code", arguments: { code: "a\n" } });
            assertEquals(Object(structuredContent).lines, 2);
          }
          if (name === "file_agent") {
            const read = await client.callTool({ name: "read-file", arguments: { path: "editor/mcp.json" } });
            assert(read.content[0]?.text?.includes("file_agent.ts"));
          }
          if (name === "project_agent") {
            assertEquals((await client.listPrompts()).prompts.map(({ name }) => name), ["daily-standup"]);
            const { contents } = await client.readResource({ uri: "project://dashboard" });
            assert(contents[0]?.text?.startsWith("# Dashboard"));
          }
        } finally {
          await client.close();
        }
      }
      assertEquals(seen, ["read-file", "write-file", "get-status", "analyze-code"]);
    });
  }
});
