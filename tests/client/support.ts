/**
 * What the tests of the client share; the tests of the transports share it too.
 *
 * @module
 */
export * from "../support/clients.ts";
