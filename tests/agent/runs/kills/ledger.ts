/**
 * The tool's side: which call arrived how often. And the verdict on runs whose processes were killed.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { RunEvent, RunRecord } from "../../../../src/agent/mod.ts";
import { checkEvents } from "../support/runs.ts";
import { rounds } from "./plan.ts";

/** A server that counts calls. */
export interface LedgerServer {
  readonly url: string;
  readonly counts: ReadonlyMap<string, number>;
  close(): void;
}

/** Starts it. It takes 5 to 20 ms for each call. */
export async function startLedger(): Promise<LedgerServer> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const key = (request.url ?? "").slice(1);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    request.resume();
    // A connection that is kept is closed after seconds of silence, which a busy machine makes: a call on it would break off.
    response.setHeader("connection", "close");
    setTimeout(() => response.end("ok"), 5 + Math.random() * 15);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, counts, close };
}

/** What became of some runs. */
export interface Tally {
  runs: number;
  lost: number;
  doubled: number;
  unknown: number;
  /** Steps that a run calls unknown and does not report, or the other way round. */
  unreported: number;
}

/** An empty one. */
export function emptyTally(): Tally {
  return { runs: 0, lost: 0, doubled: 0, unknown: 0, unreported: 0 };
}

/** Holds a run against the ledger. */
export function tallyRun(
  tally: Tally,
  run: RunRecord | undefined,
  counts: ReadonlyMap<string, number>,
  expected: number = rounds,
): void {
  tally.runs++;
  if (run?.end?.type !== "succeeded") {
    tally.lost++;
    return;
  }
  const outcomes: string[] = JSON.parse(run.end.text).filter((text: string) => text !== "accept");
  assertEquals(outcomes.length, expected);
  for (const [at, outcome] of outcomes.entries()) {
    const seen = counts.get(`${run.id}/${at + 1}`) ?? 0;
    if (seen > 1) tally.doubled++;
    if (outcome === "unknown") tally.unknown++;
    const isReported = run.unknown.includes(`tool:${at + 1}`);
    if (isReported !== (outcome === "unknown") || (outcome === "ok" && seen !== 1)) tally.unreported++;
  }
}

/** Sees that nothing was lost, doubled or kept silent. */
export function checkTally(tally: Tally, what: string): void {
  console.log(`${what}: ${JSON.stringify(tally)}`);
  assert(tally.runs > 0);
  assertEquals([tally.lost, tally.doubled, tally.unreported], [0, 0, 0], what);
}

/** Sees that events that were read while processes died are all of them, in order, and the same as what is kept. */
export function checkTail(seen: readonly RunEvent[], kept: readonly RunEvent[]): void {
  checkEvents(kept);
  assertEquals(seen, kept);
}
