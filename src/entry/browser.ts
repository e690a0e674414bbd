/**
 * The core for browsers: the same as `@causeway/mcp`.
 *
 * @module
 */
export * from "./core.ts";
export * from "./hub.ts";
export { connect, openHub } from "./web.ts";
