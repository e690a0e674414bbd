/**
 * What a modern server asks for in the middle of a call, and how the answers go back (2026-07-28: multi round-trip
 * requests).
 *
 * @module
 */
import type { JsonObject } from "../json_rpc.ts";
import type { Result } from "./basics.ts";

/** What a modern server asks for in the middle of a call. */
export interface InputRequest {
  /** Which kind of input: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
  method: string;
  /** What is asked, in the shape that the method has. */
  params?: JsonObject;
}

/** A modern result that asks for input (2026-07-28: multi round-trip requests). */
export interface InputRequiredResult extends Result {
  /** Tells it from a finished result. */
  resultType: "input_required";
  /** What is asked for; each answer goes back under the same key. Missing: the call is only to be sent again. */
  inputRequests?: Record<string, InputRequest>;
  /** What the server has to be given back, byte for byte. It may hold secrets of the server. */
  requestState?: string;
}

/** What a retry brings along when a result asked for input (2026-07-28: multi round-trip requests). */
export interface InputResponses {
  /** The answers, under the keys of the requests. */
  inputResponses?: Record<string, JsonObject>;
  /** The state as it came, byte for byte; absent when none came. */
  requestState?: string;
}

/** A call that waits for input, as plain JSON: it can be stored and gone on with in another process. */
export interface PendingInput {
  /** What is asked for, or told. */
  readonly method: string;
  /** The details; their shape depends on the method. */
  readonly params: JsonObject;
  /** What is asked for, by key: answer every key. */
  readonly inputRequests: Record<string, InputRequest>;
  /** The server's own state: hand it back as it is. Secret. */
  readonly requestState?: string | undefined;
  /** How many rounds there were. */
  readonly round: number;
}
