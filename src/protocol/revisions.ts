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

/** The handshake revisions, newest first. `initialize` offers the first (specification: lifecycle, Version Negotiation). */
export const legacyRevisions: readonly Revision[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** The first of `ours` that `theirs` names too, a list or a text; undefined when there is none. */
export function commonRevision(
  ours: readonly Revision[],
  theirs: readonly unknown[] | string | undefined,
): Revision | undefined {
  return ours.find((revision) => theirs?.includes(revision));
}

/**
 * The same, where there has to be one.
 *
 * @throws {UnsupportedVersionError} When the server speaks none of ours.
 */
export function agreedRevision(ours: readonly Revision[], supported: string[]): Revision {
  const revision = commonRevision(ours, supported);
  if (revision) return revision;
  throw new UnsupportedVersionError(`No revision in common with ${supported}`, {
    rpcCode: -32022,
    data: { supported },
  });
}
