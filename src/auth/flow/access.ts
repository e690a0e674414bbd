/**
 * Access to one server: requests carry its token, and what it asks for is got (specification: Authorization).
 *
 * @module
 */
import { readErrorText } from "../../egress/body.ts";
import { McpError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { Fetch } from "../../ports.ts";
import { parseObject } from "../parse.ts";
import type { DpopKey } from "../seam.ts";
import type { OAuthContext } from "./context.ts";
import { type Demand, readDemand } from "./demand.ts";
import type { TokenRecord } from "./records.ts";
import { SignIn } from "./sign_in.ts";

/** One request on its way, and what was tried for it. */
interface Attempt {
  readonly init: RequestInit;
  sent: TokenRecord | undefined;
  isRenewed: boolean;
  isSignedIn: boolean;
}

/** Sends the tokens of one server. */
export class Access {
  readonly signIn: SignIn;
  readonly #context: OAuthContext;
  readonly #origin: string;
  /** How often an operation asked for more scopes. */
  readonly #stepUps = new Map<string, number>();
  /** The legacy session that was seen last. */
  #session: string | undefined;
  /** A new token was refused, or none was given: until then nobody signs in again. */
  #refusedUntil = -Infinity;
  /** Somebody has signed in after a refusal, and nothing has gone through since: until then the next refusal is one of the new token. */
  #untriedUntil = -Infinity;
  /** Why none was given: who is not asked again is told that. */
  #why: unknown;

  constructor(context: OAuthContext, server: string) {
    this.#context = context;
    this.#origin = new URL(server).origin;
    this.signIn = new SignIn(context, server);
  }

  /** Wraps what sends requests to the server. */
  wrap(fetch: Fetch): Fetch {
    return async (url, init) => {
      // How often it is sent: each way to go on has a bound of its own.
      const mostAttempts = 8;
      // A token goes to its server alone.
      if (new URL(url).origin !== this.#origin) return await fetch(url, init);
      const sent = await this.#toToken(this.signIn.tokens.current(init.signal), init.signal);
      const attempt: Attempt = { init, sent, isRenewed: false, isSignedIn: false };
      for (let left = mostAttempts;; left--) {
        const key = await this.#toToken(this.signIn.keyOf(attempt.sent), init.signal);
        const request = await withToken(url, init, attempt.sent, key);
        const session = request.headers["mcp-session-id"];
        // A server may say it again, as it may a token.
        if (session !== this.#session) this.#context.secret(this.#session = session);
        const response = await fetch(url, request).catch((error: unknown) => {
          throw this.#context.redactor.clean(error);
        });
        const needsNonce = key?.learn(url, response, request.headers["dpop"]) === true;
        const { status } = response;
        if (status !== 401 && status !== 403) {
          this.#untriedUntil = -Infinity;
          if (response.ok && this.#stepUps.size) this.#stepUps.delete(await operationOf(init));
          return response;
        }
        // Its body would hold a connection while a token is got, and a Worker has six.
        const text = await readErrorText(response, this.#context.clock);
        const goesOn = left > 1 && (needsNonce || await this.#toToken(this.#answer(response, attempt), init.signal));
        if (!goesOn) return new Response(text, response);
      }
    };
  }

  /** The headers that carry the token, for what is opened by a request of its own. */
  async headers(signal?: AbortSignal): Promise<Record<string, string>> {
    const tokens = await this.#toToken(this.signIn.tokens.current(signal), signal);
    const { headers } = await withToken(this.signIn.server, { method: "GET" }, tokens, await this.signIn.keyOf(tokens));
    return headers;
  }

  /**
   * What a step to a token gives. What a store, `authorize` or a grant throws is no word of the connection: nothing was sent, and
   * nobody is asked again for it.
   */
  async #toToken<Value>(step: Promise<Value>, signal: AbortSignal | null | undefined): Promise<Value> {
    try {
      return await this.#context.guard(step);
    } catch (error) {
      if (error instanceof McpError || signal?.aborted) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw this.#context.failure(`Cannot get a token for "${this.signIn.server}": ${why}`, { cause: error });
    }
  }

  /** What follows from a refusal: whether it is worth another attempt, with what `attempt.sent` is then. */
  async #answer(response: Response, attempt: Attempt): Promise<boolean> {
    const { init, sent } = attempt;
    const { tokens } = this.signIn;
    const demand = readDemand(response);
    // A legacy stream, or its end, is nothing that a person should be asked for: that of HTTP+SSE is all that there is.
    const isCall = init.method === "POST" || isOnlyStream(init);
    if (response.status === 401) {
      if (!attempt.isRenewed || (sent && tokens.isOver(sent))) {
        attempt.isRenewed = true;
        attempt.sent = await tokens.renewed(sent?.accessToken, init.signal);
        if (attempt.sent) return true;
      }
      if (!isCall) return false;
      // Who has just signed in, to no avail, is not asked again with each call, whichever call it was done for.
      if (attempt.isSignedIn || this.#context.clock.monotonic() < this.#untriedUntil) {
        if (await this.#takeNewer(attempt, sent)) return true;
        this.#pause();
      }
      if (this.#isPaused && !this.#why) return false;
      attempt.isSignedIn = true;
      attempt.sent = await this.#demanded({ ...demand, refusal: sent && demand.refusal }, init.signal);
      this.#untriedUntil = this.#afterPause;
      return true;
    }
    if (demand.error !== "insufficient_scope" || !isCall) return false;
    const operation = await operationOf(init);
    if (await this.#takeNewer(attempt, sent)) return true;
    const before = this.#stepUps.get(operation) ?? 0;
    if (before >= (this.#context.options.stepUps ?? 2)) return false;
    // Calls at the same time ask once, together: so they count as one, and not where that was for scopes of others.
    const count = () =>
      demand.scopes.every((scope) => this.signIn.asked.includes(scope)) &&
      this.#stepUps.set(operation, Math.max(before + 1, this.#stepUps.get(operation) ?? 0));
    try {
      attempt.sent = await this.#demanded({ ...demand, isStepUp: true }, init.signal);
      count();
    } catch (error) {
      // Where the caller has left, or somebody is away, nobody has said no: who calls again is to be asked.
      const isAway = error === this.#why ||
        error instanceof McpError && (error.retryable || /^(timeout|connect|overloaded)/.test(error.code));
      if (!init.signal?.aborted && !isAway) count();
      throw error;
    }
    return true;
  }

  /** Takes others than those that were refused. Asked last of all: while anything else is waited for, somebody may bring them. */
  async #takeNewer(attempt: Attempt, refused: TokenRecord | undefined): Promise<boolean> {
    const newer = await this.signIn.tokens.load();
    if (!newer || newer.content.accessToken === refused?.accessToken) return false;
    attempt.sent = newer.content;
    return true;
  }

  /**
   * Signs in. Who has done so while the server gives nobody a token is not asked again with each call: its endpoint may be away, and
   * be back soon.
   */
  async #demanded(demand: Demand, signal: AbortSignal | null | undefined): Promise<TokenRecord> {
    if (this.#isPaused && this.#why) throw this.#why;
    try {
      return await this.signIn.demanded(demand, signal);
    } catch (error) {
      const isAway = isObject(error) && Number(error.cause) && (error.retryable || !error.error);
      if (isAway && this.#context.options.authorize) this.#pause(error);
      throw error;
    }
  }

  get #isPaused(): boolean {
    return this.#context.clock.monotonic() < this.#refusedUntil;
  }

  #pause(why?: unknown): void {
    this.#refusedUntil = this.#afterPause;
    this.#why = why;
  }

  /** When a pause that begins now is over. */
  get #afterPause(): number {
    const refusalPause = 30_000;
    return this.#context.clock.monotonic() + refusalPause;
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

/** Whether it opens the stream of HTTP+SSE: those of later revisions belong to a session, or name their revision. */
function isOnlyStream({ method, headers }: RequestInit): boolean {
  const sent = new Headers(headers);
  return method === "GET" && !sent.has("mcp-session-id") && !sent.has("mcp-protocol-version");
}

/** What of a server is asked for: step-ups are counted for each. */
async function operationOf({ body }: RequestInit): Promise<string> {
  const text = body instanceof Blob ? await body.text() : String(body);
  const { method, params } = parseObject(text) ?? {};
  const { name, uri } = isObject(params) ? params : {};
  return JSON.stringify([method, name, uri]);
}
