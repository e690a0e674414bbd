/**
 * `causeway search <words …>`: finds tools over all servers of a config.
 *
 * @module
 */
import { createToolSearch } from "../../../hub/search/tool_search.ts";
import type { FoundTool } from "../../../hub/search/tool_search.ts";
import type { AuthWorld } from "../../auth/oauth.ts";
import { type CommandLine, optionOf } from "../../command_line.ts";
import { withDeadline } from "../../deadline.ts";
import { exitCodeOf, exitCodes, UsageError } from "../../failure.ts";
import { connectAll, serversOfConfigs, tellDown } from "../../serve/servers.ts";
import { terminalWidth, writeError, writeOut } from "../../terminal.ts";
import { columns } from "../../text/table.ts";
import { firstLine, oneLine, plainJson } from "../../text/plain.ts";
import { openHeardHub } from "../../wire/heard_hub.ts";

/** What it means that a server cannot be reached. */
const what = "not searched:";

/** Searches, and answers the exit code. */
export async function search(line: CommandLine, given: AbortSignal, world: AuthWorld): Promise<number> {
  const query = line.words.join(" ").trim();
  if (query === "") throw new UsageError('It is not said what for: write causeway search "create an issue"');
  const limit = readLimit(optionOf(line, "limit"));
  const names = optionOf(line, "servers")?.split(",").map((name) => name.trim()).filter((name) => name !== "");
  const paths = line.config === undefined ? [] : [line.config];
  const servers = await serversOfConfigs(paths, { names, timeout: line.timeout, world });
  return await withDeadline(given, line.timeout, async (signal) => {
    await using hub = await openHeardHub(line, servers);
    await connectAll(hub, servers, { what, signal });
    const found = createToolSearch(hub).search(query, { limit });
    const reached = hub.status().filter(({ state }) => state === "connected").length;
    if (reached > 0) await writeOut(line.json ? plainJson(found.map(asJson)) + "\n" : asText(found));
    await tellDown(hub, servers, { what });
    if (reached === 0) {
      const [code = exitCodes.unreachable, another] = new Set(Array.from(hub.errors.values(), exitCodeOf));
      return another === undefined ? code : exitCodes.unreachable;
    }
    if (found.length === 0) await writeError("causeway: nothing was found\n");
    return exitCodes.ok;
  });
}

function readLimit(text: string | undefined): number {
  const limit = text === undefined ? 10 : /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit > 0) return limit;
  throw new UsageError(`Cannot read --limit "${text}": write a number from 1 to 9999`);
}

function asText(found: readonly FoundTool[]): string {
  const rows = found.map(({ tool: { server, tool } }) => [
    oneLine(`${server}.${tool.name}`),
    firstLine(tool.description ?? tool.title ?? ""),
  ]);
  return columns(rows, terminalWidth());
}

function asJson({ tool: { server, qualifiedName, tool }, score }: FoundTool): unknown {
  return { server, qualifiedName, score, tool };
}
