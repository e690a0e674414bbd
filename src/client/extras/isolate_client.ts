/**
 * A client that the requests of an isolate share, where timers and signals end with the request that made them
 * (Cloudflare Workers).
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { Client } from "../client.ts";
import type { Call } from "../session/call.ts";
import { ModernSession } from "../session/modern_session.ts";
import type { RequestOptions } from "../session/request.ts";
import type { Session, SessionParts } from "../session/session.ts";

/**
 * A client whose requests to a modern server over HTTP have nothing in common but what was found out about it: each has a timer of
 * its own. A legacy session, and a pipe, belong to the request that opened them.
 *
 * @internal
 */
export class IsolateClient extends Client {
  /** Makes a client; nothing is sent yet. */
  constructor(...given: ConstructorParameters<typeof Client>) {
    super(...given);
    // Each request makes its own: a signal that another one made cannot be listened to.
    Object.defineProperty(this, "closing", { get: () => undefined, set: () => {} });
  }

  /** @internal A modern session that many requests use. */
  protected override async open(parts: SessionParts): Promise<Session> {
    const session = await super.open(parts);
    const isShared = session instanceof ModernSession && this.parts.transport.kind === "http";
    return isShared ? new SharedSession(this.parts).agree(session.revision, session.info) : session;
  }

  /** @internal Another request's answer is not waited for: it may never come. */
  override read(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    return super.read(method, params, { ...options, timeouts: options.timeouts ?? {} });
  }
}

/** The longest time in which nobody looks at a deadline that may have come nearer, in milliseconds. */
const slice = 1_000;
/** How often calls are looked for whose request is gone, in milliseconds: nothing runs here any more when a caller leaves. */
const sweepTime = 10_000;

/** A session in which each call has a timer of its own: one that they share would end with the request that set it. */
class SharedSession extends ModernSession {
  #sweptAt = -Infinity;

  override add(item: Call, now: number): void {
    if (now - this.#sweptAt > sweepTime) this.#sweep(now);
    super.add(item, now);
  }

  override delete(item: Call): void {
    super.delete(item);
    item.stopTimer?.();
  }

  protected override arm(item: Call, now: number): void {
    const { expiresAt, request: { options: { timer = this.clock } } } = item;
    // As in the session of others: the second turn lets in what had arrived while nothing ran.
    const look = () => item.stopTimer = timer.schedule(() => this.#wake(item), 0);
    item.stopTimer = timer.schedule(look, Math.min(expiresAt - now, slice));
  }

  #wake(item: Call): void {
    const now = this.clock.monotonic();
    item.expire(now);
    if (!item.settled && item.expiresAt < Infinity) this.arm(item, now);
  }

  /** Ends what is long over time: its own timer would have, if its request were still there. */
  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const item of this.all()) {
      if (item.expiresAt + 2 * slice > now) continue;
      try {
        item.expire(now);
      } catch {
        // What belongs to another request cannot be called off here, and need not be.
      }
    }
  }
}
