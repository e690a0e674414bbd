/**
 * Servers of tenants in the operator's config: by URL, with headers and sign-ins. (Editors' configs are read by `readHubConfig`; it knows
 * much that a Worker has no use for.)
 *
 * @module
 */
import type { OAuthClient } from "../../src/auth/seam.ts";
import type { ServerConfig } from "../../src/hub/seam.ts";
import { isObject, isTexts } from "../../src/protocol/json_rpc.ts";
import { readUrl } from "../../src/egress/url.ts";

/** One server. */
export interface ConfiguredServer {
  /** Where it is: https, or http on this machine. */
  readonly url: string;
  /** Headers of its requests. Secret. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How to sign in: with what the authorization server knows of us, or not at all (as the server wants it). */
  readonly oauth?: false | (OAuthClient & { readonly scopes?: readonly string[] | undefined }) | undefined;
}

/** Variables that can be named as `${NAME}` in URLs, headers and clients. */
export type Variables = Readonly<Record<string, string | undefined>>;

const fields: readonly string[] = ["url", "headers", "oauth", "type"];
const oauthFields: readonly string[] = ["clientId", "clientSecret", "issuer", "scopes"];

/**
 * Reads one server.
 *
 * @param at Where it stands, for errors: `servers.github`.
 * @throws {TypeError} When a field is wrong, or a variable is not set: both are named, values are not.
 */
export function readServer(given: unknown, at: string, variables: Variables): ConfiguredServer {
  if (!isObject(given)) throw wrong(at, "an object with a url");
  for (const field of Object.keys(given)) {
    if (!fields.includes(field)) throw wrong(`${at}.${field}`, fields.join(", "));
  }
  const filled = (text: unknown, field: string): string => fillIn(text, `${at}.${field}`, variables);
  const url = filled(given.url, "url");
  if (!/^(https?|wss?):\/\//.test(url) || !readUrl(url)) {
    throw wrong(`${at}.url`, "an http:, https:, ws: or wss: URL");
  }
  const { headers, oauth } = given;
  if (headers !== undefined && !isObject(headers)) throw wrong(`${at}.headers`, "an object of texts");
  const read = Object.entries(headers ?? {}).map(([name, value]) => [name, filled(value, `headers.${name}`)]);
  return {
    url,
    ...(headers && { headers: Object.fromEntries(read) }),
    ...(oauth !== undefined && { oauth: readOAuth(oauth, `${at}.oauth`, filled) }),
  };
}

/** What a hub is told of a server. How to sign in to it is told apart. */
export function toServerConfig({ url, headers }: ConfiguredServer): ServerConfig {
  return { url, ...(headers && { headers: { ...headers } }) };
}

function readOAuth(
  given: unknown,
  at: string,
  filled: (text: unknown, field: string) => string,
): ConfiguredServer["oauth"] {
  if (given === false) return false;
  if (!isObject(given)) throw wrong(at, "false, or an object with a clientId");
  for (const field of Object.keys(given)) {
    if (!oauthFields.includes(field)) throw wrong(`${at}.${field}`, oauthFields.join(", "));
  }
  const { clientSecret, issuer, scopes } = given;
  if (scopes !== undefined && !isTexts(scopes)) throw wrong(`${at}.scopes`, "a list of texts");
  return {
    clientId: filled(given.clientId, "oauth.clientId"),
    ...(clientSecret !== undefined && { clientSecret: filled(clientSecret, "oauth.clientSecret") }),
    ...(issuer !== undefined && { issuer: filled(issuer, "oauth.issuer") }),
    ...(scopes && { scopes }),
  };
}

function fillIn(text: unknown, at: string, variables: Variables): string {
  if (typeof text !== "string" || text === "") throw wrong(at, "a text");
  return text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (!value) throw wrong(at, `"${name}" to be a variable or secret of the Worker`);
    return value;
  });
}

function wrong(field: string, expected: string): TypeError {
  return new TypeError(`"${field}" of the config is wrong, expected ${expected}`);
}
