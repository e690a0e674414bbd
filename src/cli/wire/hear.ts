/**
 * Who hears what goes over the wire: the person (`--verbose`), and a recording (`causeway record`).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { openSync, writeSync } from "node:fs";
import { isObject } from "../../protocol/json_rpc.ts";
import type { CommandLine } from "../command_line.ts";
import { OutputError, UsageError } from "../failure.ts";
import { whyNot } from "../read.ts";
import { writeError } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";
import type { HearWire, WireLine } from "./tap.ts";

const longest = 4_000;

/**
 * What is to be told of the wire; undefined where nobody wants to hear of it.
 *
 * @param redact Takes secrets out of texts.
 * @throws {UsageError} When the recording cannot be begun.
 */
export function hearWire(
  line: CommandLine,
  redact: (text: string, server: string | undefined) => string,
): HearWire | undefined {
  const { verbose, record, unrecorded = () => {} } = line;
  if (!verbose && record === undefined) return undefined;
  const write = record === undefined ? undefined : openRecording(record, unrecorded);
  return (wire) => {
    const { server, message } = wire;
    const own = (text: string): string => redact(text, server);
    if (verbose) show(wire, own);
    write?.(`${JSON.stringify({ ...wire, message: withoutSecrets(message, own) })}\n`);
  };
}

function show({ at, to, message, server }: WireLine, redact: (text: string) => string): void {
  const text = oneLine(redact(JSON.stringify(message)));
  const shown = text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text;
  const whose = server === undefined ? "" : `${oneLine(server)} `;
  void writeError(`${to === "server" ? ">" : "<"} ${whose}${at} ms ${shown}\n`);
}

/** The file is for this user alone, and never one that is there already. That it is full is no reason to break the wire off. */
function openRecording(path: string, unrecorded: (error: Error) => void): (text: string) => void {
  try {
    const file = openSync(path, "wx", 0o600);
    let isFull = false;
    return (text) => {
      try {
        for (let rest = Buffer.from(text); !isFull && rest.length > 0;) rest = rest.subarray(writeSync(file, rest));
      } catch (error) {
        isFull = true;
        unrecorded(new OutputError(`Cannot record all to "${path}": ${whyNot(error)}`));
      }
    };
  } catch (error) {
    const isThere = isObject(error) && error.code === "EEXIST";
    const why = isThere ? "there is such a file already; name another" : whyNot(error);
    throw new UsageError(`Cannot record to "${path}": ${why}`);
  }
}

/** Text by text, so that what is written stays JSON. */
function withoutSecrets(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, redact));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutSecrets(inner, redact)]));
}
