/**
 * The handshake revisions, 2024-11-05 to 2025-11-25: one session for each client.
 *
 * @module
 */
export { createLegacySession } from "./session.ts";
export type { LegacySessionOptions } from "./session.ts";
