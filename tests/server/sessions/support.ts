/** One store, any number of processes: handlers over it in memory, with a real server behind them. */
import type { JsonObject } from "../../../mod.ts";
import type { Clock, LogRecord } from "../../../src/ports.ts";
import { createHandler, createSessionStore, McpServer } from "../../../src/server/mod.ts";
import type { Handler, SessionOptions, SessionStoreOptions } from "../../../src/server/mod.ts";
import { requestClock } from "../../support/clocks/request_clock.ts";
import { heldRequest } from "../../support/held_request.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

/** A process that serves. */
export interface Served {
  readonly handler: Handler;
  readonly server: McpServer;
  readonly logs: LogRecord[];
}

/** What processes share. */
export class World {
  readonly clock: VirtualClock = new VirtualClock();
  /** What the processes go by. */
  readonly time: Clock & { isDead: boolean };
  readonly store: TestStore;
  #id = 0;

  constructor(store: TestStore = new TestStore()) {
    this.store = store;
    this.time = requestClock(this.clock);
    this.time.isDead = false;
  }

  /** Begins a process. */
  serve(sessions: SessionOptions = {}, options: SessionStoreOptions = {}): Served {
    const logs: LogRecord[] = [];
    const server = new McpServer({ name: "kept", version: "1.0.0" });
    server.tool("hi", {}, (_args, { log, client, auth }) => {
      log("warning", "said hi");
      return `hi ${client?.name} ${auth?.principal ?? "nobody"}`;
    });
    server.resource("note://1", { name: "note" }, () => "text");
    server.resource("note://2", { name: "other" }, () => "text");
    const handler = createHandler(server, {
      clock: this.time,
      eras: ["legacy"],
      logger: (record) => void logs.push(record),
      auth: (request) => {
        const principal = request.headers.get("x-user");
        return principal === null ? undefined : { principal };
      },
      sessions: { store: createSessionStore(this.store, options), ...sessions },
    });
    return { handler, server, logs };
  }

  /** Sends one message; a string is a notification. */
  async post(
    { handler }: Served,
    headers: Record<string, string>,
    method: string,
    params: JsonObject = {},
  ): Promise<{ status: number; body: JsonObject; events: JsonObject[]; session: string | null }> {
    const id = method.startsWith("notifications/") ? {} : { id: ++this.#id };
    const body = JSON.stringify({ jsonrpc: "2.0", ...id, method, params });
    const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
    const response = await handler(heldRequest("http://localhost/mcp", { method: "POST", headers: all, body }));
    const text = await response.text();
    const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
    const events = (lines.length ? lines.map((line) => line.slice(6)) : text ? [text] : []).map((line) =>
      JSON.parse(line) as JsonObject
    );
    const session = response.headers.get("mcp-session-id");
    return { status: response.status, body: events.at(-1) ?? {}, events, session };
  }

  /** Sends a request without a body. */
  send({ handler }: Served, method: string, headers: Record<string, string>): Promise<Response> {
    const all = { accept: "text/event-stream", ...headers };
    return handler(heldRequest("http://localhost/mcp", { method, headers: all }));
  }

  /** Begins a session, and gives the headers of its requests. */
  async open(served: Served, user?: string, capabilities: JsonObject = {}): Promise<Record<string, string>> {
    const who: Record<string, string> = user === undefined ? {} : { "x-user": user };
    const clientInfo = { name: "ada", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
    const { session } = await this.post(served, who, "initialize", params);
    const headers = { ...who, "mcp-session-id": session ?? "none", "mcp-protocol-version": "2025-11-25" };
    await this.post(served, headers, "notifications/initialized");
    return headers;
  }
}

/** The text of a tool's result. */
export function textOf({ result }: JsonObject): unknown {
  return ((result as JsonObject | undefined)?.content as JsonObject[] | undefined)?.[0]?.text;
}
