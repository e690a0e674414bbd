/**
 * The protocol's revisions and the two eras they fall into.
 *
 * @module
 */

import { UnsupportedVersionError } from "./errors.ts";

/** A published revision that this library speaks. */
export type Revision = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28";

/** `modern`: stateless, one request brings back all that belongs to it. `legacy`: sessions that begin with `initialize`. */
export type Era = "modern" | "legacy";

/** The modern revisions, newest first. */
export const modernRevisions: readonly Revision[] = ["2026-07-28"];

/** The handshake revisions, newest first. `initialize` always offers the first (specification: lifecycle, Version Negotiation). */
export const legacyRevisions: readonly Revision[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** The first of `ours` that `theirs` names too, or undefined. */
export function commonRevision(ours: readonly Revision[], theirs: readonly unknown[]): Revision | undefined {
  return ours.find((revision) => theirs.includes(revision));
}

/** The error for a server that speaks none of ours. */
export function nothingInCommon(supported: string[]): UnsupportedVersionError {
  return new UnsupportedVersionError(`No revision in common with ${supported}`, {
    rpcCode: -32022,
    data: { supported },
  });
}
