/**
 * Causeway: call MCP tools from anywhere JavaScript runs. Every protocol revision, one server or many as one, HTTP
 * and WebSocket here; processes come with `@causeway/mcp/bun`, `/deno`, `/node` or `/local`, which picks by the runtime.
 *
 * @example Call a tool
 * ```ts ignore
 * import { connect } from "@causeway/mcp";
 *
 * await using client = await connect("https://example.com/mcp");
 * const { tools } = await client.listTools();
 * const result = await client.callTool("search", { query: "causeway" });
 * ```
 *
 * @module
 */
export * from "./src/entry/core.ts";
export * from "./src/entry/hub.ts";
export { connect, openHub } from "./src/entry/web.ts";
