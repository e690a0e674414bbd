/**
 * What a run of an agent tells, asks and leaves behind. All of it is plain JSON, so that it can be kept, sent and shown.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import type { ConstantJson, JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult, ElicitRequest } from "../../protocol/types.ts";
import type { TraceContext } from "../../client/telemetry/trace_context.ts";
import type { TokenUsage } from "../api_agent.ts";
import type { LanguageModelEnd, LanguageModelMessage } from "../model/seam.ts";
import type { Steps } from "../runs/steps.ts";

/** What became of a tool call. */
export type ObservationOutcome =
  /** The tool gave something. */
  | "ok"
  /** The tool ran and failed, or its arguments were wrong. */
  | "tool_error"
  /** It was not called: no such tool, a server that is down, a budget that is used up. */
  | "not_called"
  /** Somebody, or the policy, said no. */
  | "denied"
  /** It may have run: nobody knows. It is never called again by itself. */
  | "unknown";

/** One tool result, as the agent sees it: checked, with where it came from. It is made before the model reads it. */
export interface Observation {
  /** The id of the call. */
  readonly id: string;
  /** Which question to the model wanted the call: 1 is the first. */
  readonly step: number;
  /** The server in the hub; empty where there is none. */
  readonly server: string;
  /** The tool's name at its server. */
  readonly tool: string;
  /** Its name for the model. */
  readonly name: string;
  /** SHA-256 of the arguments' canonical JSON, in hexadecimal digits. */
  readonly argumentsHash: string;
  /** When it was called, in milliseconds since 1970. */
  readonly at: number;
  /** How long it took, in milliseconds. */
  readonly took: number;
  /** What became of it. */
  readonly outcome: ObservationOutcome;
  /** Whether the result was checked against the tool's output schema; `unchecked` where it has none that can be used. */
  readonly validation: "validated" | "unchecked";
  /** Who vouches for it: the server as it calls itself (not trusted), and the SHA-256 of the tool's definition as it was called. */
  readonly provenance: {
    readonly serverInfo?: { readonly name: string; readonly version: string } | undefined;
    readonly toolHash?: string | undefined;
  };
  /** Bytes of the result as JSON. */
  readonly size: number;
  /** What the tool gave, whole or as the result budget of the hub left it. */
  readonly result: CallToolResult;
}

/** Something that a person has to answer before a run goes on. */
export type AgentQuestion =
  & {
    /** Names it within the run. */
    readonly id: string;
    /** The server that it is about; empty where there is none. */
    readonly server: string;
    /** For people, in one sentence. */
    readonly message: string;
    /** When it was asked, in milliseconds since 1970. */
    readonly askedAt: number;
    /** When it ends by itself, as a no. */
    readonly expiresAt?: number | undefined;
  }
  & (
    /** May this call be made? */
    | {
      readonly kind: "approval";
      readonly call: ProposedCall;
    }
    /** A server wants to know something. */
    | {
      readonly kind: "elicitation";
      /** The form, or the URL to visit. */
      readonly request: ElicitRequest;
      readonly call?: ProposedCall | undefined;
    }
    /** A server wants to ask the agent's model. */
    | {
      readonly kind: "sampling";
      /** What it wants to ask. */
      readonly request: JsonObject;
    }
    /** A call may have run: what now? */
    | {
      readonly kind: "decision";
      readonly call: ProposedCall;
    }
  );

/** A tool call as a person is shown it. */
export interface ProposedCall {
  /** The id of the call. */
  readonly id: string;
  /** The server that it goes to; empty for tools of the agent itself. */
  readonly server: string;
  /** The tool's name at its server. */
  readonly tool: string;
  /** Its name for the model. */
  readonly name: string;
  /** Exactly what would be sent. */
  readonly arguments: JsonObject;
  /** SHA-256 of the arguments' canonical JSON: an answer is good for these alone. */
  readonly argumentsHash: string;
  /** SHA-256 of the tool's definition: an answer is good for this one alone. */
  readonly toolHash?: string | undefined;
  /** Characters that cannot be seen, in what is shown: each with its place. */
  readonly hidden?: readonly string[] | undefined;
  /** What the server says of the tool: hints, not the truth. */
  readonly annotations?: JsonObject | undefined;
}

/** The answer to a question. */
export type AgentAnswer =
  /** `approval`, `sampling`: yes. `elicitation`: with what was filled in. */
  | { readonly action: "accept"; readonly content?: JsonObject | undefined }
  /** No; the model reads the reason. */
  | { readonly action: "decline"; readonly reason?: string | undefined }
  /** Neither; also what an expired question gets. */
  | { readonly action: "cancel" }
  /** `decision`: it is called again, told to the model as unknown, or the run fails. */
  | { readonly action: "retry" | "skip" | "fail" };

/** How a run ended. Exactly one of these is the last event of a run. */
export type AgentEnd =
  | {
    readonly type: "succeeded";
    /** The last text of the model. */
    readonly text: string;
    /** What it gave for the schema that was asked for. */
    readonly output?: unknown;
    readonly usage: TokenUsage;
    /** How often the model was asked. */
    readonly steps: number;
    /** Why the model stopped, where it was not done: `length`, for one. */
    readonly finish?: LanguageModelEnd | undefined;
  }
  | {
    readonly type: "failed";
    readonly error: {
      /** In one word, lower case with `_`: `step_budget`, `token_budget`, `deadline`, `model_error`, `output_invalid`, `unknown_outcome`, `internal`. */
      readonly code: string;
      readonly message: string;
    };
    readonly usage: TokenUsage;
    readonly steps: number;
  }
  | { readonly type: "cancelled"; readonly reason: string; readonly usage: TokenUsage; readonly steps: number };

/** Something that happened in a run. */
export type AgentEvent =
  /** The model is asked for the n-th time. */
  | { readonly type: "step"; readonly step: number }
  /** A piece of the model's text, or of what it thinks. */
  | { readonly type: "text" | "reasoning"; readonly step: number; readonly text: string }
  /** The model is asked this step again: what came of the step so far is void. */
  | { readonly type: "restarted"; readonly step: number; readonly reason: string }
  /** The model wants a call. */
  | { readonly type: "tool_call"; readonly step: number; readonly call: ProposedCall }
  /** A sign of progress of a call. */
  | {
    readonly type: "progress";
    readonly step: number;
    readonly id: string;
    readonly progress: number;
    readonly total?: number | undefined;
    readonly message?: string | undefined;
  }
  /** A person is asked. */
  | { readonly type: "question"; readonly question: AgentQuestion }
  /** A person has answered; what was filled in is not repeated. */
  | { readonly type: "answered"; readonly id: string; readonly action: AgentAnswer["action"] }
  /** A call is over. */
  | { readonly type: "observation"; readonly observation: Observation }
  /** How many tokens were used so far, in all. */
  | { readonly type: "usage"; readonly step: number; readonly usage: TokenUsage }
  | AgentEnd;

/** How the model answers in one run, where who starts it says so. Plain JSON: it is kept with the run. */
export interface AnswerSettings {
  /** 0 to 2 (the agent's). */
  readonly temperature?: number | undefined;
  /**
   * The most tokens that the model writes in the run, all its answers together (as many as the agent's `maxOutputTokens` and `tokens`
   * allow, which hold beside it). When they are used up before the task is done, the run fails with `token_budget`.
   */
  readonly maxOutputTokens?: number | undefined;
  /** Texts that end an answer (none). */
  readonly stopSequences?: readonly string[] | undefined;
}

/** What a run is given. */
export interface AgentTask {
  /** What is wanted, or a conversation that ends with it. */
  readonly input: string | readonly LanguageModelMessage[];
  /** A JSON Schema of an object: then the run ends with an `output` that fits it. */
  readonly output?: ConstantJson | undefined;
  /** When it has to be over, in milliseconds since 1970 (the agent's `timeout`). */
  readonly deadline?: number | undefined;
  /** The trace that it belongs to: its tool calls carry it on (a new one). */
  readonly trace?: TraceContext | undefined;
  /** How the model answers (as the agent says). */
  readonly settings?: AnswerSettings | undefined;
}

/** Somebody has cancelled the run: the reason of `RunWorld.signal` then, and the run ends as `cancelled`. Any other reason leaves it. */
export class RunCancelledError extends Error {
  /** Makes an error; the message is what the run's end gives as its reason. */
  constructor(reason: string = "It was cancelled") {
    super(reason);
    this.name = "RunCancelledError";
  }
}

/**
 * What a run lives in. A run is written against it alone, so that it can begin again in another process: what was done is
 * given back by `steps` and not done again, and what was told has its `key` already.
 */
export interface RunWorld {
  /** The id of the run: unique, and the same in each process. */
  readonly id: string;
  /** Does what must not be done twice. */
  readonly steps: Steps;
  /**
   * Tells an event. The same key of one run tells the same event: whoever keeps events keeps the first. The loop itself tells all of
   * them: also `question` and `answered`, and the end, with the key `end`.
   *
   * @param key Unique in the run; the same after a restart, except for pieces of what begins again.
   */
  emit(key: string, event: AgentEvent): void;
  /**
   * Asks a person. Waits, or leaves the run: then it begins again when the answer is there, and gets it here.
   *
   * @param options `live`: the question belongs to a call that is open in this process, so it waits here.
   */
  ask(
    question: AgentQuestion,
    options?: { readonly live?: boolean; readonly signal?: AbortSignal },
  ): Promise<AgentAnswer>;
  /** Aborted when the run is cancelled (with a {@linkcode RunCancelledError}) or this process gives it up: pass it on. */
  readonly signal: AbortSignal;
  /** Time. */
  readonly clock: Clock;
}

/** An agent that can be run: what keeps runs needs of it. */
export interface RunnableAgent {
  /**
   * Runs a task to its end. It does not throw what a run can end with.
   *
   * @throws What `world` throws to leave a run (a question that waits, a lease that was lost): passed on as it is.
   */
  execute(task: AgentTask, world: RunWorld): Promise<AgentEnd>;
}
