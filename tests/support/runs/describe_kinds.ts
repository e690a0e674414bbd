/**
 * Tests of runs, each in two kinds.
 *
 * @module
 */
import { describe } from "node:test";
import { createRuns } from "../../../src/agent/mod.ts";
import type { DurableRuns, RunsOptions } from "../../../src/agent/mod.ts";
import { secret, withRuns } from "../../agent/runs/support/runs.ts";

/** How runs are made in one kind of tests. */
export interface Kind {
  /** Whether what is kept is sealed: then what takes long is done in part. */
  readonly isSealed: boolean;
  createRuns(options: RunsOptions): DurableRuns;
  /** Runs over an empty database. */
  withRuns(options: Omit<RunsOptions, "database">, use: (runs: DurableRuns) => Promise<void>): Promise<void>;
}

/**
 * The same tests twice: with what is kept as it is, and with all of it sealed.
 *
 * @param options `isLong`: sealed, they run on Bun and in workerd alone; how the other two seal, shorter tests show.
 */
export function describeKinds(
  name: string,
  tests: (kind: Kind) => void,
  { isLong = false }: { readonly isLong?: boolean } = {},
): void {
  const hasTime = "Bun" in globalThis || globalThis.navigator?.userAgent === "Cloudflare-Workers";
  for (const more of isLong && !hasTime ? [{}] : [{}, { secret }]) {
    describe(`${name}${"secret" in more ? ", sealed" : ""}`, () => {
      tests({
        isSealed: "secret" in more,
        createRuns: (options) => createRuns({ ...options, ...more }),
        withRuns: (options, use) => withRuns({ ...options, ...more }, use),
      });
    });
  }
}
