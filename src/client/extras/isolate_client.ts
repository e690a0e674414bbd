/**
 * A client that the requests of an isolate share, where timers and signals end with the request that made them
 * (Cloudflare Workers).
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { LoggingLevel } from "../../protocol/types.ts";
import { Client } from "../client.ts";
import type { Call } from "../session/call.ts";
import { ModernSession, sayLevel } from "../session/modern_session.ts";
import type { RequestOptions } from "../session/request.ts";
import type { Session } from "../session/session.ts";

/**
 * A client whose requests to a modern server over HTTP have nothing in common but what was found out about it: each has a session of
 * its own, and so its own timer. A legacy session, and a pipe, belong to the request that opened them.
 *
 * @internal
 */
export class IsolateClient extends Client {
  readonly #waits = new Set<Session>();

  /** Makes a client; nothing is sent yet. */
  constructor(...given: ConstructorParameters<typeof Client>) {
    super(...given);
    // Each request makes its own: a signal that another one made cannot be listened to.
    Object.defineProperty(this, "closing", { get: () => undefined, set: () => {} });
  }

  /** @internal A session for one request. */
  protected override get usable(): Session | undefined {
    const session = super.usable;
    if (!(session instanceof ModernSession) || this.parts.transport.kind !== "http") return session;
    return new OneRequest(this.parts, session, this.#waits);
  }

  /** @internal Another request's answer is not waited for: it may never come. */
  override read(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    return super.read(method, params, { ...options, timeouts: options.timeouts ?? {} });
  }

  /** As in {@linkcode Client}. */
  override async setLogLevel(level: LoggingLevel, options: RequestOptions = {}): Promise<void> {
    await super.setLogLevel(level, options);
    if (this.session) sayLevel(this.session, level);
  }

  /** Ends it, and what this request has begun. */
  override async close(): Promise<void> {
    for (const session of this.#waits) session.stop();
    await super.close();
  }
}

/** The session of one request: what it finds out about the server is kept for the next ones. */
class OneRequest extends ModernSession {
  readonly #shared: ModernSession;
  readonly #waits: Set<Session>;

  constructor(parts: ConstructorParameters<typeof ModernSession>[0], shared: ModernSession, waits: Set<Session>) {
    super(parts, shared.revision, shared.info);
    this.#shared = shared;
    this.#waits = waits;
    Object.assign(this.meta(), shared.meta());
  }

  override recover(error: unknown, call: Call): Promise<JsonObject> | undefined {
    const again = super.recover(error, call);
    this.#shared.revision = this.revision;
    Object.assign(this.#shared.meta(), this.meta());
    return again;
  }

  /** Between two rounds nothing is under way that the transport could end. */
  protected override async wait(work: Promise<JsonObject | void>, call: Call): Promise<JsonObject> {
    this.#waits.add(this);
    try {
      return await super.wait(work, call);
    } finally {
      this.#waits.delete(this);
    }
  }
}
