/**
 * What configs say of tools, put around a hub.
 *
 * @module
 */
import { withConfig } from "../../hub/config/mod.ts";
import type { GatewayHub } from "../../hub/gateway/options.ts";
import type { Hub } from "../../hub/hub.ts";
import type { PinnedHub, PinReport } from "../../hub/pins/mod.ts";
import { writeError } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";
import type { Served } from "./servers.ts";

/** Does what configs say of pins and of repeating; each tool that a pin blocks is told. Whom they approve of is left to who asks. */
export async function guard(hub: Hub, servers: ReadonlyMap<string, Served>): Promise<PinnedHub & GatewayHub> {
  const notes = Array.from(servers, ([name, { idempotent, pins, ...config }]) => {
    const place = "url" in config ? { url: String(config.url) } : "command" in config ? config : {};
    return [name, { ...place, idempotent, pins }] as const;
  });
  const guarded = await withConfig(hub, Object.fromEntries(notes), { onBlocked: (tool) => void tellBlocked(tool) });
  // Resources are watched at the servers themselves.
  return Object.assign(guarded, { client: hub.client.bind(hub) });
}

async function tellBlocked({ server, name, status, digest }: PinReport): Promise<void> {
  const why = status === "changed" ? "it has changed" : '"pins" of the config does not have it as it is';
  await writeError(
    `causeway: warning: the tool ${oneLine(`"${name}" of "${server}"`)} is blocked: ${why} (${digest})\n`,
  );
}
