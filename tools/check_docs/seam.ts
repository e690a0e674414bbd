/** What stand-ins are given. */

/** One block of a page, as a program. */
export interface Program {
  /** Where it is. */
  readonly path: string;
  /** What it has said with `console.log` so far; values that are no text as JSON. */
  readonly lines: readonly string[];
  /** Runs it, and gives what it exports. */
  load(): Promise<Readonly<Record<string, unknown>>>;
}

/** Runs a program in a world that answers as the page says it would; throws when something else comes of it. */
export type StandIn = (program: Program) => Promise<void>;
