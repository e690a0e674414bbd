/**
 * Servers that are down and were never listed: what is not there may be theirs, and whoever asks for it is told why it is missing.
 *
 * @module
 */
import { excerpt } from "../../../protocol/excerpt.ts";
import { labelServers, separator } from "../../catalog/names.ts";
import type { HubLike, ServerState, ServerStatus } from "../../seam.ts";

/** A server that is known by its name alone. */
export type AbsentServer = Pick<ServerStatus, "name" | "state" | "lastError">;

const down: ReadonlySet<ServerState> = new Set(["connecting", "authorizing", "reconnecting", "failed"]);

/** The servers of which nothing is known yet, though they are wanted. */
export function absentServers(hub: HubLike): readonly AbsentServer[] {
  const missing = hub.status().filter(({ state }) => down.has(state));
  if (missing.length === 0) return missing;
  const listed = new Set(hub.catalog().servers.map(({ name }) => name));
  return missing.filter(({ name }) => !listed.has(name));
}

/**
 * Whose something must be that nobody lists, and what it is called there.
 *
 * @param isOwn Whether names stand without that of their server: then it is the only server that is down.
 */
export function absentOwner(
  hub: HubLike,
  name: string,
  isOwn: boolean,
): { readonly server: string; readonly name: string } | undefined {
  const absent = absentServers(hub);
  if (absent.length === 0) return undefined;
  const starts = [...labelServers(hub.status().map((server) => server.name))].flatMap(([server, label]) => [
    { server, start: label + separator },
    { server, start: `${server}.` },
  ]);
  // The name of one server may begin as that of another one: `docs` and `docs.v2`.
  const named = starts.filter(({ start }) => name.startsWith(start)).sort((one, two) =>
    two.start.length - one.start.length
  );
  const owner = named.find(({ server }) => absent.some((one) => one.name === server));
  if (owner) return { server: owner.server, name: name.slice(owner.start.length) };
  const [only, another] = absent;
  return isOwn && !named.length && only && !another ? { server: only.name, name } : undefined;
}

/** Why nothing of a server is there, for models and people. */
export function whyAbsent({ state, lastError }: AbsentServer): string {
  const why = state === "authorizing"
    ? "somebody has to sign in first"
    : excerpt(lastError?.message ?? "it is being connected", 500);
  return `This server cannot be used now, and nothing of it is listed: ${why}`;
}
