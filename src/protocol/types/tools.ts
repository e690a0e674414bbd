/**
 * Tools: how they are listed and called.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json_rpc.ts";
import type { Icon, ListResult, Meta, RequestMeta, Result } from "./basics.ts";
import type { ContentBlock } from "./content.ts";
import type { InputResponses } from "./input.ts";
import type { TaskMetadata } from "./tasks.ts";

/** Hints of a server about a tool (since 2025-03-26). Untrusted. */
export interface ToolAnnotations {
  /** What people call the tool, where the tool itself has no title. */
  title?: string;
  /** It changes nothing. Default: false. */
  readOnlyHint?: boolean;
  /** It may take away or overwrite, not only add. Default: true. */
  destructiveHint?: boolean;
  /** A second call with the same arguments changes nothing more. Default: false. */
  idempotentHint?: boolean;
  /** It deals with a world outside of the server, such as the web. Default: true. */
  openWorldHint?: boolean;
}

/** A tool as its server lists it. */
export interface Tool {
  /** What it is called by: unique on its server. */
  name: string;
  /** What people call it (since 2025-06-18). */
  title?: string;
  /** What it does: a hint for a model. Untrusted. */
  description?: string;
  /** The JSON Schema of its arguments: always an object's. */
  inputSchema: JsonObject;
  /** The JSON Schema of `structuredContent` (since 2025-06-18). */
  outputSchema?: JsonObject;
  /** How it behaves, as its server says (since 2025-03-26). */
  annotations?: ToolAnnotations;
  /** Its pictures (since 2025-11-25). */
  icons?: readonly Icon[];
  /** 2025-11-25: whether the tool runs as a task. */
  execution?: { taskSupport?: "forbidden" | "optional" | "required" };
  /** Metadata of the server (since 2025-06-18). */
  _meta?: Meta;
}

/** Tools of a server. */
export interface ListToolsResult extends ListResult {
  /** In the server's order. */
  tools: Tool[];
}

/** A tool is called. */
export interface CallToolRequest extends InputResponses {
  /** Which tool, as the list calls it. */
  name: string;
  /** What it is given, by the tool's `inputSchema`; missing: nothing. */
  arguments?: JsonObject;
  /** 2025-11-25: runs it as a task. */
  task?: TaskMetadata;
  /** Metadata for the server. */
  _meta?: RequestMeta;
}

/** The result of a tool. `isError` is true when the tool itself failed. */
export interface CallToolResult extends Result {
  /** What it gave, for a model or a person to read. Untrusted. */
  content: ContentBlock[];
  /** Any JSON value, also null, 0 and false (2025-06-18 and 2025-11-25: an object): test whether it is there. */
  structuredContent?: JsonValue;
  /** True when the tool ran and failed; `content` then says why. Default: false. */
  isError?: boolean;
}
