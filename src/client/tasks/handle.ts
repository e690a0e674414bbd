/**
 * One task, followed to its end.
 *
 * @module
 */
import { forgive } from "../../egress/attempt.ts";
import {
  errorFromAnswer,
  HttpStatusError,
  LimitExceededError,
  McpError,
  OutcomeUnknownError,
  RpcError,
  UnauthorizedError,
} from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonRpcError, JsonValue } from "../../protocol/json_rpc.ts";
import { invalid } from "../../protocol/modern.ts";
import { checkShape } from "../../protocol/shapes/all.ts";
import { checkResult } from "../../protocol/shapes/core.ts";
import { checkInputs } from "../../protocol/shapes/inputs.ts";
import type { CallToolResult, ElicitRequest, InputRequest, Task, TaskStatus } from "../../protocol/types.ts";
import type { Handlers, InputAnswers } from "../input/seam.ts";
import type { RequestOptions } from "../session/request.ts";
import type { TaskHandle, TaskHost, TaskOptions } from "../task_support.ts";
import { Patience } from "./patience.ts";
import type { TaskProgress } from "./progress.ts";

/** What a handle is told beside its task. */
export interface HandleOptions {
  onStatus?: ((task: Task) => void) | undefined;
  /** Nobody else knows of the task: giving up waiting asks the server to stop it. */
  owned?: boolean | undefined;
  /** When the call began that became the task, by the monotonic clock: its `timeout` goes on. */
  since?: number | undefined;
  /** Its progress is told until it has ended. */
  progress?: TaskProgress | undefined;
}

const shortestPause = 100;
const usualPause = 1_000;
const longestPause = 60_000;
/** Looks in a row that may fail; the pause doubles with each. */
const mostFailures = 6;
/** Answers that are on their way by themselves, each by a request of its own: what is answered meanwhile goes out together. */
const mostSending = 100;
/** The polls beside such a request tell when it is in vain. */
const withoutEnd = { headers: Infinity, idle: Infinity, total: Infinity };

/** A task of either wire. */
export class Handle implements TaskHandle {
  readonly taskId: string;
  readonly #host: TaskHost;
  readonly #options: HandleOptions;
  /** The state as it came last: the extension's has `result`, `error` and `inputRequests`. */
  #raw: JsonObject;
  #task: Task;
  /** When it was looked at last, and when something had changed. */
  #seenAt = 0;
  #changedAt = 0;
  #failures = 0;
  #result: CallToolResult | undefined;
  /** What was asked for, by key: the answer until the server has it, then nothing. */
  readonly #answers = new Map<string, JsonValue | undefined>();
  /** How often answers went out, one time after the other, and did not arrive, since one arrived. */
  #lost = 0;
  /** The keys whose answers are on their way. */
  readonly #sending = new Set<string>();
  /** Calls questions off that somebody is at, by their keys. */
  readonly #asked = new Map<string, () => void>();
  #rounds = 0;

  constructor(host: TaskHost, raw: JsonObject, options: HandleOptions) {
    this.#host = host;
    this.#options = options;
    this.taskId = raw.taskId as string;
    this.#raw = raw;
    this.#task = taskOf(raw);
    this.#take(raw, options.onStatus);
    this.#changedAt = this.#seenAt;
  }

  get task(): Task {
    return this.#task;
  }

  async get(options: RequestOptions = {}): Promise<Task> {
    if (this.taskId) await this.#look(options, this.#options.onStatus);
    await this.untilTold();
    return this.#task;
  }

  async cancel(options: RequestOptions = {}): Promise<void> {
    if (!this.taskId) return;
    const raw = await this.#host.request("tasks/cancel", { taskId: this.taskId }, options);
    // 2025-11-25 answers with the task, the extension with nothing.
    if (typeof raw.status === "string") this.#take(raw, this.#options.onStatus);
  }

  async result(options: TaskOptions = {}): Promise<CallToolResult> {
    if (this.#result) return this.#result;
    const { signal, timeout, timeouts, meta, headers, onStatus = this.#options.onStatus } = options;
    const { clock, label } = this.#host;
    const now = clock.monotonic();
    const waited = now - (this.#options.since ?? now);
    const patience = new Patience<JsonObject>(clock, this.#host.closes(), { signal, timeout, waited, server: label });
    try {
      return this.#result = await this.#follow(
        { signal: patience.signal, timeouts, meta, headers },
        patience,
        onStatus,
      );
    } catch (error) {
      if (!this.#options.owned) throw error;
      if (patience.signal.aborted || error === this.#options.progress?.error) {
        this.cancel({ meta, headers }).catch(() => {});
      } else if (
        error instanceof McpError && (error.retryable || error.delivery === "not-sent" || isOfLook(error))
      ) {
        // What became of a look says nothing of the call.
        throw this.#unknown(`the task could not be followed to its end: ${error.message}`, error);
      }
      throw error;
    } finally {
      patience.end();
      // Nobody else has the handle of a task that a call became.
      await this.untilTold(this.#options.owned);
    }
  }

  /** Waits until all is told of a task that has ended, or that nobody listens to any more. */
  async untilTold(isLeft?: boolean): Promise<void> {
    if (isLeft || this.#result || isEnded(this.#task.status)) await this.#options.progress?.end();
  }

  /** Looks again and again, serves what is asked for beside that, and gives the outcome. */
  async #follow(
    request: RequestOptions,
    patience: Patience<JsonObject>,
    onStatus: HandleOptions["onStatus"],
  ): Promise<CallToolResult> {
    const { progress } = this.#options;
    // What goes on beside the looks: a result of theirs, or their failure, ends the pause.
    let opened = 0;
    const open = (work: Promise<JsonObject | undefined>): void => {
      opened++;
      work.then((early) => early ? patience.take(work) : opened--, () => patience.take(work));
    };
    // Over HTTP its progress comes on the stream of its result; a server that answers too early is asked again at the end.
    if (progress && !isEnded(this.#task.status)) open(this.#openResult(request).catch(() => undefined));
    if (!isEnded(this.#task.status) && this.#due() <= 0) await this.#look(request, onStatus);
    for (;;) {
      patience.signal.throwIfAborted();
      if (progress?.error !== undefined) throw progress.error;
      const { status } = this.#task;
      if (isEnded(status)) {
        // The legacy result is on its way already, if its stream was opened.
        const early = opened && this.#isLegacy() && status !== "cancelled";
        try {
          return await this.#outcome(request, early ? await patience.pause(this.#due()) : undefined);
        } catch (error) {
          this.#endure(error);
        }
        await patience.pause(this.#due());
        continue;
      }
      if (status === "input_required") {
        if (!this.#isLegacy()) { for (const work of this.#serve(request)) open(work); }
        else if (!opened) open(this.#openResult(request));
      }
      const early = await patience.pause(this.#due());
      if (early) return checked(early);
      try {
        await this.#look(request, onStatus);
      } catch (error) {
        this.#endure(error);
      }
      this.#checkAlive();
    }
  }

  /** The task goes on without us, and its result is kept: a server that is away for a while is no reason to lose it. */
  #endure(error: unknown): void {
    if (!(error instanceof McpError && error.retryable) || ++this.#failures > mostFailures) throw error;
    this.#seenAt = this.#host.clock.monotonic();
  }

  async #look(options: RequestOptions, onStatus: HandleOptions["onStatus"]): Promise<void> {
    // Examples of SEP-2663 show "task" here, its text says "complete".
    const all = { ...options, resultTypes: ["task"] };
    this.#take(await this.#host.request("tasks/get", { taskId: this.taskId }, all), onStatus);
  }

  #take(raw: JsonObject, onStatus: HandleOptions["onStatus"]): void {
    const before = JSON.stringify(this.#task);
    this.#raw = raw;
    this.#task = { ...taskOf(raw), taskId: this.taskId };
    this.#seenAt = this.#host.clock.monotonic();
    this.#failures = 0;
    if (JSON.stringify(this.#task) !== before) this.#changedAt = this.#seenAt;
    forgive(onStatus?.(this.#task));
  }

  /** How long to wait until the next look. */
  #due(): number {
    const { pollIntervalMs = usualPause } = this.#task;
    const pause = Math.min(Math.max(pollIntervalMs, shortestPause) * 2 ** this.#failures, longestPause);
    return this.#seenAt + pause - this.#host.clock.monotonic();
  }

  /** A task that did not move for as long as the server keeps it is dead (SEP-2663: Task Polling). */
  #checkAlive(): void {
    const { status, ttlMs } = this.#task;
    if (isEnded(status) || ttlMs == null || this.#seenAt - this.#changedAt < ttlMs) return;
    throw this.#unknown(`the task did not move within the ${ttlMs} ms that the server keeps it`);
  }

  async #outcome(request: RequestOptions, early: JsonObject | undefined): Promise<CallToolResult> {
    const { status, statusMessage } = this.#task;
    if (early) return checked(early);
    if (status === "cancelled") {
      throw this.#unknown("the task was cancelled" + (statusMessage ? `: ${statusMessage.slice(0, 999)}` : ""));
    }
    const { taskId } = this;
    if (this.#isLegacy() && taskId) {
      return checked(await this.#host.request("tasks/result", { taskId }, { ...request, idempotent: true }));
    }
    const { result, error } = this.#raw;
    if (status === "completed") return checked(result);
    if (!isObject(error) || !Number.isInteger(error.code) || typeof error.message !== "string") {
      throw invalid("tasks/get", '"error" is missing: a failed task has one');
    }
    throw errorFromAnswer(error as unknown as JsonRpcError, { method: "tools/call", server: this.#host.label });
  }

  /** Legacy: opens the stream on which the server asks (2025-11-25: Input Required Status). Gives nothing when it breaks off. */
  async #openResult(request: RequestOptions): Promise<JsonObject | undefined> {
    try {
      return await this.#host.request("tasks/result", { taskId: this.taskId }, { ...request, timeouts: withoutEnd });
    } catch (error) {
      if (error instanceof McpError && error.delivery === "unknown") return undefined;
      await this.#look(request, undefined).catch(() => {});
      if (this.#task.status === "cancelled") return undefined;
      throw error;
    }
  }

  /** Extension: has the handlers answer what is new, and hands over each answer when it is there. Each key is asked for once. */
  #serve(request: RequestOptions): Promise<undefined>[] {
    const { inputRequests } = this.#raw;
    if (inputRequests == null) return [];
    const wrong = checkInputs({ inputRequests });
    if (wrong) throw invalid("tasks/get", wrong);
    for (const [key, callOff] of this.#asked) if (!Object.hasOwn(inputRequests as object, key)) callOff();
    const entries = Object.entries(inputRequests as unknown as Record<string, InputRequest>);
    const fresh = entries.filter(([key]) => !this.#answers.has(key));
    const ready = entries.map(([key]) => key).filter((key) => this.#answers.get(key) && !this.#sending.has(key));
    return [
      ...ready.length > 0 ? [this.#send(ready, request)] : [],
      ...fresh.length > 0 ? this.#askAll(fresh, request) : [],
    ];
  }

  #askAll(fresh: [string, InputRequest][], request: RequestOptions): Promise<undefined>[] {
    const { inputs, limits } = this.#host;
    if (!inputs) throw invalid("tasks/get", "it asks for input, which was not declared");
    if (++this.#rounds > limits.inputRounds) {
      throw new LimitExceededError("limits.inputRounds", limits.inputRounds, this.#rounds, { delivery: "answered" });
    }
    for (const [key] of fresh) this.#answers.set(key, undefined);
    // Where one of them has no handler, nobody is asked for the others either: they stand together in the error.
    const groups = fresh.every(([, asked]) => hasHandler(inputs.handlers, asked)) ? fresh.map((one) => [one]) : [fresh];
    return groups.map((group) => this.#ask(inputs, group, request));
  }

  async #ask(inputs: InputAnswers, group: [string, InputRequest][], request: RequestOptions): Promise<undefined> {
    const keys = group.map(([key]) => key);
    const all = request.signal as AbortSignal;
    const controller = new AbortController();
    const { signal } = controller;
    const stop = (): void => controller.abort(all.reason);
    all.addEventListener("abort", stop);
    if (all.aborted) stop();
    // The server has taken its question back.
    for (const key of keys) this.#asked.set(key, () => controller.abort());
    const asking = {
      method: "tasks/update",
      params: { taskId: this.taskId },
      round: this.#rounds,
      requestState: undefined,
    };
    try {
      const context = { ...asking, server: this.#host.label, signal };
      const { inputResponses } = await inputs.answerAll(Object.fromEntries(group), context);
      for (const [key, answer] of Object.entries(inputResponses as JsonObject)) this.#answers.set(key, answer);
    } catch (error) {
      for (const key of keys) this.#answers.delete(key);
      if (signal.aborted && !all.aborted) return;
      // Others may answer now: the next waiting begins with a look.
      this.#seenAt = -Infinity;
      throw error;
    } finally {
      all.removeEventListener("abort", stop);
      for (const key of keys) this.#asked.delete(key);
    }
    // Else the next look sends it, with all that wait by then.
    return this.#sending.size < mostSending ? await this.#send(keys, request) : undefined;
  }

  async #send(keys: readonly string[], request: RequestOptions): Promise<undefined> {
    // Those that are lost side by side count once.
    const lost = this.#lost;
    for (const key of keys) this.#sending.add(key);
    const answers = Object.fromEntries(keys.map((key) => [key, this.#answers.get(key) as JsonValue]));
    const params = { taskId: this.taskId, inputResponses: answers };
    try {
      await this.#host.request("tasks/update", params, { ...request, idempotent: true });
      for (const key of keys) this.#answers.set(key, undefined);
      this.#lost = 0;
    } catch (error) {
      // What somebody has answered is kept: it goes out again beside a later look.
      const isBearable = error instanceof McpError && error.retryable && lost < mostFailures;
      this.#lost = isBearable ? lost + 1 : 0;
      if (isBearable) return;
      throw error;
    } finally {
      for (const key of keys) this.#sending.delete(key);
    }
  }

  #isLegacy(): boolean {
    return this.#host.era === "legacy";
  }

  #unknown(message: string, cause?: unknown): OutcomeUnknownError {
    const options = { method: "tools/call", server: this.#host.label, cause };
    return new OutcomeUnknownError(`The tool may have run in part: ${message}`, options);
  }
}

/** The task in one shape, whichever wire it came over. */
export function taskOf(raw: JsonObject): Task {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = raw as unknown as Task;
  const ttlMs = (raw.ttlMs === undefined ? raw.ttl : raw.ttlMs) as number | null | undefined;
  const pollIntervalMs = (raw.pollIntervalMs ?? raw.pollInterval) as number | null | undefined;
  return {
    taskId,
    status,
    ...(statusMessage != null && { statusMessage }),
    ...(createdAt != null && { createdAt }),
    ...(lastUpdatedAt != null && { lastUpdatedAt }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(pollIntervalMs != null && { pollIntervalMs }),
  };
}

/**
 * Whether a server, or what lies before it, has refused to tell of a task, or to take an answer to it: how the task ends comes by
 * other ways. What is answered to `tasks/result` is the tool's own, but a status is not.
 */
function isOfLook(error: McpError): boolean {
  const refused = error instanceof HttpStatusError || error instanceof UnauthorizedError;
  const asked = refused ? /^tasks\// : /^tasks\/(get|update)$/;
  return (refused || error instanceof RpcError) && asked.test(error.method ?? "");
}

/** Whether a handler answers requests of this kind. */
function hasHandler(handlers: Handlers, { method, params }: InputRequest): boolean {
  if (method === "roots/list") return handlers.roots !== undefined;
  if (method === "sampling/createMessage") return handlers.sampling !== undefined;
  const { mode = "form" } = (params ?? {}) as ElicitRequest;
  return (mode === "form" ? handlers.elicitation : mode === "url" && handlers.elicitationUrl) !== undefined;
}

function isEnded(status: TaskStatus): boolean {
  return status !== "working" && status !== "input_required";
}

/** The outcome of a tool, with the shape of one. */
function checked(result: JsonValue | undefined): CallToolResult {
  const wrong = isObject(result)
    ? checkResult("tools/call", result) ?? checkShape("tools/call", result)
    : '"result" is missing: a completed task has one';
  if (wrong) throw invalid("tools/call", wrong);
  return result as unknown as CallToolResult;
}
