/**
 * What a config says of its servers beside what connects to them, put around a hub.
 *
 * @module
 */
import { createMemoryStore } from "../../auth/stores/memory.ts";
import { attempt } from "../../egress/attempt.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import { HubLayer } from "../layer.ts";
import { withApproval } from "../pins/approval.ts";
import type { Approve } from "../pins/approval.ts";
import type { ServerIdentity } from "../pins/definition.ts";
import { withPins } from "../pins/mod.ts";
import type { PinnedHub, PinReport } from "../pins/types.ts";
import type { CatalogTool, HubLike } from "../seam.ts";
import type { ServerNotes } from "./types.ts";

/** A server of a config: where it is, and what is noted of it. */
export type NotedServer = ServerIdentity & Pick<ServerNotes, "approved" | "idempotent" | "pins">;

/** Options of {@linkcode withConfig}. */
export interface WithConfigOptions {
  /** Asks somebody before each call of a tool that its config does not list as approved. Without it nobody is asked. */
  readonly approve?: Approve | undefined;
  /**
   * Hears of each tool that `pins` blocks, once for each form in which it was seen. `report.digest` is what `pins` would have to
   * say.
   */
  readonly onBlocked?: ((report: PinReport) => void) | undefined;
}

/**
 * Wraps a hub so that it does what a config says of its servers:
 *
 * - `idempotent`: calls of these tools are repeated when it is not known whether they ran;
 * - `autoApprove`, `alwaysAllow`, `trust`: calls of these go through without a question, where there is an `approve`;
 * - `pins`: of a server that has them only these tools are there, each as long as the SHA-256 of what a model sees of it is the
 *   one that is written there.
 *
 * Names are names here: `*` means nothing, and a tool of one server never counts as that of another. Servers that are added to the
 * hub later, or have no such fields, are as they were.
 *
 * @param servers What `readHubConfig` found.
 * @returns The hub, once the tools that are listed now were looked at. When its catalog changes, call its `check`, or iterate over
 * its `events()`.
 *
 * @example A tool that may be repeated, and one that is pinned
 * ```ts
 * import { openHub } from "@causeway/mcp";
 * import { readHubConfig, withConfig } from "@causeway/mcp/hub";
 * import { createHandler, McpServer } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "files", version: "1.0.0" });
 * server.tool("read", {}, () => "text");
 * server.tool("write", {}, () => "written");
 * const handler = createHandler(server);
 *
 * const digest = "0".repeat(64); // of another definition
 * const config = { files: { url: "http://localhost/mcp", idempotent: ["read"], pins: { read: digest } } };
 * const { servers } = readHubConfig({ mcpServers: config }, { environment: {} });
 * await using hub = await openHub(servers, { fetch: (url, init) => handler(new Request(url, init)) });
 * const blocked: string[] = [];
 * const guarded = await withConfig(hub, servers, { onBlocked: ({ name }) => blocked.push(name) });
 * if (guarded.tools().length > 0 || blocked.join() !== "read,write") throw new Error(blocked.join());
 * ```
 */
export async function withConfig(
  hub: HubLike,
  servers: Readonly<Record<string, NotedServer>>,
  options: WithConfigOptions = {},
): Promise<PinnedHub> {
  const { approve, onBlocked } = options;
  const notes = (server: string): NotedServer | undefined =>
    Object.hasOwn(servers, server) ? servers[server] : undefined;
  const repeating = new RepeatingHub(hub, ({ server, name }) => notes(server)?.idempotent?.includes(name) ?? false);
  const isApproved = ({ server, name }: CatalogTool): boolean => {
    const { approved } = notes(server) ?? {};
    return approved === true || approved?.includes(name) === true;
  };
  const careful = approve ? withApproval(repeating, approve, { readOnly: isApproved }) : repeating;
  return await withPins(careful, {
    // The config is where approvals are kept: what a run learns ends with it.
    store: createMemoryStore(),
    identities: notes,
    servers: (server) => notes(server)?.pins !== undefined,
    onFirstSight: "ask",
    approve: (report) => {
      const { pins = {} } = notes(report.server) ?? {};
      const pin = Object.hasOwn(pins, report.name) ? pins[report.name] : undefined;
      if (pin?.replace(/^sha256[:-]/i, "").toLowerCase() === report.digest) return true;
      attempt(() => onBlocked?.(report));
      return false;
    },
  });
}

/** Says of some tools that they may be called again when it is not known whether they ran. */
class RepeatingHub extends HubLayer {
  readonly #mayRepeat: (tool: CatalogTool) => boolean;

  constructor(hub: HubLike, mayRepeat: (tool: CatalogTool) => boolean) {
    super(hub);
    this.#mayRepeat = mayRepeat;
  }

  override callTool(...[name, args, options]: Parameters<HubLike["callTool"]>): Promise<CallToolResult> {
    const tool = this.hub.findTool(name);
    if (!tool || !this.#mayRepeat(tool)) return this.hub.callTool(name, args, options);
    // By its two parts: what is repeated is what the config names, also when the catalog has changed meanwhile.
    return this.hub.callTool({ server: tool.server, name: tool.name }, args, { idempotent: true, ...options });
  }
}
