/**
 * Calls that were not made, as results that say so.
 *
 * @module
 */
import type { CallToolResult } from "../../protocol/types.ts";
import { failureKey } from "../failure.ts";
import { absentOwner, absentServers, whyAbsent } from "../gateway/lists/absent.ts";
import type { HubLike, QualifiedName } from "../seam.ts";
import type { PinReport } from "./types.ts";

/** What a model is told of a tool that it may not call: no text of the server. */
export function blocked({ server, qualifiedName, status, changes, reason }: PinReport): CallToolResult {
  const fields = [...new Set(changes.map(({ path }) => /^\w+/.exec(path)?.[0] ?? "more"))].join(", ");
  const why = {
    approved: "it has just changed",
    new: "nobody has approved it yet",
    changed: `it is not what was approved any more (${fields})`,
    unknown: reason ?? "nothing is known of it",
  }[status];
  return refusal(server, `The tool "${qualifiedName}" of the server "${server}" is blocked: ${why}. It was not called`);
}

/** The same of a tool that is not listed; where its server is down, why. */
export function unlisted(name: QualifiedName, hub: HubLike): CallToolResult {
  const [server, tool] = typeof name === "string" ? ["", name] : [name.server, name.name];
  const of = server === "" ? "" : ` of the server "${server}"`;
  const owner = server || absentOwner(hub, tool, false)?.server;
  const absent = absentServers(hub).find((one) => one.name === owner);
  const why = absent ? `. ${whyAbsent(absent)}` : "";
  return refusal(
    server,
    `The tool "${tool}"${of} is not listed, so nobody can have approved it. It was not called${why}`,
  );
}

function refusal(server: string, text: string): CallToolResult {
  return {
    content: [{ type: "text", text }],
    isError: true,
    _meta: { [failureKey]: { server, code: "blocked", delivery: "not-sent", retryable: false } },
  };
}
