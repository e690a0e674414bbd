/**
 * Subjects for the suite of transports.
 *
 * @module
 */
import type { Era, Transport } from "../../mod.ts";
import type { LedgerView } from "../servers/core/ledger.ts";
import { isJsonObject, type JsonObject, objectAt } from "../servers/core/wire.ts";
import type { PeerState, TransportSubject } from "../suites/transport.ts";

/** A subject whose peer is in the same process. */
export function subjectOf(transport: Transport, era: Era, peer: () => LedgerView): TransportSubject {
  return {
    transport,
    era,
    state() {
      const { executions, cancellations, violations } = peer();
      const calls: Record<string, number> = {};
      for (const { tool } of executions) calls[tool] = (calls[tool] ?? 0) + 1;
      return Promise.resolve({ calls, cancelled: cancellations.length, violations });
    },
  };
}

/** What the test server says about one of its peers. */
export async function remoteState(base: string, path: string): Promise<PeerState> {
  const response = await fetch(`${base}/control${path}`);
  const value: unknown = await response.json();
  const state: JsonObject = isJsonObject(value) ? value : {};
  const calls: Record<string, number> = {};
  for (const [tool, count] of Object.entries(objectAt(state, "calls"))) calls[tool] = Number(count);
  const { cancellations, violations } = state;
  return {
    calls,
    cancelled: Array.isArray(cancellations) ? cancellations.length : 0,
    violations: Array.isArray(violations) ? violations.map(String) : [],
  };
}

/** A name that no other run in any runtime uses. */
export function fresh(): string {
  return `t${crypto.randomUUID().slice(0, 8)}`;
}
