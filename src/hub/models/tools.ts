/**
 * The tools of a hub as all providers want them: name, description, schema.
 *
 * @module
 */
import { forgive } from "../../egress/attempt.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CatalogTool, HubLike } from "../seam.ts";
import { toModelSchema } from "./schema/schema.ts";
import { wellFormed } from "./well_formed.ts";

/** What a model is told about a tool otherwise than its server says, or that it is not told of it at all. */
export interface ToolProblem {
  /** The server, as the config calls it. */
  readonly server: string;
  /** The tool's name at its server. */
  readonly tool: string;
  /** Its name for models. */
  readonly qualifiedName: string;
  /** What is wrong. */
  readonly message: string;
  /** Whether the model does not get the tool. */
  readonly isLeftOut: boolean;
}

/** Options of what makes tools for models. */
export interface ModelToolsOptions {
  /** Is told of each tool that cannot be given as it is. */
  readonly onProblem?: ((problem: ToolProblem) => void) | undefined;
  /** The most characters of a description: a longer one is cut. Default: the provider's own bound, 1,024 for OpenAI. */
  readonly descriptionLimit?: number | undefined;
}

/** A tool, ready for a provider. */
export interface ModelTool {
  readonly entry: CatalogTool;
  readonly name: string;
  /** Never empty: without a description the title, else the name. */
  readonly description: string;
  readonly schema: JsonObject;
  /** Tells what else is lost of it. */
  readonly tell: (message: string) => void;
}

/** The names of properties that Anthropic takes: for another one it refuses the whole request. */
export const anthropicNames: RegExp = /^[a-zA-Z0-9_.-]{1,64}$/;

/** What OpenAI asks: it refuses longer descriptions, and with them the whole request. */
export const openAiRules: ToolRules = { descriptionLimit: 1_024 };

/** What a provider asks of tools beside what all ask. */
export interface ToolRules {
  /** The most characters of a description. */
  readonly descriptionLimit?: number;
  /** What names of properties have to look like. */
  readonly propertyName?: RegExp;
  /** Changes a schema to what it takes. */
  readonly fit?: (schema: JsonObject) => void;
}

/**
 * The tools of a hub, each with a schema that the provider takes. A tool that cannot be given is left out and told; it does
 * not break the others.
 */
export function listModelTools(hub: HubLike, options: ModelToolsOptions = {}, rules: ToolRules = {}): ModelTool[] {
  return hub.tools().flatMap((entry) => {
    const { server, name: tool, qualifiedName } = entry;
    const tell = (message: string, isLeftOut: boolean) =>
      forgive(options.onProblem?.({ server, tool, qualifiedName, message, isLeftOut }));
    try {
      const { schema, notes } = toModelSchema(wellFormed(entry.tool.inputSchema));
      if (rules.propertyName) dropProperties(schema, rules.propertyName, (message) => tell(message, false));
      for (const note of notes) tell(note, false);
      const description = wellFormed(describe(entry, options.descriptionLimit ?? rules.descriptionLimit, tell));
      return [{ entry, name: qualifiedName, description, schema, tell: (message: string) => tell(message, false) }];
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error), true);
      return [];
    }
  });
}

function describe(
  { tool, name }: CatalogTool,
  limit = Infinity,
  tell: (message: string, isLeftOut: boolean) => void,
): string {
  const { description, title, annotations } = tool;
  const text = [description, title, annotations?.title].find((one) => typeof one === "string" && one !== "") ?? name;
  if (text.length <= limit) return text;
  tell(`its description is cut from ${text.length} to ${limit} characters`, false);
  return cut(text, limit);
}

/** A description, at most so many characters of it. */
export function cut(description: string, limit: number = Infinity): string {
  return description.length <= limit ? description : description.slice(0, limit - 1).toWellFormed() + "…";
}

/**
 * Takes properties out whose names the provider refuses.
 *
 * @throws {TypeError} When the tool cannot do without one.
 */
export function dropProperties(schema: JsonObject, pattern: RegExp, tell: (message: string) => void): void {
  const { properties, required } = schema;
  if (!isObject(properties)) return;
  const needed = new Set(isTexts(required) ? required : []);
  for (const name of Object.keys(properties)) {
    if (pattern.test(name)) continue;
    const shown = JSON.stringify(name.slice(0, 80));
    if (needed.has(name)) {
      throw new TypeError(`it requires the property ${shown}, whose name this provider refuses`);
    }
    delete properties[name];
    tell(`the property ${shown} is left out, since this provider refuses its name`);
  }
}
