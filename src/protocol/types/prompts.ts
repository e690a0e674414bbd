/**
 * Prompts, and suggestions for the values that prompts and resource templates take.
 *
 * @module
 */
import type { Icon, ListResult, Meta, RequestMeta, Result, Role } from "./basics.ts";
import type { ContentBlock } from "./content.ts";
import type { InputResponses } from "./input.ts";

/** A value that a prompt takes. */
export interface PromptArgument {
  /** The key under which the value is given. */
  name: string;
  /** What people call it (since 2025-06-18). */
  title?: string;
  /** What the value is for. */
  description?: string;
  /** True when the prompt cannot do without it. Default: false. */
  required?: boolean;
}

/** A prompt as its server lists it. */
export interface Prompt {
  /** What it is asked for by: unique on its server. */
  name: string;
  /** What people call it (since 2025-06-18). */
  title?: string;
  /** What it is good for. Untrusted. */
  description?: string;
  /** The values it takes; missing: none. */
  arguments?: PromptArgument[];
  /** Its pictures (since 2025-11-25). */
  icons?: readonly Icon[];
  /** Metadata of the server (since 2025-06-18). */
  _meta?: Meta;
}

/** Prompts of a server. */
export interface ListPromptsResult extends ListResult {
  /** In the server's order. */
  prompts: Prompt[];
}

/** A prompt is filled in. */
export interface GetPromptRequest extends InputResponses {
  /** Which prompt, as the list calls it. */
  name: string;
  /** The values for its arguments, by their names: all of them text. */
  arguments?: Record<string, string>;
  /** Metadata for the server. */
  _meta?: RequestMeta;
}

/** One message of a prompt. */
export interface PromptMessage {
  /** Who says it. */
  role: Role;
  /** What is said. Untrusted. */
  content: ContentBlock;
}

/** A prompt with its arguments filled in. */
export interface GetPromptResult extends Result {
  /** What the prompt is good for. */
  description?: string;
  /** The conversation to give to a model, in order. */
  messages: PromptMessage[];
}

/** What is being completed: an argument of a prompt or a variable of a resource template. */
export type CompletionReference = { type: "ref/prompt"; name: string; title?: string } | {
  type: "ref/resource";
  uri: string;
};

/** Suggestions for a value are asked for. */
export interface CompleteRequest {
  /** The prompt, or the template's text as `uri`. */
  ref: CompletionReference;
  /** Which argument or variable, and what was typed so far. */
  argument: { name: string; value: string };
  /** Values that are settled already (since 2025-06-18). */
  context?: { arguments?: Record<string, string> };
  /** Metadata for the server. */
  _meta?: RequestMeta;
}

/** Suggestions for a value: at most 100. */
export interface CompleteResult extends Result {
  /** The best ones first; `total` counts all that fit, `hasMore` says that some are left out. */
  completion: { values: string[]; total?: number; hasMore?: boolean };
}
