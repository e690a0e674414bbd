/**
 * What every entry point exports beside its `connect`.
 *
 * @module
 */
export * from "../protocol/mod.ts";
export * from "../transport/mod.ts";
export { allFeatures, cacheFeature, Client, inputFeature, isSnapshot, listenFeature } from "../client/mod.ts";
export { phaseOf, skillsOf, taskSupport, telemetry } from "../client/mod.ts";
export type * from "../client/mod.ts";
export { connectTarget } from "./targets.ts";
export type { Bindings, ConnectOptions, Target } from "./targets.ts";
export type { Connect } from "./connect.ts";
