/**
 * What every entry point exports beside its `connect`.
 *
 * @module
 */
export * from "../protocol/mod.ts";
export * from "../transport/mod.ts";
export { allFeatures, cacheFeature, Client, inputFeature, isSnapshot, listenFeature } from "../client/mod.ts";
export type * from "../client/mod.ts";
