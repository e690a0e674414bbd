/**
 * What the killed and the killer agree on.
 *
 * @module
 */

/** Rounds of each run. */
export const rounds = 8;

/** The id of a run by its number. */
export function idOf(number: number): string {
  return `run_${String(number).padStart(16, "0")}`;
}

/** Calls the tool; the ledger's server counts the calls of each key. */
export async function callLedger(ledger: string, key: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${ledger}/${key}`, { method: "POST", body: new Blob([key]), signal });
  return await response.text();
}
