/**
 * What an authorization server says of itself (RFC 8414; OpenID Connect Discovery).
 *
 * @module
 */
import type { GuardedFetch } from "../../egress/guarded_fetch.ts";
import { urlWithoutQuery } from "../../egress/redact.ts";
import { readUrl } from "../../egress/url.ts";
import { LimitExceededError, type McpError, RedirectRefusedError } from "../../protocol/errors.ts";
import { failure } from "../failure.ts";
import { parseObject } from "../parse.ts";

/**
 * Fetches the metadata of an authorization server: from the places that the specification names, in their order.
 *
 * @param issuer Its issuer: the document has to name the same, letter by letter.
 * @param known Issuers of the same origin that it may name as well, since the operator did.
 * @throws {AuthorizationError} When no place has a sound document. It may be tried again where the server is down.
 * @throws {McpError} When the server cannot be reached.
 */
export async function fetchMetadata(
  issuer: string,
  fetch: GuardedFetch,
  signal?: AbortSignal,
  known?: readonly unknown[],
): Promise<Readonly<Record<string, unknown>>> {
  const { origin } = new URL(issuer);
  let advice = "";
  let said = "no document names this issuer";
  let retryable = false;
  let wrong: McpError | undefined;
  for (const url of places(issuer)) {
    const { status, document, error } = await lookAt(url, fetch, signal);
    wrong ??= error;
    if (document) {
      const named = document["issuer"];
      if (named === issuer) return document;
      // Another origin might be told what is for this one alone: the secret of a client.
      if (known && typeof named === "string" && readUrl(named)?.origin === origin) {
        // What stands below a path of it may be somebody else's, and many a server reads dots and escapes as a way out of one: then
        // the one that is named speaks for itself.
        const isSure = url.startsWith(`${origin}/.well-known/`) && !/\.\.|%/.test(url);
        if (known.includes(named)) return isSure ? document : await fetchMetadata(named, fetch, signal);
        advice = '; if that is right, name it in "issuers"';
      }
      said += `, and the "issuer" at "${url}" is ${JSON.stringify(named)}`;
    }
    if (status > 499) [said, retryable] = [`it answered ${status}`, true];
  }
  throw wrong && !retryable && !advice
    ? wrong
    : failure(`Cannot find the metadata of "${issuer}": ${said}${advice}`, { retryable });
}

/** What is at one of several places. */
export interface Seen {
  /** 0: what is there could not be read. */
  readonly status: number;
  readonly document?: Readonly<Record<string, unknown>> | undefined;
  readonly error?: McpError;
}

/** Looks for a document where it may be: another site's page may be there, and a redirect to it, and the next place have it. */
export async function lookAt(url: string, fetch: GuardedFetch, signal?: AbortSignal): Promise<Seen> {
  try {
    const { status, text } = await fetch(url, { headers: { accept: "application/json" }, signal: signal ?? null });
    return { status, document: status === 200 ? parseObject(text) : undefined };
  } catch (error) {
    if (error instanceof RedirectRefusedError || error instanceof LimitExceededError) return { status: 0, error };
    throw error;
  }
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
