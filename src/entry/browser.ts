/**
 * The core for browsers: the same as `@causeway/mcp`.
 *
 * @module
 */
export * from "./core.ts";
export { connect } from "./web.ts";
