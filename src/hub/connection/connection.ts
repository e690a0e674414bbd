/**
 * One server of a hub: it is connected when it is wanted, tried again calmly when it fails, and listed when it changes.
 *
 * @module
 */
import { unlessAborted } from "../../client/core_client.ts";
import type { Client } from "../../client/client.ts";
import type { RequestOptions, ServerInfo } from "../../client/session/request.ts";
import {
  AuthorizationRequiredError,
  ConnectError,
  ConnectionClosedError,
  McpError,
  SpawnError,
  TimeoutError,
} from "../../protocol/errors.ts";
import type { Tool } from "../../protocol/types.ts";
import { isBroken, isTransportFailure, origin } from "../failure.ts";
import type { CatalogServer, ServerConfig, ServerState, ServerStatus } from "../seam.ts";
import { backoff } from "./backoff.ts";
import { Breaker } from "./breaker.ts";
import type { ConnectionHost, Work } from "./host.ts";
import { Limiter } from "./limiter.ts";
import { passes } from "./listing.ts";
import { Opener } from "./opener.ts";
import { isPipe } from "./settings.ts";
import { states } from "./state.ts";
import type { StateEvent } from "./state.ts";
import { afterRefusal, calm, defaultTimeout, grace } from "./times.ts";
import { Watch } from "./watch.ts";

/** One server. */
export class Connection {
  readonly name: string;
  readonly config: ServerConfig;
  /** What is known of it. */
  known: CatalogServer;
  /** What went wrong last. */
  error: Error | undefined;
  #state: ServerState = "disconnected";
  #authorizationUrl: string | undefined;
  #client: Client | undefined;
  /** What the server said of itself when it greeted us last: another value means that it has done so anew. */
  #info: ServerInfo | null | undefined;
  readonly #host: ConnectionHost;
  readonly #breaker: Breaker;
  readonly #limiter: Limiter;
  readonly #watch: Watch;
  readonly #isPipe: boolean;
  readonly #timeout: number;
  readonly #opener: Opener;
  /** Tries that failed since something worked. */
  #tries = 0;
  /** Attempts since it was connected last. */
  #attempts = 0;
  #connectedAt = 0;
  /** Whether it did not last when it was connected last, and no call worked: that it can be connected means little then. */
  #isBrief: boolean | undefined;
  #notBefore = -Infinity;
  #attempt: Promise<void> | undefined;
  #closing = new AbortController();
  #cancelTry: (() => void) | undefined;

  constructor(name: string, config: ServerConfig, known: CatalogServer, host: ConnectionHost) {
    const mostQueued = 100;
    const { clock } = host;
    this.name = name;
    this.config = config;
    const keeps = (tool: Tool): boolean => passes(tool.name, config.tools ?? {}) && host.keeps(tool, name);
    // What is stored was perhaps chosen by other rules.
    this.known = { ...known, tools: known.tools.filter(keeps) };
    this.#host = host;
    this.#isPipe = isPipe(name, config);
    this.#timeout = +(config.timeout ?? defaultTimeout);
    this.#breaker = new Breaker(host);
    this.#limiter = new Limiter({ clock, most: config.concurrency ?? host.concurrency, queue: mostQueued });
    this.#limiter.paused = true;
    this.#opener = new Opener({
      name,
      config,
      isPipe: this.#isPipe,
      timeout: this.#timeout,
      list: (client, left) => {
        // What changes while it is listed is heard.
        if (host.listen) this.#watch.start(client, this.#isPipe);
        return this.#watch.list(client, left, this.#tries > 0);
      },
      ended: (reason) => {
        if (this.#isPipe && isBroken(reason)) this.#lost(reason);
      },
      breaker: this.#breaker,
    }, host);
    this.#watch = new Watch({
      clock,
      timeout: this.#timeout,
      keeps,
      breaker: this.#breaker,
      failed: (error) => this.#note(error),
      broke: (error) => this.#broke(error),
      emit: (event) => host.emit({ ...event, server: name }),
      known: () => this.known,
      // What was listed when it was closed belongs to nobody: another one may have its name by now.
      learned: (server) => {
        this.#closing.signal.throwIfAborted();
        host.listed(this.known = server);
      },
    });
  }

  /** Where it stands. */
  get state(): ServerState {
    return this.#state;
  }

  /** The client, while it is connected. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** How it does. */
  status(): ServerStatus {
    const { error, known } = this;
    return {
      name: this.name,
      state: this.#state,
      tools: known.tools.length,
      resources: known.resources.length,
      prompts: known.prompts.length,
      retries: this.#attempts,
      active: this.#limiter.active,
      queued: this.#limiter.queued,
      isOpen: this.#host.clock.monotonic() < this.#breaker.until,
      lastError: error && {
        name: error.name,
        code: error instanceof McpError ? error.code : undefined,
        message: error.message,
      },
      authorizationUrl: this.#authorizationUrl,
    };
  }

  /** Tries to connect, or lists what changed where it is connected; resolves when that has come to something, and never rejects. */
  open(): Promise<void> {
    if (this.#state === "connected" || this.config.disabled) return this.#watch.refresh(this.#client);
    this.#cancelTry?.();
    return this.#attempt ??= this.#try();
  }

  /** Connects where that is to be done, and waits until it is known what the server has. */
  async ready(options: RequestOptions): Promise<void> {
    await this.#wait(options);
    this.#limiter.release();
  }

  /**
   * Does something with the client: connects where need be, and waits for a place.
   *
   * @throws {ConnectError} When it is not connected, and is not to be for a while.
   */
  async use<Value>(work: Work<Value>, options: RequestOptions): Promise<Value> {
    const given = this.#limiter.take() ? options : await this.#wait(options);
    const { turn } = this.#breaker;
    try {
      // Places are given only once there is one.
      const value = await work(this.#client as Client, given);
      this.#worked();
      return value;
    } catch (error) {
      this.#broke(error, turn);
      throw this.#named(error);
    } finally {
      this.#limiter.release();
      // A call that was to show whether it is back did not, and no other one does.
      if (this.#state === "connecting" && !this.#attempt && !this.#limiter.active) this.#pause("refused");
    }
  }

  /** Ends it: calls in flight, the session, the process. Idempotent. */
  async close(): Promise<void> {
    const reason = new ConnectionClosedError("The server is closed", { delivery: "not-sent" });
    this.#cancelTry?.();
    this.#watch.stop();
    this.#pause("close", reason);
    this.#closing.abort(reason);
    await this.#client?.close().catch(() => {});
    await this.#attempt;
    // One that was made in this very moment is nobody's yet.
    await (await this.#opener.left)?.close().catch(() => {});
  }

  /** Waits for a place: at most as long as the call may take. What is left of its time goes on with it. */
  async #wait(options: RequestOptions): Promise<RequestOptions> {
    const { signal, timeouts, timeout } = options;
    const { clock, shared } = this.#host;
    signal?.throwIfAborted();
    this.#wake();
    const total = timeouts?.total ?? timeout ?? { ...shared, ...this.config }.timeouts?.total ?? 300_000;
    const endsAt = clock.monotonic() + total;
    await this.#limiter.wait({ milliseconds: total, signal }).catch((error) => {
      throw this.#named(error);
    });
    return { ...options, endsAt } as RequestOptions;
  }

  /** Somebody wants it: connects if that may be tried now. */
  #wake(): void {
    const state = this.#state;
    const rests = state === "failed" && this.#host.clock.monotonic() < Math.max(this.#notBefore, this.#breaker.until);
    if (rests || this.config.disabled || this.#closing.signal.aborted || state === "authorizing") {
      throw this.#unavailable();
    }
    if (state === "failed" && this.#client && !this.#isPipe) {
      // Where each request goes on its own, the next call shows by itself whether the server is back.
      this.#go("connect");
      this.#info = undefined;
      this.#limiter.resume(true);
    } else if (state === "failed" || state === "disconnected") void this.open();
  }

  /** Whether calls are made: it is connected, or one of them shows whether it is back. */
  get #isInUse(): boolean {
    return this.#state === "connected" || (this.#state === "connecting" && !this.#attempt);
  }

  async #try(): Promise<void> {
    const { clock } = this.#host;
    const controller = new AbortController();
    const timeout = this.#timeout;
    const { signal } = this.#closing;
    if (signal.aborted) return;
    this.#attempts++;
    this.#go("connect");
    const abort = (): void => controller.abort(signal.reason);
    const late = (): void => controller.abort(new TimeoutError("call", timeout, { server: this.name }));
    const start = (): () => void => clock.schedule(late, timeout + grace);
    let stop = start();
    // While others are connected its own time stands still.
    const wait = async (place: Promise<void>): Promise<void> => {
      stop();
      await place;
      stop = start();
    };
    signal.addEventListener("abort", abort);
    try {
      const opening = this.#opener.open(this.#client, this.known, { signal: controller.signal, wait });
      const client = await unlessAborted(opening, controller.signal);
      signal.throwIfAborted();
      this.#client = client;
      const { isDoubtful } = this.#breaker;
      if (!(isDoubtful || this.#isBrief)) this.#breaker.worked();
      // After a pause one call decides.
      this.#limiter.resume(isDoubtful);
      this.#isThere();
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    } finally {
      // At once: who hears that it failed may have it tried again.
      this.#attempt = undefined;
      stop();
      signal.removeEventListener("abort", abort);
    }
  }

  #isThere(): void {
    this.#connectedAt = this.#host.clock.monotonic();
    this.#authorizationUrl = undefined;
    this.#attempts = 0;
    this.#go("opened");
    this.#info = this.#client?.info;
    if (this.#host.listen) this.#watch.start(this.#client as Client, this.#isPipe);
  }

  /** An attempt failed. */
  #failed(error: unknown): void {
    if (error instanceof AuthorizationRequiredError) return this.#authorize(error);
    this.#note(error);
    // What says nothing on its pipe, and works for nobody, would say nothing for good: the next try starts it anew.
    if (this.#isPipe && error instanceof TimeoutError && this.#client && !this.#limiter.active) {
      this.#opener.left = this.#client.close().catch(() => {});
      this.#client = undefined;
    }
    // A person who signs in for it takes the time that they need.
    const signingIn = error instanceof TimeoutError && this.#opener.underWay();
    if (signingIn) {
      this.#pause("authorize");
      return void signingIn.catch(() => {}).then(() => this.open());
    }
    const isOpen = this.#breaker.failed();
    // Something else than an error may have been thrown: what was noted is one.
    const noted = this.error as McpError;
    const cause = origin(noted);
    const mayHelp = noted.retryable || (isTransportFailure(cause) && !(cause instanceof SpawnError));
    this.#again(isOpen || !mayHelp, mayHelp ? 0 : afterRefusal);
  }

  /** Plans the next try, or gives up until somebody calls. */
  #again(isOver: boolean, least: number): void {
    const { clock, random } = this.#host;
    const { maxRetries = 3, retryDelay = 1_000 } = this.config;
    const delay = Math.max(backoff(++this.#tries, retryDelay, random), least);
    // What is on a pipe is not there at all before it is started again.
    if (isOver || this.#tries > maxRetries || (!this.#isPipe && !this.#breaker.may())) {
      this.#notBefore = clock.monotonic() + delay;
      return this.#pause("refused");
    }
    this.#limiter.paused = true;
    this.#go("lost");
    this.#cancelTry = clock.schedule(() => void this.open(), delay, { background: true });
  }

  /** The connection broke. */
  #lost(error: unknown): void {
    if (!this.#isInUse) return;
    this.#note(error);
    this.#watch.stop();
    this.#isBrief = this.#host.clock.monotonic() - this.#connectedAt < calm;
    if (!this.#isBrief) this.#tries = 0;
    this.#again(this.#breaker.failed(), 0);
  }

  #worked(): void {
    this.#tries = 0;
    this.#isBrief = false;
    this.#breaker.worked();
    if (!this.#isInUse) return;
    // One that greets anew may be another release, of whose tools nobody was told.
    if (this.#client?.info !== this.#info) this.#isThere();
    this.#limiter.resume();
  }

  /**
   * What an error of a call says about the connection.
   *
   * @param turn That of the breaker when the call began.
   */
  #broke(error: unknown, turn?: number): void {
    if (!(error instanceof McpError) || !this.#isInUse) return;
    const cause = origin(error);
    if (error instanceof AuthorizationRequiredError) this.#authorize(error);
    else if (error.delivery === "answered") this.#worked();
    else if (cause instanceof ConnectError || (this.#isPipe && isBroken(cause))) this.#lost(error);
    else if (isTransportFailure(cause)) {
      this.#note(error);
      if (this.#breaker.failed(turn)) this.#pause("refused");
    }
  }

  /** A person has to sign in. */
  #authorize(error: AuthorizationRequiredError): void {
    const { authorizationUrl } = error;
    this.#note(error);
    this.#authorizationUrl = authorizationUrl;
    this.#pause("authorize");
    this.#host.emit({ type: "authorization", server: this.name, authorizationUrl });
  }

  /** Nobody is served for now, and nobody waits. */
  #pause(event: StateEvent, reason?: Error): void {
    this.#limiter.paused = true;
    this.#go(event);
    this.#limiter.refuse(reason ?? this.#unavailable());
  }

  #go(event: StateEvent): void {
    const from = this.#state;
    const to = this.#state = states[from][event] ?? from;
    if (from !== to) this.#host.emit({ type: "state", server: this.name, from, to });
  }

  #note(reason: unknown): void {
    const error = this.error = reason instanceof Error ? reason : new Error(String(reason));
    this.#host.emit({ type: "error", server: this.name, error });
  }

  /** Its name in the hub says more than its address. */
  #named(error: unknown): unknown {
    return error instanceof McpError ? Object.assign(error, { server: this.name }) : error;
  }

  #unavailable(): Error {
    const { name: server, error: cause } = this;
    const why = this.config.disabled
      ? "it is disabled"
      : this.#state === "authorizing"
      ? "sign in first"
      : cause?.message ?? "it is closed";
    return new ConnectError(`Cannot reach the server "${server}": ${why}`, { cause, server, retryable: true });
  }
}
