/**
 * The tokens of one server: kept, renewed before they end, and renewed once however many want them.
 *
 * @module
 */
import { AuthorizationError, TimeoutError } from "../../protocol/errors.ts";
import { urlWithoutQuery } from "../../protocol/excerpt.ts";
import { randomHex } from "../../ports.ts";
import type { TokenResponse } from "../seam.ts";
import type { Kept, OAuthContext } from "./context.ts";
import { forgetClient } from "./identity.ts";
import { Shared } from "./shared.ts";
import { isServerRecord, isTokenRecord, type ServerRecord, type TokenRecord } from "./records.ts";

/** Before a token ends it is renewed, so many milliseconds and up to a quarter more. */
const margin = 60_000;

/** Gets tokens in the place of others. */
export type Renew = (tokens: TokenRecord, server: ServerRecord) => Promise<TokenResponse>;

/** Tokens that only this process renews, for a while. */
interface Lease {
  readonly server: ServerRecord;
  /** As they are in the store, with the lease. */
  readonly kept: Kept<TokenRecord>;
  /** Their text without it. */
  readonly before: string;
}

/** Keeps the tokens of one server. */
export class Tokens {
  readonly #context: OAuthContext;
  readonly #server: string;
  readonly #renew: Renew;
  #known: TokenRecord | undefined;
  /** The store was asked: where it had nothing, it is asked again when the server wants a token. */
  #looked = false;
  readonly #renewal: Shared<TokenRecord | undefined>;

  constructor(context: OAuthContext, server: string, renew: Renew) {
    this.#context = context;
    this.#server = server;
    this.#renew = renew;
    this.#renewal = new Shared(context.clock, 2 * this.#leaseTime);
  }

  /** What is known of the server. */
  async serverRecord(): Promise<Kept<ServerRecord> | undefined> {
    const context = this.#context;
    return await context.read(await context.ownKey("server", this.#server), isServerRecord);
  }

  /** The tokens as they are in the store. */
  async load(server?: ServerRecord): Promise<Kept<TokenRecord> | undefined> {
    const place = server ?? (await this.serverRecord())?.content;
    const kept = place && await this.#context.read(await this.#key(place), isTokenRecord);
    this.#known = kept?.content;
    for (const secret of [this.#known?.accessToken, this.#known?.refreshToken]) this.#context.secret(secret);
    return kept;
  }

  /** Keeps new tokens, in the place of all others. */
  async save(server: ServerRecord, record: TokenRecord): Promise<void> {
    const context = this.#context;
    await context.write(await this.#key(server), record);
    await context.write(await context.ownKey("server", this.#server), server);
    this.#known = record;
  }

  /** Forgets the tokens, and what is known of the server. */
  async forget(): Promise<void> {
    const { store } = this.#context;
    const server = await this.serverRecord();
    if (!server) return;
    await store.delete(await this.#key(server.content));
    await store.delete(server.key);
    this.#known = undefined;
  }

  /** The tokens to send now: renewed when they are about to end; undefined when there are none that are good. */
  async current(signal?: AbortSignal | null): Promise<TokenRecord | undefined> {
    const known = this.#known;
    if (known ? this.#isFresh(known) : this.#looked) return known;
    this.#looked = true;
    return await this.renewed(undefined, signal);
  }

  /**
   * Other tokens than those that the server refused. One caller gets them for all.
   *
   * @param rejected The access token that was refused; without one they are renewed when they are about to end.
   */
  async renewed(rejected?: string, signal?: AbortSignal | null): Promise<TokenRecord | undefined> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const tokens = await this.#renewal.join(() => this.#renewOnce(rejected), signal);
      // Who joined may have joined one that did not know of the refusal.
      if (!tokens || tokens.accessToken !== rejected) return tokens;
    }
    return undefined;
  }

  /** How long a refresh may take, until somebody else may try. */
  get #leaseTime(): number {
    return this.#context.timeout + 5_000;
  }

  async #renewOnce(rejected: string | undefined): Promise<TokenRecord | undefined> {
    const { clock, random } = this.#context;
    const giveUp = clock.monotonic() + 2 * this.#leaseTime;
    let pause = 25;
    // Seldomer and seldomer: each look at the store is a request of a Worker, which has not many.
    const rest = (resolve: () => void) =>
      clock.schedule(resolve, (pause = Math.min(2 * pause, 1_000)) * (1 + random.fraction()));
    for (;; await new Promise<void>(rest)) {
      if (clock.monotonic() > giveUp) throw new TimeoutError("total", 2 * this.#leaseTime, { delivery: "not-sent" });
      const server = (await this.serverRecord())?.content;
      const kept = server && await this.load(server);
      if (!kept) return undefined;
      const tokens = kept.content;
      const now = clock.now();
      const isGood = tokens.accessToken !== rejected && (tokens.expiresAt ?? Infinity) > now;
      if (isGood && this.#isFresh(tokens)) return tokens;
      if (!this.isRenewable(tokens)) return isGood ? tokens : undefined;
      if (tokens.lease && tokens.lease.until > now) {
        // Another process is at it: what is good until then is sent meanwhile.
        if (isGood) return tokens;
        continue;
      }
      const leased = { ...tokens, lease: { id: randomHex(random, 8), until: now + this.#leaseTime } };
      const text = JSON.stringify(leased);
      if (!await this.#context.swap(kept.key, kept.text, text)) continue;
      const taken = { server, kept: { ...kept, text }, before: kept.text };
      try {
        const outcome = await this.#exchange(taken);
        if (outcome !== "again") return outcome;
      } catch (error) {
        await this.#context.swap(kept.key, text, kept.text);
        // What is good a while longer is sent: the next call tries again.
        if (!isGood) throw error;
        return tokens;
      }
    }
  }

  /** With the lease in hand: renews, and puts the new tokens in the place of the old. */
  async #exchange({ server, kept, before }: Lease): Promise<TokenRecord | "again" | undefined> {
    const context = this.#context;
    const { key, text, content: tokens } = kept;
    let response: TokenResponse;
    try {
      response = await this.#renew(tokens, server);
    } catch (error) {
      const code = error instanceof AuthorizationError ? error.error : undefined;
      const fields = { server: urlWithoutQuery(this.#server), error: code };
      context.logger?.({ level: "warning", message: "Tokens cannot be renewed", fields });
      // Who is not known any more signs in as somebody new.
      if (code === "invalid_client") await forgetClient(context, server.metadata);
      else if (code !== "invalid_grant" && !(tokens.refreshToken && isFinal(error))) throw error;
      if (code !== "invalid_grant") {
        await context.swap(key, text, before);
        return undefined;
      }
      // Only the tokens that were refused are forgotten: newer ones may be there by now.
      if (!await context.swap(key, text, undefined)) return "again";
      this.#known = undefined;
      return undefined;
    }
    const next = this.record(response, tokens);
    for (let expected: string | undefined = text;;) {
      if (await context.swap(key, expected, JSON.stringify(next))) {
        this.#known = next;
        return next;
      }
      // Our lease ended while we were held up. Whoever came after has tokens that ours have replaced, or a new sign-in.
      const now = await context.read(key, isTokenRecord);
      if (!now || now.content.refreshToken !== tokens.refreshToken) return "again";
      expected = now.text;
    }
  }

  /** A record of what a token endpoint gave. */
  record(response: TokenResponse, before: Pick<TokenRecord, "client"> & Partial<TokenRecord>): TokenRecord {
    const { expiresIn, accessToken, tokenType, refreshToken = before.refreshToken, scopes = before.scopes } = response;
    const { client, dpopKey } = before;
    const { clock, random } = this.#context;
    const now = clock.now();
    const lifetime = (expiresIn ?? NaN) * 1_000;
    const early = Math.min(margin * (1 + random.fraction() / 4), lifetime / 2);
    const times = expiresIn === undefined ? {} : { expiresAt: now + lifetime, renewAt: now + lifetime - early };
    return { accessToken, tokenType, refreshToken, scopes, client, dpopKey, ...times };
  }

  #isFresh({ renewAt = Infinity }: TokenRecord): boolean {
    return this.#context.clock.now() < renewAt;
  }

  /** Whether others can be got in their place without a person. */
  isRenewable({ refreshToken }: TokenRecord): boolean {
    const { grant } = this.#context.options;
    return refreshToken !== undefined || (grant !== undefined && !grant.isInteractive);
  }

  #key({ issuer, resource }: ServerRecord): Promise<string> {
    return this.#context.ownKey("tokens", issuer, resource ?? this.#server);
  }
}

/**
 * Whether a refusal will not be another one with the next try: then a sign-in has to follow. Servers have many names beside
 * `invalid_grant` for a refresh token that is no good.
 */
function isFinal(error: unknown): boolean {
  return error instanceof AuthorizationError && !error.retryable && error.error !== undefined &&
    !/^(temporarily_|server_error|slow_down)|dpop/.test(error.error);
}
