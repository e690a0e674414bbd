/**
 * Tools that a config leaves out (`tools`). They are for what serves or runs the servers of a config; who names a server and its tool
 * means them, as with a disabled server, and is told.
 *
 * @module
 */
import { passes } from "../../../hub/connection/listing.ts";
import type { Destination } from "../../target/target.ts";
import { writeError } from "../../terminal.ts";
import { firstLine, oneLine } from "../../text/plain.ts";

/** Tells which tools of a list the other commands do not have. */
export async function tellLeftOut({ entry }: Destination, names: readonly string[]): Promise<void> {
  const left = leftOut(entry, names);
  if (left.length === 0) return;
  const shown = firstLine(left.map((name) => `"${oneLine(name)}"`).join(", "), 400);
  await writeError(`causeway: its config leaves these out for serve, bridge, run, search and start: ${shown}\n`);
}

/** Tells that a tool is called which the other commands do not have. */
export async function warnOfLeftOut({ entry }: Destination, name: string): Promise<void> {
  if (leftOut(entry, [name]).length === 0) return;
  await writeError(
    `causeway: warning: its config leaves out the tool "${oneLine(name)}"; it is called since you name it\n`,
  );
}

function leftOut(entry: Destination["entry"], names: readonly string[]): readonly string[] {
  const filter = entry?.server.tools;
  return filter ? names.filter((name) => !passes(name, filter)) : [];
}
