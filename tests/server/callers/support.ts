/** An endpoint whose callers each have a server of their own, and who they are. */
import type { JsonObject, JsonRpcResponse } from "../../../src/protocol/json_rpc.ts";
import type { LogRecord } from "../../../src/ports.ts";
import { createHandler, McpServer, perCaller } from "../../../src/server/mod.ts";
import type { AuthInfo, Caller, Handler, HandlerOptions, Servable } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { answerOf } from "../attack/support.ts";
import { modernMeta, modernPost, post, rpc } from "../http/support.ts";

/** Headers that say who sends a request. */
export type Who = Readonly<Record<string, string>>;

/** Reads who sends: `x-user`, `x-client`, and `x-scopes` with spaces between them. */
export function authOf({ headers }: Request): AuthInfo | undefined {
  const principal = headers.get("x-user");
  if (principal === null) return undefined;
  return {
    principal,
    clientId: headers.get("x-client") ?? undefined,
    scopes: headers.get("x-scopes")?.split(" "),
  };
}

/** A server that says whose it is, in whatever it can say. */
export function serverOf(owner: string): McpServer {
  const server = new McpServer({ name: `of-${owner}`, version: "1.0.0" }, { instructions: `canary-${owner}` });
  server.tool(`${owner}-only`, { input: { type: "object" } }, async ({ turns }, { progress, auth }) => {
    progress({ progress: 1, message: `canary-${owner}` });
    for (let turn = 0; turn < Number(turns ?? 0); turn++) await undefined;
    return `canary-${owner} for ${auth?.principal}`;
  });
  server.tool("whose", {}, () => `canary-${owner}`);
  server.resource(`note://${owner}`, {}, () => `canary-${owner}`);
  return server;
}

/** What a test has. */
export interface Stage {
  readonly handler: Handler;
  readonly clock: VirtualClock;
  readonly logs: LogRecord[];
  /** Who was asked about. */
  readonly asked: Caller[];
}

/** Serves callers by a function. */
export function stage(give: (caller: Caller) => Servable | Promise<Servable>, options: HandlerOptions = {}): Stage {
  const clock = new VirtualClock();
  const logs: LogRecord[] = [];
  const asked: Caller[] = [];
  const servers = perCaller((caller) => {
    asked.push(caller);
    return give(caller);
  });
  const logger = (record: LogRecord): void => void logs.push(record);
  const handler = createHandler(servers, { clock, logger, auth: authOf, ...options });
  return { handler, clock, logs, asked };
}

/** Sends one modern request. */
export async function modern(
  { handler }: Pick<Stage, "handler">,
  who: Who,
  method: string,
  params: JsonObject = {},
): Promise<JsonRpcResponse & { status: number }> {
  const _meta = { ...modernMeta(), ...params._meta as JsonObject | undefined };
  const response = await handler(modernPost(method, { ...params, _meta }, who));
  return { ...await answerOf(response), status: response.status };
}

/** A legacy session of somebody. */
export interface Session {
  readonly id: string | null;
  readonly first: JsonRpcResponse & { status: number };
  /** Sends a request, as whoever opened it or as somebody else. */
  ask(method: string, params?: JsonObject, who?: Who): Promise<JsonRpcResponse & { status: number }>;
}

/** Opens one. */
export async function openSession({ handler }: Pick<Stage, "handler">, who: Who): Promise<Session> {
  const clientInfo = { name: "c", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const response = await handler(post(rpc("initialize", 0, params), who));
  const id = response.headers.get("mcp-session-id");
  const first = { ...await answerOf(response), status: response.status };
  const named = { "mcp-session-id": id ?? "none" };
  if (id !== null) await handler(post({ jsonrpc: "2.0", method: "notifications/initialized" }, { ...who, ...named }));
  let last = 0;
  return {
    id,
    first,
    async ask(method, params = {}, asker = who) {
      const reply = await handler(post(rpc(method, ++last, params), { ...asker, ...named }));
      return { ...await answerOf(reply), status: reply.status };
    },
  };
}
