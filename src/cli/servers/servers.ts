/**
 * `causeway servers list` and `causeway servers discover`: which servers there are, and which file says so. Nothing is started.
 *
 * @module
 */
import type { CommandLine } from "../command_line.ts";
import { UsageError } from "../failure.ts";
import { didYouMean } from "../../hub/config/nearest.ts";
import { discoverServers } from "./discover.ts";
import { listServers } from "./list.ts";

const verbs: Readonly<Record<string, (line: CommandLine) => Promise<number>>> = {
  list: listServers,
  discover: discoverServers,
};

/** Does what the first word says, and answers the exit code. */
export async function servers(line: CommandLine): Promise<number> {
  const [verb, ...rest] = line.words;
  const usage = "write causeway servers list, or causeway servers discover";
  if (verb === undefined) throw new UsageError(`It is not said what about the servers: ${usage}`);
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) throw new UsageError(`Unknown "${verb}"${didYouMean(verb, Object.keys(verbs))}: ${usage}`);
  if (rest.length > 0) {
    throw new UsageError(`Unexpected ${JSON.stringify(rest[0])} after "${verb}": leave it out`);
  }
  return await run(line);
}
