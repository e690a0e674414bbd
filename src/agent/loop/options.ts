/**
 * What an agent is made of, and how one run of it is asked for.
 *
 * @module
 */
import type { TraceContext } from "../../client/telemetry/trace_context.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../hub/pins/approval.ts";
import type { Relay } from "../../hub/gateway/mod.ts";
import type { HubLike } from "../../hub/seam.ts";
import type { Clock, Random } from "../../ports.ts";
import type { Root } from "../../protocol/types.ts";
import type { AnySchema } from "../../server/definitions.ts";
import type { ModelInfo } from "../api_agent.ts";
import type { LanguageModel } from "../model/seam.ts";
import type { AgentTool } from "./calls/own_tools.ts";
import type { AgentAnswer, AgentQuestion, AnswerSettings } from "./seam.ts";
import type { SamplingPolicy } from "./turns/sampling.ts";

/** Decides about a call: yes, no, no with a reason that the model reads; undefined leaves it to a person. */
export type ApproveCall = (
  request: ApprovalRequest,
) => ApprovalAnswer | undefined | Promise<ApprovalAnswer | undefined>;

/** Options of an agent. */
export interface AgentOptions {
  /** Thinks. */
  readonly model: LanguageModel;
  /** Whose tools it has (none). It stays its owner's. */
  readonly hub?: HubLike | undefined;
  /** Functions that are tools beside those of the hub. */
  readonly tools?: readonly AgentTool[] | undefined;
  /** What it is called; also the id of the model that it is served as (`causeway-` and the class's name). */
  readonly name?: string | undefined;
  /** What is told of it where it is served as a model. */
  readonly info?: ModelInfo | undefined;
  /** What it is to do, and how: the first message of each conversation. */
  readonly instructions?: string | undefined;
  /**
   * Decides about calls of tools that may change something: a person is asked (`ask`), none is made (`deny`), all are made (`allow`), or a
   * function says. Default: `ask`; where nobody can be asked, it is a no.
   */
  readonly approve?: "ask" | "deny" | "allow" | ApproveCall | undefined;
  /** Your word that these tools only read: nobody is asked, and they may be called twice. Patterns as for `withFilter`. */
  readonly readOnly?: readonly string[] | undefined;
  /** Servers whose `readOnlyHint` and `idempotentHint` you believe (none). Patterns of names. */
  readonly trustHintsOf?: readonly string[] | undefined;
  /** Your word that calling these tools twice is the same as calling them once. Patterns as for `withFilter`. */
  readonly idempotent?: readonly string[] | undefined;
  /** What becomes of a call that may have run: a person decides (`ask`), the model is told (`tell`), the run fails (`fail`). Default: `ask`. */
  readonly onUnknown?: "ask" | "tell" | "fail" | undefined;
  /** Takes what servers ask in the middle of a call to the run: the one whose `handlers` and `features` are the hub's options. */
  readonly relay?: Relay | undefined;
  /** Whether servers may ask the model: after a person has said yes (`ask`), always (`allow`), never (`deny`); with bounds. Default: `ask`. */
  readonly sampling?: SamplingPolicy["policy"] | SamplingPolicy | undefined;
  /** The places that servers may work in (none). */
  readonly roots?: readonly Root[] | undefined;
  /**
   * A JSON Schema of an object: each run ends with an `output` that fits it, unless its task has one of its own. Of a schema of a library
   * (Standard Schema) the JSON Schema counts that it tells.
   */
  readonly output?: AnySchema | undefined;
  /** How often the model is asked at most in one run (20). */
  readonly steps?: number | undefined;
  /** How many tokens a run may use, read and written together (as many as it likes). */
  readonly tokens?: number | undefined;
  /** Milliseconds for a run, waiting for people included (as long as it likes). */
  readonly timeout?: number | undefined;
  /** Milliseconds for one tool call (the hub's own). */
  readonly callTimeout?: number | undefined;
  /** Milliseconds that a question waits for its answer (as long as the run). */
  readonly questionTimeout?: number | undefined;
  /** Calls under way at most (8). */
  readonly maxParallel?: number | undefined;
  /** How many tokens of conversation the model is given at most: old tool results make room. Default: `model.maxInputTokens`. */
  readonly contextTokens?: number | undefined;
  /** The most tokens of one answer of the model (the provider's own). */
  readonly maxOutputTokens?: number | undefined;
  /** 0 to 2 (the provider's own). */
  readonly temperature?: number | undefined;
  /** Tells the trace that a run belongs to when it begins, such as `activeTrace` of `./otel`. Undefined: a new one. */
  readonly trace?: (() => TraceContext | undefined) | undefined;
  /** Time (the system's); durable runs have their own. */
  readonly clock?: Clock | undefined;
  /** Chance (the system's). */
  readonly random?: Random | undefined;
}

/** Answers a question of a run. */
export type AnswerQuestion = (
  question: AgentQuestion,
  context: { readonly signal: AbortSignal },
) => AgentAnswer | Promise<AgentAnswer>;

/** Options of one run. */
export interface RunOptions {
  /** Cancels it: it ends as `cancelled`, and its calls are cancelled at their servers. */
  readonly signal?: AbortSignal | undefined;
  /** What the run's `output` has to fit, as that of the agent. */
  readonly output?: AnySchema | undefined;
  /** When it has to be over, in milliseconds since 1970. */
  readonly deadline?: number | undefined;
  /** Who answers its questions: a function, or whoever calls `run.answer` (`wait`). Default: nobody, so that each is a no. */
  readonly questions?: AnswerQuestion | "wait" | undefined;
  /** The trace that it belongs to. Default: what the agent's `trace` tells. */
  readonly trace?: TraceContext | undefined;
  /** How the model answers in this run (as the agent says). */
  readonly settings?: AnswerSettings | undefined;
  /** Its id (an unguessable one). */
  readonly id?: string | undefined;
}
