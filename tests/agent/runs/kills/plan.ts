/**
 * What the killed and the killer agree on.
 *
 * @module
 */

/** Rounds of each run. */
export const rounds = 8;

declare global {
  /** Set where a newer program is built. */
  var CODE_VERSION: number | undefined;
}

/** Which version of the program this is: the second one does a step more, and has newer tables. */
export const version: number = globalThis.CODE_VERSION ?? 1;

/** The id of a run by its number. */
export function idOf(number: number): string {
  return `run_${String(number).padStart(16, "0")}`;
}

/** Calls the tool; the ledger's server counts the calls of each key. */
export async function callLedger(ledger: string, key: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${ledger}/${key}`, { method: "POST", body: new Blob([key]), signal });
  return await response.text();
}
