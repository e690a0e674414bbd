/**
 * What `createRuns` is told.
 *
 * @module
 */
import type { Clock, Logger, Random, SqlDatabase } from "../../ports.ts";
import { fillIn } from "../../protocol/limits.ts";
import type { RunnableAgent } from "../loop/seam.ts";
import type { Runs } from "./seam.ts";

/** The largest `watchdog`, in milliseconds. */
export const longestWatchdog = 600_000;

/** How much is kept. A `LimitExceededError` names the one that was hit. */
export interface RunLimits {
  /** Runs that have not ended (10,000). */
  readonly open: number;
  /** Runs that one process works on at once (200): others wait for their turn. Who waits for a person is not counted. */
  readonly parallel: number;
  /** Runs that have ended (10,000): the oldest ones go first. */
  readonly kept: number;
  /** Events of one run, pieces of text counted one by one (100,000). */
  readonly events: number;
  /** Characters of one run's task, events, results, questions and answers, as JSON (64 Mi). */
  readonly bytes: number;
  /** Characters of one task, result, event, question or answer, as JSON (16 Mi). */
  readonly valueBytes: number;
  /** How often a run is taken over from a process that died before another step of it was done (25). */
  readonly resumes: number;
}

/** What finds an agent by its name, for a run of somebody. */
export type FindAgent = (
  name: string,
  run: { readonly id: string; readonly principal: string },
) => RunnableAgent | undefined | Promise<RunnableAgent | undefined>;

/** Options of `createRuns`. */
export interface RunsOptions {
  /** Where they are kept: `openDatabase` of `./bun`, `./deno`, `./node`; `createObjectDatabase` of `./workers`. */
  readonly database: SqlDatabase;
  /** The agents by their names, or what finds them. */
  readonly agents: Readonly<Record<string, RunnableAgent>> | FindAgent;
  /** Time. Default: the runtime's. */
  readonly clock?: Clock | undefined;
  /** Chance. Default: the runtime's. */
  readonly random?: Random | undefined;
  /** Within how many milliseconds the runs of a process that died go on, 100 to 600,000 (5,000). */
  readonly watchdog?: number | undefined;
  /** How much is kept. */
  readonly limits?: Partial<RunLimits> | undefined;
  /** How long a run is kept after its end, in milliseconds (30 days). */
  readonly retention?: number | undefined;
  /** How long steps that are under way get to end when it is closed, in milliseconds (1,000). */
  readonly drain?: number | undefined;
  /** Whether nobody else uses the database while this does (false): then what others held is taken at once, as in a Durable Object. */
  readonly alone?: boolean | undefined;
  /**
   * Is told when `resume` has to be called, in milliseconds since 1970, or that nothing has to: for who has an alarm. With it
   * nothing watches by itself while nothing runs. It is called before a run is accepted: what it throws refuses the run.
   */
  readonly onAlarm?: ((at: number | undefined) => void | Promise<void>) | undefined;
  /**
   * Seals what is kept of each run (AES-256-GCM): at least 16 bytes that nobody can guess; a text counts in UTF-8. Of several, the
   * first one seals and all of them open: to change it, put the new one in front, and drop the old one after the next start.
   * Default: what is kept can be read by who can read the database.
   */
  readonly secret?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
  /** Whose runs they are (""): what was sealed for one tenant does not open for another one, though the secret is the same. */
  readonly tenant?: string | undefined;
  /** Takes log lines. */
  readonly logger?: Logger | undefined;
}

/** Runs that are kept in a database. */
export interface DurableRuns extends Runs {
  /**
   * Sends something to a run that waits for it, or will (`steps.waitForEvent`).
   *
   * @returns Whether it was kept: not when there is no such run, or it is over.
   * @throws {TypeError} When the type is no name, or the payload no JSON.
   */
  send(id: string, type: string, payload?: unknown): Promise<boolean>;
  /** Deletes a run and all that is kept of it; one that is not over is cancelled first. Whether there was one. */
  forget(id: string): Promise<boolean>;
  /** Gives up what runs here: `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The options, filled in. */
export interface RunsSettings {
  readonly limits: RunLimits;
  readonly watchdog: number;
  readonly retention: number;
  readonly drain: number;
  readonly alone: boolean;
  readonly secrets: readonly Uint8Array[];
  readonly tenant: string;
}

const leastSecret = 16;
const defaultLimits: RunLimits = {
  open: 10_000,
  parallel: 200,
  kept: 10_000,
  events: 100_000,
  bytes: 64 * 2 ** 20,
  valueBytes: 16 * 2 ** 20,
  resumes: 25,
};

/**
 * Looks at the options and fills in what is missing.
 *
 * @throws {TypeError} When one makes no sense.
 * @throws {RangeError} When a secret is too short.
 */
export function readSettings(options: RunsOptions): RunsSettings {
  const { watchdog = 5_000, retention = 2_592_000_000, drain = 1_000, alone = false } = options;
  checkNumber("watchdog", watchdog, 100, longestWatchdog);
  checkNumber("retention", retention, 0, Number.MAX_SAFE_INTEGER);
  checkNumber("drain", drain, 0, 600_000);
  const limits = fillIn(defaultLimits, options.limits);
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(defaultLimits, name)) {
      throw new TypeError(`There is no limit "${name}": expected ${Object.keys(defaultLimits).join(", ")}`);
    }
    checkNumber(`limits.${name}`, value, name === "kept" || name === "resumes" ? 0 : 1, Number.MAX_SAFE_INTEGER);
  }
  if (typeof options.database?.transaction !== "function") {
    throw new TypeError(`"database" is no database, expected what "openDatabase" gives`);
  }
  if (typeof options.agents !== "function" && (typeof options.agents !== "object" || options.agents === null)) {
    throw new TypeError(`"agents" is ${String(options.agents)}, expected agents by their names, or a function`);
  }
  const { tenant = "" } = options;
  if (typeof tenant !== "string") throw new TypeError(`"tenant" is ${JSON.stringify(tenant)}, expected a text`);
  return { limits, watchdog, retention, drain, alone, secrets: readSecrets(options.secret), tenant };
}

function readSecrets(secret: RunsOptions["secret"]): readonly Uint8Array[] {
  if (secret === undefined) return [];
  const list: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (list.length === 0) throw new TypeError('"secret" has none, expected one or several');
  return list.map((one) => {
    const bytes = typeof one === "string" ? new TextEncoder().encode(one) : one;
    if (!(bytes instanceof Uint8Array)) throw new TypeError(`"secret" is no text and no bytes: expected one of them`);
    if (bytes.length >= leastSecret) return new Uint8Array(bytes);
    throw new RangeError(`"secret" has ${bytes.length} bytes: expected at least ${leastSecret}`);
  });
}

function checkNumber(name: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new TypeError(`"${name}" is ${String(value)}, expected a whole number from ${least} to ${most}`);
}
