/**
 * The modern era (2026-07-28) of a server.
 *
 * @module
 */
export { createModern, type ModernOptions } from "./serving.ts";
export { InputNeeded } from "./rounds.ts";
