/**
 * The calls that go through a gateway, over as many requests in front as they take.
 *
 * @module
 */
import type { PendingInput } from "../../../protocol/types.ts";
import { resumed } from "../../../client/extras/resumed.ts";
import type { SessionRequestOptions } from "../../../client/session/request.ts";
import { randomHex } from "../../../ports.ts";
import type { Clock, Random } from "../../../ports.ts";
import { InputRequiredError, InvalidParamsError, TimeoutError } from "../../../protocol/errors.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import { EraSignal } from "../../../server/common/era_signal.ts";
import type { RequestContext } from "../../../server/definitions.ts";
import { isLate } from "../../relayed_call.ts";
import { ask, type Destination, Passage } from "./passage.ts";
import { ParkedCalls } from "./parked.ts";
import { doubt, type Relay } from "./relay.ts";
import { Turns } from "./turns.ts";

/** What the calls of one gateway need. */
export interface PassageParts {
  readonly relay: Relay | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** How long a call waits for its caller's answers, in milliseconds. */
  readonly parkTime: number;
  /** Names who calls. */
  caller(context: RequestContext): string | undefined;
  /** Whether callers take turns at servers that do not say whose call a question belongs to. */
  readonly takesTurns: boolean;
}

/** Sends one request to a server behind. */
export type Send<Result> = (options: SessionRequestOptions) => Promise<Result>;

/** What travels through the client between two requests of one call. */
type Carried =
  | { readonly parked: string }
  | { readonly pending: Pick<PendingInput, "inputRequests" | "requestState" | "round"> };

/** The calls under way. */
export class Passages {
  readonly #parts: PassageParts;
  readonly #isVague: (server: string) => boolean;
  /** With a relay they are those of all its gateways: one may be made for each request. */
  readonly #parked: ParkedCalls;
  readonly #turns: Turns;
  /** Calls that were given up: what calls their clocks off. */
  readonly #left = new Map<Passage, () => void>();

  /** @param isVague Whether a server does not say whose call a question belongs to. */
  constructor(parts: PassageParts, isVague: (server: string) => boolean) {
    this.#parts = parts;
    this.#isVague = isVague;
    this.#parked = parts.relay?.parked ?? new ParkedCalls();
    this.#turns = parts.relay?.turns ?? new Turns();
  }

  /**
   * Takes a call through.
   *
   * A modern server's state goes through the caller, so that whichever process gets the answers can go on. A call at a legacy
   * server waits here for the answers, since it must not be sent twice.
   *
   * @throws {EraSignal} When the caller has to be asked first (modern).
   */
  async run<Result>(context: RequestContext, to: Destination, send: Send<Result>): Promise<Result> {
    const carried = readCarried(context);
    if (carried && "parked" in carried) {
      const passage = this.#unpark(carried.parked, { server: to.server, caller: this.#parts.caller(context) });
      // It was begun by a request for the same: the state is bound to it.
      return await this.#serve(context, passage, passage.work as Promise<Result>);
    }
    for (let pending = carried?.pending;;) {
      const resume = pending && resumed(pending as PendingInput, await answersTo(context, pending));
      try {
        const passage = await this.#begin(context, to);
        const { signal, meta, progress: onProgress } = passage;
        // Also what throws at once ends the call, and its turn.
        const work = (async () => await send({ signal, meta, onProgress, ...(resume && { resume }) }))();
        return await this.#serve(context, passage, work);
      } catch (error) {
        pending = pendingOf(error);
        if (!pending) throw error;
        if (context.rounds) context.rounds.carried = { pending: pending as unknown as JsonObject };
      }
    }
  }

  /** Calls off what waits. */
  close(): void {
    this.#parked.expire(this);
    for (const passage of this.#left.keys()) this.#forget(passage);
  }

  async #begin(context: RequestContext, to: Destination): Promise<Passage> {
    const { caller: name, relay, takesTurns } = this.#parts;
    const caller = name(context);
    const passage = new Passage(to, caller, context);
    if (takesTurns && this.#isVague(to.server)) {
      passage.endTurn = await this.#turns.take(to.server, caller, context.signal);
    }
    relay?.begin(passage);
    relay?.fronts.called(to.server, context.client);
    return passage;
  }

  /** It is over, but for what a server may still ask that does not say for whom. */
  #end(passage: Passage, isGivenUp = passage.signal.aborted): void {
    const { relay, clock } = this.#parts;
    if (!isGivenUp || !this.#isVague(passage.server)) return this.#forget(passage);
    relay?.leave(passage);
    this.#left.set(passage, clock.schedule(() => this.#forget(passage), doubt, { background: true }));
  }

  #forget(passage: Passage): void {
    this.#parts.relay?.end(passage);
    this.#left.get(passage)?.();
    this.#left.delete(passage);
    passage.endTurn?.();
    passage.endTurn = undefined;
  }

  async #serve<Result>(context: RequestContext, passage: Passage, work: Promise<Result>): Promise<Result> {
    let isParked = false;
    let isGivenUp = false;
    try {
      return await passage.serve(context, work);
    } catch (error) {
      isParked = error instanceof EraSignal;
      isGivenUp = isLate(error);
      if (isParked) this.#park(context, passage, work);
      throw error;
    } finally {
      if (!isParked) this.#end(passage, isGivenUp || passage.signal.aborted);
    }
  }

  #park(context: RequestContext, passage: Passage, work: Promise<unknown>): void {
    const { clock, random, parkTime } = this.#parts;
    const id = randomHex(random, 16);
    const stop = clock.schedule(() => expire(), parkTime, { background: true });
    const expire = (): void => {
      stop();
      this.#parked.delete(id);
      passage.abort(new InvalidParamsError("The client in front gave no answer in time"));
      this.#end(passage);
    };
    // Whoever waits for it comes later, or not at all: once it is answered, it keeps nobody from the server.
    const answered = (error?: unknown): void => {
      if (!passage.signal.aborted) this.#end(passage, error instanceof TimeoutError);
    };
    work.then(() => answered(), answered);
    this.#parked.add(id, { passage, owner: this, stop, expire });
    if (context.rounds) context.rounds.carried = { parked: id };
  }

  #unpark(id: string, asked: Pick<Passage, "server" | "caller">): Passage {
    const found = this.#parked.take(id, asked);
    if (!found) {
      throw new InvalidParamsError("Cannot go on with the call: it is over, or waits in another process", {
        delivery: "not-sent",
      });
    }
    found.stop();
    return found.passage;
  }
}

async function answersTo(
  context: RequestContext,
  { inputRequests, round }: Pick<PendingInput, "inputRequests" | "round">,
): Promise<Record<string, JsonObject>> {
  const keys = Object.keys(inputRequests);
  const answers = await Promise.all(
    keys.map((key) =>
      ask(context, inputRequests[key] as PendingInput["inputRequests"][string], {
        key: round === 1 ? key : `${round}_${key}`,
      })
    ),
  );
  return Object.fromEntries(keys.map((key, at) => [key, answers[at] as JsonObject]));
}

/** Our own, or nothing: the state is sealed. */
function readCarried({ rounds }: RequestContext): Carried | undefined {
  const carried = rounds?.carried;
  return isObject(carried) ? carried as unknown as Carried : undefined;
}

function pendingOf(error: unknown): Pick<PendingInput, "inputRequests" | "requestState" | "round"> | undefined {
  const pending = error instanceof InputRequiredError ? error.pending : undefined;
  if (!pending) return undefined;
  const { inputRequests, requestState, round } = pending;
  return { inputRequests, ...(requestState !== undefined && { requestState }), round };
}
