/**
 * MCP servers whose authorization server the operator knows better than its documents tell.
 *
 * @module
 */
import type { GuardedFetch } from "../../egress/guarded_fetch.ts";
import { readUrl } from "../../egress/url.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import { failure } from "../failure.ts";
import { fetchMetadata, lookAt } from "./metadata.ts";
import type { ServerDiscovery } from "../options.ts";
import type { ServerMetadata } from "../seam.ts";

/** What an operator knows of the authorization server of one MCP server. It is plain JSON. */
export interface KnownServer {
  /** The authorization server, as it names itself. Default: what the document at `metadataUrl` says, which has to be given then. */
  readonly issuer?: string | undefined;
  /** Where its metadata is. Default: the places of RFC 8414 and OpenID Connect, which name `issuer` letter by letter. */
  readonly metadataUrl?: string | undefined;
  /**
   * What its metadata does not say, or says otherwise: it stands above what is fetched. With both `authorization_endpoint` and
   * `token_endpoint` nothing is fetched.
   */
  readonly metadata?: Omit<ServerMetadata, "issuer"> | undefined;
  /** What tokens are asked for, as `resource` (RFC 8707); `""`: none is sent. Default: the URL of the MCP server. */
  readonly resource?: string | undefined;
  /** The scopes to ask for where the server names none (none). */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Names the authorization servers of MCP servers: the `discover` of `createOAuth`. For those that do not say all that they have to
 * (Microsoft Entra ID and Amazon Cognito know PKCE, and do not say so), that refuse a `resource` (Entra ID), that name themselves by
 * the issuer of another origin, or that no document leads to. What the MCP server says of its authorization server is not asked for
 * then, but for the scopes of its challenges. Addresses are judged as always.
 *
 * With `metadata` you vouch for what the server does not say itself: that it knows PKCE, for instance. Without a `resource`, a token is
 * good wherever its scopes are.
 *
 * @param servers By the URLs that programs connect to.
 * @throws {TypeError} When an entry makes no sense: it names the server and the field.
 *
 * @example A server behind Microsoft Entra ID
 * ```ts
 * import { createOAuth, knownServers } from "@causeway/mcp/auth";
 *
 * const issuer = "https://login.microsoftonline.com/22222222-3333-4444-5555-666666666666/v2.0";
 * const auth = createOAuth({
 *   redirectUri: "http://localhost:8085/callback",
 *   client: { clientId: "11111111-2222-3333-4444-555555555555", issuer },
 *   discover: knownServers({
 *     "https://mcp.example.com/mcp": {
 *       issuer,
 *       metadata: { code_challenge_methods_supported: ["S256"] },
 *       resource: "",
 *       scopes: ["api://mcp.example.com/tools.call"],
 *     },
 *   }),
 * });
 * if (await auth.status("https://mcp.example.com/mcp") !== undefined) throw new Error("nobody has signed in yet");
 * ```
 */
export function knownServers(servers: Readonly<Record<string, KnownServer>>): ServerDiscovery {
  const known = new Map(Object.entries(servers).map(([server, entry]) => [addressOf(server), checked(server, entry)]));
  return async (server, fetch) => {
    const entry = known.get(addressOf(server));
    if (!entry) return undefined;
    const { metadata, resource = server, scopes } = entry;
    const { issuer, ...found } = await find(server, entry, fetch);
    return { metadata: { ...found, ...metadata, issuer }, resource: resource || undefined, scopes };
  };
}

/** An address, however it was written; without its fragment. A WebSocket is signed in to under the http(s) address of the same place. */
function addressOf(server: string): string | undefined {
  const url = readUrl(server.replace(/^ws/i, "http"));
  if (url) url.hash = "";
  return url?.href;
}

async function find(
  server: string,
  { issuer, metadataUrl, metadata }: KnownServer,
  fetch: GuardedFetch,
): Promise<Record<string, unknown> & { issuer: string }> {
  if (issuer !== undefined && metadata?.authorization_endpoint && metadata.token_endpoint) return { issuer };
  if (metadataUrl === undefined) return { ...await fetchMetadata(String(issuer), fetch), issuer: String(issuer) };
  const { document, status, error } = await lookAt(metadataUrl, fetch);
  if (error) throw error;
  const named = document?.["issuer"];
  if (document && typeof named === "string" && named === (issuer ?? named)) return { ...document, issuer: named };
  const got = document ? `the issuer ${JSON.stringify(named)}` : status === 200 ? "no JSON object" : `status ${status}`;
  throw failure(
    `Cannot sign in to "${server}": got ${got} at "${metadataUrl}", expected ${
      issuer === undefined ? "the metadata of an authorization server" : `that of "${issuer}"`
    }`,
    { retryable: status > 499 },
  );
}

/** @throws {TypeError} When it makes no sense. */
function checked(server: string, entry: unknown): KnownServer {
  const fail = (what: string, expected: string) =>
    new TypeError(`Cannot use the known server ${JSON.stringify(server)}: ${what}: expected ${expected}`);
  if (!/^https?:/.test(addressOf(server) ?? "")) throw fail("it is no URL", "that of an MCP server");
  if (!isObject(entry)) throw fail("its entry is no object", 'one with "issuer" or "metadataUrl"');
  const { issuer, metadataUrl, metadata, resource, scopes } = entry;
  const wrong = (name: string, expected: string) => fail(`"${name}" is ${JSON.stringify(entry[name])}`, expected);
  for (const [name, value] of Object.entries({ issuer, metadataUrl })) {
    if (value !== undefined && !(typeof value === "string" && readUrl(value))) throw wrong(name, "a URL");
  }
  if (metadata !== undefined && !isObject(metadata)) throw wrong("metadata", "an object (RFC 8414)");
  if (isObject(metadata) && "issuer" in metadata) throw wrong("metadata", 'no "issuer" in it: it stands beside it');
  if (resource !== undefined && typeof resource !== "string") throw wrong("resource", 'a text; "" sends none');
  if (scopes !== undefined && !isTexts(scopes)) throw wrong("scopes", "a list of texts");
  if (issuer === undefined && metadataUrl === undefined) throw wrong("issuer", 'a URL, or one as "metadataUrl"');
  for (const name of Object.keys(entry)) {
    if (!["issuer", "metadataUrl", "metadata", "resource", "scopes"].includes(name)) {
      throw fail(`"${name}" is unknown`, '"issuer", "metadataUrl", "metadata", "resource" or "scopes"');
    }
  }
  return entry;
}
