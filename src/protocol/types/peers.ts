/**
 * Who the two sides are, what they can do, and how they say so.
 *
 * @module
 */
import type { JsonObject } from "../json_rpc.ts";
import type { CacheHints, Icon, Meta, Result } from "./basics.ts";

/** Who a client or server says it is. For display and logs, never for decisions. */
export interface Implementation {
  /** What programs call it; shown to people where there is no title. */
  name: string;
  /** Its own version, in whatever form it counts. */
  version: string;
  /** What people call it (since 2025-06-18). */
  title?: string;
  /** What it is for (since 2025-11-25). */
  description?: string;
  /** A page about it (since 2025-11-25). */
  websiteUrl?: string;
  /** Its pictures, to choose one by size and background (since 2025-11-25). */
  icons?: readonly Icon[];
}

/** What a client can do for a server. Filled in from the handlers that exist. */
export interface ClientCapabilities {
  /** It can ask its user: by a form, by a page to visit (since 2025-11-25). Empty means by a form (since 2025-06-18). */
  elicitation?: { form?: JsonObject; url?: JsonObject };
  /** It can ask a model; `context` and `tools` (since 2025-11-25) say what may go along. Deprecated in 2026-07-28. */
  sampling?: { context?: JsonObject; tools?: JsonObject };
  /** It can name the places to work in, and tells when they change. Deprecated in 2026-07-28. */
  roots?: { listChanged?: boolean };
  /** It runs requests of the server as tasks (2025-11-25 only). */
  tasks?: JsonObject;
  /** Extensions that it speaks, by name, each with its settings (2026-07-28). */
  extensions?: Record<string, JsonObject>;
  /** What no specification knows, by name. */
  experimental?: Record<string, JsonObject>;
}

/** What a server can do. */
export interface ServerCapabilities {
  /** It has tools, and tells when the list of them changes. */
  tools?: { listChanged?: boolean };
  /** It has resources, lets one be watched (`subscribe`), and tells when the list of them changes. */
  resources?: { subscribe?: boolean; listChanged?: boolean };
  /** It has prompts, and tells when the list of them changes. */
  prompts?: { listChanged?: boolean };
  /** It suggests values for arguments (since 2025-03-26). */
  completions?: JsonObject;
  /** It sends log messages. */
  logging?: JsonObject;
  /** It runs tool calls as tasks, lists tasks and stops them (2025-11-25 only; later an extension). */
  tasks?: { list?: JsonObject; cancel?: JsonObject; requests?: { tools?: { call?: JsonObject } } };
  /** Extensions that it speaks, by name, each with its settings (2026-07-28). */
  extensions?: Record<string, JsonObject>;
  /** What no specification knows, by name. */
  experimental?: Record<string, JsonObject>;
}

/** What a server tells about itself at the start (2026-07-28: server/discover). */
export interface DiscoverResult extends Result, CacheHints {
  /** The revisions it speaks, of both eras, in no promised order. */
  supportedVersions: string[];
  /** What it can do. */
  capabilities: ServerCapabilities;
  /** How to use it well: advice for a model. Untrusted. */
  instructions?: string;
}

/** The handshake of the legacy revisions. */
export interface InitializeRequest {
  /** The newest legacy revision that the client speaks. */
  protocolVersion: string;
  /** What the client can do for as long as the session lasts. */
  capabilities: ClientCapabilities;
  /** Who the client is. */
  clientInfo: Implementation;
  /** Metadata for the server. */
  _meta?: Meta;
}

/** The answer to `initialize`. */
export interface InitializeResult extends Result {
  /** The revision that the session will speak: the offered one, or the server's own choice. */
  protocolVersion: string;
  /** What the server can do for as long as the session lasts. */
  capabilities: ServerCapabilities;
  /** Who the server is. */
  serverInfo: Implementation;
  /** How to use it well: advice for a model. Untrusted. */
  instructions?: string;
}
