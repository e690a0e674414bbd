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
import { isServerRecord, isTokenRecord, type ServerRecord, type TokenRecord } from "./records.ts";
import { Shared } from "./shared.ts";

/** Gets tokens in the place of others. */
export type Renew = (tokens: TokenRecord, server: ServerRecord) => Promise<TokenResponse>;

/** Keeps the tokens of one server. */
export class Tokens {
  readonly #context: OAuthContext;
  readonly #server: string;
  readonly #renew: Renew;
  #known: TokenRecord | undefined;
  /** The last access token that came to this process: those of others may have been revoked since. */
  #own: string | undefined;
  /** The store was asked: where it had nothing, it is asked again when the server wants a token. */
  #looked = false;
  /** A lease of somebody else, and how long it is waited for: their time of day may be another, also so that it was over when it was found. */
  #awaited: { readonly id: string; readonly until: number; readonly wasOver: boolean } | undefined;
  /** How often the tokens were replaced: what was read before that is old. */
  #changes = 0;
  /** New tokens that the store may not have yet, and the refresh token that they were got for. */
  #gained: { readonly instead: string | undefined; readonly tokens: TokenRecord } | undefined;
  readonly #renewal: Shared<TokenRecord | undefined>;

  constructor(context: OAuthContext, server: string, renew: Renew) {
    this.#context = context;
    this.#server = server;
    this.#renew = renew;
    // It gives up by itself before that.
    this.#renewal = new Shared(context.clock, 3 * this.#leaseTime);
  }

  /** What is known of the server. */
  async serverRecord(): Promise<Kept<ServerRecord> | undefined> {
    const context = this.#context;
    return await context.read(await context.ownKey("server", this.#server), isServerRecord);
  }

  /** The scopes that were asked for with the tokens of a resource: others of its servers use them too. */
  async asked(place: Pick<ServerRecord, "issuer" | "resource">): Promise<readonly string[]> {
    return (await this.#context.read(await this.#key(place), isTokenRecord))?.content.asked ?? [];
  }

  /** The tokens as they are in the store. What it did not take before, it gets now. */
  async load(server?: ServerRecord): Promise<Kept<TokenRecord> | undefined> {
    const context = this.#context;
    const changes = this.#changes;
    const place = server ?? (await this.serverRecord())?.content;
    let kept = place && await context.read(await this.#key(place), isTokenRecord);
    const gained = this.#gained;
    // Others may have put a new sign-in there, or their lease, when ours had ended.
    let isOld = false;
    if (kept && gained && kept.content.refreshToken === gained.instead) {
      const { key, text } = kept;
      kept = { key, text: JSON.stringify(gained.tokens), content: gained.tokens };
      isOld = !await context.store.compareAndSet(key, text, kept.text);
    }
    if (isOld || changes !== this.#changes) return await this.load(server);
    this.#gained = undefined;
    this.#known = kept && this.#learn(kept.content);
    return kept;
  }

  /** Makes the secrets of a record known: each text of the key too, which a store may show in another writing than the whole. */
  #learn(record: TokenRecord): TokenRecord {
    const { accessToken, refreshToken, dpopKey = "" } = record;
    for (const secret of [accessToken, refreshToken, ...dpopKey.split('"')]) this.#context.secret(secret);
    return record;
  }

  /** Keeps new tokens, in the place of all others. */
  async save(server: ServerRecord, record: TokenRecord): Promise<void> {
    const context = this.#context;
    const key = await this.#key(server);
    const place = await context.ownKey("server", this.#server);
    this.#known = record;
    // Tokens that nobody finds are none: where a step fails in between, what leads to them is there.
    const isNew = !await this.serverRecord();
    if (isNew) await context.write(place, server);
    await context.write(key, record);
    if (!isNew) await context.write(place, server);
    this.#known = record;
    this.#changes++;
  }

  /** Forgets the tokens, and what is known of the server. */
  async forget(): Promise<void> {
    const { store } = this.#context;
    const server = await this.serverRecord();
    if (!server) return;
    await store.delete(await this.#key(server.content));
    await store.delete(server.key);
    this.#known = undefined;
    this.#changes++;
  }

  /** Waits until nobody here renews the tokens. */
  async settle(signal?: AbortSignal): Promise<void> {
    await this.#renewal.settle(signal);
  }

  /** Tells whether others may be had for tokens that were refused: these are not new, or have ended on their way. */
  isOver(tokens: TokenRecord): boolean {
    const { accessToken } = tokens;
    return accessToken !== this.#own || accessToken !== this.#known?.accessToken || !this.#isGood(tokens);
  }

  /** The tokens to send now: renewed when they are about to end; undefined when there are none that are good. */
  async current(signal?: AbortSignal | null): Promise<TokenRecord | undefined> {
    const known = this.#known;
    if (!this.#gained && (known ? this.#isFresh(known) : this.#looked)) return known;
    const tokens = await this.renewed(undefined, signal);
    this.#looked = true;
    return tokens;
  }

  /**
   * Other tokens than those that the server refused. One caller gets them for all.
   *
   * @param rejected The access token that was refused; without one they are renewed when they are about to end.
   */
  async renewed(rejected?: string, signal?: AbortSignal | null): Promise<TokenRecord | undefined> {
    for (let isOwn = false;;) {
      const tokens = await this.#renewal.join(() => {
        isOwn = true;
        return this.#renewOnce(rejected);
      }, signal);
      const isOther = tokens !== undefined && tokens.accessToken !== rejected;
      // Who joined may have joined one that did not know of the refusal.
      if (isOther || isOwn || !tokens) return isOther ? tokens : undefined;
    }
  }

  /** How long a refresh may take, until somebody else may try. */
  get #leaseTime(): number {
    return this.#context.timeout + 5_000;
  }

  async #renewOnce(rejected: string | undefined): Promise<TokenRecord | undefined> {
    const { clock, random } = this.#context;
    const giveUp = clock.monotonic() + 2 * this.#leaseTime;
    // Seldomer and seldomer: each look at the store is a request of a Worker, which has not many.
    for (let races = 0, failures = 0, pause = 50;; pause = Math.min(2 * pause, 1_000)) {
      try {
        const outcome = await this.#attempt(rejected);
        // Whoever was faster is done: what they have brought is there.
        if (outcome === "again" && races++ < 5) continue;
        if (outcome !== "again" && outcome !== "later") return outcome;
      } catch (error) {
        // Nobody else has the new tokens while the store does not take them.
        if (!this.#gained || failures++ > 4) {
          const known = this.#known;
          // What is good a while longer is sent: the next call tries again.
          if (known && this.#isGood(known, rejected)) return known;
          throw error;
        }
      }
      if (clock.monotonic() > giveUp) throw new TimeoutError("total", 2 * this.#leaseTime, { delivery: "not-sent" });
      await new Promise<void>((resolve) => clock.schedule(resolve, pause * (1 + random.fraction())));
    }
  }

  async #attempt(rejected: string | undefined): Promise<TokenRecord | "again" | "later" | undefined> {
    const { clock, random } = this.#context;
    const server = (await this.serverRecord())?.content;
    const kept = server && await this.load(server);
    if (!kept) return undefined;
    const tokens = kept.content;
    const last = this.#isGood(tokens, rejected) ? tokens : undefined;
    if (!this.isRenewable(tokens) || (last && this.#isFresh(last))) return last;
    const now = clock.now();
    const { lease } = tokens;
    // Another process is at it: what is good until then is sent meanwhile.
    if (lease && (this.#isAwaited(lease, now) || (last && lease.until > now))) return last ?? "later";
    const until = now + this.#leaseTime;
    const text = JSON.stringify({ ...tokens, lease: { id: randomHex(random, 8), until } });
    // A lease that took too long to get is none.
    if (!await this.#context.store.compareAndSet(kept.key, kept.text, text) || clock.now() >= until) return "again";
    return await this.#exchange(server, kept, text, last);
  }

  /** Whether somebody may still be at it: never for longer than a lease of one's own, from when theirs was found. */
  #isAwaited({ id, until }: NonNullable<TokenRecord["lease"]>, now: number): boolean {
    // How far somebody's time of day may be behind, in milliseconds: a lease that has ended since may not be over for them.
    const skew = 60_000;
    const isOver = until <= now;
    if (until + skew <= now) return false;
    const elapsed = this.#context.clock.monotonic();
    if (this.#awaited?.id !== id) this.#awaited = { id, until: elapsed + this.#leaseTime, wasOver: isOver };
    return (!isOver || this.#awaited.wasOver) && elapsed < this.#awaited.until;
  }

  /**
   * With the lease in hand: renews, and puts the new tokens in the place of the old.
   *
   * @param leased What the store has now: the tokens with the lease.
   * @param last The tokens again, where they are good a while longer.
   */
  async #exchange(
    server: ServerRecord,
    { key, text, content: tokens }: Kept<TokenRecord>,
    leased: string,
    last: TokenRecord | undefined,
  ): Promise<TokenRecord | "again" | undefined> {
    const context = this.#context;
    let response: TokenResponse;
    try {
      response = await this.#renew(tokens, server);
    } catch (error) {
      const code = error instanceof AuthorizationError ? error.error : undefined;
      const fields = { server: urlWithoutQuery(this.#server), error: code };
      context.logger?.({ level: "warning", message: "Tokens cannot be renewed", fields });
      if (code === "invalid_grant") {
        // Only what was refused is forgotten: newer tokens may be there by now.
        const rest = last && { ...last, refreshToken: undefined, renewAt: last.expiresAt, lease: undefined };
        if (!await context.store.compareAndSet(key, leased, rest && JSON.stringify(rest))) return "again";
        this.#known = rest;
        return rest;
      }
      // A lease that is not given back ends by itself.
      await context.store.compareAndSet(key, leased, text).catch(() => {});
      // Who is not known any more signs in as somebody new.
      if (code === "invalid_client") await forgetClient(context, server, tokens.client);
      else if (!tokens.refreshToken || !isFinal(error)) throw error;
      return last;
    }
    const next = this.record(response, tokens);
    this.#gained = { instead: tokens.refreshToken, tokens: next };
    this.#known = next;
    this.#changes++;
    return (await this.load(server))?.content === next ? next : "again";
  }

  /** A record of what a token endpoint gave. */
  record(response: TokenResponse, before: Pick<TokenRecord, "client"> & Partial<TokenRecord>): TokenRecord {
    // Before it ends it is renewed, so many milliseconds and up to a quarter more.
    const margin = 60_000;
    const { expiresIn, accessToken, tokenType, refreshToken = before.refreshToken, scopes = before.scopes } = response;
    const { asked, client, dpopKey } = before;
    this.#own = accessToken;
    const { clock, random } = this.#context;
    const now = clock.now();
    const lifetime = (expiresIn ?? NaN) * 1_000;
    const early = Math.min(margin * (1 + random.fraction() / 4), lifetime / 2);
    const times = expiresIn === undefined ? {} : { expiresAt: now + lifetime, renewAt: now + lifetime - early };
    return this.#learn({ accessToken, tokenType, refreshToken, scopes, asked, client, dpopKey, ...times });
  }

  #isGood({ accessToken, expiresAt = Infinity }: TokenRecord, rejected?: string): boolean {
    return accessToken !== rejected && expiresAt > this.#context.clock.now();
  }

  #isFresh({ renewAt = Infinity }: TokenRecord): boolean {
    return this.#context.clock.now() < renewAt;
  }

  /** Whether others can be got in their place without a person. */
  isRenewable({ refreshToken }: TokenRecord): boolean {
    const { grant } = this.#context.options;
    return refreshToken !== undefined || (grant !== undefined && !grant.isInteractive);
  }

  #key({ issuer, resource }: Pick<ServerRecord, "issuer" | "resource">): Promise<string> {
    return this.#context.ownKey("tokens", issuer, resource ?? this.#server);
  }
}

/**
 * Whether a refusal will not be another one with the next try: then a sign-in has to follow. Servers have many names beside
 * `invalid_grant` for a refresh token that is no good, and many have none: then its status counts. What is not found has moved.
 */
function isFinal(error: unknown): boolean {
  if (!(error instanceof AuthorizationError) || error.retryable) return false;
  const { error: code, cause } = error;
  return code === undefined
    ? /^4(0[014]|10)$/.test(String(cause))
    : !/^(temporarily_|server_error|slow_down)|dpop/.test(code);
}
