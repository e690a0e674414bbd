/**
 * Steps on Cloudflare Workflows, and the mark that keeps an interrupted one from being done twice.
 *
 * @module
 */
import type { Store } from "../../ports.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { type StepOptions, type Steps, StepUnknownError } from "./steps.ts";

/** Keeps that a step was begun, where it outlives the process. */
export interface IntentMarker {
  /**
   * Marks a step.
   *
   * @returns Whether this is the first time. Resolves when the mark is kept.
   */
  mark(name: string): Promise<boolean>;
}

/** The part of the step of a workflow that is used: `WorkflowStep` of `cloudflare:workers` fits. */
export interface WorkflowStepLike {
  /** Does something, and keeps its text. */
  do(
    name: string,
    config: { retries?: { limit: number; delay: number }; timeout?: number },
    callback: () => Promise<string>,
  ): Promise<string>;
  /** Waits so many milliseconds. */
  sleep(name: string, duration: number): Promise<void>;
  /** Waits for an event. */
  waitForEvent(name: string, options: { type: string; timeout?: number }): Promise<{ readonly payload: unknown }>;
}

/** What is kept of a step: a text, since not every error outlives a workflow. */
type Kept =
  | { readonly kind: "result"; readonly value?: unknown }
  | { readonly kind: "error"; readonly name: string; readonly message: string }
  | { readonly kind: "unknown" };

/** No step is tried again by the platform: what is not repeatable would run twice, and what is begins again with the workflow. */
const retries = { limit: 0, delay: 0 } as const;

/**
 * Does work once: when it was begun before and nobody knows how it ended, it is not done.
 *
 * @param marker Where it is marked before it begins.
 * @param name Unique for this piece of work.
 * @throws {StepUnknownError} When it was begun before.
 *
 * @example A payment that is made once
 * ```ts
 * import { callOnce, createStoreMarker, StepUnknownError } from "@causeway/mcp/agent";
 * import { createMemoryStore } from "@causeway/mcp/auth";
 *
 * const marker = createStoreMarker(createMemoryStore(), "order-17");
 * console.assert(await callOnce(marker, "pay", () => Promise.resolve("paid")) === "paid");
 * const again = await callOnce(marker, "pay", () => Promise.resolve("paid twice")).catch((error) => error);
 * console.assert(again instanceof StepUnknownError);
 * ```
 */
export async function callOnce<Value>(marker: IntentMarker, name: string, work: () => Promise<Value>): Promise<Value> {
  if (!await marker.mark(name)) throw new StepUnknownError(name);
  return await work();
}

/**
 * Marks steps in a store that can compare (`createFileStore`, `createObjectStore`, `createStubStore`).
 *
 * @param store Where the marks are kept. They stay: give it to nothing else, or delete them with the run.
 * @param run The id of the run, or of the instance of the workflow: marks of different ones are apart.
 */
export function createStoreMarker(store: Pick<Required<Store>, "compareAndSet">, run: string): IntentMarker {
  if (typeof run !== "string" || run === "") throw new TypeError(`"run" is ${JSON.stringify(run)}, expected an id`);
  return { mark: (name) => store.compareAndSet(`${run.length}:${run}:${name}`, undefined, "begun") };
}

/**
 * Makes steps of a workflow's: for an agent that runs in Cloudflare Workflows. A step that was interrupted is `unknown`, and not done
 * again: the platform alone would do it twice.
 *
 * @param step What `run(event, step)` of the workflow is given.
 * @param marker Where a step is marked before it begins: outside of the workflow, as a Durable Object.
 *
 * @example In a workflow
 * ```ts
 * import { createStoreMarker, workflowSteps } from "@causeway/mcp/agent";
 * import type { WorkflowStepLike } from "@causeway/mcp/agent";
 * import { createStubStore, type StoreStub } from "@causeway/mcp/workers";
 *
 * // What `run(event, step)` of a class that extends WorkflowEntrypoint does; `stub` is that of a StoreObject.
 * const run = async (event: { instanceId: string }, step: WorkflowStepLike, stub: StoreStub) => {
 *   const steps = workflowSteps(step, createStoreMarker(createStubStore(() => stub), event.instanceId));
 *   return await steps.do("book", {}, () => Promise.resolve("booked"));
 * };
 * console.assert(typeof run === "function");
 * ```
 */
export function workflowSteps(step: WorkflowStepLike, marker: IntentMarker): Steps {
  return {
    async do<Value>(name: string, { repeatable, timeout }: StepOptions, work: () => Promise<Value>): Promise<Value> {
      const config = timeout === undefined ? { retries } : { retries, timeout };
      let text: string;
      try {
        text = await step.do(name, config, () => keep(() => repeatable ? work() : callOnce(marker, name, work)));
      } catch (error) {
        // The callback never fails: the platform has given it up, and what it did goes on.
        if (repeatable) throw error;
        throw new StepUnknownError(name);
      }
      return recall<Value>(name, text);
    },
    sleep: (name, milliseconds) => step.sleep(name, milliseconds),
    async waitForEvent(name, { type, timeout }) {
      const { payload } = await step.waitForEvent(name, timeout === undefined ? { type } : { type, timeout });
      return { payload };
    },
  };
}

async function keep<Value>(work: () => Promise<Value>): Promise<string> {
  let kept: Kept;
  try {
    kept = { kind: "result", value: await work() };
  } catch (error) {
    if (error instanceof StepUnknownError) kept = { kind: "unknown" };
    else if (error instanceof Error) kept = { kind: "error", name: error.name, message: error.message };
    else kept = { kind: "error", name: "Error", message: String(error) };
  }
  return JSON.stringify(kept);
}

function recall<Value>(name: string, text: string): Value {
  const kept: unknown = JSON.parse(text);
  if (!isObject(kept)) throw new TypeError(`The step "${name}" was not kept by these steps`);
  if (kept.kind === "unknown") throw new StepUnknownError(name);
  // What was kept is what the step gave: the caller knows its shape.
  if (kept.kind === "result") return kept.value as Value;
  throw Object.assign(new Error(String(kept.message)), { name: String(kept.name) });
}
