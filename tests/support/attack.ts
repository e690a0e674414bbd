/**
 * How attacks are written: a list of cases, and for each what was hit that must not be.
 *
 * @module
 */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";

/**
 * Makes a test of many cases. Its name tells their number, and the runner makes a table of such names: each case was tried, and
 * nothing was hit when the test passed.
 *
 * @param run Tries one case; it gives what was hit. Where it throws, the case is named.
 */
export function attack<Case>(
  name: string,
  cases: Readonly<Record<string, Case>> | readonly Case[],
  run: (value: Case) => Promise<readonly string[] | void>,
): void {
  const entries: readonly (readonly [string, Case])[] = Object.entries(cases);
  test(`${name}: ${entries.length} cases, 0 hits`, async () => {
    const hits: string[] = [];
    for (const [what, value] of entries) {
      const label = Array.isArray(cases) ? JSON.stringify(value) : what;
      try {
        hits.push(...(await run(value) ?? []).map((hit) => `${label}: ${hit}`));
      } catch (error) {
        const reason = error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error);
        throw new Error(`${label}: ${reason}`, { cause: error });
      }
    }
    assert(entries.length > 0, "there are cases");
    assertEquals(hits, []);
  });
}
