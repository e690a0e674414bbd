/**
 * What every entry point exports of the hub beside its `openHub`.
 *
 * @module
 */
export { Hub } from "../hub/hub.ts";
export { createOpenHub } from "../hub/open_hub.ts";
export type { OpenHub } from "../hub/open_hub.ts";
export type { HubCallOptions, HubOptions, OpenHubOptions } from "../hub/options.ts";
export type { HubEvents } from "../hub/events.ts";
export type * from "../hub/seam.ts";
