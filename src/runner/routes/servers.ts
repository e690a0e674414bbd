/**
 * Servers of a tenant: how they do, adding and removing them, and signing in.
 *
 * @module
 */
import { createSafeLogger } from "../../egress/safe_logger.ts";
import { readUrl } from "../../egress/url.ts";
import { randomHex } from "../../ports.ts";
import type { ServerStatus } from "../../hub/seam.ts";
import { AuthorizationError, EgressDeniedError, McpError } from "../../protocol/errors.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { isSameText } from "../access/keys.ts";
import type { Call } from "../rest/call.ts";
import { closing, missing, Refusal, tooMuch, wrongField } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";
import { addServerSchema, serverSchema } from "../rest/schemas.ts";
import type { TenantHub } from "../tenants/hub_pool.ts";
import { checkStored } from "../tenants/run_starts.ts";
import type { AddedServer } from "../tenants/servers.ts";
import type { WaitingSignIn } from "../tenants/sign_ins.ts";

const json = "application/json";
const manage = { kind: "decided", actions: ["manage"], about: "the server" } as const;
const one = { type: json, schema: serverSchema } as const;
/** Begins the name of the cookie of a browser that has begun a sign-in: it comes along from the authorization server's page, as no strict one does. */
const signInCookie = "causeway-signin";

/** The routes of servers. */
export const serverRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/servers",
    summary: "The servers of the tenant, and how they do.",
    policy: { kind: "decided", actions: ["see"], about: "each server" },
    query: {},
    replies: {
      200: {
        description: "The servers",
        type: json,
        schema: {
          type: "object",
          required: ["servers"],
          properties: { servers: { type: "array", items: serverSchema } },
        },
      },
    },
    answer: list,
  },
  {
    method: "POST",
    path: "/api/servers",
    summary: "Adds a server by its URL, when it can be connected to or wants a sign-in.",
    policy: manage,
    query: {},
    body: addServerSchema,
    replies: { 201: { description: "It was added", ...one } },
    answer: add,
  },
  {
    method: "DELETE",
    path: "/api/servers/:name",
    summary: "Removes a server that was added, and withdraws its tokens.",
    policy: manage,
    query: {},
    replies: { 204: { description: "It is gone" } },
    answer: remove,
  },
  {
    method: "POST",
    path: "/api/servers/:name/connect",
    summary: "Connects to a server again now; `authorizationUrl` is where a person signs in, where that is wanted.",
    policy: manage,
    query: {},
    replies: { 200: { description: "How it does now", ...one } },
    answer: connect,
  },
  {
    method: "GET",
    path: "/oauth/callback",
    summary: "Where a person comes back to from signing in.",
    policy: { kind: "public", why: "the state in the query is unguessable, good once, and names the tenant" },
    replies: { 200: { description: "A sentence for the person", type: "text/plain" } },
    isPage: true,
    answer: callback,
  },
];

async function list(call: Call): Promise<Response> {
  const { scoped } = await call.hub();
  const added = await addedNames(call);
  return call.json({ servers: scoped.status().map((status) => shown(status, added)) });
}

/** The names of those that the tenant has added. */
export async function addedNames(call: Call): Promise<ReadonlySet<string>> {
  const added = await call.parts.servers.list.read(call.tenant);
  return new Set(added.map(({ name }) => name));
}

function shown({ authorizationUrl: _, ...status }: ServerStatus, added: ReadonlySet<string>): object {
  return { ...status, added: added.has(status.name) };
}

async function add(call: Call): Promise<Response> {
  const { name, url, headers } = await call.body() as Pick<AddedServer, "name" | "url" | "headers">;
  const { servers, quotas, clock, canAdd } = call.parts;
  if (!canAdd) throw new Refusal(404, "not_offered", "No servers can be added to this runner");
  const outcome = await call.decide("manage", { server: name });
  if (outcome !== "allow") throw new Refusal(403, "forbidden", "You may not add this server");
  for (const field of Object.keys(headers ?? {})) {
    // To some servers `_` is what `-` is.
    if (/^(host|cookie|content[-_].*|transfer[-_]encoding|connection|mcp[-_].*|accept)$/i.test(field)) {
      throw wrongField(`/headers/${field}`, "this header is not yours to set");
    }
  }
  await judge(call, url);
  const server: AddedServer = {
    name,
    url,
    ...(headers && { headers }),
    addedBy: call.principal.id,
    addedAt: clock.now(),
  };
  const { lease: { hub } } = await call.hub();
  const { status, signIn } = await quotas.inTurn(call.tenant, "servers", async () => {
    const known = await servers.list.read(call.tenant);
    const most = quotas.of(call.tenant).servers;
    if (known.length >= most) throw tooMuch("too_many_servers", `This tenant may add ${most} servers`, 60);
    await checkStored(call.parts, call.tenant, JSON.stringify(server).length);
    if (hub.status().some((other) => other.name === name)) {
      throw nameTaken(name);
    }
    return await verified(call, hub, server);
  });
  return call.json({ ...shown(status, new Set([name])), ...signIn.more }, 201, signIn.headers);
}

function nameTaken(name: string): Refusal {
  return new Refusal(409, "name_taken", `There is a server "${name}" already`);
}

/** Connects before it is kept: what cannot be reached is not kept, and what cannot be kept is not used. */
async function verified(
  call: Call,
  hub: TenantHub,
  server: AddedServer,
): Promise<{ readonly status: ServerStatus; readonly signIn: BegunSignIn }> {
  const { servers, pool } = call.parts;
  try {
    await hub.add(server.name, servers.configOf(call.tenant, server)).catch((error: unknown) => {
      // There is none of its name, so the hub is closed.
      throw error instanceof TypeError ? closing("What has the servers of this tenant is closing") : error;
    });
    const status = statusOf(hub, server.name);
    if (status?.state !== "connected" && status?.state !== "authorizing") {
      if (pool.isClosed) throw closing();
      const why = status?.lastError?.message ?? "it did not answer";
      throw new Refusal(502, "server_unavailable", `The server "${server.name}" was not added: ${why}`);
    }
    const signIn = await signInOf(call, status);
    const isKept = await servers.list.change(
      call.tenant,
      // Another process may have added one, which is not in this hub.
      (known) => known.some(({ name }) => name === server.name) ? undefined : [...known, server],
    );
    if (!isKept) throw nameTaken(server.name);
    servers.hold(call.tenant, hub, server);
    return { status, signIn };
  } catch (error) {
    await hub.remove(server.name);
    throw error;
  }
}

async function judge(call: Call, url: string): Promise<void> {
  try {
    await call.parts.servers.judge(url);
  } catch (error) {
    if (error instanceof EgressDeniedError) throw new Refusal(400, "egress_denied", error.message);
    if (error instanceof McpError) throw new Refusal(400, "egress_denied", "Its name cannot be resolved");
    throw error;
  }
}

function statusOf(hub: TenantHub, name: string): ServerStatus | undefined {
  return hub.status().find((status) => status.name === name);
}

/** @throws {Refusal} 404 when there is none, or it is not the caller's to manage. */
async function managed(call: Call): Promise<{ readonly hub: TenantHub; readonly name: string }> {
  const { name = "" } = call.params;
  const { lease: { hub } } = await call.hub();
  const outcome = await call.decide("manage", { server: name });
  if (outcome !== "allow" || !statusOf(hub, name)) throw missing("server", name);
  return { hub, name };
}

async function remove(call: Call): Promise<Response> {
  const { hub, name } = await managed(call);
  const { servers, oauth, logger } = call.parts;
  const added = (await servers.list.read(call.tenant)).find((server) => server.name === name);
  if (!added) throw new Refusal(409, "not_added", `The server "${name}" is the operator's: it cannot be removed here`);
  await servers.list.change(call.tenant, (known) => known.filter((server) => server.name !== name));
  await servers.remove(call.tenant, hub, name);
  try {
    await oauth?.(call.tenant, name).signOut(added.url);
  } catch (error) {
    logger?.({ level: "warning", message: "Tokens could not be withdrawn", fields: { server: name, error } });
  }
  return new Response(null, { status: 204 });
}

async function connect(call: Call): Promise<Response> {
  const { hub, name } = await managed(call);
  await hub.retry(name);
  const status = statusOf(hub, name);
  if (!status) throw missing("server", name);
  const signIn = await signInOf(call, status);
  return call.json({ ...shown(status, await addedNames(call)), ...signIn.more }, 200, signIn.headers);
}

/** What is told of a sign-in that was begun. */
interface BegunSignIn {
  readonly more: object;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a person needs to sign in. A browser that is known is the one that has to come back. */
async function signInOf(call: Call, { state, authorizationUrl, name }: ServerStatus): Promise<BegunSignIn> {
  if (state !== "authorizing" || authorizationUrl === undefined) return { more: {}, headers: {} };
  const { signIns, random } = call.parts;
  const { tenant, way, request } = call;
  const held = way === "session" ? randomHex(random, 16) : undefined;
  const browser = held === undefined ? undefined : await sha256(held);
  await signIns.keep(authorizationUrl, { tenant, server: name, ...(browser !== undefined && { browser }) });
  const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
  const cookie = await cookieFor(readUrl(authorizationUrl)?.searchParams.get("state") ?? "");
  const set = `${cookie}=${held}; Path=/oauth/callback; Max-Age=600; HttpOnly; SameSite=Lax${secure}`;
  return { more: { authorizationUrl }, headers: held === undefined ? {} : { "set-cookie": set } };
}

async function callback(call: Call): Promise<Response> {
  const { signIns, oauth, pool, logger } = call.parts;
  const url = new URL(call.request.url);
  const state = url.searchParams.get("state");
  const judge = async ({ browser }: WaitingSignIn): Promise<void> => {
    if (browser === undefined || isSameText(browser, await heldBy(call.request, await cookieFor(state ?? "")))) return;
    throw new Refusal(403, "forbidden", "This sign-in was begun in another browser: finish it there");
  };
  const signIn = state && oauth ? await signIns.take(state, judge) : undefined;
  if (!signIn || !oauth) {
    throw new Refusal(
      400,
      "sign_in_unknown",
      "Nobody waits for this sign-in: it is finished, too old, or of somebody else",
    );
  }
  const { tenant, server } = signIn;
  try {
    await oauth(tenant, server).finishAuth(url);
  } catch (error) {
    if (error instanceof AuthorizationError) throw new Refusal(400, "sign_in_failed", error.message);
    if (error instanceof McpError) throw error;
    // What else it needs is the store of tokens. The code is good once: coming back again would not help.
    createSafeLogger(logger)?.({ level: "error", message: "A sign-in could not be kept", fields: { server, error } });
    throw new Refusal(503, "unavailable", "The sign-in could not be kept: begin it again", { cause: error });
  }
  const lease = await pool.lease(tenant);
  try {
    if (statusOf(lease.hub, server)) await lease.hub.retry(server);
  } finally {
    lease.release();
  }
  return new Response(`You are signed in to "${server}". You can close this page.\n`, {
    headers: { "content-type": "text/plain; charset=utf-8" },
  });
}

/** A cookie for each sign-in: a browser may have begun several, and finishes them in whichever order. */
async function cookieFor(state: string): Promise<string> {
  return `${signInCookie}-${(await sha256(state)).slice(0, 16)}`;
}

async function heldBy(request: Request, cookie: string): Promise<string> {
  const parts = (request.headers.get("cookie") ?? "").split(";").map((part) => part.trim().split("="));
  return await sha256(parts.find(([name]) => name === cookie)?.[1] ?? "");
}
