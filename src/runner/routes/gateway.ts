/**
 * The tenant's servers as one MCP server, for each principal as it may use them.
 *
 * @module
 */
import { createGateway } from "../../hub/gateway/gateway.ts";
import type { WebSocketLike } from "../../ports.ts";
import { createHandler } from "../../server/http/mod.ts";
import type { Handler } from "../../server/http/mod.ts";
import type { AuthInfo } from "../../server/definitions.ts";
import { createSocketEndpoint } from "../../server/websocket/endpoint.ts";
import type { SocketEndpoint } from "../../server/websocket/endpoint.ts";
import { scopeHub } from "../access/scoped_hub.ts";
import type { ScopedHub } from "../access/scoped_hub.ts";
import { proofOf } from "../access/access.ts";
import { denyAll } from "../access/policy.ts";
import { watchStanding } from "../access/standing.ts";
import { nameIn } from "../access/types.ts";
import type { Principal } from "../access/types.ts";
import type { RunnerParts } from "../parts.ts";
import type { Call } from "../rest/call.ts";
import type { Front } from "../rest/front.ts";
import { problemReply, Refusal, refusalOf } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";
import type { Lease } from "../tenants/hub_pool.ts";
import { GatewayMeter } from "./gateway_meter.ts";

const path = "/mcp";
/** How long an admitted socket may take to be there, in milliseconds. */
const patience = 30_000;

/** The route of the gateway. */
export const gatewayRoutes: readonly Route[] = [{
  method: "ALL",
  path,
  summary:
    "The tenant's servers as one MCP server (Streamable HTTP, every revision; WebSocket where the host upgrades). " +
    "Once a caller is let in, errors are JSON-RPC's.",
  policy: { kind: "decided", actions: ["call", "read"], about: "each tool, resource and prompt" },
  replies: { 200: { description: "As MCP has it", type: "application/json" } },
  isForeign: true,
  async answer(call) {
    const { lease } = await call.hub();
    const { tenant, parts } = call;
    const request = call.counted();
    const door = await doorOf(lease, call.principal, { tenant, parts, request, holds: (work) => call.goesOn(work) });
    return await door.http(request);
  },
}];

/** One principal's way to the gateway of a tenant. */
class Door {
  readonly scoped: ScopedHub;
  readonly #handler: Handler;
  readonly #endpoint: SocketEndpoint;
  readonly #closeGateway: () => void;
  readonly #tenant: string;
  readonly #meter: GatewayMeter;
  /** Who sends: the proof of one request may end sooner than that of another. */
  readonly #callers = new WeakMap<Request, AuthInfo>();

  constructor(scoped: ScopedHub, { hub }: Lease, tenant: string, parts: RunnerParts) {
    this.#tenant = tenant;
    // Resources are watched at the servers themselves; which of them, the scoped hub says.
    const client = hub.client?.bind(hub);
    const { clock, random, logger, limits, keepAlive, secret } = parts;
    const gateway = createGateway(client ? Object.assign(scoped, { client }) : scoped, {
      name: "causeway-runner",
      relay: parts.relay?.(tenant),
      clock,
      random,
      logger,
    });
    const options = {
      // Host and Origin were looked at before.
      allowedHosts: "*" as const,
      allowedOrigins: "*" as const,
      auth: (request: Request) => this.#callers.get(request),
      clock,
      random,
      logger,
      limits,
      secret,
    };
    this.scoped = scoped;
    this.#closeGateway = () => gateway.close();
    this.#meter = new GatewayMeter(parts.quotas);
    const metered = this.#meter.metered(gateway);
    this.#handler = createHandler(metered, { ...options, keepAlive });
    this.#endpoint = createSocketEndpoint(metered, options);
  }

  async http(request: Request): Promise<Response> {
    return await this.#handler(request);
  }

  async socket(request: Request, principal: Principal): ReturnType<SocketEndpoint["admit"]> {
    const accept = await this.#endpoint.admit(request);
    if (typeof accept !== "function") return accept;
    return (socket) => accept(this.#meter.counted(socket, principal.tenant));
  }

  /** Says whose request it is: nobody else is let in. */
  isOf(request: Request, principal: Principal, holds: (work: Promise<unknown>) => void): void {
    const { scopes, clientId, expiresAt } = principal;
    const auth = { principal: nameIn(principal, this.#tenant), scopes, clientId, expiresAt };
    this.#callers.set(request, auth);
    this.#meter.isPaidBy(auth, principal.tenant, holds);
  }

  close(): void {
    this.#handler.close();
    void this.#endpoint.close();
    this.#closeGateway();
  }
}

/** The door of a principal, made once for as long as the hub is there. Its lists are by the policy as it is now. */
async function doorOf(
  lease: Lease,
  principal: Principal,
  { tenant, parts, request, holds = () => {} }: Pick<Call, "tenant" | "parts" | "request"> & {
    /** Told what the request has begun. A socket holds its place for as long as it is open. */
    readonly holds?: (work: Promise<unknown>) => void;
  },
): Promise<Door> {
  const scoped = await scopeHub(lease.hub, parts.access.judge(principal, tenant));
  const door = lease.part(`mcp:${proofOf(principal)}`, () => new Door(scoped, lease, tenant, parts));
  if (door.scoped !== scoped) await door.scoped.renew();
  door.isOf(request, principal, holds);
  return door;
}

/** What a host asks before it upgrades a request to a WebSocket. */
export interface RunnerSockets {
  /** Judges a request: gives what takes the socket, or the reply that sends it away. Never rejects. */
  admit(request: Request): Promise<((socket: WebSocketLike) => unknown) | Response>;
  /** The most that one frame may have, in characters. */
  readonly messageBytes: number | undefined;
  /** Ends all sockets. */
  close(): Promise<void>;
}

/** Makes what serves WebSockets at `/mcp`. */
export function createSockets(front: Front, parts: RunnerParts): RunnerSockets {
  return {
    messageBytes: parts.limits.messageBytes,
    async admit(request) {
      try {
        if (new URL(request.url).pathname !== path) throw new Refusal(404, "not_found", "There is nothing here");
        return await admit(request, front, parts);
      } catch (error) {
        return problemReply(refusalOf(error, parts.logger), undefined);
      }
    },
    // They end with the hubs that they belong to.
    close: () => Promise.resolve(),
  };
}

async function admit(
  request: Request,
  front: Front,
  parts: RunnerParts,
): Promise<((socket: WebSocketLike) => unknown) | Response> {
  const { caller, tenant, leave } = await front.admit(request);
  const { principal } = caller;
  let release = leave;
  try {
    const can = await parts.access.judge(principal, tenant).open();
    if (can === denyAll) throw new Refusal(404, "not_found", "There is nothing here");
    const lease = await parts.pool.lease(tenant);
    release = () => {
      lease.release();
      leave();
    };
    const door = await doorOf(lease, principal, { tenant, parts, request });
    const accept = await door.socket(request, principal);
    if (typeof accept !== "function") {
      release();
      return accept;
    }
    // A host that never comes with the socket must not hold the hub.
    const stop = parts.clock.schedule(release, patience, { background: true });
    // The host may have no more of the request once it is upgraded.
    const shown = new Request(request.url, { headers: request.headers });
    return (socket) => {
      stop();
      const server = accept(socket);
      // Requests say each time who sends them, and a socket only once.
      const { clock, access } = parts;
      const isGood = () => access.isStill(shown, caller);
      const unwatch = watchStanding({ clock, isGood, gone: () => void server.close() });
      const end = (): void => {
        unwatch();
        release();
      };
      void server.closed.then(end, end);
      return server;
    };
  } catch (error) {
    release();
    throw error;
  }
}
