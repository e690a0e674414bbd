/**
 * Content: what tools give and what prompts are made of.
 *
 * @module
 */
import type { Annotations, Meta } from "./basics.ts";
import type { Resource, ResourceContents } from "./resources.ts";

/** Text. */
export interface TextContent {
  /** Tells it from the other kinds of content. */
  type: "text";
  /** What is said, in plain text or in whatever the server agreed on. */
  text: string;
  /** For whom it is, and how much it matters. */
  annotations?: Annotations;
  /** Metadata of the sender (since 2025-06-18). */
  _meta?: Meta;
}

/** A picture, base64. */
export interface ImageContent {
  /** Tells it from the other kinds of content. */
  type: "image";
  /** The bytes of the file, as base64. */
  data: string;
  /** The format of the picture, such as `image/png`. */
  mimeType: string;
  /** For whom it is, and how much it matters. */
  annotations?: Annotations;
  /** Metadata of the sender (since 2025-06-18). */
  _meta?: Meta;
}

/** Sound, base64 (since 2025-03-26). */
export interface AudioContent {
  /** Tells it from the other kinds of content. */
  type: "audio";
  /** The bytes of the file, as base64. */
  data: string;
  /** The format of the sound, such as `audio/wav`. */
  mimeType: string;
  /** For whom it is, and how much it matters. */
  annotations?: Annotations;
  /** Metadata of the sender (since 2025-06-18). */
  _meta?: Meta;
}

/** A resource inside content. */
export interface EmbeddedResource {
  /** Tells it from the other kinds of content. */
  type: "resource";
  /** The resource itself: nothing is left to be read. */
  resource: ResourceContents;
  /** For whom it is, and how much it matters. */
  annotations?: Annotations;
  /** Metadata of the sender (since 2025-06-18). */
  _meta?: Meta;
}

/** A pointer to a resource that can be read (since 2025-06-18); it need not be in the server's list. */
export interface ResourceLink extends Resource {
  /** Tells it from the other kinds of content. */
  type: "resource_link";
}

/** A part of a tool's result or of a prompt. A newer server may send a `type` that is not here: leave it alone. */
export type ContentBlock = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink;
