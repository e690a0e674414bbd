/**
 * A client by hand: it asks the world with plain requests, so that the world itself can be tested.
 *
 * @module
 */
import { isJson, type Json, sha256, type Signer, thumbprint } from "./jwt.ts";
import { redirectUri, resourceUrl, type World } from "./world.ts";

/** The code verifier that it uses. */
export const verifier: string = "verifier-".repeat(6);
/** The client that it is. */
export const clientId = "editor";

/** What an endpoint said. */
export interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

/** Makes the client known. */
export function introduce(world: World): void {
  world.server.clients.add({ id: clientId, redirectUris: [redirectUri] });
}

/** The link to sign in with. Undefined takes a parameter away. */
export async function link(world: World, changes: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
  const url = new URL(world.server.url("authorize"));
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    state: "state-1",
    code_challenge: await sha256(verifier),
    code_challenge_method: "S256",
    resource: resourceUrl,
    scope: "mcp:use offline_access",
    ...changes,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

/** Sends a form. Undefined takes a parameter away. */
export async function post(
  world: World,
  url: string,
  parameters: Readonly<Record<string, string | undefined>>,
  headers: Record<string, string> = {},
): Promise<Said> {
  const sound = Object.entries(parameters).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]);
  const body = new URLSearchParams(sound);
  const response = await world.fetch(url, { method: "POST", body, headers });
  const text = await response.text();
  const told: unknown = text === "" ? {} : JSON.parse(text);
  return { status: response.status, headers: response.headers, body: isJson(told) ? told : {} };
}

/** Asks the token endpoint as the public client. */
export function ask(
  world: World,
  parameters: Readonly<Record<string, string | undefined>>,
  headers?: Record<string, string>,
): Promise<Said> {
  return post(world, world.server.url("token"), { client_id: clientId, resource: resourceUrl, ...parameters }, headers);
}

/** Follows a link, and gives the code. */
export async function getCode(world: World, changes?: Readonly<Record<string, string | undefined>>): Promise<string> {
  const back = new URL(await world.person.follow(await link(world, changes)));
  return back.searchParams.get("code") ?? `no code: ${back.search}`;
}

/** What a code is exchanged with. */
export function exchange(code: string): Record<string, string> {
  return { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier };
}

/** Signs in as a whole, and gives the token reply. */
export async function signIn(world: World, headers?: Record<string, string>): Promise<Said> {
  introduce(world);
  return await ask(world, exchange(await getCode(world)), headers);
}

/** Calls a tool of the resource. */
export function call(world: World, headers: Record<string, string>, name: string = "echo"): Promise<Response> {
  return callAt(world.resource.url, headers, { name, arguments: { text: "hello" }, fetch: world.fetch });
}

/** What is called, and what sends it. */
export interface CalledTool {
  readonly name: string;
  readonly arguments: Json;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/** Calls a tool, wherever it is. */
export function callAt(
  url: string,
  headers: Record<string, string>,
  { fetch, ...tool }: CalledTool,
): Promise<Response> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "hand", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": tool.name,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...tool, _meta } }),
  });
}

/** What goes into a proof; `token` is the access token that it goes with. */
export interface ProofChoices {
  readonly method?: string;
  readonly token?: string;
  readonly nonce?: string;
  readonly payload?: Json;
  readonly header?: Json;
}

/** Makes a proof of a key for one request. */
export async function prove(world: World, key: Signer, url: string, choices: ProofChoices = {}): Promise<string> {
  const { method = "POST", token, nonce, payload, header } = choices;
  const claims = {
    htm: method,
    htu: url,
    iat: Math.floor(world.clock.now() / 1_000),
    jti: crypto.randomUUID(),
    ...(token !== undefined && { ath: await sha256(token) }),
    ...(nonce !== undefined && { nonce }),
    ...payload,
  };
  return await key.sign(claims, { typ: "dpop+jwt", jwk: key.jwk, ...header });
}

/** The thumbprint of a key. */
export function nameOf(key: Signer): Promise<string | undefined> {
  return thumbprint(key.jwk);
}
