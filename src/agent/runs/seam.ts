/**
 * Runs of agents that are kept: what starts, shows, answers and ends them.
 *
 * @module
 */
import type { AnySchema } from "../../server/definitions.ts";
import type { TokenUsage } from "../api_agent.ts";
import type { AgentAnswer, AgentEnd, AgentEvent, AgentQuestion, AgentTask } from "../loop/seam.ts";

/** Where a run stands. */
export type RunState =
  | "accepted"
  | "running"
  | "needs_input"
  | "needs_decision"
  | "succeeded"
  | "failed"
  | "cancelled";

/** What a run is started with. */
export interface StartRun extends Omit<AgentTask, "output"> {
  /** What the run's `output` has to fit: a JSON Schema of an object, or a schema of a library that tells the JSON Schema of its own. */
  readonly output?: AnySchema | undefined;
  /** Which agent. */
  readonly agent: string;
  /** Who starts it: the run belongs to them. */
  readonly principal: string;
  /** An id of the caller's own (`[A-Za-z0-9_-]`, 16 to 64 characters): starting it twice starts it once. Default: an unguessable one. */
  readonly id?: string | undefined;
  /** When it has to be over, in milliseconds since 1970. */
  readonly deadline?: number | undefined;
}

/** A run, as it is shown. */
export interface RunRecord {
  /** Names it. */
  readonly id: string;
  /** Which agent. */
  readonly agent: string;
  /** Whose it is. */
  readonly principal: string;
  /** Where it stands. */
  readonly state: RunState;
  /** When it was started, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When something of it changed, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** When it ended, in milliseconds since 1970. */
  readonly endedAt?: number | undefined;
  /** How often the model was asked. */
  readonly steps: number;
  /** How many tokens it has used. */
  readonly usage: TokenUsage;
  /** Questions that wait for an answer. */
  readonly questions: readonly AgentQuestion[];
  /** The ids of questions that wait no more: they were answered, or their time or the run is over (unknown). */
  readonly closed?: readonly string[] | undefined;
  /** Steps that may have been done: reported, never repeated by themselves. */
  readonly unknown: readonly string[];
  /** How it ended. */
  readonly end?: AgentEnd | undefined;
}

/** An event with its place in the run: 1 is the first, and none is missing. */
export interface RunEvent {
  /** Its place. */
  readonly sequence: number;
  /** When it happened, in milliseconds since 1970. */
  readonly at: number;
  /** What happened. */
  readonly event: AgentEvent;
}

/** What became of an answer: taken, no such question, or answered already. */
export type AnswerOutcome = "taken" | "unknown" | "stale";

/** Runs that are kept, of one tenant. */
export interface Runs {
  /**
   * Starts a run. It is durable when this resolves: it ends, or waits for a person, whatever becomes of this process.
   *
   * @throws {TypeError} When there is no such agent, or a field is wrong.
   * @throws {LimitExceededError} When too many run already.
   */
  start(run: StartRun): Promise<RunRecord>;
  /** One run. */
  get(id: string): Promise<RunRecord | undefined>;
  /** Runs, newest first. One that is damaged is left out; `get` tells. */
  list(options?: {
    readonly principal?: string | undefined;
    readonly state?: RunState | undefined;
    /** At most so many (50), 10,000 at most. */
    readonly limit?: number | undefined;
    /** Only those that were created before, in milliseconds since 1970. */
    readonly before?: number | undefined;
  }): Promise<readonly RunRecord[]>;
  /** How many runs have not ended. Left out where only listing them can tell. */
  countOpen?(): Promise<number>;
  /**
   * The events of a run, those that were and those that come. It ends after the last one of the run.
   *
   * @param options `after` leaves out those up to this place (0).
   */
  events(
    id: string,
    options?: { readonly after?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<RunEvent>;
  /** Answers a question; good once. */
  answer(id: string, question: string, answer: AgentAnswer): Promise<AnswerOutcome>;
  /** Cancels a run; harmless when it is over. Undefined: there is none. */
  cancel(id: string, reason?: string): Promise<RunRecord | undefined>;
  /**
   * Goes on with what nobody goes on with: after a start, and whenever the alarm rings.
   *
   * @returns When to call it again, in milliseconds since 1970: something goes on then, or is old enough to be deleted. Undefined:
   * there is nothing to look after.
   */
  resume(): Promise<number | undefined>;
  /** Gives up what runs here, so that another process can go on. Idempotent. */
  close(): Promise<void>;
}
