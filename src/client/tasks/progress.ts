/**
 * The progress of tasks of 2025-11-25: it goes on under the token of the request that began the task, until that has ended
 * (specification: Tasks, Task Progress).
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Progress } from "../../protocol/types.ts";
import type { Clock } from "../../ports.ts";
import { calmly } from "../extras/progress.ts";

/** Who hears of progress, by its token. */
export type Listeners = Map<number, TaskProgress>;

/** How many there may be: who never asks how a task has ended is not told of it for ever. */
const mostListeners = 1_000;

/** One task's progress, on its way to who listens. */
export class TaskProgress {
  /** What the listener threw: nobody goes on waiting for the task then. */
  error: unknown;
  readonly #listeners: Listeners;
  readonly #tokens: number[] = [];
  readonly #told: Promise<void>;
  #tell!: (progress: Progress) => unknown;
  #over!: () => void;
  #last = -Infinity;

  constructor(listeners: Listeners, listener: (progress: Progress) => unknown, clock: Clock) {
    this.#listeners = listeners;
    const over = new Promise<void>((resolve) => this.#over = resolve);
    this.#told = calmly(listener, clock, (calm) => {
      this.#tell = calm;
      return over;
    }).catch((error) => {
      this.error ??= error;
    });
  }

  /** What is told under this token is heard: that of the request, or of its repetition. */
  hear(token: number): void {
    if (this.#last === Infinity) return;
    this.#tokens.push(token);
    this.#listeners.set(token, this);
    if (this.#listeners.size > mostListeners) void this.#listeners.values().next().value?.end();
  }

  /** Takes a sign of progress. What does not rise is dropped. */
  take(progress: Progress): unknown {
    if (!(progress.progress > this.#last)) return undefined;
    this.#last = progress.progress;
    return this.#tell(progress);
  }

  /** Nothing more is heard; resolves when the latest sign was told. */
  end(): Promise<void> {
    for (const token of this.#tokens) this.#listeners.delete(token);
    // Nothing is above it: the request that begins the task may still be under way.
    this.#last = Infinity;
    this.#over();
    return this.#told;
  }
}

/** Takes any notification. What a listener throws is told to who waits for its task. Never rejects. */
export async function hear(listeners: Listeners, method: string, params: JsonObject | undefined): Promise<void> {
  const task = method === "notifications/progress" && listeners.get(params?.progressToken as number);
  if (!task || typeof params?.progress !== "number") return;
  try {
    await task.take(params as JsonObject & Progress);
  } catch (error) {
    task.error ??= error;
  }
}
