/** The Worker of `workers/server.ts`, protected by bearer tokens, in real workerd. */
import { assert, assertEquals } from "@std/assert";
import type { Miniflare, MiniflareOptions } from "miniflare";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect, UnauthorizedError } from "../../src/entry/local.ts";
import type { JsonObject } from "../../src/entry/local.ts";
import { packagesInstalled } from "../../tools/programs.ts";
import { createKey, sign, type SigningKey } from "../auth/verify/authorization_server.ts";
import { initialize, posting } from "./messages.ts";

const skip = packagesInstalled() ? false : "miniflare and esbuild are not installed";
const issuer = "https://auth.example.com";
const resource = "https://mcp.example.com/mcp";

/** What an author writes in the place of `workers/auth.ts`. */
const authModule = `
import { createJwtVerifier } from "./src/auth/mod.ts";
import { protectResource } from "./src/server/mod.ts";
export const createAuth = () => protectResource({
  resource: "${resource}",
  authorizationServers: ["${issuer}"],
  verify: createJwtVerifier({ issuer: "${issuer}" }),
});`;

let miniflare: Miniflare;
let options: MiniflareOptions;
let folder = "";
let base = "";
let key: SigningKey;
let token = "";
/** How long the authorization server takes, in milliseconds. */
let pause = 0;

/** Calls of the Worker to the authorization server end here. */
async function answerKeys(request: { readonly url: string }): Promise<[status: number, body: unknown]> {
  await Promise.resolve();
  if (request.url === `${issuer}/keys`) return [200, { keys: [key.jwk] }];
  const isMetadata = request.url === `${issuer}/.well-known/oauth-authorization-server`;
  return isMetadata ? [200, { issuer, jwks_uri: `${issuer}/keys` }] : [404, {}];
}

before(async () => {
  if (skip) return;
  key = await createKey("one");
  const seconds = Math.floor(Date.now() / 1_000);
  token = await sign(key, { aud: resource, iat: seconds, exp: seconds + 300 });
  const { build } = await import("esbuild");
  const { Response } = await import("miniflare");
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const built = await build({
    entryPoints: [`${root}/workers/server.ts`],
    bundle: true,
    format: "esm",
    write: false,
    plugins: [{
      name: "the author's module",
      setup: ({ onLoad }) =>
        void onLoad({ filter: /workers.auth\.ts$/ }, () => ({ contents: authModule, resolveDir: root })),
    }],
  });
  folder = mkdtempSync(join(tmpdir(), "causeway-protected-"));
  options = {
    modules: [{ type: "ESModule", path: "server.js", contents: built.outputFiles[0]?.text ?? "" }],
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["enable_request_signal"],
    durableObjects: {
      SESSIONS: { className: "SessionObject", useSQLite: true },
      SOCKETS: { className: "SocketObject", useSQLite: true },
    },
    outboundService: async (request: { readonly url: string }) => {
      await new Promise((resolve) => setTimeout(resolve, pause));
      const [status, body] = await answerKeys(request);
      return Response.json(body, { status });
    },
    durableObjectsPersist: folder,
  };
  await start();
});
after(async () => {
  await miniflare?.dispose();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const { Miniflare } = await import("miniflare");
  miniflare = new Miniflare(options);
  base = (await miniflare.ready).href.replace(/\/$/, "");
}

const get = (path: string, headers: Record<string, string> = {}) =>
  miniflare.dispatchFetch(`${base}${path}`, { headers });

function post(message: JsonObject, headers: Record<string, string> = {}) {
  return miniflare.dispatchFetch(`${base}/mcp`, posting(message, headers));
}

const upgrade = { upgrade: "websocket", "sec-websocket-protocol": "mcp" };

describe("the protected Worker", { concurrency: false }, () => {
  test("a caller who leaves while keys are fetched keeps no other one waiting", { skip }, async () => {
    pause = 200;
    const controller = new AbortController();
    const url = `${base}/mcp`;
    const headers = { authorization: `Bearer ${token}` };
    const first = fetch(url, { headers, signal: controller.signal }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const others = [1, 2, 3].map(() => fetch(url, { headers }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    controller.abort();
    // Not 401, not 503: who they are is known, and the modern era has no stream for GET.
    for (const other of others) assertEquals((await other).status, 405);
    await first;
    pause = 0;
  });

  test("serves its metadata to anybody", { skip }, async () => {
    const response = await get("/.well-known/oauth-protected-resource/mcp");
    const { resource: named, authorization_servers } = await response.json() as JsonObject;
    assertEquals([response.status, named, authorization_servers], [200, resource, [issuer]]);
  });

  test("lets nobody in without a token, on any way", { skip }, async () => {
    const ways = [
      () => post({ id: 1, method: "tools/list" }),
      () => post(initialize),
      () => get("/mcp"),
      () => get("/mcp", upgrade),
      () => post({ id: 2, method: "ping" }, { "mcp-session-id": "0123.4567" }),
    ];
    for (const ask of ways) {
      // Each is read as it comes: what Miniflare gives loses its body when memory is tidied up.
      const response = await ask();
      assertEquals(response.status, 401, await response.text());
      const challenge = response.headers.get("www-authenticate") ?? "";
      assert(challenge.includes('"https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'), challenge);
    }
  });

  test("serves who has one, in both eras, each request for itself", { skip }, async () => {
    const headers = { authorization: `Bearer ${token}` };
    for (const era of ["modern", "legacy"] as const) {
      const verdict = era === "legacy" ? { era, revision: "2025-11-25" as const } : undefined;
      await using client = await connect(`${base}/mcp`, { headers, ...(verdict && { verdict }) });
      assertEquals((await client.callTool("add", { a: 2, b: 3 })).structuredContent, { sum: 5 });
    }
    const opened = await post(initialize, headers);
    const id = opened.headers.get("mcp-session-id") ?? "";
    await opened.text();
    assertEquals((await post({ id: 2, method: "ping" }, { ...headers, "mcp-session-id": id })).status, 200);
    const without = await post({ id: 3, method: "ping" }, { "mcp-session-id": id });
    assertEquals(without.status, 401, await without.text());
  });

  test("a session whose object lost its memory wakes for its caller, and for nobody else", { skip }, async () => {
    const headers = { authorization: `Bearer ${token}` };
    const opened = await post(initialize, headers);
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await opened.text();
    await miniflare.dispose();
    await start();
    assertEquals((await post({ id: 2, method: "ping" }, session)).status, 401);
    const seconds = Math.floor(Date.now() / 1_000);
    const stranger = await sign(key, { sub: "somebody else", aud: resource, iat: seconds, exp: seconds + 300 });
    const foreign = await post({ id: 3, method: "ping" }, { authorization: `Bearer ${stranger}`, ...session });
    assertEquals(foreign.status, 404, await foreign.text());
    const woken = await post({ id: 4, method: "ping" }, { ...headers, ...session });
    assertEquals(woken.status, 200, await woken.text());
  });

  test("and over a WebSocket", { skip }, async () => {
    const { webSocket, status } = await get("/mcp", { ...upgrade, authorization: `Bearer ${token}` });
    assertEquals(status, 101);
    assert(webSocket);
    const answer = new Promise<JsonObject>((resolve) => {
      webSocket.addEventListener("message", ({ data }) => resolve(JSON.parse(String(data))));
    });
    webSocket.accept();
    webSocket.send(JSON.stringify({ jsonrpc: "2.0", ...initialize }));
    assertEquals((await answer).id, 1);
    webSocket.close();
  });

  test("tokens of others, and for others, are refused", { skip }, async () => {
    const stranger = await createKey("one");
    const seconds = Math.floor(Date.now() / 1_000);
    const fresh = { aud: resource, iat: seconds, exp: seconds + 300 };
    const tokens = [
      await sign(stranger, fresh),
      await sign(key, { ...fresh, aud: "https://other.example/mcp" }),
      await sign(key, { ...fresh, exp: seconds - 60 }),
    ];
    for (const bearer of tokens) await connectRejects(bearer);
  });
});

async function connectRejects(bearer: string): Promise<void> {
  try {
    const client = await connect(`${base}/mcp`, { headers: { authorization: `Bearer ${bearer}` } });
    await client.close();
  } catch (error) {
    assert(error instanceof UnauthorizedError, String(error));
    return assertEquals([error.status, error.challenge.includes('error="invalid_token"')], [401, true]);
  }
  throw new Error("it was let in");
}
