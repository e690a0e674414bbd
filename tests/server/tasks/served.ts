/** A server with tools that can be tasks, joined in memory with our own client. */
import { ChannelTransport, connect, createMemoryPair, taskSupport } from "../../../mod.ts";
import type { Client, ElicitRequest, JsonObject } from "../../../mod.ts";
import { InvalidParamsError } from "../../../src/protocol/errors.ts";
import { createHandler, createTasks, McpServer, serveChannel } from "../../../src/server/mod.ts";
import type { RequestContext, TaskSupport } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { heldRequest } from "../../support/held_request.ts";

export type Options = NonNullable<Parameters<typeof connect>[1]>;
export type Era = "modern" | "legacy";
export type Way = "http" | "pipe";

/** What a test says of a setting. */
export interface Setting {
  readonly era: Era;
  readonly way?: Way;
  readonly client?: Options;
  readonly tasks?: TaskSupport | undefined;
  readonly server?: McpServer;
  readonly clock?: VirtualClock;
  /** Who the caller is: verified by the server. */
  readonly user?: string;
}

/** What a test works with. */
export interface Place {
  readonly client: Client;
  readonly clock: VirtualClock;
  /** Sends a request by hand, and gives the whole response. */
  readonly post: (
    method: string,
    params: JsonObject,
    more?: { declared?: boolean; user?: string },
  ) => Promise<JsonObject>;
}

/** A form with one field. */
export function form(name: string, message = `${name}?`): ElicitRequest {
  return { message, requestedSchema: { type: "object" as const, properties: { [name]: { type: "string" as const } } } };
}

/** What `hold` does meanwhile. */
export interface Held {
  readonly contexts: RequestContext[];
  release(text: string): void;
}

/** A server with tools that take as long as a test wants. */
export function createServer(): { server: McpServer; held: Held } {
  const server = new McpServer({ name: "tasks", version: "1.0.0" });
  const contexts: RequestContext[] = [];
  let release: (text: string) => void = () => {};
  server.tool("plain", {}, () => "plain");
  server.tool("quick", { task: "required" }, () => "quick");
  server.tool("hold", { task: "optional" }, (_args, context) => {
    contexts.push(context);
    return new Promise<string>((resolve) => {
      release = resolve;
      context.signal.addEventListener("abort", () => resolve("stopped"));
    });
  });
  server.tool("fail", { task: "optional" }, () => {
    throw new Error("it is broken");
  });
  server.tool("refuse", { task: "optional" }, () => {
    throw new InvalidParamsError("not like this", { rpcCode: -32602, data: { why: "no" } });
  });
  server.tool("ask", { task: "optional" }, async (_args, { elicit }) => {
    const [first, last] = await Promise.all([elicit(form("first")), elicit(form("last"), { key: "surname" })]);
    const { action } = await elicit(form("sure", `${first.content?.first} ${last.content?.last}?`));
    return `${action}: ${first.content?.first} ${last.content?.last}`;
  });
  server.tool("later", { task: "required", taskBegins: "when-told" }, async (_args, context) => {
    const { content } = await context.elicit(form("name"));
    await context.continueAsTask?.();
    const { action } = await context.elicit(form("sure"));
    return `${content?.name} ${action}`;
  });
  server.tool("chat", { task: "optional" }, (_args, { progress, log }) => {
    progress({ progress: 1, total: 2 });
    log("warning", "half way");
    return "done";
  });
  return { server, held: { contexts, release: (text) => release(text) } };
}

/** Runs a test with a client and a server. */
export async function withPlace(setting: Setting, run: (place: Place) => Promise<void>): Promise<void> {
  const { era, way = "http", client: options = {}, server = createServer().server, user } = setting;
  const clock = setting.clock ?? new VirtualClock();
  const tasks = "tasks" in setting ? setting.tasks : createTasks({ pollInterval: 200 });
  const serving = { eras: [era], clock, ...(tasks && { tasks }) };
  const own: Options = { clock, tasks: taskSupport, ...options };
  if (way === "pipe") {
    const [near, far] = createMemoryPair();
    const served = serveChannel(server, far, serving);
    const client = await connect(new ChannelTransport(() => near), own);
    const post = () => Promise.reject(new Error("over HTTP alone"));
    await run({ client, clock, post });
    await client.close();
    return await served.close();
  }
  const handler = createHandler(server, {
    ...serving,
    auth: (request) => {
      const principal = request.headers.get("x-user");
      return principal === null ? undefined : { principal };
    },
  });
  const fetch = (url: string, init: RequestInit, as = user) => {
    const request = heldRequest(url, init);
    if (as !== undefined) request.headers.set("x-user", as);
    return handler(request);
  };
  const client = await connect("http://localhost/mcp", { fetch, ...own });
  let session: string | null | undefined;
  const post: Place["post"] = async (method, params, { declared = true, user: as = user } = {}) => {
    const headers = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" });
    let body = params;
    if (era === "modern") {
      headers.set("MCP-Protocol-Version", "2026-07-28");
      headers.set("Mcp-Method", method);
      const name = params.name ?? params.taskId;
      if (typeof name === "string") headers.set("Mcp-Name", name);
      const prefix = "io.modelcontextprotocol/";
      const _meta = {
        [`${prefix}protocolVersion`]: "2026-07-28",
        [`${prefix}clientCapabilities`]: declared ? { extensions: { [`${prefix}tasks`]: {} }, elicitation: {} } : {},
      };
      body = { ...params, _meta };
    } else {
      headers.set("MCP-Protocol-Version", "2025-11-25");
      if (session) headers.set("Mcp-Session-Id", session);
    }
    const init = { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: body }) };
    const response = await fetch("http://localhost/mcp", init, as);
    session ??= response.headers.get("Mcp-Session-Id");
    const text = await response.text();
    const line = text.split("\n").findLast((line) => line.startsWith("data:") && line.includes('"id":1'));
    return { status: response.status, ...JSON.parse(line ? line.slice(5) : text) };
  };
  await run({ client, clock, post });
  await client.close();
  handler.close();
}
