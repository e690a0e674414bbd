/**
 * Tasks of the modern era: the extension `io.modelcontextprotocol/tasks` (SEP-2663).
 *
 * @module
 */
import { InvalidParamsError, MissingCapabilityError } from "../../protocol/errors.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonRpcError } from "../../protocol/json_rpc.ts";
import { metaPrefix } from "../../protocol/modern.ts";
import type { ClientCapabilities } from "../../protocol/types.ts";
import type { RequestContext } from "../definitions.ts";
import { errorAnswer } from "../modern/answers.ts";
import type { ModernTaskCall, ModernTaskOutcome, ModernTasks, ServerParts, TaskCaller } from "../seam.ts";
import { atWorkElsewhere } from "./keeper.ts";
import type { TaskKeeper } from "./keeper.ts";
import { modernTaskContext, switchingContext } from "./modern_context.ts";
import type { TaskRun } from "./run.ts";
import type { TaskRecord } from "./store.ts";
import { isEnded } from "./store.ts";
import { detailedTask, extensionTask, readTaskId, unknownTask } from "./wire.ts";

const extension = metaPrefix + "tasks";
const methods: readonly string[] = ["tasks/get", "tasks/update", "tasks/cancel"];

/** Tasks of modern clients. */
export class ModernTaskMethods implements ModernTasks {
  readonly extensions: Record<string, JsonObject> = { [extension]: {} };
  readonly #keeper: TaskKeeper;
  readonly #parts: ServerParts;

  /** @param parts What the tools belong to. */
  constructor(keeper: TaskKeeper, parts: ServerParts) {
    this.#keeper = keeper;
    this.#parts = parts;
  }

  request(method: string, params: JsonObject, caller: TaskCaller): Promise<JsonObject> | undefined {
    return methods.includes(method) ? this.#request(method, params, caller) : undefined;
  }

  call(call: ModernTaskCall): Promise<ModernTaskOutcome> | undefined {
    const { params, context, capabilities } = call;
    const terms = typeof params.name === "string" ? this.#parts.methods.task?.(params.name) : undefined;
    if (!terms) return undefined;
    if (!declares(capabilities)) {
      if (terms.support === "required") throw missing(`The tool needs a client that declared "${extension}"`);
      return undefined;
    }
    if (terms.later) return this.#callUntilTold(call);
    const work = (run: TaskRun) => this.#run(params, modernTaskContext(context, run, capabilities));
    return this.#begin(context, work).then((task) => ({ task }));
  }

  async listen(wanted: unknown, caller: TaskCaller): Promise<readonly string[]> {
    if (wanted === undefined) return [];
    const { items } = this.#parts.limits;
    if (!Array.isArray(wanted) || wanted.length > items || !isTexts(wanted)) {
      throw new InvalidParamsError(
        `"params.notifications.taskIds" is malformed: expected an array of at most ${items} strings`,
        { rpcCode: -32602 },
      );
    }
    demand(caller.capabilities);
    const taskIds = new Set<string>(wanted);
    const found = await Promise.all([...taskIds].map((taskId) => this.#find(taskId, caller)));
    return found.flatMap((record) => record ? [record.taskId] : []);
  }

  watch(taskIds: readonly string[], tell: (task: JsonObject) => void): () => void {
    const unwatch = this.#keeper.watch(taskIds, (record) => tell(detailedTask(record)));
    let over = false;
    const tellEnded = async (taskId: string): Promise<void> => {
      const record = await this.#keeper.options.store.get(taskId);
      if (record && !over && isEnded(record)) tell(detailedTask(record));
    };
    // One that has ended already changes no more: who waits for it hears of it now.
    for (const taskId of taskIds) tellEnded(taskId).catch(() => {});
    return () => {
      over = true;
      unwatch();
    };
  }

  async #request(method: string, params: JsonObject, caller: TaskCaller): Promise<JsonObject> {
    demand(caller.capabilities);
    const taskId = readTaskId(params);
    // It may end while it is read.
    const run = this.#keeper.running(taskId);
    const record = await this.#find(taskId, caller);
    if (!record) throw unknownTask();
    if (method === "tasks/get") return detailedTask(record);
    if (method === "tasks/cancel") {
      await this.#keeper.cancel(taskId);
      return {};
    }
    const { inputResponses } = params;
    if (!isObject(inputResponses)) {
      throw new InvalidParamsError('"params.inputResponses" is missing or malformed: expected an object', {
        rpcCode: -32602,
      });
    }
    const { inputRequests = {} } = record;
    if (isEnded(record)) return {};
    if (run) await run.answer(inputResponses);
    else if (Object.keys(inputResponses).some((key) => Object.hasOwn(inputRequests, key))) {
      // It waits there: here its answer would be lost.
      throw atWorkElsewhere();
    }
    return {};
  }

  #find(taskId: string, { auth }: TaskCaller): Promise<TaskRecord | undefined> {
    return this.#keeper.find(taskId, "modern", auth?.principal ?? null);
  }

  /** Runs the tool as an ordinary call, until it says that it goes on as a task. */
  #callUntilTold({ params, context, capabilities, waiting }: ModernTaskCall): Promise<ModernTaskOutcome> {
    return new Promise((resolve, reject) => {
      const begin = async (adopt: (run: TaskRun) => void): Promise<void> => {
        if (waiting()) throw new TypeError("Await all questions before the call goes on as a task");
        const work = (run: TaskRun): Promise<JsonObject> => {
          adopt(run);
          return running;
        };
        resolve({ task: await this.#begin(context, work) });
      };
      const own = switchingContext(context, capabilities, begin);
      const running = this.#run(params, own);
      running.then((result) => resolve({ result }), reject);
    });
  }

  async #begin(context: RequestContext, run: (run: TaskRun) => Promise<JsonObject>): Promise<JsonObject> {
    const record = await this.#keeper.begin({
      owner: context.auth?.principal ?? null,
      era: "modern",
      run,
      toError: (error) => this.#toError(error),
    });
    // Nobody would ever learn its id.
    if (context.signal.aborted) await this.#keeper.cancel(record.taskId);
    return { resultType: "task", ...extensionTask(record) };
  }

  async #run(params: JsonObject, context: RequestContext): Promise<JsonObject> {
    const running = this.#parts.methods.run("tools/call", params, context);
    return await running ?? Promise.reject(unknownTask());
  }

  #toError(error: unknown): JsonRpcError {
    const told = errorAnswer("", error)?.response.error;
    if (told) return told;
    this.#parts.logger?.({ level: "error", message: "A task failed inside", fields: { error } });
    return { code: -32603, message: "Internal error" };
  }
}

function declares({ extensions }: ClientCapabilities): boolean {
  return isObject(extensions) && isObject(extensions[extension]);
}

function demand(capabilities: ClientCapabilities): void {
  if (!declares(capabilities)) throw missing(`The client did not declare "${extension}" on this request`);
}

function missing(message: string): MissingCapabilityError {
  const requiredCapabilities = { extensions: { [extension]: {} } };
  return new MissingCapabilityError(message, { rpcCode: -32021, data: { requiredCapabilities } });
}
