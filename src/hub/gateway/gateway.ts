/**
 * The hub as one server.
 *
 * @module
 */
import { systemClock, systemRandom } from "../../ports.ts";
import type { Logger } from "../../ports.ts";
import type { Methods } from "../../server/seam.ts";
import { version } from "../../version.ts";
import { GatewayMethods } from "./methods.ts";
import type { GatewayHub, GatewayOptions } from "./options.ts";

/** The hub as one server: `createHandler`, `serveStdio`, `serveChannel` and `createSocketEndpoint` serve it. */
export interface Gateway extends AsyncDisposable {
  /** What it can do, for what serves it. */
  readonly methods: Methods;
  /** Hears of what failed. */
  readonly logger: Logger | undefined;
  /** Ends it: calls that wait for answers, and what is watched. The hub goes on. */
  close(): void;
}

/**
 * Makes one server of a hub.
 *
 * Tools and prompts are called as the hub calls them (`<server>__<name>`), resources have the URIs that their servers gave
 * them (`hub://<server>/<URI>` where more than one server has it). Results go through as they are. The caller's credentials
 * stay here: servers behind are given the hub's own.
 *
 * With a relay, a tool that can only run as a task is called by anybody: the gateway waits for it. Where tasks are served in front
 * (the option `tasks` of what serves it), a call that becomes a task behind is one in front too, of either wire: its id is the
 * gateway's own and belongs to the caller, and what cancels it cancels the server's.
 *
 * @param hub What it serves; it stays its owner's.
 * @throws {TypeError} When there is no hub: a config is none.
 * @throws {RangeError} When `pageSize` or `answerTime` is no positive number.
 *
 * @example Two servers behind one
 * ```ts
 * import { openHub } from "@causeway/mcp";
 * import { createGateway } from "@causeway/mcp/gateway";
 * import { createHandler } from "@causeway/mcp/server";
 *
 * await using hub = await openHub({});
 * const gateway = createGateway(hub, { name: "all-of-them" });
 * const handler = createHandler(gateway);
 * console.assert(typeof handler === "function");
 * ```
 */
export function createGateway(hub: GatewayHub, options: GatewayOptions = {}): Gateway {
  const { name = "causeway-gateway", version: own = version, title, description, icons, websiteUrl, ...rest } = options;
  const { pageSize = 100, answerTime = 300_000, clock = systemClock, random = systemRandom } = rest;
  for (const [option, value] of Object.entries({ pageSize, answerTime })) {
    if (!(value >= 1 && Number.isFinite(value))) {
      throw new RangeError(`Cannot make a gateway: "${option}" is ${value}, expected a number of 1 or more`);
    }
  }
  if (typeof hub?.callTool !== "function") {
    throw new TypeError('Cannot make a gateway: expected a hub, such as "openHub" gives');
  }
  const methods = new GatewayMethods(hub, {
    info: {
      name,
      version: own,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(icons && { icons }),
      ...(websiteUrl !== undefined && { websiteUrl }),
    },
    instructions: rest.instructions,
    relay: rest.relay,
    caller: rest.caller ?? ((context) => context.auth?.principal),
    takesTurns: rest.takesTurns ?? false,
    names: rest.names ?? "qualified",
    pageSize: Math.floor(pageSize),
    parkTime: answerTime,
    clock,
    random,
    logger: rest.logger,
  });
  const close = (): void => methods.close();
  return { methods, logger: rest.logger, close, [Symbol.asyncDispose]: () => Promise.resolve(close()) };
}
