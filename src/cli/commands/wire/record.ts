/**
 * `causeway record <file> <command …>`: the command runs as ever, and what goes over the wire is kept, a line for each message.
 * Its words are read with those of its command; what arrives here has no command to record.
 *
 * @module
 */
import { UsageError } from "../../failure.ts";

/** Says how it is written. */
export function record(): Promise<number> {
  throw new UsageError(
    "It is not said what to record: write causeway record <file> <command …>, as in causeway record wire.ndjson tools <target>",
  );
}
