/**
 * The matrix over HTTP, both eras: one row for every fault of `tests/servers/hostile.ts`, by the F-numbers of the plan.
 * The type makes a fault without a row an error.
 *
 * @module
 */
import type { FaultName } from "../../servers/hostile.ts";
import { messageRows } from "./http_messages.ts";
import { type HttpRow, right } from "./row.ts";
import { statusRows } from "./http_statuses.ts";
import { streamRows } from "./http_streams.ts";

/** The columns. */
export const httpEras = ["modern", "legacy"] as const;

type Quirk = Extract<FaultName, `quirk-${string}`>;

const quirks: readonly Quirk[] = [
  "quirk-cr",
  "quirk-crlf",
  "quirk-mixed-ends",
  "quirk-comments",
  "quirk-byte-by-byte",
  "quirk-data-lines",
  "quirk-other-events",
  "quirk-event-message",
  "quirk-bom",
  "quirk-json-bom",
  "quirk-no-space",
  "quirk-content-type",
  "quirk-empty-data",
  "quirk-unknown-fields",
  "quirk-result-type-missing",
  "quirk-more-after-answer",
];

/** Streams that are right although few servers write them so: each has to be understood. */
function quirkRows(): Record<Quirk, HttpRow> {
  const row: HttpRow = { f: "-", modern: right, legacy: right };
  return Object.fromEntries(quirks.map((name) => [name, row])) as Record<Quirk, HttpRow>; // the list is checked below
}

/** All rows over HTTP. */
export const httpRows: Readonly<Record<FaultName, HttpRow>> = {
  ...messageRows,
  ...streamRows,
  ...statusRows,
  ...quirkRows(),
};
