/** What is proved, one line each. */
import { type ProcessOptions, type ProcessResult, runProcess } from "../process.ts";

/** Milliseconds for one program: a compiler that takes ten seconds takes a minute where others have most of the machine. */
const longest = 120_000;

/** Counts and prints what is proved. */
export class Checks {
  passed = 0;
  failed = 0;
  skipped = 0;
  readonly #ends: number;

  /** @param limit Milliseconds for all of it together: what runs then is killed, and counts as failed. */
  constructor(limit: number) {
    this.#ends = performance.now() + limit;
  }

  /**
   * Proves one thing.
   *
   * @param prove Throws when it does not hold; its text is shown.
   * @returns Whether it holds.
   */
  async check(name: string, prove: () => Promise<string> | string): Promise<boolean> {
    const started = performance.now();
    try {
      const detail = await prove();
      this.passed++;
      console.log(`passed   ${name}${detail === "" ? "" : `: ${detail}`} (${seconds(started)})`);
      return true;
    } catch (error) {
      this.failed++;
      console.log(`FAILED   ${name} (${seconds(started)})`);
      for (const line of (error instanceof Error ? error.message : String(error)).trimEnd().split("\n")) {
        console.log(`    ${line}`);
      }
      return false;
    }
  }

  /** Says what is not proved, and why. */
  skip(name: string, why: string): void {
    this.skipped++;
    console.log(`skipped  ${name}: ${why}`);
  }

  /**
   * Runs a program that has to end well, within the time that is left.
   *
   * @throws {Error} When it does not.
   */
  async run(command: readonly string[], options: ProcessOptions = {}): Promise<ProcessResult> {
    const timeout = Math.max(1, Math.min(longest, this.#ends - performance.now()));
    const ended = await runProcess(command, { timeout, ...options });
    if (ended.code === 0) return ended;
    const how = ended.timedOut ? `was killed after ${(timeout / 1000).toFixed(0)} s` : `ended with ${ended.code}`;
    throw new Error(`${command.join(" ")} ${how}:\n${ended.output}`);
  }
}

/** Says how two lists differ; the empty text: they do not. */
export function difference(found: Iterable<string>, wanted: Iterable<string>): string {
  const [left, right] = [new Set(found), new Set(wanted)];
  const lines = [
    ...[...left].filter((entry) => !right.has(entry)).map((entry) => `too much: ${entry}`),
    ...[...right].filter((entry) => !left.has(entry)).map((entry) => `missing: ${entry}`),
  ];
  return lines.slice(0, 20).join("\n") + (lines.length > 20 ? `\nand ${lines.length - 20} more` : "");
}

/** Throws when two lists differ. */
export function assertSame(what: string, found: Iterable<string>, wanted: Iterable<string>): void {
  const differs = difference(found, wanted);
  if (differs !== "") throw new Error(`${what}:\n${differs}`);
}

function seconds(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}
