/**
 * Where a modern request says what it speaks (specification 2026-07-28: `_meta`).
 *
 * @module
 */
import { metaPrefix } from "../../protocol/modern.ts";

/** The key of the revision that it speaks. */
export const versionKey: string = metaPrefix + "protocolVersion";
/** The key of what its client can do. */
export const capabilitiesKey: string = metaPrefix + "clientCapabilities";
