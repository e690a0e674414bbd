/**
 * How long it takes until a broken call is told, in real milliseconds: for the bench, not for the tests.
 *
 * @module
 */
import { connect, McpError } from "../../../mod.ts";
import type { FaultName } from "../../servers/hostile.ts";
import { evenRandom } from "./harness.ts";

/** The faults of the goal, and how each is told over HTTP. */
export const measuredFaults: readonly (readonly [FaultName, string])[] = [
  ["ends-without-answer", "OutcomeUnknownError"],
  ["breaks-at-once", "OutcomeUnknownError"],
  ["breaks-mid-event", "OutcomeUnknownError"],
  ["truncated-event", "OutcomeUnknownError"],
  ["truncated-json", "ProtocolViolationError"],
  ["bad-json", "ProtocolViolationError"],
  ["bad-json-body", "ProtocolViolationError"],
  ["wrong-id", "ProtocolViolationError"],
  ["string-id", "resolves"],
  ["empty-202", "ProtocolViolationError"],
  ["html-200", "ProtocolViolationError"],
  ["result-and-error", "ProtocolViolationError"],
  ["duplicate-answer", "resolves"],
];

/** One fault, measured. */
export interface Measured {
  readonly name: string;
  readonly era: "modern" | "legacy";
  readonly ends: string;
  /** Milliseconds from the call to its end, each time. */
  readonly took: readonly number[];
}

/** Measures the faults over HTTP against the test server, one call at a time. */
export async function measureLoopback(base: string, times: number): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const era of ["modern", "legacy"] as const) {
    for (const [name] of measuredFaults) {
      const url = `${base}/hostile@${crypto.randomUUID()}/${name}/${era}/mcp`;
      const client = await connect(url, { random: evenRandom });
      await client.listTools(); // the connection is warm
      const ends = new Set<string>();
      const took: number[] = [];
      for (let count = 0; count < times; count++) {
        const startedAt = performance.now();
        ends.add(await client.callTool("echo").then(() => "resolves", nameOf));
        took.push(performance.now() - startedAt);
      }
      await client.close();
      measured.push({ name, era, ends: [...ends].join(" or "), took });
    }
  }
  return measured;
}

/** The class of an error. */
export function nameOf(error: unknown): string {
  return error instanceof McpError ? error.constructor.name : `strange: ${String(error)}`;
}
