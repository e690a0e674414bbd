/**
 * One tool call of a run: consent, the call itself, the server's questions, and what became of it.
 *
 * @module
 */
import { resumed } from "../../../client/extras/resumed.ts";
import { unlessAborted } from "../../../client/core_client.ts";
import type { ResumedInput } from "../../../client/session/request.ts";
import { isLate, type RelayedCall } from "../../../hub/relayed_call.ts";
import { callWhile, isSameTool } from "../../../hub/unchanged.ts";
import { randomHex } from "../../../ports.ts";
import { InputRequiredError, McpError } from "../../../protocol/errors.ts";
import { excerpt } from "../../../protocol/excerpt.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { InputRequest, PendingInput, Progress } from "../../../protocol/types.ts";
import type { TokenUsage } from "../../api_agent.ts";
import { LanguageModelError, type LanguageModelToolCall } from "../../model/seam.ts";
import { StepUnknownError } from "../../runs/steps.ts";
import { RunFailure, settleAll } from "../failures.ts";
import type { Journal } from "../journal.ts";
import type { AgentParts } from "../parts.ts";
import type { Observation, ProposedCall, RunWorld } from "../seam.ts";
import type { Recall } from "../turns/recall.ts";
import type { Asking, ServerInputs } from "./inputs.ts";
import { type CallOutcome, type Observed, type Observer, said } from "./observation.ts";
import { asJson, denied, doubted, failed, pendingOf, tooLarge, unknown } from "./outcomes.ts";
import type { PlannedCall, SoundCall } from "./plan.ts";
import type { Questions } from "./questions.ts";
import { sum, totalOf } from "./usage.ts";

/** How often a tool may change under a call that waits for consent. */
const mostChanges = 5;

/** Signs of progress of one call: after so many, one in so many milliseconds; characters of each text. */
const signs = { most: 100, pause: 1_000, longest: 1_000 } as const;

/** Under this key of `_meta` a call says which one it is: the same when it is made again. */
const idempotencyKey = "dev.causeway/idempotency-key";

/** What all calls of one run share. */
export interface CallHost {
  readonly parts: AgentParts;
  readonly world: RunWorld;
  readonly journal: Journal;
  readonly recall: Recall;
  readonly signal: AbortSignal;
  readonly observer: Observer;
  readonly questions: Questions;
  readonly inputs: ServerInputs;
  /** What of a trace a call carries on. */
  meta(): JsonObject;
  /** Counts what servers have used of the model. */
  spend(usage: TokenUsage): void;
  /** Counts tokens that servers have used in a call that is not over, for the calls beside it; what is negative is counted otherwise now. */
  hold(tokens: number): void;
  /** How many tokens the run has used so far. */
  used(): number;
}

/** Where a call stands in its run. */
export interface CallPlace {
  /** Which question to the model wanted it. */
  readonly step: number;
  /** The how manieth call of that step. */
  readonly index: number;
  /** When it was wanted, in milliseconds since 1970. */
  readonly at: number;
}

/** What an observation says of its call. */
type NamedCall = Omit<Observed, "step">;

/** What one step of a call came to. Plain JSON: it is kept in journals. */
type CallStep =
  | { readonly type: "done"; readonly observation: Observation; readonly usage?: TokenUsage | undefined }
  /** A modern server wants input first. */
  | { readonly type: "pending"; readonly at: number; readonly pending: PendingInput }
  /** The tool is not what it was when it was looked at. */
  | { readonly type: "changed" };

/** One call. */
export class RunCall {
  readonly #host: CallHost;
  readonly #wanted: LanguageModelToolCall;
  readonly #place: CallPlace;
  readonly #name: string;
  readonly #samples = { count: 0 };
  /** What is counted for those beside it. */
  #held = 0;
  #steps = 0;
  /** An attempt may have run, and a person wanted another one. */
  #mayHaveRun = false;

  constructor(host: CallHost, wanted: LanguageModelToolCall, place: CallPlace) {
    this.#host = host;
    this.#wanted = wanted;
    this.#place = place;
    this.#name = `${place.step}.${place.index}`;
  }

  /** Makes it, unless it is refused, and tells what became of it. */
  async run(first: PlannedCall): Promise<Observation> {
    const { journal, parts, signal, world } = this.#host;
    let planned = first;
    let { at } = this.#place;
    for (let turn = 1;; turn++) {
      if ("refusal" in planned) {
        const { text, outcome, ...refused } = planned.refusal;
        // Nothing of it is sent, whatever is wrong with it.
        return await this.#settle(refused, said(text, this.#mayHaveRun ? "not_called" : outcome));
      }
      const { proposal } = planned;
      const denial = await this.#denial(planned, turn, at);
      if (denial) return await this.#settle(proposal, denial);
      const observation = await this.#make(planned);
      if (observation) return this.#tell(observation);
      if (turn === mostChanges) {
        return await this.#settle(
          proposal,
          said(`"${proposal.name}" changes all the time: it was not called`, "not_called"),
        );
      }
      ({ planned, at } = await journal.do(`plan:${this.#name}.${turn + 1}`, { repeatable: true }, async () => ({
        planned: await parts.planner.plan(this.#wanted, signal),
        at: world.clock.now(),
      })));
    }
  }

  /** Why it is not to be made; undefined: it may. */
  async #denial({ proposal, consent }: SoundCall, turn: number, at: number): Promise<CallOutcome | undefined> {
    if (consent === "given") return undefined;
    if (consent !== "ask") return denied(proposal, consent.denied);
    const { server, tool } = proposal;
    const from = server === "" ? "" : ` of the server "${server}"`;
    const answer = await this.#host.questions.ask({
      id: `approval:${this.#name}${turn === 1 ? "" : `.${turn}`}`,
      kind: "approval",
      server,
      message: `May the tool "${tool}"${from} be called?`,
      call: proposal,
    }, { at });
    if (answer.action === "accept") return undefined;
    return denied(proposal, answer.action === "decline" ? answer.reason ?? "a person said no" : "nobody said yes");
  }

  /** Undefined: the tool has changed meanwhile. */
  async #make(planned: SoundCall): Promise<Observation | undefined> {
    let resume: ResumedInput | undefined;
    for (;;) {
      const step = await this.#once(planned, resume);
      if (step.type === "changed") return undefined;
      if (step.type === "done") {
        if (step.usage) this.#host.spend(step.usage);
        this.#hold(-this.#held);
        if (await this.#isOver(planned, step.observation)) return step.observation;
        this.#mayHaveRun = true;
        resume = undefined;
        continue;
      }
      const { pending, at } = step;
      try {
        resume = resumed(pending, await this.#answers(planned.proposal, pending, at));
      } catch (error) {
        // Refused, or a question that makes no sense: the server gets no answer, and the call comes to nothing.
        if (!(error instanceof McpError) && !(error instanceof LanguageModelError)) throw error;
        const text = `The call of "${planned.proposal.name}" was given up: ${error.message}`;
        return await this.#record(
          planned.proposal,
          said(text, error instanceof InputRequiredError ? "denied" : "tool_error"),
        );
      }
    }
  }

  async #once(planned: SoundCall, resume: ResumedInput | undefined): Promise<CallStep> {
    const { journal, signal, observer, world, parts: { options: { callTimeout } } } = this.#host;
    const { proposal, repeatable } = planned;
    const name = this.#nextName();
    let at: number | undefined;
    try {
      return await journal.do(name, { repeatable, argumentsHash: proposal.argumentsHash }, async () => {
        at = world.clock.now();
        try {
          return await this.#attempt(planned, resume, callTimeout);
        } catch (error) {
          // It is given up in the middle: nobody knows whether it runs.
          throw signal.aborted && !repeatable ? new StepUnknownError(name) : error;
        }
      });
    } catch (error) {
      const large = tooLarge(proposal, error);
      if (large) return { type: "done", observation: await this.#record(proposal, large, `large:${name.slice(5)}`) };
      if (!(error instanceof StepUnknownError)) throw error;
      if (signal.aborted) {
        const outcome = unknown(proposal, "the run ended in the middle of it");
        this.#tell(observer.observe(this.#observed(proposal), outcome, at));
        throw signal.reason;
      }
      const outcome = unknown(proposal, "the process that made it ended");
      return { type: "done", observation: await this.#record(proposal, outcome, `unknown:${name.slice(5)}`) };
    }
  }

  /** Sends it, in this process. */
  async #attempt(
    { proposal, repeatable }: SoundCall,
    resume: ResumedInput | undefined,
    timeout: number | undefined,
  ): Promise<CallStep> {
    const { parts: { hub, planner, checks, relay }, recall, world, signal, observer } = this.#host;
    const { name, server, tool } = proposal;
    const at = world.clock.now();
    const spent: TokenUsage[] = [];
    const done = (outcome: CallOutcome): CallStep => ({
      type: "done",
      observation: observer.observe(this.#observed(proposal), this.#judged(proposal, outcome), at),
      ...(spent.length > 0 && { usage: sum(spent) }),
    });
    // No server hears of it.
    if (recall.isProposed(proposal)) {
      const result = recall.run(proposal);
      return done({ outcome: result.isError ? "tool_error" : "ok", result });
    }
    const entry = hub.findTool({ server, name: tool });
    if (!entry) return done(said(`"${name}" is not there any more: it was not called`, "not_called"));
    if (await planner.hashOf(entry) !== proposal.toolHash) return { type: "changed" };
    const relayed = this.#relayed(proposal, {
      spend: (usage) => {
        spent.push(usage);
        this.#hold(totalOf(usage));
      },
    });
    relay?.begin(relayed);
    let isGivenUp = false;
    try {
      const options = {
        signal,
        meta: relayed.meta,
        throws: true,
        onProgress: relayed.progress,
        ...(timeout !== undefined && { timeout }),
        ...(repeatable && { idempotent: true }),
        ...(resume && { resume }),
      };
      const args = structuredClone(proposal.arguments);
      const result = await unlessAborted(callWhile(hub, entry, args, options, (now) => isSameTool(entry, now)), signal);
      return result ? done(checks.judge(entry.tool, asJson(result))) : { type: "changed" };
    } catch (error) {
      isGivenUp = isLate(error);
      signal.throwIfAborted();
      const pending = pendingOf(error);
      return pending ? { type: "pending", at: world.clock.now(), pending } : done(failed(proposal, error));
    } finally {
      relay?.finish(relayed, isGivenUp || signal.aborted, world.clock);
    }
  }

  /** What the relay knows the call by, and takes a legacy server's questions to. */
  #relayed(
    proposal: ProposedCall,
    { spend }: Pick<Asking, "spend">,
  ): RelayedCall & { readonly progress: (progress: Progress) => void } {
    const { world, parts: { random }, inputs, meta, used } = this.#host;
    const attempt = randomHex(random, 6);
    let count = 0;
    return {
      server: proposal.server,
      caller: `run ${world.id}`,
      meta: { ...meta(), [idempotencyKey]: `${world.id}:${this.#name}` },
      progress: this.#progress(proposal.id, attempt),
      ask: (request, signal) =>
        inputs.answer(request, {
          id: `${kindOf(request)}:${this.#name}.${attempt}.${++count}`,
          call: proposal,
          at: world.clock.now(),
          live: true,
          signal,
          samples: this.#samples,
          once: (_, work) => work(),
          spend,
          used,
        }),
    };
  }

  /** What a modern server wants to know, side by side. */
  async #answers(call: ProposedCall, pending: PendingInput, at: number): Promise<Record<string, JsonObject>> {
    const { inputs, journal, spend, used } = this.#host;
    const entries = Object.entries(pending.inputRequests ?? {});
    const answers = await settleAll(entries.map(([, request], index) => {
      const id = `${kindOf(request)}:${this.#name}.${this.#steps}.${index + 1}`;
      return inputs.answer(request, {
        id,
        call,
        at,
        samples: this.#samples,
        once: (name, work) => journal.do(name, { repeatable: true }, work),
        spend,
        used,
      });
    }));
    return Object.fromEntries(entries.map(([key], index) => [key, answers[index] ?? {}]));
  }

  /** What becomes of a call that may have run. False: it is made again. */
  async #isOver({ proposal, repeatable }: SoundCall, { outcome }: Observation): Promise<boolean> {
    const { parts: { onUnknown }, questions, world } = this.#host;
    if (outcome !== "unknown" || repeatable || onUnknown === "tell") return true;
    const failure = new RunFailure("unknown_outcome", `The call of "${proposal.name}" may have run: nobody knows`);
    if (onUnknown === "fail") throw failure;
    const id = `decision:${this.#name}.${this.#steps}`;
    const at = await this.#host.journal.do(id, { repeatable: true }, () => Promise.resolve(world.clock.now()));
    const message = `The call of "${proposal.tool}" may have run, or not. What now?`;
    const answer = await questions.ask({ id, kind: "decision", server: proposal.server, message, call: proposal }, {
      at,
    });
    if (answer.action === "fail") throw failure;
    return answer.action !== "retry";
  }

  #hold(tokens: number): void {
    this.#held += tokens;
    this.#host.hold(tokens);
  }

  /** Ends it without a call. */
  async #settle(proposal: NamedCall, outcome: CallOutcome): Promise<Observation> {
    return this.#tell(await this.#record(proposal, outcome));
  }

  #record(proposal: NamedCall, outcome: CallOutcome, name = this.#nextName()): Promise<Observation> {
    const { journal, observer } = this.#host;
    return journal.do(
      name,
      { repeatable: true },
      () => Promise.resolve(observer.observe(this.#observed(proposal), this.#judged(proposal, outcome))),
    );
  }

  #judged(proposal: NamedCall, outcome: CallOutcome): CallOutcome {
    return this.#mayHaveRun ? doubted(proposal, outcome) : outcome;
  }

  /** It is part of the agent's state from here on; the model reads it later. */
  #tell(observation: Observation): Observation {
    this.#host.world.emit(`observation:${this.#name}`, { type: "observation", observation });
    return observation;
  }

  #progress(id: string, attempt: string): (progress: Progress) => void {
    const { world } = this.#host;
    let count = 0;
    let told = -Infinity;
    return ({ progress, total, message }) => {
      const now = world.clock.monotonic();
      // Events of a run are kept, and a server may send as many as it likes.
      if (count >= signs.most && now - told < signs.pause) return;
      told = now;
      world.emit(`progress:${this.#name}.${attempt}.${++count}`, {
        type: "progress",
        step: this.#place.step,
        id,
        progress,
        // Servers may say anything here: of their signs only the number of the progress was looked at.
        ...(typeof total === "number" && { total }),
        ...(typeof message === "string" && { message: excerpt(message, signs.longest) }),
      });
    };
  }

  #observed({ id, server, tool, name, argumentsHash, toolHash }: NamedCall) {
    return {
      id,
      step: this.#place.step,
      server,
      tool,
      name,
      argumentsHash,
      ...(toolHash !== undefined && { toolHash }),
    };
  }

  /** `call:<step>.<index>`, and a number more for each time that it goes on. */
  #nextName(): string {
    const count = ++this.#steps;
    return `call:${this.#name}${count === 1 ? "" : `.${count}`}`;
  }
}

function kindOf({ method }: InputRequest): string {
  return method === "elicitation/create" ? "elicitation" : method === "sampling/createMessage" ? "sampling" : "input";
}
