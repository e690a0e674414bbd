/**
 * What the tests of the client share: clients that are joined to fake peers in memory, over every binding.
 *
 * @module
 */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { ChannelTransport, connect, connectTarget, createMemoryPair } from "../../mod.ts";
import type { CallToolResult, Client, Connect, Revision } from "../../mod.ts";
import { IsolateClient } from "../../src/client/extras/isolate_client.ts";
import { webFilled } from "../../src/entry/connect.ts";
import type { CoreOptions } from "../servers/core/core.ts";
import type { LedgerView, RecordedRequest } from "../servers/core/ledger.ts";
import { isJsonObject, type JsonObject, objectAt, type ServerChange } from "../servers/core/wire.ts";
import { createLegacyServer, type LegacyOptions, type LegacyServer } from "../servers/legacy.ts";
import { type FetchTarget, memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer, type ModernOptions, type ModernServer } from "../servers/modern.ts";
import { createPipeServer, type PipeOptions, type PipeServer } from "../servers/pipe.ts";

/** The options of `connect`. */
export type Options = NonNullable<Parameters<Connect>[1]>;

/** A fake peer, whichever. */
export interface Peer extends LedgerView {
  emit(change: ServerChange): void;
  release(): number;
}

/** Where the fake peers over HTTP are said to be. */
export const url = "http://fake.test/mcp";
/** The revision of the modern era. */
export const modernRevision: Revision = "2026-07-28";

/** What a test chooses for both sides. */
export interface Sides<ServerOptions> {
  server?: ServerOptions;
  client?: Options;
}

/** As in Workers: a client that requests can share. */
export const connectShared: Connect = (target, given = {}) => connectTarget(target, webFilled(given), IsolateClient);

/**
 * Connects a client to a modern server over HTTP; at the end the server has nothing to complain of.
 *
 * @param connectBy What connects.
 */
export async function withModern(
  run: (client: Client, server: ModernServer) => Promise<void>,
  sides: Sides<ModernOptions> = {},
  connectBy: Connect = connect,
): Promise<void> {
  const server = createModernServer(sides.server);
  await check(await connectBy(url, { fetch: memoryFetch(server), ...sides.client }), server, run);
}

/** Connects a client to a legacy server over HTTP; at the end the server has nothing to complain of. */
export async function withLegacy(
  run: (client: Client, server: LegacyServer) => Promise<void>,
  sides: Sides<LegacyOptions> = {},
): Promise<void> {
  const server = createLegacyServer(sides.server);
  await check(await connect(url, { fetch: memoryFetch(server), ...sides.client }), server, run);
}

/** A pipe in memory, and the servers that were started behind it: the newest is the last. */
export interface Pipe {
  readonly transport: ChannelTransport;
  readonly servers: PipeServer[];
  readonly server: PipeServer;
  /** Lets the newest server die. */
  die(): void;
}

/** Makes a pipe to a server; each restart of the transport starts another one. */
export function createPipe(options: Partial<PipeOptions> & Pick<PipeOptions, "era">): Pipe {
  const servers: PipeServer[] = [];
  let die = () => {};
  const transport = new ChannelTransport(() => {
    const [near, far] = createMemoryPair();
    let gone = false;
    const end = () => {
      gone = true;
      void far.close();
    };
    const server = createPipeServer({
      exit: end,
      ...options,
      send: (text) => {
        if (!gone) far.write([text]);
      },
    });
    void far.open({
      text: (text) => server.receive(text),
      end() {
        gone = true;
        server.close();
      },
    });
    servers.push(server);
    die = end;
    return near;
  });
  return {
    transport,
    servers,
    get server() {
      return servers.at(-1) as PipeServer;
    },
    die: () => die(),
  };
}

/** Connects a client to a server on a pipe; at the end no server has anything to complain of. */
export async function withPipe(
  run: (client: Client, pipe: Pipe) => Promise<void>,
  sides: { server: Partial<PipeOptions> & Pick<PipeOptions, "era">; client?: Options },
): Promise<void> {
  const pipe = createPipe(sides.server);
  const client = await connect(pipe.transport, sides.client);
  try {
    await run(client, pipe);
  } finally {
    await client.close();
  }
  for (const server of pipe.servers) assertEquals(server.violations, []);
}

/** The ways in which a client can be joined to a server. */
export type Way = "modern HTTP" | "legacy HTTP" | "modern pipe" | "legacy pipe";

/** Runs one test in each era over each binding. */
export function inEveryWay(
  name: string,
  run: (client: Client, peer: Peer, way: Way) => Promise<void>,
  sides: Sides<CoreOptions> & { ways?: readonly Way[] } = {},
): void {
  const { client, server, ways = ["modern HTTP", "legacy HTTP", "modern pipe", "legacy pipe"] } = sides;
  for (const way of ways) {
    if (way === "modern HTTP") {
      test(`${name} (${way}, a shared client)`, () =>
        withModern(
          (client, server) => run(client, server, way),
          { client, server } as Sides<CoreOptions>,
          connectShared,
        ));
    }
    test(`${name} (${way})`, async () => {
      const both = { ...(client && { client }), ...(server && { server }) };
      if (way === "modern HTTP") return await withModern((client, server) => run(client, server, way), both);
      if (way === "legacy HTTP") return await withLegacy((client, server) => run(client, server, way), both);
      const era = way === "modern pipe" ? "modern" : "legacy";
      await withPipe((client, { server }) => run(client, server, way), { ...both, server: { ...server, era } });
    });
  }
}

/** One HTTP request as a {@linkcode Front} saw it. */
export type Seen = RecordedRequest & { readonly method: string };

/** Something between the client and its server. */
export interface Front extends FetchTarget {
  /** All that came, oldest first. */
  readonly seen: Seen[];
  /** The JSON-RPC methods that came, or the HTTP method where there was none. */
  readonly methods: string[];
}

/** Puts something before a server that answers what it wants to and lets the rest through. */
export function front(
  target: FetchTarget,
  intercept: (seen: Seen, count: number) => Response | undefined | Promise<Response | undefined>,
): Front {
  const seen: Seen[] = [];
  const counts = new Map<string, number>();
  return {
    seen,
    get methods() {
      return seen.map(({ method }) => method);
    },
    async fetch(request) {
      const text = request.method === "POST" ? await request.clone().text() : "";
      const parsed: unknown = text === "" ? undefined : JSON.parse(text);
      const message = isJsonObject(parsed) ? parsed : undefined;
      const method = typeof message?.method === "string" ? message.method : request.method;
      const headers = Object.fromEntries(request.headers);
      const entry = { httpMethod: request.method, url: request.url, headers, message, method };
      seen.push(entry);
      const count = (counts.get(method) ?? 0) + 1;
      counts.set(method, count);
      return await intercept(entry, count) ?? await target.fetch(request);
    },
  };
}

/** A server that nobody should reach. */
export const nobody: FetchTarget = { fetch: () => Promise.resolve(new Response("nobody", { status: 500 })) };

/** The reply with a result. */
export function resultReply({ message }: Seen, result: JsonObject): Response {
  return Response.json({ jsonrpc: "2.0", id: message?.id, result });
}

/** The reply with a JSON-RPC error. */
export function errorReply(
  { message }: Seen,
  code: number,
  options: { status?: number; data?: JsonObject; text?: string } = {},
): Response {
  const { status = 200, data, text = "no" } = options;
  const error = { code, message: text, ...(data && { data }) };
  return Response.json({ jsonrpc: "2.0", id: message?.id, error }, { status });
}

/** A stream of events that carry these messages. */
export function eventReply(messages: readonly unknown[]): Response {
  const text = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

/** The text of a result's first content. */
export function textOf(result: CallToolResult): string | undefined {
  const [first] = result.content;
  return first?.type === "text" ? first.text : undefined;
}

/** The messages of a method, as the server got them. */
export function sent(server: LedgerView, method: string): JsonObject[] {
  return server.log.flatMap(({ message }) => message?.method === method ? [message] : []);
}

/** The `params` of the messages of a method. */
export function paramsOf(server: LedgerView, method: string): JsonObject[] {
  return sent(server, method).map((message) => objectAt(message, "params"));
}

/** The methods that a server got, or the HTTP method where there was none. */
export function methodsOf(server: LedgerView): string[] {
  return server.log.map(({ message, httpMethod }) => typeof message?.method === "string" ? message.method : httpMethod);
}

/** How long is waited for what may need another process, or a machine that is busy, in milliseconds. */
const patience = 20_000;

/** Waits until something holds, letting other work run; fails after so many turns, and not before 20 seconds are over. */
export async function until(condition: () => boolean, turns: number = 500): Promise<void> {
  const end = performance.now() + patience;
  for (let turn = 0; turn < turns || performance.now() < end; turn++) {
    if (condition()) return;
    await pause();
  }
  throw new Error(`it did not happen: ${condition}`);
}

/** Lets other work run for so many turns of the event loop. */
export async function turns(count: number = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await pause();
}

function pause(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 0));
}

async function check<Server extends LedgerView>(
  client: Client,
  server: Server,
  run: (client: Client, server: Server) => Promise<void>,
): Promise<void> {
  try {
    await run(client, server);
  } finally {
    await client.close();
  }
  assertEquals(server.violations, []);
}
