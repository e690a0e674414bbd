/**
 * Signing in to MCP servers (specification: Authorization).
 *
 * @module
 */
import type { Authorizer, Fetch, Resolve } from "../ports.ts";
import { readUrl } from "../egress/url.ts";
import { Access } from "./flow/access.ts";
import type { SignIn } from "./flow/sign_in.ts";
import { takeCallback } from "./flow/code_flow.ts";
import { OAuthContext } from "./flow/context.ts";
import type { TokenRecord } from "./flow/records.ts";
import { urlWithoutQuery } from "../protocol/excerpt.ts";
import type { AuthorizationRequest, OAuthOptions } from "./options.ts";
import { checkOptions } from "./check_options.ts";

/** Whose token is kept for a server, without secrets. */
export interface SignInStatus {
  /** The MCP server. */
  readonly server: string;
  /** The authorization server. */
  readonly issuer: string;
  /** The resource's own name for itself; a server of 2025-03-26 has none. */
  readonly resource: string | undefined;
  /** As whom this program is known there. */
  readonly clientId: string;
  /** What the token allows, or what was asked for where the server does not tell. */
  readonly scopes: readonly string[];
  /** When the token ends, in milliseconds since 1970, where the server tells. */
  readonly expiresAt: number | undefined;
  /** Whether it is renewed without a person. */
  readonly refreshable: boolean;
}

/** What a step may be told. */
export interface SignInOptions {
  /** Scopes to ask for beside those that the server names. */
  readonly scopes?: readonly string[] | undefined;
  /** Gives up: rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Signs in to MCP servers, and keeps the tokens: the `auth` of `connect`. One serves many servers, of one tenant and subject.
 * Made by {@linkcode createOAuth}.
 */
export class OAuth implements Authorizer {
  readonly #context: OAuthContext;
  /** Those that were asked for last. Whoever sends by another one keeps it; what counts of it is in the store. */
  readonly #servers = new Map<string, Access>();

  /** Made by {@linkcode createOAuth}. */
  constructor(context: OAuthContext) {
    this.#context = context;
  }

  /** Wraps what sends requests to a server: they carry its token, and its challenges are answered. */
  wrap(fetch: Fetch, server: string): Fetch {
    return this.#access(server).wrap(fetch);
  }

  /** The headers that carry the token of a server, where there is one: for WebSockets. */
  async headers(server: string, signal?: AbortSignal): Promise<Record<string, string>> {
    return await this.#context.guard(this.#access(server).headers(signal));
  }

  /** Takes what resolves names, unless it has one: `connect` of `./bun`, `./deno`, `./node` and `./local` gives its own. */
  resolveWith(resolve: Resolve): void {
    this.#context.resolve ??= resolve;
  }

  /** The sign-in to a server that is under way, if there is one: `connect` of `./bun`, `./deno`, `./node` and `./local` waits for it. */
  underWay(server: string, signal?: AbortSignal | null): Promise<unknown> | undefined {
    return this.#access(server).signIn.underWay(signal);
  }

  /** Takes all secrets out of a text. */
  redact(text: string): string {
    return this.#context.redactor.redact(text);
  }

  /**
   * Begins a sign-in that a person goes on with, in a browser.
   *
   * @returns Where they have to go, and what names the sign-in. It can be finished for ten minutes, once.
   * @throws {AuthorizationError} When the server cannot be signed in to.
   * @throws {McpError} When a server cannot be reached, or names an address that is not allowed.
   */
  async begin(server: string | URL, options: SignInOptions = {}): Promise<AuthorizationRequest> {
    return await this.#context.guard(this.#access(server).signIn.begin(options.scopes, options.signal));
  }

  /**
   * Finishes a sign-in: here, or in another process or isolate with the same store, tenant and subject.
   *
   * @param callback The whole URL that the person came back to.
   * @throws {AuthorizationError} When no sign-in waits for it, when it is not from the right server, or that one refused.
   */
  async finishAuth(callback: string | URL, options: Pick<SignInOptions, "signal"> = {}): Promise<SignInStatus> {
    options.signal?.throwIfAborted();
    const { pending, code } = await this.#context.guard(takeCallback(this.#context, callback));
    const { signIn } = this.#access(pending.server);
    const tokens = await this.#context.guard(signIn.finish(pending, code));
    return statusOf(signIn, { ...pending, issuer: pending.metadata.issuer }, tokens);
  }

  /**
   * Signs in: with the `grant`, or with a person whom `authorize` brings to the right place.
   *
   * @throws {AuthorizationRequiredError} When a person is needed, and there is no `authorize`.
   * @throws {AuthorizationError} When the server refuses.
   */
  async signIn(server: string | URL, options: SignInOptions = {}): Promise<SignInStatus> {
    const { signIn } = this.#access(server);
    const tokens = await this.#context.guard(signIn.signIn(options.scopes, options.signal));
    const record = (await this.#context.guard(signIn.tokens.serverRecord()))?.content;
    return statusOf(signIn, record, tokens);
  }

  /**
   * Forgets the tokens of a server, and withdraws them at its authorization server (RFC 7009).
   *
   * @param options Its signal rejects with its reason: what was forgotten by then stays forgotten.
   * @returns Whether they were withdrawn there too; undefined when there were none.
   */
  async signOut(
    server: string | URL,
    options: Pick<SignInOptions, "signal"> = {},
  ): Promise<{ readonly revoked: boolean } | undefined> {
    const revoked = await this.#context.guard(this.#access(server).signIn.signOut(options.signal));
    return revoked === undefined ? undefined : { revoked };
  }

  /** Whose token is kept for a server; undefined when there is none. */
  async status(server: string | URL): Promise<SignInStatus | undefined> {
    const { signIn } = this.#access(server);
    const record = (await this.#context.guard(signIn.tokens.serverRecord()))?.content;
    const tokens = record && (await this.#context.guard(signIn.tokens.load(record)))?.content;
    return tokens && statusOf(signIn, record, tokens);
  }

  #access(server: string | URL): Access {
    // They may come and go all the time.
    const mostServers = 1_000;
    const { href } = checkServer(server);
    const known = this.#servers.get(href) ?? new Access(this.#context, href);
    this.#servers.delete(href);
    this.#servers.set(href, known);
    for (const [oldest] of this.#servers) {
      if (this.#servers.size <= mostServers) break;
      this.#servers.delete(oldest);
    }
    return known;
  }
}

/**
 * Makes what signs in to MCP servers.
 *
 * A call that a server refuses for want of a token leads through its metadata to the authorization server, where this program is
 * known, registers, or is named by a document; a person signs in with PKCE, and the token is kept, renewed before it ends, and
 * renewed once, however many calls and processes want it.
 *
 * @throws {TypeError} When an option makes no sense.
 *
 * @example A program that sends its person to a browser
 * ```ts
 * import { createOAuth } from "@causeway/mcp/auth";
 *
 * const oauth = createOAuth({
 *   redirectUri: "https://app.example.com/callback",
 *   clientMetadata: { client_name: "Example" },
 * });
 * console.assert(await oauth.status("https://mcp.example.com/mcp") === undefined);
 * ```
 */
export function createOAuth(options: OAuthOptions = {}): OAuth {
  checkOptions(options);
  return new OAuth(new OAuthContext(options));
}

function checkServer(server: string | URL): URL {
  // A WebSocket is opened with the token of the same address.
  const address = String(server).replace(/^ws/i, "http");
  const url = readUrl(address);
  // A user name and a password would stand before an "@".
  if (!/^https?:\/\/[^/@]+\//.test(url?.href as string)) {
    throw new TypeError(
      `Cannot sign in to "${urlWithoutQuery(server)}": expected an http: or https: URL without a user name`,
    );
  }
  url!.hash = "";
  return url!;
}

function statusOf(
  signIn: SignIn,
  record:
    | { readonly issuer: string; readonly resource?: string | undefined; readonly scopes: readonly string[] }
    | undefined,
  tokens: TokenRecord,
): SignInStatus {
  const { client, scopes, expiresAt } = tokens;
  return {
    server: signIn.server,
    issuer: record?.issuer ?? "",
    resource: record?.resource,
    clientId: client.clientId,
    scopes: scopes ?? record?.scopes ?? [],
    expiresAt,
    refreshable: signIn.tokens.isRenewable(tokens),
  };
}
