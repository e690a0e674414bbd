/**
 * What the tests of the hub share: hubs over servers in memory.
 *
 * @module
 */
import { ChannelTransport, connect, createMemoryPair } from "../../mod.ts";
import type { CallToolResult } from "../../mod.ts";
import type { Hub } from "../../src/hub/hub.ts";
import { createOpenHub } from "../../src/hub/open_hub.ts";
import type { OpenHub } from "../../src/hub/open_hub.ts";
import type { AttachedServer, HubEvent, ServerState } from "../../src/hub/seam.ts";
import { McpServer, serveChannel } from "../../src/server/mod.ts";
import type { TaskSupport } from "../../src/server/mod.ts";

/** `openHub` of mod.ts. */
export const openHub: OpenHub = createOpenHub(connect);

/** A server with a tool `echo`, one that waits to be let go, a resource and a prompt. */
export function createServer(name: string): McpServer {
  const server = new McpServer({ name, version: "1.0.0" });
  server.tool("echo", {
    description: `Says it again, at ${name}`,
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  }, ({ text }) => `${name}: ${text}`);
  server.tool("fail", {}, () => ({ content: [{ type: "text", text: "it failed" }], isError: true }));
  server.resource(`note://${name}`, { name: "note" }, () => `the note of ${name}`);
  server.prompt("greet", { arguments: { who: {} } }, ({ who }) => `hello ${who} from ${name}`);
  return server;
}

/** A server at the other end of a pipe in memory. */
export interface MemoryServer {
  readonly config: AttachedServer;
  /** How often it was started. */
  readonly starts: number;
  /** Ends it, as a process dies. */
  kill(): void;
}

/** Puts a server behind a pipe; a restart of the transport starts it anew. `serves` are the tasks that it serves. */
export function inMemory(
  server: McpServer,
  options: Omit<AttachedServer, "transport"> & {
    readonly eras?: readonly ("modern" | "legacy")[];
    readonly serves?: TaskSupport;
  } = {},
): MemoryServer {
  const { eras, serves, ...config } = options;
  let starts = 0;
  let kill = () => {};
  const transport = () =>
    new ChannelTransport(() => {
      const [near, far] = createMemoryPair();
      starts++;
      void serveChannel(server, far, { ...(eras && { eras }), tasks: serves });
      kill = () => void far.close();
      return near;
    });
  return {
    config: { ...config, transport },
    get starts() {
      return starts;
    },
    kill: () => kill(),
  };
}

/** The text of a result. */
export function textOf({ content }: CallToolResult): string {
  return content.map((block) => block.type === "text" ? block.text : "").join("\n");
}

/** Where a server of a hub stands. */
export function stateOf(hub: Hub, server: string): ServerState | undefined {
  return hub.status().find(({ name }) => name === server)?.state;
}

/** Gathers what happens in a hub. */
export function record(hub: Hub): HubEvent[] {
  const seen: HubEvent[] = [];
  const events = hub.events();
  void (async () => {
    for await (const event of events) seen.push(event);
  })();
  return seen;
}
