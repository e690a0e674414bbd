/**
 * Agents as MCP servers of an editor: `mcp.json` beside this is what VS Code reads as `.vscode/mcp.json`. This program does what
 * the editor does: it fills the config in, starts the three agents over stdio, and uses their tools, prompts and resources.
 *
 * `bun examples/editor/try.ts`
 */
import { readHubConfig } from "@causeway/mcp/hub";
import { openHub } from "@causeway/mcp/local";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const place = new URL("mcp.json", import.meta.url);
const folder = fileURLToPath(new URL("../..", import.meta.url)).replace(/[/\\]$/, "");
const { servers, problems } = readHubConfig(await readFile(place, "utf8"), { folder, environment: {} });
assert.deepEqual(problems, []);

await using hub = await openHub(servers);
const tools = hub.tools().map(({ qualifiedName }) => qualifiedName);
console.log(tools.join(" "));
assert.deepEqual(tools.sort(), ["code__analyze-code", "files__read-file", "files__write-file", "project__get-status"]);

const { content: [file] } = await hub.callTool("files__read-file", { path: "editor/mcp.json" });
assert(file?.type === "text" && file.text.includes("workspaceFolder"));
const escaped = await hub.callTool("files__read-file", { path: "../package.json" });
console.log(escaped.content[0]);
assert(escaped.isError);

const { structuredContent } = await hub.callTool("code__analyze-code", { code: "// TODO: more\nfunction more() {}" });
console.log(structuredContent);
assert.deepEqual(structuredContent, { lines: 2, blank: 0, comments: 1, functions: 1, longestLine: 18, todos: 1 });
const status = await hub.callTool("project__get-status", { owner: "ada" });
assert.deepEqual(status.structuredContent, { open: 1, doing: 0, done: 1 });

const { messages: [standup] } = await hub.getPrompt("project__daily-standup", { owner: "grace" });
assert(standup?.content.type === "text" && standup.content.text.includes("Serve it over HTTP (doing)"));
const { contents: [dashboard] } = await hub.readResource("project://dashboard");
assert(dashboard?.text?.startsWith("# Dashboard"));
