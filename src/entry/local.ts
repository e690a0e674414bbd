/**
 * The core for the runtime that it finds itself in: Bun, Deno or Node.
 *
 * @module
 */
import type { Client } from "../client/client.ts";
import type { Connect } from "./connect.ts";

export * from "./core.ts";

/**
 * Connects to one MCP server: a URL, a command, a transport or a snapshot. The runtime's ports are loaded with the first call.
 *
 * @throws {TypeError} When the target is none of these.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 */
export const connect: Connect = async (target, options): Promise<Client> => {
  const { connect } = "Bun" in globalThis
    ? await import("./bun.ts")
    : "Deno" in globalThis
    ? await import("./deno.ts")
    : await import("./node.ts");
  return await connect(target, options);
};
