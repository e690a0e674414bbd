/**
 * What the other types are made of: metadata, results, lists, icons and hints.
 *
 * @module
 */
import type { JsonObject, RequestId } from "../json_rpc.ts";

/** Metadata of a request, result or object; keys with a prefix belong to whoever owns the prefix. */
export type Meta = JsonObject;

/** Who speaks in a message, and for whom content is meant. */
export type Role = "user" | "assistant";

/** Where a list goes on: opaque, also when it is empty. Only a missing one (or null) is the end. */
export type Cursor = string;

/** What names a request in its progress notices: a string or a safe integer, unique among the running requests. */
export type ProgressToken = RequestId;

/** Levels of log messages, least first. */
export type LoggingLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** A JSON Schema as it came from the server or the caller. */
export type JsonSchema = JsonObject | boolean;

/** The `_meta` of a modern request: all that a stateless server has to know (2026-07-28: basic, Per-request protocol fields). */
export interface RequestMeta extends Meta {
  /** The revision that the request is written in; over HTTP the `MCP-Protocol-Version` header says the same. */
  "io.modelcontextprotocol/protocolVersion"?: string;
  /** What the client can do for the server during this one request. */
  "io.modelcontextprotocol/clientCapabilities"?: JsonObject;
  /** Who is asking, as an {@linkcode Implementation}; nobody checks it. */
  "io.modelcontextprotocol/clientInfo"?: JsonObject;
  /** Asks for log messages of this level and above; without it there are none. */
  "io.modelcontextprotocol/logLevel"?: LoggingLevel;
  /** Asks for progress notices under this token; without it there are none. */
  progressToken?: ProgressToken;
  /** The position in a trace (W3C Trace Context). */
  traceparent?: string;
  /** What tracing systems add to the position (W3C Trace Context). */
  tracestate?: string;
  /** Properties that travel with a trace (W3C Baggage). */
  baggage?: string;
}

/** A picture for a server, tool, prompt or resource. Untrusted: see the specification's rules for icons. */
export interface Icon {
  /** Where the picture is: an `https:`, `http:` or `data:` URI. Never fetched by this library. */
  src: string;
  /** Overrides the type that the source tells, such as `image/png`. */
  mimeType?: string;
  /** Sizes it is good for, as `"48x48"`, or `"any"`; missing: every size. */
  sizes?: readonly string[];
  /** The background it was drawn for; missing: both. */
  theme?: "light" | "dark";
}

/** Hints about content. */
export interface Annotations {
  /** For whom it is meant; missing: for both. */
  audience?: readonly Role[];
  /** From 0 (may be left out) to 1 (has to be there). */
  priority?: number;
  /** When the content changed last, in ISO 8601 (since 2025-06-18). */
  lastModified?: string;
}

/** What every result may carry. */
export interface Result {
  /** Metadata of the answer; a modern server says here who it is. */
  _meta?: Meta;
  /** Modern: `complete`, `input_required`, or a value of a declared extension. */
  resultType?: string;
}

/** How long and for whom a result may be kept (2026-07-28: caching). */
export interface CacheHints {
  /** Milliseconds for which the result counts as fresh; missing or 0: not at all. */
  ttlMs?: number;
  /** `public`: for every caller; `private` (assumed when missing): only for the authorization that it was given to. */
  cacheScope?: "public" | "private";
}

/** A page of a list, or all of it: then `nextCursor` is missing. */
export interface ListResult extends Result, CacheHints {
  /** Asks for the next page; missing on the last one. */
  nextCursor?: Cursor;
  /** Set by this library when a cap ended the walk before the list did: what was gathered is here. */
  truncated?: "pages" | "items" | "time" | "bytes";
  /**
   * Set by this library: what was left out, with the reason (no such item, a tool's name that stands twice, an invalid `x-mcp-header`).
   * Its name is its URI where it has no name, and empty where it has neither.
   */
  rejected?: { name: string; reason: string }[];
}

/** A page of a list is asked for. */
export interface PaginatedRequest {
  /** The `nextCursor` of the page before; missing: the first page. */
  cursor?: Cursor;
  /** Metadata for the server. */
  _meta?: RequestMeta;
}
