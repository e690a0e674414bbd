/**
 * Signing in to one server, in whatever way its tokens come (specification: Authorization Flow).
 *
 * @module
 */
import { AuthorizationError, AuthorizationRequiredError } from "../../protocol/errors.ts";
import { urlWithoutQuery } from "../../protocol/excerpt.ts";
import { failure } from "../failure.ts";
import type { AuthorizationRequest, OAuthOptions } from "../options.ts";
import type { DpopKey, ServerMetadata, TokenResponse } from "../seam.ts";
import { begin, isPending, takeCallback } from "./code_flow.ts";
import type { OAuthContext } from "./context.ts";
import { type Demand, readDemand } from "./demand.ts";
import { discover, type Discovered } from "./discovery.ts";
import { forgetClient, fullClient, identify } from "./identity.ts";
import type { KnownClient, PendingRecord, ServerRecord, TokenRecord } from "./records.ts";
import { union } from "./scopes.ts";
import { Shared } from "./shared.ts";
import { type Asking, post, requestToken } from "./token_request.ts";
import { Tokens } from "./tokens.ts";

/** Gets the tokens of one server, and gives them back. */
export class SignIn {
  readonly server: string;
  readonly tokens: Tokens;
  readonly #context: OAuthContext;
  /** The key of the tokens. */
  #key: DpopKey | undefined;
  readonly #underWay: Shared<TokenRecord>;
  #waiting: AuthorizationRequest | undefined;
  /** The scopes that the sign-in under way was told to ask for. */
  #wanted: readonly string[] = [];
  /** The scopes that were asked for last. */
  asked: readonly string[] = [];

  constructor(context: OAuthContext, server: string) {
    this.#context = context;
    this.server = server;
    this.tokens = new Tokens(context, server, (tokens, record) => this.#renew(tokens, record));
    // Twelve documents at most; a person takes what they need.
    const { authorize, grant } = context.options;
    this.#underWay = new Shared(context.clock, authorize || grant?.isInteractive ? Infinity : 12 * context.timeout);
  }

  /** The sign-in under way, where there is one. */
  underWay(signal?: AbortSignal | null): Promise<TokenRecord> | undefined {
    return this.#underWay.underWay(signal);
  }

  /** Begins a sign-in. */
  async begin(scopes?: readonly string[], signal?: AbortSignal): Promise<AuthorizationRequest> {
    return await begin(this.#context, this.server, await this.#find({ ...await this.#ask(signal), wanted: scopes }));
  }

  /** Signs in because somebody asked for it: without a person where a grant can, else with one. */
  async signIn(scopes?: readonly string[], signal?: AbortSignal): Promise<TokenRecord> {
    return await this.demanded({ ...await this.#ask(signal), wanted: scopes, isExplicit: true }, signal);
  }

  /** Finishes a sign-in with the code of its callback. */
  async finish({ client, metadata, resource, scopes, redirectUri, verifier }: PendingRecord, code: string): Promise<
    TokenRecord
  > {
    const key = await this.#context.options.dpop?.open();
    const parameters = { code, redirect_uri: redirectUri, code_verifier: verifier };
    const asking = this.#asking(client, metadata, key);
    const response = await requestToken(asking, "authorization_code", { ...parameters, resource }).catch(
      async (error: unknown) => {
        // Who is not known any more signs in as somebody new.
        if (error instanceof AuthorizationError && /^(invalid|unauthorized)_client$/.test(error.error ?? "")) {
          await forgetClient(this.#context, { metadata, scopes }, client);
        }
        throw error;
      },
    );
    this.#waiting = undefined;
    return await this.#keep(response, { metadata, resource, scopes }, client, key);
  }

  /** Withdraws the tokens at the authorization server, and forgets them. False: it could not be told. */
  async signOut(signal?: AbortSignal): Promise<boolean | undefined> {
    // What a refresh brings is withdrawn as well.
    await this.tokens.settle(signal);
    const server = (await this.tokens.serverRecord())?.content;
    const tokens = server && (await this.tokens.load(server))?.content;
    await this.tokens.forget();
    if (!tokens) return undefined;
    const { metadata } = server;
    if (metadata.revocation_endpoint === undefined) return false;
    try {
      const asking = this.#asking(tokens.client, metadata, undefined, signal);
      // The refresh token takes the access tokens along.
      const token = tokens.refreshToken ?? tokens.accessToken;
      const hint = tokens.refreshToken === undefined ? "access_token" : "refresh_token";
      await post(asking, "revocation_endpoint", { token, token_type_hint: hint });
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      const fields = { server: urlWithoutQuery(this.server), error: this.#context.redactor.redact(String(error)) };
      this.#context.logger?.({ level: "warning", message: "Tokens cannot be revoked", fields });
      return false;
    }
  }

  /** Asks the server what it wants of who has no token: with a call that it could not make sense of. */
  async #ask(signal: AbortSignal | undefined): Promise<Demand> {
    const fetch = this.#context.guarded(this.server);
    const headers = { "accept": "application/json, text/event-stream", "content-type": "application/json" };
    return readDemand(await fetch(this.server, { method: "POST", headers, body: "{}", signal: signal ?? null }));
  }

  /** Signs in because a server asked for it: once for all who need it now. */
  async demanded(demand: Demand, signal?: AbortSignal | null): Promise<TokenRecord> {
    const { wanted = [] } = demand;
    const begin = (control: AbortController) => {
      this.#wanted = wanted;
      return this.#signInOnce(demand, control);
    };
    // One that does not ask for all of these scopes is another one.
    const isLess = () => wanted.some((scope) => !this.#wanted.includes(scope));
    while (this.#underWay.isBusy && isLess()) await this.#underWay.settle(signal);
    // A call that took too long may be repeated by who made it: the person is not sent away.
    return await this.#underWay.join(begin, signal, demand.isExplicit ? 0 : 1_000);
  }

  async #signInOnce(demand: Demand, control: AbortController): Promise<TokenRecord> {
    const { grant, authorize, dpop } = this.#context.options;
    const { isStepUp, isExplicit, refusal } = demand;
    // Who has just signed in would not know why they should again. Who asks for it has sent no token that could be refused.
    const cause = refusal && !isExplicit ? `it refused the token: ${this.#context.shown(refusal)}` : undefined;
    const required = (begun: AuthorizationRequest) =>
      new AuthorizationRequiredError(`Sign in to "${urlWithoutQuery(this.server)}" first`, { ...begun, cause });
    const waiting = this.#waiting;
    if (waiting && !isStepUp && !isExplicit && await isPending(this.#context, waiting.pending)) throw required(waiting);
    const found = await this.#find(demand);
    this.asked = found.scopes;
    if (grant) {
      if (grant.isInteractive && !isExplicit) {
        throw new AuthorizationError(`Cannot use "${urlWithoutQuery(this.server)}" yet: sign in first, with "signIn"`);
      }
      const client = await identify(this.#context, found, this.server);
      const key = await dpop?.open();
      return await this.#keep(await this.#obtain(client, found, key, control.signal), found, client, key);
    }
    const begun = await begin(this.#context, this.server, found);
    if (!authorize) {
      this.#waiting = begun;
      throw required(begun);
    }
    const callback = await this.#waitFor(authorize, begun, control);
    const { pending, code } = await takeCallback(this.#context, callback, begun.pending);
    return await this.finish(pending, code);
  }

  /** Lets a person go on: as long as the sign-in can be finished, and somebody waits for it. */
  async #waitFor(
    authorize: NonNullable<OAuthOptions["authorize"]>,
    begun: AuthorizationRequest,
    control: AbortController,
  ): Promise<string | URL> {
    const { clock } = this.#context;
    const { signal } = control;
    signal.throwIfAborted();
    const late = (): void => control.abort(failure("Cannot sign in: nobody came back in time"));
    const stop = clock.schedule(late, begun.pending.expiresAt - clock.now());
    try {
      return await Promise.race([
        authorize({ ...begun, signal }),
        new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      ]);
    } finally {
      stop();
    }
  }

  /** Finds the authorization server, and what to ask it for. */
  async #find({ metadataUrl, scopes, wanted = [] }: Demand): Promise<Discovered> {
    const { options } = this.#context;
    const before = (await this.tokens.serverRecord())?.content;
    const found = await discover(this.#context, this.server, { metadataUrl, issuer: before?.issuer });
    const { metadata, resource } = found;
    const asked = union(
      scopes.length ? scopes : found.scopes,
      options.scopes ?? [],
      wanted,
      before?.issuer === metadata.issuer ? before.scopes : [],
      await this.tokens.asked({ issuer: metadata.issuer, resource }),
    );
    const isOffline = asked.length > 0 && !options.grant && options.offlineAccess !== false &&
      metadata.scopes_supported?.includes("offline_access");
    return { ...found, scopes: union(asked, isOffline ? ["offline_access"] : []) };
  }

  /** Other tokens in the place of these. */
  async #renew(tokens: TokenRecord, { metadata, resource, scopes }: ServerRecord): Promise<TokenResponse> {
    const { client, refreshToken } = tokens;
    const key = await this.keyOf(tokens);
    if (refreshToken === undefined) return await this.#obtain(client, { metadata, resource, scopes }, key);
    const parameters = { refresh_token: refreshToken, resource };
    return await requestToken(this.#asking(client, metadata, key), "refresh_token", parameters);
  }

  /** Lets the grant get a token. */
  async #obtain(
    client: KnownClient,
    { metadata, resource, scopes }: Discovered,
    key?: DpopKey,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<TokenResponse> {
    const { options: { grant }, clock, random } = this.#context;
    const asking = this.#asking(client, metadata, key, signal);
    const usual = { resource, scope: scopes.join(" ") || undefined };
    // Without one nothing leads here: what cannot be renewed is not.
    return await grant!.obtain({
      metadata,
      resource,
      scopes,
      clientId: client.clientId,
      request: (grantType, parameters) => requestToken(asking, grantType, { ...usual, ...parameters }),
      post: (endpoint, parameters) => post(asking, endpoint, parameters),
      fetch: asking.fetch,
      secret: (value) => this.#context.secret(value),
      signal,
      clock,
      random,
    });
  }

  #asking(client: KnownClient, metadata: ServerMetadata, dpop?: DpopKey, signal?: AbortSignal): Asking {
    const context = this.#context;
    return {
      context,
      metadata,
      client: fullClient(context, client, metadata),
      fetch: context.guarded(this.server),
      dpop,
      signal,
    };
  }

  /** Keeps what was got. */
  async #keep(
    response: TokenResponse,
    { metadata, resource, scopes }: Discovered,
    client: KnownClient,
    key?: DpopKey,
  ): Promise<TokenRecord> {
    const dpopKey = response.tokenType === "dpop" ? key?.kept : undefined;
    const record = this.tokens.record(response, { asked: scopes, client, dpopKey });
    await this.tokens.save({ issuer: metadata.issuer, metadata, resource, scopes }, record);
    return record;
  }

  /** The key that tokens are bound to. */
  async keyOf(tokens: TokenRecord | undefined): Promise<DpopKey | undefined> {
    const kept = tokens?.dpopKey;
    if (kept === undefined) return undefined;
    // It remembers nonces: one is opened once.
    if (this.#key?.kept !== kept) this.#key = await this.#context.options.dpop?.open(kept);
    return this.#key;
  }
}
