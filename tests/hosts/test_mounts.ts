/**
 * Which path leads to which fake peer: the inside of the test server.
 *
 * @module
 */
import type { LedgerView } from "../servers/core/ledger.ts";
import { isJsonObject, type JsonObject, type ServerChange, stringAt } from "../servers/core/wire.ts";
import { createHostileServer, type HostileOptions, type HostileServer, isFaultName } from "../servers/hostile.ts";
import { createLegacyServer, type LegacyOptions, type LegacyServer } from "../servers/legacy.ts";
import { createModernServer, type ModernOptions, type ModernServer } from "../servers/modern.ts";
import type { PipeServer } from "../servers/pipe.ts";
import { createSse2024Server, type Sse2024Options, type Sse2024Server } from "../servers/sse_2024.ts";
import type { WebSocketServerOptions } from "../servers/websocket.ts";

/** All servers of one process. */
export interface Mounts {
  /** Answers a request; `upgrade` makes it a WebSocket in the way of its host, and what it gives is given back. */
  fetch<Upgraded>(
    request: Request,
    upgrade: (options: WebSocketServerOptions) => Upgraded,
  ): Promise<Response | Upgraded>;
}

type Mount =
  | { kind: "modern"; server: ModernServer }
  | { kind: "legacy"; server: LegacyServer }
  | { kind: "sse2024"; server: Sse2024Server }
  | { kind: "hostile"; server: HostileServer }
  | { kind: "ws"; servers: PipeServer[] };

interface Scope {
  readonly mounts: Map<string, Mount>;
  readonly otherOrigin: string;
}

/** Makes the servers, each when it is first asked for. `otherOrigin` is where redirects to another origin lead. */
export function createMounts(options: { otherOrigin: string }): Mounts {
  const scope: Scope = { mounts: new Map(), otherOrigin: options.otherOrigin };
  return {
    async fetch(request, upgrade) {
      const url = new URL(request.url);
      if (url.pathname === "/health") return new Response("ok");
      if (url.pathname.startsWith("/control/")) return await control(request, url, scope);
      const mount = find(url.pathname, url.searchParams, scope);
      if (mount === undefined) return new Response("Not Found", { status: 404 });
      if (mount.kind !== "ws") return await mount.server.fetch(request);
      const era = eraOf(url.pathname);
      const keep = Number(url.searchParams.get("keep") ?? 1_000);
      return upgrade({ era, keep, connected: (server) => void mount.servers.push(server) });
    },
  };
}

function eraOf(pathname: string): "modern" | "legacy" | "both" {
  if (pathname.endsWith("/modern")) return "modern";
  return pathname.endsWith("/legacy") ? "legacy" : "both";
}

/** The server behind a path: `/kind[@name]/…`. */
function find(pathname: string, query: URLSearchParams, scope: Scope): Mount | undefined {
  const parts = pathname.split("/").slice(1);
  const [first = ""] = parts;
  const [kind = ""] = first.split("@");
  const key = kind === "sse2024" ? first : pathname;
  const known = scope.mounts.get(key);
  if (known !== undefined) return known;
  const mount = make(kind, parts.slice(1), { query, scope });
  if (mount !== undefined) scope.mounts.set(key, mount);
  return mount;
}

function make(kind: string, rest: string[], options: { query: URLSearchParams; scope: Scope }): Mount | undefined {
  const { query, scope } = options;
  const chosen = optionsOf(query);
  switch (kind) {
    case "modern":
      return rest[0] === "mcp" ? { kind, server: createModernServer(chosen) } : undefined;
    case "legacy": {
      if (rest.at(-1) !== "mcp") return undefined;
      const revision = rest.length > 1 ? { revision: rest[0] ?? "" } : {};
      return { kind, server: createLegacyServer({ ...chosen, ...revision }) };
    }
    case "sse2024":
      return { kind, server: createSse2024Server(chosen) };
    case "ws":
      return { kind, servers: [] };
    case "hostile": {
      const [fault = "", era] = rest;
      if (!isFaultName(fault) || (era !== "modern" && era !== "legacy") || rest[2] !== "mcp") return undefined;
      const { otherOrigin } = scope;
      return { kind, server: createHostileServer(fault, { ...chosen, era, wire: true, otherOrigin }) };
    }
    default:
      return undefined;
  }
}

type AnyOptions = ModernOptions & LegacyOptions & Sse2024Options & HostileOptions;

/** Options from a query: numbers, `true`, `false`, and words. */
function optionsOf(query: URLSearchParams): Partial<AnyOptions> {
  const options: Record<string, unknown> = {};
  for (const [key, value] of query) {
    if (value === "true" || value === "false") options[key] = value === "true";
    else options[key] = /^-?\d+$/.test(value) ? Number(value) : value;
  }
  const { ttlMs, cacheScope = "private" } = options;
  if (ttlMs !== undefined) options.cache = { ttlMs, cacheScope };
  return options; // every option is optional; what a test misspells in a URL is left alone
}

async function control(request: Request, url: URL, scope: Scope): Promise<Response> {
  const mount = find(url.pathname.slice("/control".length), url.searchParams, scope);
  if (mount === undefined) return new Response("Not Found", { status: 404 });
  if (request.method === "POST") {
    const command: unknown = await request.json().catch(() => undefined);
    if (!isJsonObject(command) || !act(mount, command)) return new Response("Unknown action", { status: 400 });
  }
  return Response.json(state(mount));
}

/** Does what was asked; false when the server cannot. */
function act(mount: Mount, command: JsonObject): boolean {
  const { action } = command;
  if (action === "emit") return emit(mount, command);
  if (action === "release") {
    if (mount.kind === "ws") mount.servers.forEach((server) => server.release());
    else if (mount.kind === "hostile") mount.server.healthy.release();
    else mount.server.release();
    return true;
  }
  if (mount.kind === "modern" && action === "endSubscriptions") mount.server.endSubscriptions();
  else if (mount.kind === "modern" && action === "dropSubscriptions") mount.server.dropSubscriptions();
  else if (mount.kind === "legacy" && action === "forgetSessions") mount.server.forgetSessions();
  else if (mount.kind === "legacy" && action === "dropStreams") {
    mount.server.dropStreams(command.how === "break" ? "break" : "end");
  } else if (mount.kind === "sse2024" && action === "dropStreams") mount.server.dropStreams();
  else return false;
  return true;
}

function emit(mount: Mount, command: JsonObject): boolean {
  const change = changeOf(command);
  if (change === undefined || mount.kind === "hostile") return false;
  if (mount.kind === "ws") mount.servers.forEach((server) => server.emit(change));
  else mount.server.emit(change);
  return true;
}

function changeOf(command: JsonObject): ServerChange | undefined {
  const type = command.type;
  if (type === "tools" || type === "prompts" || type === "resources") return { type };
  const uri = stringAt(command, "uri");
  return type === "resource" && uri !== undefined ? { type, uri } : undefined;
}

function state(mount: Mount): JsonObject {
  switch (mount.kind) {
    case "modern":
      return { ...ledger(mount.server), listeners: mount.server.listeners() };
    case "legacy":
      return {
        ...ledger(mount.server),
        sessions: mount.server.sessionIds().length,
        getStreams: mount.server.getStreams(),
      };
    case "sse2024":
      return { ...ledger(mount.server), streams: mount.server.streams() };
    case "hostile": {
      const { server } = mount;
      const foreign = server.foreign.map(({ httpMethod, url, headers }) => ({ httpMethod, url, headers }));
      return {
        ...ledger(server),
        hits: server.hits(),
        produced: server.produced(),
        cancelled: server.cancelled(),
        foreign,
      };
    }
    case "ws": {
      const last = mount.servers.at(-1);
      return last === undefined ? { connections: 0 } : { ...ledger(last), connections: mount.servers.length };
    }
  }
}

function ledger(view: LedgerView): JsonObject {
  const calls: Record<string, number> = {};
  for (const { tool } of view.executions) calls[tool] = (calls[tool] ?? 0) + 1;
  const methods: Record<string, number> = {};
  for (const { httpMethod, message } of view.log) {
    const method = message === undefined ? httpMethod : stringAt(message, "method") ?? "response";
    methods[method] = (methods[method] ?? 0) + 1;
  }
  const cancellations = view.cancellations.map((item) => ({ ...item }));
  return { calls, methods, cancellations, violations: [...view.violations] };
}
