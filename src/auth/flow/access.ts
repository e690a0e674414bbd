/**
 * Access to one server: requests carry its token, and what it asks for is got (specification: Authorization).
 *
 * @module
 */
import { readErrorText } from "../../egress/body.ts";
import { urlWithoutQuery } from "../../protocol/excerpt.ts";
import { AuthorizationError, AuthorizationRequiredError, McpError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { Fetch } from "../../ports.ts";
import { readChallenges } from "../challenge.ts";
import type { AuthorizationRequest, OAuthOptions } from "../options.ts";
import { failure } from "../failure.ts";
import { parseObject } from "../parse.ts";
import type { DpopKey, ServerMetadata, TokenResponse } from "../seam.ts";
import { begin, isPending, takeCallback } from "./code_flow.ts";
import type { OAuthContext } from "./context.ts";
import { discover, type Discovered } from "./discovery.ts";
import { forgetClient, fullClient, identify } from "./identity.ts";
import type { KnownClient, PendingRecord, ServerRecord, TokenRecord } from "./records.ts";
import { readScopes, union } from "./scopes.ts";
import { type Asking, post, requestToken } from "./token_request.ts";
import { Shared } from "./shared.ts";
import { Tokens } from "./tokens.ts";

/** How often one request is sent at most: each way to go on has a bound of its own. */
const mostAttempts = 8;

/** How long the refusal of a new token stands, in milliseconds. */
const refusalPause = 30_000;

/** What a server asked for. */
interface Demand {
  readonly metadataUrl?: string | undefined;
  /** The scopes of its challenge. */
  readonly scopes: readonly string[];
  /** What is asked for beside what the server names. */
  readonly wanted?: readonly string[] | undefined;
  /** More is asked for than what the tokens allow. */
  readonly isStepUp?: boolean;
  /** Somebody asked for this sign-in: a person may have something to do for it. */
  readonly isExplicit?: boolean;
}

/** One request on its way, and what was tried for it. */
interface Attempt {
  readonly init: RequestInit;
  sent: TokenRecord | undefined;
  isRenewed: boolean;
  isSignedIn: boolean;
}

/** Gets and sends the tokens of one server. */
export class Access {
  readonly server: string;
  readonly tokens: Tokens;
  readonly #context: OAuthContext;
  readonly #origin: string;
  /** How often an operation asked for more scopes. */
  readonly #stepUps = new Map<string, number>();
  /** The key of the tokens. */
  #key: DpopKey | undefined;
  /** A new token was refused: until then nobody signs in again. */
  #refusedUntil = -Infinity;
  readonly #signingIn: Shared<TokenRecord>;
  #waiting: AuthorizationRequest | undefined;

  constructor(context: OAuthContext, server: string) {
    this.#context = context;
    // Seven documents at most; a person takes what they need.
    const { authorize, grant } = context.options;
    this.#signingIn = new Shared(context.clock, authorize || grant?.isInteractive ? Infinity : 7 * context.timeout);
    this.server = server;
    this.#origin = new URL(server).origin;
    this.tokens = new Tokens(context, server, (tokens, record) => this.#renew(tokens, record));
  }

  /** The sign-in under way, where there is one. */
  underWay(signal?: AbortSignal | null): Promise<TokenRecord> | undefined {
    return this.#signingIn.underWay(signal);
  }

  /** Wraps what sends requests to the server. */
  wrap(fetch: Fetch): Fetch {
    return async (url, init) => {
      // A token goes to its server alone.
      if (new URL(url).origin !== this.#origin) return await fetch(url, init);
      const sent = await notSent(this.tokens.current(init.signal));
      const attempt: Attempt = { init, sent, isRenewed: false, isSignedIn: false };
      for (let left = mostAttempts;; left--) {
        const key = await this.#keyOf(attempt.sent);
        const request = await withToken(url, init, attempt.sent, key);
        const response = await fetch(url, request);
        const needsNonce = key?.learn(url, response, request.headers["dpop"]) === true;
        const { status } = response;
        if (status !== 401 && status !== 403) {
          if (response.ok && this.#stepUps.size) this.#stepUps.delete(await operationOf(init));
          return response;
        }
        // Its body would hold a connection while a token is got, and a Worker has six.
        const text = await readErrorText(response, this.#context.clock);
        const goesOn = left > 1 && (needsNonce || await notSent(this.#answer(response, attempt)));
        if (!goesOn) return new Response(text, response);
      }
    };
  }

  /** The headers that carry the token, for what is opened by a request of its own. */
  async headers(signal?: AbortSignal): Promise<Record<string, string>> {
    const tokens = await notSent(this.tokens.current(signal));
    const { headers } = await withToken(this.server, { method: "GET" }, tokens, await this.#keyOf(tokens));
    return headers;
  }

  /** Begins a sign-in. */
  async begin(scopes?: readonly string[], signal?: AbortSignal): Promise<AuthorizationRequest> {
    return await begin(this.#context, this.server, await this.#find({ ...await this.#ask(signal), wanted: scopes }));
  }

  /** Signs in: without a person where a grant can, else with one. */
  async signIn(scopes?: readonly string[], signal?: AbortSignal): Promise<TokenRecord> {
    return await this.#signIn({ ...await this.#ask(signal), wanted: scopes, isExplicit: true }, signal);
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
          await forgetClient(this.#context, metadata, client);
        }
        throw error;
      },
    );
    this.#waiting = undefined;
    return await this.#keep(response, { metadata, resource, scopes }, client, key);
  }

  /** Withdraws the tokens at the authorization server, and forgets them. False: it could not be told. */
  async signOut(): Promise<boolean | undefined> {
    // What a refresh brings is withdrawn as well.
    await this.tokens.settle();
    const server = (await this.tokens.serverRecord())?.content;
    const tokens = server && (await this.tokens.load(server))?.content;
    await this.tokens.forget();
    if (!tokens) return undefined;
    const { metadata } = server;
    if (metadata.revocation_endpoint === undefined) return false;
    try {
      const asking = this.#asking(tokens.client, metadata);
      // The refresh token takes the access tokens along.
      const token = tokens.refreshToken ?? tokens.accessToken;
      const hint = tokens.refreshToken === undefined ? "access_token" : "refresh_token";
      await post(asking, "revocation_endpoint", { token, token_type_hint: hint });
      return true;
    } catch (error) {
      const fields = { server: urlWithoutQuery(this.server), error: error instanceof Error ? error.message : "" };
      this.#context.logger?.({ level: "warning", message: "Tokens cannot be revoked", fields });
      return false;
    }
  }

  /** What follows from a refusal: whether it is worth another attempt, with what `attempt.sent` is then. */
  async #answer(response: Response, attempt: Attempt): Promise<boolean> {
    const { init, sent } = attempt;
    const demand = readDemand(response);
    // A legacy stream, or its end, is nothing that a person should be asked for.
    const isCall = init.method === "POST";
    if (response.status === 401) {
      if (!attempt.isRenewed || (sent && this.tokens.isOver(sent))) {
        attempt.isRenewed = true;
        attempt.sent = await this.tokens.renewed(sent?.accessToken, init.signal);
        if (attempt.sent) return true;
      }
      const now = this.#context.clock.monotonic();
      // Who has just signed in, to no avail, is not asked again with each call.
      if (attempt.isSignedIn) this.#refusedUntil = now + refusalPause;
      if (now < this.#refusedUntil || !isCall) return false;
      attempt.isSignedIn = true;
      attempt.sent = await this.#signIn(demand, init.signal);
      return true;
    }
    if (demand.error !== "insufficient_scope" || !isCall) return false;
    const newer = await this.tokens.load();
    if (newer && newer.content.accessToken !== sent?.accessToken) {
      attempt.sent = newer.content;
      return true;
    }
    const operation = await operationOf(init);
    const count = (this.#stepUps.get(operation) ?? 0) + 1;
    if (count > (this.#context.options.stepUps ?? 2)) return false;
    this.#stepUps.set(operation, count);
    attempt.sent = await this.#signIn({ ...demand, isStepUp: true }, init.signal);
    return true;
  }

  /** Asks the server what it wants of who has no token: with a call that it could not make sense of. */
  async #ask(signal: AbortSignal | undefined): Promise<Demand> {
    const fetch = this.#context.guarded(this.server);
    const headers = { "accept": "application/json, text/event-stream", "content-type": "application/json" };
    return readDemand(await fetch(this.server, { method: "POST", headers, body: "{}", signal: signal ?? null }));
  }

  /** One sign-in for all who need one now. */
  async #signIn(demand: Demand, signal?: AbortSignal | null): Promise<TokenRecord> {
    const begin = (control: AbortController) => this.#signInOnce(demand, control);
    // A call that took too long may be repeated by who made it: the person is not sent away.
    return await this.#signingIn.join(begin, signal, demand.isExplicit ? 0 : 1_000);
  }

  async #signInOnce(demand: Demand, control: AbortController): Promise<TokenRecord> {
    const { grant, authorize, dpop } = this.#context.options;
    const { isStepUp, isExplicit } = demand;
    const required = (begun: AuthorizationRequest) =>
      new AuthorizationRequiredError(`Sign in to "${urlWithoutQuery(this.server)}" first`, begun);
    const waiting = this.#waiting;
    if (waiting && !isStepUp && !isExplicit && await isPending(this.#context, waiting.pending)) throw required(waiting);
    const found = await this.#find(demand);
    if (grant) {
      if (grant.isInteractive && !isExplicit) {
        throw new AuthorizationError(`Cannot use "${urlWithoutQuery(this.server)}" yet: sign in first, with "signIn"`);
      }
      const client = await identify(this.#context, found.metadata, this.server);
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
  async #find({ metadataUrl, scopes, wanted = [], isStepUp }: Demand): Promise<Discovered> {
    const { options } = this.#context;
    const before = (await this.tokens.serverRecord())?.content;
    const found = await discover(this.#context, this.server, { metadataUrl, issuer: before?.issuer });
    const { metadata } = found;
    const asked = union(
      scopes.length || isStepUp ? scopes : found.scopes,
      options.scopes ?? [],
      wanted,
      before?.issuer === metadata.issuer ? before.scopes : [],
    );
    const isOffline = asked.length > 0 && !options.grant && options.offlineAccess !== false &&
      metadata.scopes_supported?.includes("offline_access");
    return { ...found, scopes: union(asked, isOffline ? ["offline_access"] : []) };
  }

  /** Other tokens in the place of these. */
  async #renew(tokens: TokenRecord, { metadata, resource, scopes }: ServerRecord): Promise<TokenResponse> {
    const { client, refreshToken } = tokens;
    const key = await this.#keyOf(tokens);
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
    if (!grant) throw new AuthorizationError(`Cannot get a token of "${metadata.issuer}": there is no "grant"`);
    const asking = this.#asking(client, metadata, key);
    const usual = { resource, scope: scopes.join(" ") || undefined };
    return await grant.obtain({
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

  #asking(client: KnownClient, metadata: ServerMetadata, key?: DpopKey): Asking {
    const context = this.#context;
    return {
      context,
      metadata,
      client: fullClient(context, client, metadata),
      fetch: context.guarded(this.server),
      dpop: key,
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
    const record = this.tokens.record(response, { client, dpopKey });
    await this.tokens.save({ issuer: metadata.issuer, metadata, resource, scopes }, record);
    return record;
  }

  async #keyOf(tokens: TokenRecord | undefined): Promise<DpopKey | undefined> {
    const kept = tokens?.dpopKey;
    if (kept === undefined) return undefined;
    // It remembers nonces: one is opened once.
    if (this.#key?.kept !== kept) this.#key = await this.#context.options.dpop?.open(kept);
    return this.#key;
  }
}

/** The request with its token. */
async function withToken(
  url: string,
  init: RequestInit,
  tokens: TokenRecord | undefined,
  key: DpopKey | undefined,
): Promise<RequestInit & { headers: Record<string, string> }> {
  const headers = new Headers(init.headers);
  if (tokens) {
    const { accessToken, tokenType } = tokens;
    headers.set("authorization", `${tokenType === "dpop" ? "DPoP" : "Bearer"} ${accessToken}`);
    if (key) headers.set("dpop", await key.prove({ url, method: init.method ?? "GET", accessToken }));
  }
  return { ...init, headers: Object.fromEntries(headers) };
}

/** What a refusal asks for. */
function readDemand({ headers }: { readonly headers: Headers }): Demand & { readonly error: string | undefined } {
  const challenges = readChallenges(headers.get("www-authenticate"));
  const ours = challenges.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  // What one leaves out another may say; the first that says it counts.
  const said: Readonly<Record<string, string>> = Object.assign(
    {},
    ...ours.reverse().map(({ parameters }) => parameters),
  );
  const { resource_metadata: metadataUrl, scope, error } = said;
  return { metadataUrl, scopes: readScopes(scope), error };
}

/** What of a server is asked for: step-ups are counted for each. */
async function operationOf({ body }: RequestInit): Promise<string> {
  const text = body instanceof Blob ? await body.text() : String(body);
  const { method, params } = parseObject(text) ?? {};
  const { name, uri } = isObject(params) ? params : {};
  return JSON.stringify([method, name, uri]);
}

/** Whatever fails while a token is got: the request itself was not executed. */
async function notSent<Value>(step: Promise<Value>): Promise<Value> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof McpError) error.delivery = "not-sent";
    throw error;
  }
}
