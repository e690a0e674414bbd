/**
 * Roots: the places that a server may work in. Deprecated in 2026-07-28.
 *
 * @module
 */
import type { Meta, Result } from "./basics.ts";

/**
 * A place that the server may work in: a `file://` URI.
 *
 * @deprecated Roots are deprecated in 2026-07-28.
 */
export interface Root {
  /** The folder or file: begins with `file://`. */
  uri: string;
  /** What people call it. */
  name?: string;
  /** Metadata of the client (since 2025-06-18). */
  _meta?: Meta;
}

/**
 * The places that a server may work in.
 *
 * @deprecated Roots are deprecated in 2026-07-28.
 */
export interface ListRootsResult extends Result {
  /** May be empty: then the server has no place to work in. */
  roots: Root[];
}
