/**
 * `causeway resources <target>`: lists the resources of a server, and its templates.
 *
 * @module
 */
import type { Client } from "../../../client/mod.ts";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  Resource,
  ResourceTemplate,
} from "../../../protocol/mod.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes } from "../../failure.ts";
import { withClient } from "../../session/session.ts";
import { terminalWidth, writeOut } from "../../terminal.ts";
import { firstLine, oneLine, plainJson, said } from "../../text/plain.ts";
import { indent } from "../../text/table.ts";
import { exactWords, tellEnds } from "./common.ts";

/** Lists them, and answers the exit code. */
export async function listResources(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [target = ""] = exactWords(line, ["target"]);
  const wantsTemplates = line.options?.templates !== undefined;
  return await withClient(target, line, {
    signal,
    async use(client, signal) {
      if (line.json) return await printJson(client, signal, wantsTemplates);
      const has = client.info?.capabilities.resources !== undefined;
      const listed: ListResourcesResult = has && !wantsTemplates
        ? await client.listResources({ signal })
        : { resources: [] };
      const others: ListResourceTemplatesResult = has
        ? await client.listResourceTemplates({ signal })
        : { resourceTemplates: [] };
      const { resources } = listed;
      const { resourceTemplates } = others;
      await writeOut(resources.map((one) => resourceText(one.uri, one)).join(""));
      await writeOut(resourceTemplates.map((one) => resourceText(one.uriTemplate, one)).join(""));
      const count = resources.length + resourceTemplates.length;
      const truncated = listed.truncated ?? others.truncated;
      const rejected = [...listed.rejected ?? [], ...others.rejected ?? []];
      await tellEnds(client, { rejected, truncated }, { one: wantsTemplates ? "template" : "resource", count });
      return exitCodes.ok;
    },
  });
}

async function printJson(client: Client, signal: AbortSignal, wantsTemplates: boolean): Promise<number> {
  const { rejected, truncated, ...result } = wantsTemplates
    ? await client.listResourceTemplates({ signal })
    : await client.listResources({ signal });
  await writeOut(plainJson(result) + "\n");
  await tellEnds(client, { rejected, truncated }, { one: wantsTemplates ? "template" : "resource", count: 1 });
  return exitCodes.ok;
}

/** A resource for people: what it is read by, and a line about it. */
function resourceText(uri: string, { name, title, description, ...about }: Resource | ResourceTemplate): string {
  const size = "size" in about && typeof about.size === "number" ? `${about.size} bytes` : "";
  const called = [title ?? name, firstLine(said(description))].filter((text) => text !== "").join(": ");
  const facts = [said(about.mimeType), size].filter((fact) => fact !== "").join(", ");
  const told = `${oneLine(called)}${facts === "" ? "" : ` (${oneLine(facts)})`}`;
  // What it is read by stays whole.
  return [oneLine(uri), ...indent(told, 4, terminalWidth() ?? Infinity)].map((row) => `${row}\n`).join("");
}
