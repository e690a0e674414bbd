/**
 * The gateway: the hub as one server, over HTTP, WebSocket and pipes, in both eras.
 *
 * @module
 */
export { createGateway } from "./gateway.ts";
export type { Gateway } from "./gateway.ts";
export type { GatewayHub, GatewayOptions } from "./options.ts";
export { createRelay } from "./relay.ts";
export type { Relay, RelayOptions } from "./relay.ts";
