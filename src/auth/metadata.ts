/**
 * What an authorization server says of itself (RFC 8414; OpenID Connect Discovery).
 *
 * @module
 */
import type { GuardedFetch } from "../egress/guarded_fetch.ts";
import { urlWithoutQuery } from "../egress/redact.ts";
import { failure } from "./failure.ts";
import { parseObject } from "./parse.ts";

/**
 * Fetches the metadata of an authorization server: from the places that the specification names, in their order.
 *
 * @param issuer Its issuer: the document has to name the same, letter by letter.
 * @throws {AuthorizationError} When no place has a sound document. It may be tried again where the server is down.
 * @throws {McpError} When the server cannot be reached.
 */
export async function fetchMetadata(
  issuer: string,
  fetch: GuardedFetch,
  signal?: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  let said = "no document names this issuer";
  let retryable = false;
  for (const url of places(issuer)) {
    const { status, text } = await fetch(url, { headers: { accept: "application/json" }, signal: signal ?? null });
    const document = status === 200 ? parseObject(text) : undefined;
    if (document?.issuer === issuer) return document;
    if (document) said += `, and the "issuer" at "${url}" is ${JSON.stringify(document.issuer)}`;
    if (status > 499) [said, retryable] = [`it answered ${status}`, true];
  }
  throw failure(`Cannot find the metadata of "${issuer}": ${said}`, { retryable });
}

function places(issuer: string): string[] {
  const { href, origin, pathname } = new URL(issuer);
  // A user name, a query, or an address in an address ("blob:https://…") would be lost, and another server asked.
  if (href !== origin + pathname) {
    throw failure(
      `Cannot find the metadata of "${urlWithoutQuery(issuer)}": an issuer has an origin and a path alone`,
    );
  }
  const path = pathname.replace(/\/$/, "");
  const inserted = ["oauth-authorization-server", "openid-configuration"].map((name) =>
    `${origin}/.well-known/${name}${path}`
  );
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}
