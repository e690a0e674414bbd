/**
 * Runs in a Durable Object, kept going by its alarm.
 *
 * @module
 */
import { McpError } from "../../protocol/errors.ts";
import { createRuns } from "./durable_runs.ts";
import type { DurableRuns, RunsOptions } from "./options.ts";
import { refusedRuns } from "./refused_runs.ts";

/** The part of a Durable Object's storage that keeps an alarm. */
export interface ObjectAlarm {
  /** When it rings, or null. */
  getAlarm(): Promise<number | null>;
  /** Sets it, in place of the one before. */
  setAlarm(time: number): Promise<void>;
  /** Takes it back. */
  deleteAlarm(): Promise<void>;
}

/** Options of {@linkcode createObjectRuns}. */
export interface ObjectRunsOptions extends Omit<RunsOptions, "onAlarm" | "alone"> {
  /** `state.storage` of the object. */
  readonly storage: ObjectAlarm;
}

/** Runs in a Durable Object. */
export interface ObjectRuns extends DurableRuns {
  /**
   * Goes on: call it from the `alarm()` of the object. So that the platform's six tries are not used up, it rejects only when
   * no alarm could be set: then the platform is to try again.
   */
  alarm(): Promise<void>;
}

/**
 * Keeps runs of agents in a Durable Object with SQLite. Its alarm is set before a run is accepted and is never further ahead than
 * `watchdog` while something runs: when the object is evicted or its machine dies, the alarm wakes it up again. Whatever else wakes
 * it up first does that as well.
 *
 * A database that cannot be used (the wrong secret, a newer program's) is no end of its alarm: each call is refused with the reason,
 * and the alarm rings on, until an object comes that can.
 *
 * @param options Those of `createRuns`; the `database` is that of `createObjectDatabase`. `secret` needs the flag `nodejs_compat`.
 * @throws {TypeError} When an option makes no sense, or the runtime cannot seal.
 * @throws {RangeError} When a secret is shorter than 16 bytes.
 *
 * @example The object
 * ```ts
 * import { createObjectRuns, type ObjectAlarm, type ObjectRuns } from "@causeway/mcp/agent";
 * import { createObjectDatabase, type ObjectSqlStorage } from "@causeway/mcp/workers";
 *
 * export class RunsObject {
 *   runs: ObjectRuns;
 *   constructor({ storage }: { storage: ObjectSqlStorage & ObjectAlarm }) {
 *     this.runs = createObjectRuns({ database: createObjectDatabase(storage), storage, agents: {} });
 *   }
 *   alarm(): Promise<void> {
 *     return this.runs.alarm();
 *   }
 * }
 * ```
 */
export function createObjectRuns({ storage, ...options }: ObjectRunsOptions): ObjectRuns {
  const runs = openRuns(storage, options);
  const { clock = { now: () => Date.now() }, watchdog = 5_000, logger } = options;
  const alarm = async (): Promise<void> => {
    let failed: { error: unknown } | undefined;
    try {
      // Before all else: whatever goes wrong now, it rings again.
      await storage.setAlarm(clock.now() + watchdog);
    } catch (error) {
      failed = { error };
    }
    try {
      await runs.resume();
    } catch (error) {
      logger?.({ level: "error", message: "Runs cannot go on", fields: { reason: String(error) } });
    }
    // What went on may have set one.
    if (failed && await storage.getAlarm().catch(() => null) === null) throw failed.error;
  };
  // Whatever woke the object up: what it held before goes on, and has an alarm.
  runs.resume().catch((error: unknown) => {
    logger?.({ level: "error", message: "Runs cannot go on", fields: { reason: String(error) } });
  });
  return Object.assign(runs, { alarm });
}

function openRuns(storage: ObjectAlarm, options: Omit<ObjectRunsOptions, "storage">): DurableRuns {
  try {
    const onAlarm = (at: number | undefined): Promise<void> =>
      at === undefined ? storage.deleteAlarm() : storage.setAlarm(at);
    return createRuns({ ...options, alone: true, onAlarm });
  } catch (error) {
    // An object that cannot be made loses its alarm, after six tries.
    if (error instanceof McpError) return refusedRuns(error);
    throw error;
  }
}
