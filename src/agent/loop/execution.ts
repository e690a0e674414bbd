/**
 * One run of an agent, from its task to its end. It is written against its world alone, so that another process can go on with it.
 *
 * @module
 */
import { childTrace, type TraceContext } from "../../client/telemetry/trace_context.ts";
import type { CatalogTool } from "../../hub/seam.ts";
import { randomHex } from "../../ports.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { TokenUsage } from "../api_agent.ts";
import { LanguageModelError } from "../model/seam.ts";
import type {
  LanguageModelMessage,
  LanguageModelRequest,
  LanguageModelTool,
  LanguageModelToolCall,
} from "../model/seam.ts";
import { RunCall } from "./calls/call.ts";
import type { CallHost } from "./calls/call.ts";
import { ServerInputs } from "./calls/inputs.ts";
import { Observer } from "./calls/observation.ts";
import type { PlannedCall } from "./calls/plan.ts";
import { Questions } from "./calls/questions.ts";
import { RunDeadlineError, RunFailure, settleAll } from "./failures.ts";
import { Journal } from "./journal.ts";
import type { AgentParts } from "./parts.ts";
import { RunCancelledError } from "./seam.ts";
import type { AgentEnd, AgentTask, Observation, RunWorld } from "./seam.ts";
import { askModel, type ModelAnswer } from "./turns/ask.ts";
import { TokenCounter, tokensOf } from "./turns/context.ts";
import { correction, mostCorrections, OutputShape } from "./turns/output.ts";
import { Recall } from "./turns/recall.ts";

/** What one question to the model came to. Plain JSON: it is kept in journals. */
type Turn =
  | { readonly failure: string }
  | (ModelAnswer & {
    /** When the model had answered, in milliseconds since 1970. */
    readonly at: number;
    readonly planned: readonly PlannedCall[];
  });

/** The tools of a hub as they were at one time. */
interface Offered {
  readonly all: readonly CatalogTool[];
  readonly tools: readonly LanguageModelTool[];
  cost(): number;
}

/** One run. */
export class Execution {
  readonly #parts: AgentParts;
  readonly #task: AgentTask;
  readonly #world: RunWorld;
  readonly #controller = new AbortController();
  readonly #journal: Journal;
  readonly #messages: LanguageModelMessage[];
  /** The ids of the calls so far, and whether each may be made again. */
  readonly #calls = new Map<string, boolean>();
  /** The ids of the calls in the conversation that it was given. */
  readonly #given: readonly string[];
  #usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };
  /** What servers have used in calls that are not over, in tokens. */
  #held = 0;
  /** What the model itself has written, in tokens. */
  #written = 0;
  #steps = 0;
  #trace: TraceContext = {};
  readonly #counter = new TokenCounter(() => this.#recall.name, (message) => this.#recall.idOf(message));
  readonly #recall: Recall;
  /** What stands before the conversation: how the output is to look. */
  #advice: readonly LanguageModelMessage[] = [];
  #offer: Offered | undefined;

  constructor(parts: AgentParts, task: AgentTask, world: RunWorld) {
    this.#parts = parts;
    this.#task = task;
    this.#world = world;
    this.#journal = new Journal(world.steps, this.#controller.signal);
    const { instructions } = parts.options;
    this.#messages = [
      ...(instructions ? [{ role: "system" as const, content: instructions }] : []),
      ...(typeof task.input === "string" ? [{ role: "user" as const, content: task.input }] : task.input),
    ];
    this.#recall = new Recall({
      counter: this.#counter,
      messages: this.#messages,
      hasTool: (name) => parts.hub.findTool(name) !== undefined,
      isRepeatable: (id) => this.#calls.get(id) ?? false,
      room: () => {
        if (parts.contextTokens === Infinity) return Infinity;
        return parts.contextTokens - this.#offered().cost() - this.#counter.sum(this.#advice);
      },
    });
    this.#given = this.#messages.flatMap((message) =>
      message.role === "assistant" ? message.toolCalls?.map(({ id }) => id) ?? [] : []
    );
  }

  /** Runs it to its end, which it tells. What the world throws to leave it is passed on. */
  async run(): Promise<AgentEnd> {
    const { signal } = this.#world;
    const stop = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    let unschedule = (): void => {};
    let end: AgentEnd;
    try {
      const deadline = await this.#begin((cancel) => unschedule = cancel);
      end = await this.#loop(deadline);
    } catch (error) {
      end = this.#endOf(error);
    } finally {
      unschedule();
      signal.removeEventListener("abort", stop);
      this.#controller.abort();
    }
    this.#world.emit("end", end);
    return end;
  }

  /** What is decided once for all processes; the deadline. */
  async #begin(timed: (cancel: () => void) => void): Promise<number> {
    const { clock } = this.#world;
    const { random, options: { timeout = Infinity, trace: told } } = this.#parts;
    const { at, trace } = await this.#journal.begin(() => ({
      at: clock.now(),
      trace: childTrace(this.#task.trace ?? told?.() ?? {}, random).context,
    }));
    this.#trace = trace;
    const deadline = Math.min(this.#task.deadline ?? Infinity, at + timeout);
    if (deadline === Infinity) return deadline;
    const arm = (): void => {
      const left = deadline - clock.now();
      if (left <= 0) this.#controller.abort(new RunDeadlineError());
      // A timer may be shorter than what is left.
      else timed(clock.schedule(arm, left));
    };
    arm();
    return deadline;
  }

  async #loop(deadline: number): Promise<AgentEnd> {
    const { validator, steps, output } = this.#parts;
    const schema = (this.#task.output ?? output) as JsonObject | undefined;
    const shape = schema && new OutputShape(schema, validator);
    if (shape) this.#advice = [{ role: "system", content: shape.advice }];
    const host = this.#host(deadline);
    for (let corrections = 0;;) {
      if (this.#steps >= steps) {
        throw new RunFailure("step_budget", `The model was asked ${steps} times and is not done: raise "steps"`);
      }
      // Servers may have used up the rest.
      this.#checkTokens();
      const turn = await this.#ask(++this.#steps, shape);
      const { text, calls, reason, provider } = turn;
      this.#messages.push({
        role: "assistant",
        content: text,
        ...(calls.length > 0 && { toolCalls: calls }),
        ...(provider && { provider }),
      });
      if (calls.length === 0) {
        if (reason === "content_filter") {
          throw new RunFailure("model_error", "The model's provider withheld the answer");
        }
        const read = shape?.read(text);
        if (!read || "value" in read) {
          const { value } = read ?? {};
          return this.#succeeded(text, {
            ...(read && { output: value }),
            ...(reason === "length" && { finish: reason }),
          });
        }
        if (++corrections > mostCorrections) {
          throw new RunFailure("output_invalid", `The model gave no output that fits: ${read.problem}`);
        }
        this.#messages.push({ role: "user", content: correction(read.problem) });
      }
      this.#checkTokens();
      // What the model would never read is not done.
      if (calls.length > 0 && this.#steps < steps) await this.#call(host, turn);
    }
  }

  #checkTokens(): void {
    const most = this.#task.settings?.maxOutputTokens;
    if (most !== undefined && this.#written >= most) {
      throw new RunFailure("token_budget", `${this.#written} tokens of ${most} are written, and it is not done`);
    }
    const [used, { tokens }] = [this.#used(), this.#parts];
    if (used < tokens) return;
    throw new RunFailure("token_budget", `${used} tokens of ${tokens} are used, and it is not done: raise "tokens"`);
  }

  /** How many tokens were used so far. */
  #used(): number {
    return this.#usage.inputTokens + this.#usage.outputTokens;
  }

  /** Asks the model, once for all processes. */
  async #ask(step: number, shape: OutputShape | undefined): Promise<Exclude<Turn, { failure: string }>> {
    const { world, emit } = { world: this.#world, emit: this.#world.emit.bind(this.#world) };
    emit(`step:${step}`, { type: "step", step });
    const turn = await this.#journal.do(`model:${step}`, { repeatable: true }, async (isAgain): Promise<Turn> => {
      const { model, random, planner } = this.#parts;
      const { signal } = this.#controller;
      const again = (reason: string, attempt: string): void =>
        emit(`restarted:${step}.${attempt}`, { type: "restarted", step, reason });
      if (isAgain) again("The process that asked it ended", randomHex(random, 6));
      try {
        // What was called since may have brought tools.
        if (step > 1) await this.#parts.hub.renew(world.clock, signal);
        const answer = await askModel(this.#request(shape), {
          model,
          random,
          clock: world.clock,
          signal,
          again,
          counter: this.#counter,
          piece: ({ type, text }, attempt, index) => emit(`text:${step}.${attempt}.${index}`, { type, step, text }),
        });
        const calls = this.#named(answer.calls, step);
        const recall = this.#recall;
        const planned = await Promise.all(
          calls.map((call) => recall.isWanted(call) ? recall.plan(call) : planner.plan(call, signal)),
        );
        return { ...answer, calls, planned, at: world.clock.now() };
      } catch (error) {
        if (signal.aborted || !(error instanceof LanguageModelError)) throw error;
        return { failure: error.message };
      }
    });
    if ("failure" in turn) throw new RunFailure("model_error", turn.failure);
    this.#written += turn.usage.outputTokens;
    this.#spend(turn.usage);
    emit(`usage:${step}`, { type: "usage", step, usage: this.#usage });
    turn.planned.forEach((planned, index) => {
      const isSound = "proposal" in planned;
      this.#calls.set(turn.calls[index]?.id ?? "", isSound && planned.repeatable);
      if (isSound) emit(`tool_call:${step}.${index + 1}`, { type: "tool_call", step, call: planned.proposal });
    });
    return turn;
  }

  #request(shape: OutputShape | undefined): LanguageModelRequest {
    const { options } = this.#parts;
    const { temperature = options.temperature, maxOutputTokens: most = Infinity, stopSequences } =
      this.#task.settings ?? {};
    const longest = Math.min(options.maxOutputTokens ?? Infinity, most - this.#written);
    const { messages, tool } = this.#recall.fit();
    const { tools: offered } = this.#offered();
    const tools = tool ? [...offered, tool] : offered;
    return {
      messages: [...this.#advice, ...messages],
      ...(tools.length > 0 && { tools }),
      ...(shape && { output: shape.request }),
      ...(longest !== Infinity && { maxOutputTokens: longest }),
      ...(temperature !== undefined && { temperature }),
      ...(stopSequences && { stopSequences }),
    };
  }

  /** The tools for the model, and what they cost in tokens: read anew when they have changed. */
  #offered(): Offered {
    const all = this.#parts.hub.tools();
    if (this.#offer?.all === all) return this.#offer;
    const tools = all.map(({ qualifiedName: name, tool }) => ({
      name,
      description: tool.description ?? tool.title ?? tool.name,
      inputSchema: tool.inputSchema,
    }));
    let cost: number | undefined;
    return this.#offer = { all, tools, cost: () => cost ??= tokensOf(tools) };
  }

  /** Calls under names of their own: a model may give none, or one twice. */
  #named(calls: readonly LanguageModelToolCall[], step: number): LanguageModelToolCall[] {
    const taken = new Set([...this.#given, ...this.#calls.keys()]);
    return calls.map((call, index) => {
      const isGood = typeof call.id === "string" && call.id !== "" && !taken.has(call.id);
      let id = isGood ? call.id : `call_${step}_${index + 1}`;
      while (taken.has(id)) id += "_";
      taken.add(id);
      return { ...call, id };
    });
  }

  /** Makes the calls of one step, so many at a time, and gives what they gave to the model. */
  async #call(host: CallHost, { calls, planned, at }: Exclude<Turn, { failure: string }>): Promise<void> {
    const observations: Observation[] = [];
    const left = planned.entries();
    let isLeft = false;
    const work = async (): Promise<void> => {
      for (let next = left.next(); !next.done && !isLeft; next = left.next()) {
        const [index, plan] = next.value;
        const wanted = calls[index];
        if (!wanted) continue;
        const call = new RunCall(host, wanted, { step: this.#steps, index: index + 1, at });
        try {
          observations[index] = await call.run(plan);
        } catch (error) {
          // Those under way come to their end; no other one begins.
          isLeft = true;
          throw error;
        }
      }
    };
    await settleAll(Array.from({ length: Math.min(this.#parts.maxParallel, planned.length) }, work));
    for (const [index, { id, result }] of observations.entries()) {
      this.#messages.push({ role: "tool", id, name: calls[index]?.name ?? "", result });
    }
  }

  #host(deadline: number): CallHost {
    const { signal } = this.#controller;
    const [parts, world] = [this.#parts, this.#world];
    const { questionTimeout: timeout = Infinity } = parts.options;
    const questions = new Questions(world, { signal, timeout, deadline });
    return {
      parts,
      world,
      journal: this.#journal,
      recall: this.#recall,
      signal,
      questions,
      observer: new Observer(parts.hub, world.clock),
      inputs: new ServerInputs(parts, world, questions, signal),
      meta: (): JsonObject => ({ ...childTrace(this.#trace, parts.random).context }),
      spend: (usage) => this.#spend(usage),
      hold: (tokens) => void (this.#held += tokens),
      used: () => this.#used() + this.#held,
    };
  }

  #spend({ inputTokens, outputTokens }: TokenUsage): void {
    const used = this.#usage;
    this.#usage = { inputTokens: used.inputTokens + inputTokens, outputTokens: used.outputTokens + outputTokens };
  }

  #succeeded(text: string, more: { readonly output?: unknown; readonly finish?: "length" }): AgentEnd {
    return { type: "succeeded", text, ...more, usage: this.#usage, steps: this.#steps };
  }

  /** How it ends by what was thrown; what is not its own is thrown on. */
  #endOf(error: unknown): AgentEnd {
    const [usage, steps] = [this.#usage, this.#steps];
    const { signal } = this.#world;
    const failed = (code: string, message: string): AgentEnd => ({
      type: "failed",
      error: { code, message },
      usage,
      steps,
    });
    if (signal.aborted) {
      if (!(signal.reason instanceof RunCancelledError)) throw signal.reason;
      return { type: "cancelled", reason: signal.reason.message, usage, steps };
    }
    if (error instanceof RunFailure) return failed(error.code, error.message);
    // By its name: a process that went on with the run has it from the journal.
    if (error instanceof Error && error.name === "RunDeadlineError") return failed("deadline", error.message);
    if (!this.#journal.isOwn(error)) throw error;
    return failed("internal", error instanceof Error ? error.message : String(error));
  }
}
