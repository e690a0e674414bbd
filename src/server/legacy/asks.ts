/**
 * Requests of ours to a legacy client, until they are answered, called off or too old.
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { errorFromAnswer, TimeoutError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcResponse } from "../../protocol/json_rpc.ts";
import { readJson } from "../catalog/json.ts";
import type { Incoming, LegacyOutlet } from "../seam.ts";

interface Ask {
  readonly about: Incoming | undefined;
  readonly method: string;
  sent: boolean;
  /** Makes the request go out. */
  readonly send: () => void;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (reason: unknown) => void;
}

/** What asking needs of the world. */
export interface AskParts {
  /** Time, for the time-out. */
  readonly clock: Clock;
  /** Chance, for ids that nobody guesses. */
  readonly random: Random;
  /** How long an answer may take, in milliseconds. */
  readonly timeout: number;
}

/** The requests of ours that wait for the client. */
export class Asks {
  readonly #parts: AskParts;
  readonly #outlet: LegacyOutlet;
  readonly #waiting = new Map<string, Ask>();
  /** Nothing is asked before the client said that it is ready (S-016). */
  #ready: boolean | undefined;

  /** @param outlet Takes the requests to the client. */
  constructor(parts: AskParts, outlet: LegacyOutlet) {
    this.#parts = parts;
    this.#outlet = outlet;
  }

  /** The client is ready: what was asked before goes out. */
  open(): void {
    this.#ready = true;
    for (const ask of this.#waiting.values()) if (!ask.sent) ask.send();
  }

  /**
   * Asks the client.
   *
   * @param about The client's request in the course of which it is asked; without one it goes on the session's own stream.
   * @param signal Aborted when the answer is not wanted any more.
   * @returns The result of the answer, unchecked.
   * @throws {RpcError} When the client answers with an error; it has its `method` set.
   * @throws {TimeoutError} When there is no answer in time.
   * @throws {TypeError} When the question is no JSON: it could not be sent.
   */
  ask(
    method: string,
    params: JsonObject | undefined,
    about: Incoming | undefined,
    signal?: AbortSignal,
  ): Promise<JsonObject> {
    const sound = params && readJson(params);
    if (typeof sound === "string") return Promise.reject(new TypeError(`Cannot ask for "${method}": ${sound}`));
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { clock, random, timeout } = this.#parts;
    const id = randomHex(random, 16);
    return new Promise((resolve, reject) => {
      const callOff = clock.schedule(
        () => {
          this.#drop(id, new TimeoutError("call", timeout, { method }), "It took too long");
        },
        timeout,
        { background: true },
      );
      const unwanted = (): void => this.#drop(id, signal?.reason, "Nobody wants to know it any more");
      signal?.addEventListener("abort", unwanted);
      const settle = <Value>(then: (value: Value) => void) => (value: Value) => {
        callOff();
        signal?.removeEventListener("abort", unwanted);
        this.#waiting.delete(id);
        then(value);
      };
      const ask: Ask = {
        about,
        method,
        sent: false,
        send: () => {
          ask.sent = true;
          this.#outlet.send({ jsonrpc: "2.0", id, method, ...(params && { params }) }, about);
        },
        resolve: settle(resolve),
        reject: settle(reject),
      };
      this.#waiting.set(id, ask);
      if (this.#ready) ask.send();
    });
  }

  /** Takes an answer of the client. False when nobody waits for it. */
  answered({ id, result, error }: JsonRpcResponse): boolean {
    // What is no text is no id of ours.
    const ask = this.#waiting.get(id as string);
    if (!ask?.sent) return false;
    if (error) ask.reject(errorFromAnswer(error, { method: ask.method }));
    else ask.resolve(result ?? {});
    return true;
  }

  /** Calls off what was asked in the course of a request. Default of the reason: that it is answered. */
  callOff(about: Incoming, reason: unknown): void {
    for (const [id, ask] of this.#waiting) {
      if (ask.about !== about) continue;
      this.#drop(id, reason ?? new Error("The request is answered already"), "The request that it belongs to is over");
    }
  }

  #drop(id: string, reason: unknown, words: string): void {
    const ask = this.#waiting.get(id);
    if (!ask) return;
    ask.reject(reason);
    if (!ask.sent) return;
    const params = { requestId: id, reason: words };
    this.#outlet.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }, ask.about);
  }
}
