/**
 * One request in work on a channel, from when it is taken until it is answered or called off.
 *
 * @module
 */
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from "../protocol/json_rpc.ts";
import { refusal } from "./channel_parts.ts";
import type { AuthInfo } from "./definitions.ts";
import type { Answer, Incoming } from "./seam.ts";
import { isPromise } from "../protocol/promise.ts";

/** What becomes of something that came: its answer, or nothing. */
export type Done = (response: JsonRpcResponse | undefined) => void;

/** What calls have in common. */
export interface CallHost {
  /** Sends what belongs to a call. */
  send(notification: JsonRpcNotification): void;
  /** A call is over. */
  ended(call: ChannelCall): void;
  /** An era failed, which none should. */
  failed(method: string, error: unknown): void;
}

/** One request. */
export class ChannelCall implements Incoming {
  readonly message: JsonRpcRequest;
  readonly auth: AuthInfo | undefined;
  /** Whether the channel itself calls it off when it is cancelled: a legacy session does that for its own. */
  readonly isModern: boolean;
  readonly #host: CallHost;
  readonly #done: Done;
  #abort: AbortController | undefined;
  /** Whether an answer, or that there is none, was handed on. */
  #over = false;
  #calledOff = false;

  /** @param done Called once, when it is over. */
  constructor(host: CallHost, message: JsonRpcRequest, auth: AuthInfo | undefined, isModern: boolean, done: Done) {
    this.#host = host;
    this.message = message;
    this.auth = auth;
    this.isModern = isModern;
    this.#done = done;
  }

  /** Made when it is asked for, which most handlers do not. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#calledOff) this.#abort.abort();
    return this.#abort.signal;
  }

  over(): boolean {
    return this.#calledOff;
  }

  notify(notification: JsonRpcNotification): void {
    if (!this.#over) this.#host.send(notification);
  }

  /** Hands on what an era answers. */
  follow(answering: Answer | undefined | Promise<Answer | undefined>): void {
    if (!isPromise(answering)) return this.#end(answering?.response);
    answering.then((answer) => this.#end(answer?.response), (error) => {
      if (this.#over) return;
      const { id, method } = this.message;
      this.#host.failed(method, error);
      this.#end(refusal(id, -32603, "Internal error"));
    });
  }

  /** Nobody waits for its answer any more. */
  callOff(): void {
    if (this.#over) return;
    this.#calledOff = true;
    this.#abort?.abort();
    this.#end(undefined);
  }

  #end(response: JsonRpcResponse | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#host.ended(this);
    this.#done(response);
  }
}
