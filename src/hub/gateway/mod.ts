/**
 * The gateway: the hub as one server, over HTTP, WebSocket and pipes, in both eras.
 *
 * @module
 */
export { createGateway } from "./gateway.ts";
export type { Gateway } from "./gateway.ts";
export type { GatewayHub, GatewayOptions } from "./options.ts";
export { createRelay } from "./calls/relay.ts";
export type { Relay, RelayOptions } from "./calls/relay.ts";
export type { RelayedCall } from "../relayed_call.ts";
export type { Features } from "../../client/features.ts";
export type { Handlers } from "../../client/input/seam.ts";
export type { Middleware } from "../../client/options.ts";
export type { TaskSupport } from "../../client/task_support.ts";
export type { Logger } from "../../ports.ts";
export type { Methods } from "../../server/seam.ts";
