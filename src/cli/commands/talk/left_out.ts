/**
 * Tools that a config leaves out (`tools`), or does not have as they are (`pins`). That is for what serves or runs the servers of a
 * config; who names a server and its tool means them, as with a disabled server, and is told.
 *
 * @module
 */
import { passes } from "../../../hub/connection/listing.ts";
import { canonicalJson } from "../../../hub/pins/canonical.ts";
import { definitionOf } from "../../../hub/pins/definition.ts";
import type { Tool } from "../../../protocol/mod.ts";
import { sha256 } from "../../../protocol/web_crypto.ts";
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

/**
 * Tells that a tool is called which the other commands do not have.
 *
 * @param tool Its definition, where that is known.
 */
export async function warnOfLeftOut({ entry }: Destination, name: string, tool: Tool | undefined): Promise<void> {
  const why = leftOut(entry, [name]).length > 0
    ? `its config leaves out the tool "${oneLine(name)}"`
    : tool && await otherThanPinned(entry, tool);
  if (why) await writeError(`causeway: warning: ${why}; it is called since you name it\n`);
}

async function otherThanPinned(entry: Destination["entry"], tool: Tool): Promise<string | undefined> {
  const { pins } = entry?.server ?? {};
  if (!pins) return undefined;
  const digest = await digestOf(tool);
  if (Object.hasOwn(pins, tool.name) && pins[tool.name] === digest) return undefined;
  return `the tool "${oneLine(tool.name)}" is not as "pins" of its config has it (${digest})`;
}

/** As a report on a pin has it; one that is no JSON, or nested too deeply, is none. */
async function digestOf(tool: Tool): Promise<string> {
  try {
    return await sha256(canonicalJson(definitionOf(tool)));
  } catch {
    return "no digest";
  }
}

function leftOut(entry: Destination["entry"], names: readonly string[]): readonly string[] {
  const filter = entry?.server.tools;
  return filter ? names.filter((name) => !passes(name, filter)) : [];
}
