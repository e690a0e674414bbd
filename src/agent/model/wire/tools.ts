/**
 * Tools as all endpoints take them.
 *
 * @module
 */
import { createSafeLogger } from "../../../egress/safe_logger.ts";
import { fitMoonshot } from "../../../hub/models/schema/moonshot.ts";
import { toModelSchema } from "../../../hub/models/schema/schema.ts";
import { anthropicNames, cut, dropProperties, openAiRules, type ToolRules } from "../../../hub/models/tools.ts";
import { wellFormed } from "../../../hub/models/well_formed.ts";
import type { Logger } from "../../../ports.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { LanguageModelTool } from "../seam.ts";

/** What a model asks of tools beside what its endpoint asks, by its name: Kimi asks it wherever it is. */
export function rulesOfModel(model: string): ToolRules {
  return /kimi|moonshot/i.test(model) ? { fit: fitMoonshot } : {};
}

/** What a provider of the AI SDK asks of tools, by its name. */
export function rulesOf(provider: string): ToolRules {
  if (/\banthropic\b/.test(provider)) return { propertyName: anthropicNames };
  return /^(openai|azure)\b/.test(provider) ? openAiRules : {};
}

/** Makes tools fit; none is nothing. */
export type SoundTools = (tools: readonly LanguageModelTool[] | undefined) => LanguageModelTool[];

/**
 * What makes tools fit for APIs of models, which refuse the whole question for one that they do not take: an object without
 * `properties`, a choice at the root. A tool that cannot be made fit is left out. Each schema is read once, since there may be
 * hundreds in every question: it is not to change.
 *
 * @param leftOut Hears of a tool that is left out, and why, once.
 */
export function createSoundTools(rules: ToolRules, leftOut: (tool: string, reason: string) => void): SoundTools {
  const known = new WeakMap<object, JsonObject | null>();
  return (tools = []) =>
    tools.flatMap((tool) => {
      if (!isObject(tool.inputSchema)) return [];
      let schema = known.get(tool.inputSchema);
      if (schema === undefined) {
        schema = soundSchema(tool.inputSchema, rules, (reason) => leftOut(tool.name, reason));
        known.set(tool.inputSchema, schema);
      }
      if (!schema) return [];
      const description = cut(wellFormed(tool.description ?? ""), rules.descriptionLimit);
      return [{ ...tool, name: wellFormed(tool.name), description, inputSchema: schema }];
    });
}

/** Null for what has no such form. */
function soundSchema(given: JsonObject, rules: ToolRules, leftOut: (reason: string) => void): JsonObject | null {
  try {
    const { schema } = toModelSchema(wellFormed(given));
    if (rules.propertyName) dropProperties(schema, rules.propertyName, () => {});
    rules.fit?.(schema);
    return schema;
  } catch (error) {
    leftOut(error instanceof Error ? error.message : String(error));
    return null;
  }
}

/** Tells the logger of a model what is left out. */
export function tellLeftOut(logger: Logger | undefined, model: string): (tool: string, reason: string) => void {
  const safe = createSafeLogger(logger);
  const message = "A tool is left out: it has no form that the model takes";
  return (tool, reason) => safe?.({ level: "warning", message, fields: { model, tool, reason } });
}
