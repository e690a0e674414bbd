/**
 * The calls that go through a gateway, over as many requests in front as they take.
 *
 * @module
 */
import type { PendingInput } from "../../client/input/seam.ts";
import { resumed } from "../../client/extras/resumed.ts";
import type { SessionRequestOptions } from "../../client/session/request.ts";
import { randomHex } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { InputRequiredError, InvalidParamsError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { EraSignal } from "../../server/common/era_signal.ts";
import type { RequestContext } from "../../server/definitions.ts";
import { ask, Passage } from "./passage.ts";
import type { Relay } from "./relay.ts";

/** How many calls may wait for their caller's answers. */
const mostParked = 1_000;

/** What the calls of one gateway need. */
export interface PassageParts {
  readonly relay: Relay | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** How long a call waits for its caller's answers, in milliseconds. */
  readonly parkTime: number;
  /** Names who calls. */
  caller(context: RequestContext): string | undefined;
}

/** Sends one request to a server behind. */
export type Send<Result> = (options: SessionRequestOptions) => Promise<Result>;

/** What travels through the client between two requests of one call. */
type Carried =
  | { readonly parked: string }
  | { readonly pending: Pick<PendingInput, "inputRequests" | "requestState" | "round"> };

/** A call that waits for its caller's answers. */
interface Parked {
  readonly passage: Passage;
  /** Stops its clock. */
  readonly stop: () => void;
  /** Gives it up. */
  readonly expire: () => void;
}

/** The calls under way. */
export class Passages {
  readonly #parts: PassageParts;
  readonly #parked = new Map<string, Parked>();

  constructor(parts: PassageParts) {
    this.#parts = parts;
  }

  /**
   * Takes a call through.
   *
   * A modern server's state goes through the caller, so that whichever process gets the answers can go on. A call at a legacy
   * server waits here for the answers, since it must not be sent twice.
   *
   * @throws {EraSignal} When the caller has to be asked first (modern).
   */
  async run<Result>(context: RequestContext, server: string, send: Send<Result>): Promise<Result> {
    const carried = readCarried(context);
    if (carried && "parked" in carried) {
      const passage = this.#unpark(carried.parked);
      // It was begun by a request for the same: the state is bound to it.
      return await this.#serve(context, passage, passage.work as Promise<Result>);
    }
    for (let pending = carried?.pending;;) {
      const resume = pending && resumed(pending as PendingInput, await answersTo(context, pending));
      try {
        const passage = new Passage(server, this.#parts.caller(context), context);
        const { signal, meta, progress: onProgress } = passage;
        this.#parts.relay?.begin(passage);
        return await this.#serve(context, passage, send({ signal, meta, onProgress, ...(resume && { resume }) }));
      } catch (error) {
        pending = pendingOf(error);
        if (!pending) throw error;
        if (context.rounds) context.rounds.carried = { pending: pending as unknown as JsonObject };
      }
    }
  }

  /** Calls off what waits. */
  close(): void {
    for (const { expire } of this.#parked.values()) expire();
  }

  async #serve<Result>(context: RequestContext, passage: Passage, work: Promise<Result>): Promise<Result> {
    let isParked = false;
    try {
      return await passage.serve(context, work);
    } catch (error) {
      isParked = error instanceof EraSignal;
      if (isParked) this.#park(context, passage, work);
      throw error;
    } finally {
      if (!isParked) this.#parts.relay?.end(passage);
    }
  }

  #park(context: RequestContext, passage: Passage, work: Promise<unknown>): void {
    const { clock, random, relay, parkTime } = this.#parts;
    const id = randomHex(random, 16);
    const stop = clock.schedule(() => expire(), parkTime, { background: true });
    const expire = (): void => {
      stop();
      this.#parked.delete(id);
      relay?.end(passage);
      passage.abort(new InvalidParamsError("The client in front gave no answer in time"));
    };
    // Whoever waits for it comes later, or not at all.
    work.catch(() => {});
    this.#parked.set(id, { passage, stop, expire });
    const [oldest] = this.#parked.values();
    if (this.#parked.size > mostParked) oldest?.expire();
    if (context.rounds) context.rounds.carried = { parked: id };
  }

  #unpark(id: string): Passage {
    const found = this.#parked.get(id);
    if (!found) {
      throw new InvalidParamsError("Cannot go on with the call: it is over, or waits in another process", {
        delivery: "not-sent",
      });
    }
    this.#parked.delete(id);
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
      ask(context, inputRequests[key] as PendingInput["inputRequests"][string], round === 1 ? key : `${round}_${key}`)
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
  if (!isObject(pending)) return undefined;
  const { inputRequests, requestState, round } = pending as unknown as PendingInput;
  return { inputRequests, ...(requestState !== undefined && { requestState }), round };
}
