/**
 * What every step of signing in works with: the options, filled in, and the records in the store.
 *
 * @module
 */
import { type EgressPolicy, isLoopbackHost } from "../../egress/address.ts";
import { createGuardedFetch, type GuardedFetch } from "../../egress/guarded_fetch.ts";
import { plain, Redactor } from "../../egress/redact.ts";
import { createSafeLogger } from "../../egress/safe_logger.ts";
import { type Clock, type Fetch, type Logger, type Random, type Resolve, type Store, toHex } from "../../ports.ts";
import { systemClock, systemRandom } from "../../ports.ts";
import { type AuthorizationError, McpError } from "../../protocol/errors.ts";
import { failure } from "../failure.ts";
import type { OAuthOptions } from "../options.ts";
import { parseObject } from "../parse.ts";
import type { OAuthClient } from "../seam.ts";
import { inTurn } from "../stores/in_turn.ts";
import { createMemoryStore } from "../stores/memory.ts";

/** A record as it is kept: the text is what a change has to find unchanged. */
export interface Kept<Content> {
  readonly key: string;
  readonly text: string;
  readonly content: Content;
}

/** The options, filled in, and what is done with them everywhere. */
export class OAuthContext {
  readonly options: OAuthOptions;
  readonly clients: readonly OAuthClient[];
  readonly store: Required<Store>;
  readonly clock: Clock;
  readonly random: Random;
  readonly timeout: number;
  readonly logger: Logger | undefined;
  readonly redactor: Redactor = new Redactor();
  readonly fetch: Fetch;
  resolve: Resolve | undefined;

  constructor(options: OAuthOptions) {
    const { client = [], grant, store = createMemoryStore(), clock = systemClock, random = systemRandom } = options;
    this.options = options;
    this.clients = [grant?.client ?? [], client].flat();
    this.store = inTurn(store, clock);
    this.clock = clock;
    this.random = random;
    this.resolve = options.resolve;
    this.timeout = options.timeout ?? 10_000;
    this.logger = createSafeLogger(options.logger);
    this.fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.secret(options.session);
    for (const { clientId, clientSecret } of this.clients) {
      if (!clientId) throw new TypeError('Cannot use "client": expected a "clientId"');
      this.secret(clientSecret);
    }
  }

  /** An error with words of others in it: secrets are taken out before it is cut, since half of one would not be found. */
  failure(
    message: string,
    options: { readonly cause?: unknown; readonly error?: unknown; readonly retryable?: boolean } = {},
  ): AuthorizationError {
    const { error } = options;
    return failure(this.redactor.redact(message), {
      ...options,
      error: typeof error === "string" ? this.redactor.redact(error) : undefined,
    });
  }

  /** A value that others named, fit for a message. */
  shown(value: unknown): string {
    return value === undefined ? "missing" : plain(this.redactor.redact(JSON.stringify(value)), 100);
  }

  /**
   * What a step to a token gives. Whatever fails in it: the request itself was not executed, and no secret is in what it throws,
   * where stores and connections repeat what they were told.
   */
  async guard<Value>(step: Promise<Value>): Promise<Value> {
    try {
      return await step;
    } catch (error) {
      if (error instanceof McpError) error.delivery = "not-sent";
      throw this.redactor.clean(error);
    }
  }

  /** Makes a secret known, so that no text shows it. */
  secret(value: string | undefined): void {
    if (value) this.redactor.add(value);
  }

  /** Where one may go that a server names. */
  policy(server: string): EgressPolicy & { readonly operator: string } {
    const issuers = this.clients.flatMap(({ issuer }) => issuer ?? []);
    const { allow: own = [], grant } = this.options;
    const allow = [...own, ...grant?.allow ?? [], ...issuers];
    return { operator: server, allow, loopback: isLoopbackHost(new URL(server).hostname) };
  }

  /** The guarded way to what a server names. */
  guarded(server: string): GuardedFetch {
    // Of this it takes fetch, resolve and clock.
    return createGuardedFetch({ ...this, ...this.policy(server), timeouts: { total: this.timeout } });
  }

  /** The key of a record: it tells nothing of what it is made of. */
  async key(kind: string, ...parts: readonly (string | undefined)[]): Promise<string> {
    const text = JSON.stringify([this.options.tenant ?? "", kind, ...parts]);
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return `oauth.${kind}.${toHex(new Uint8Array(hash))}`;
  }

  /** A record that belongs to the subject. */
  ownKey(kind: string, ...parts: readonly (string | undefined)[]): Promise<string> {
    return this.key(kind, this.options.subject ?? "", ...parts);
  }

  /** The text of a record. Many a store says null. */
  async text(key: string): Promise<string | undefined> {
    return await this.store.get(key) ?? undefined;
  }

  /** Reads a record. What cannot be read counts as none, and the log says so. */
  async read<Content extends object>(key: string, isContent: (content: object) => content is Content): Promise<
    Kept<Content> | undefined
  > {
    const text = await this.text(key);
    if (text === undefined) return undefined;
    const content = parseObject(text);
    if (content && isContent(content)) return { key, text, content };
    this.logger?.({ level: "warning", message: "A record of a sign-in cannot be read", fields: { key } });
    return undefined;
  }

  /** Keeps a record. */
  async write(key: string, content: object): Promise<void> {
    await this.store.set(key, JSON.stringify(content));
  }
}
