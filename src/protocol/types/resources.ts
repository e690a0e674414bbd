/**
 * Resources: how they are listed, named by templates and read.
 *
 * @module
 */
import type { Annotations, CacheHints, Icon, ListResult, Meta, RequestMeta, Result } from "./basics.ts";
import type { InputResponses } from "./input.ts";

/** A resource as its server lists it. */
export interface Resource {
  /** What it is read by, and the only thing that identifies it. */
  uri: string;
  /** What programs call it; shown to people where there is no title. */
  name: string;
  /** What people call it (since 2025-06-18). */
  title?: string;
  /** What it holds: a hint for a model. Untrusted. */
  description?: string;
  /** The type of its content, where it is known. */
  mimeType?: string;
  /** How long its content is, in bytes before any base64. */
  size?: number;
  /** For whom it is, and how much it matters. */
  annotations?: Annotations;
  /** Its pictures (since 2025-11-25). */
  icons?: readonly Icon[];
  /** Metadata of the server (since 2025-06-18). */
  _meta?: Meta;
}

/** The text or the bytes (base64) of a resource. */
export interface ResourceContents {
  /** What was read; a folder or a family gives several, each under its own. */
  uri: string;
  /** The type of the content, where it is known. */
  mimeType?: string;
  /** The content, when it is text; then there is no `blob`. */
  text?: string;
  /** The content as base64, when it is not text. */
  blob?: string;
  /** Metadata of the server (since 2025-06-18). */
  _meta?: Meta;
}

/** Resources of a server. */
export interface ListResourcesResult extends ListResult {
  /** In the server's order. */
  resources: Resource[];
}

/** A family of resources: an RFC 6570 template. */
export interface ResourceTemplate {
  /** What makes a URI once its variables have values. */
  uriTemplate: string;
  /** What programs call the family; shown to people where there is no title. */
  name: string;
  /** What people call it (since 2025-06-18). */
  title?: string;
  /** What its members hold: a hint for a model. Untrusted. */
  description?: string;
  /** The type of the content of all members, when they share one. */
  mimeType?: string;
  /** For whom its members are, and how much they matter. */
  annotations?: Annotations;
  /** Its pictures (since 2025-11-25). */
  icons?: readonly Icon[];
  /** Metadata of the server (since 2025-06-18). */
  _meta?: Meta;
}

/** Resource templates of a server. */
export interface ListResourceTemplatesResult extends ListResult {
  /** In the server's order. */
  resourceTemplates: ResourceTemplate[];
}

/** A resource is read. */
export interface ReadResourceRequest extends InputResponses {
  /** Which one: from a list, a link, or a template that was filled in. */
  uri: string;
  /** Metadata for the server. */
  _meta?: RequestMeta;
}

/** What reading a resource gives: one or more contents. */
export interface ReadResourceResult extends Result, CacheHints {
  /** Each with the URI that it belongs to. */
  contents: ResourceContents[];
}
