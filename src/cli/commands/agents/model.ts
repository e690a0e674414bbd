/**
 * Which model an agent of the command thinks with.
 *
 * @module
 */
import { directiveFaults } from "../../../agent/model/directive_model.ts";
import { openAiModel } from "../../../agent/model/openai_model.ts";
import type { LanguageModel } from "../../../agent/model/seam.ts";
import type { HubLike } from "../../../hub/seam.ts";
import { type CommandLine, optionOf } from "../../command_line.ts";
import { UsageError } from "../../failure.ts";

/**
 * The model of `--model` and `--model-url`, or of the variables; `undefined` without any of them. The key comes from a variable
 * alone: a command line is seen by others.
 *
 * @throws {UsageError} When one of the two is missing, or cannot be used.
 */
export function chooseModel(
  line: CommandLine,
  environment: Readonly<Record<string, string | undefined>>,
): LanguageModel | undefined {
  const { CAUSEWAY_MODEL, CAUSEWAY_MODEL_URL, CAUSEWAY_MODEL_KEY } = environment;
  const model = optionOf(line, "model") ?? (CAUSEWAY_MODEL || undefined);
  const baseUrl = optionOf(line, "model-url") ?? (CAUSEWAY_MODEL_URL || undefined);
  if (model === undefined && baseUrl === undefined) return undefined;
  if (model === undefined || baseUrl === undefined) {
    const missing = model === undefined ? "--model" : "--model-url";
    throw new UsageError(
      `Cannot use a model by half: add ${missing}, or set the variable CAUSEWAY_MODEL${
        model === undefined ? "" : "_URL"
      }`,
    );
  }
  try {
    return openAiModel({ baseUrl, model, apiKey: CAUSEWAY_MODEL_KEY || undefined });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`Cannot use the model: ${error.message}`);
    throw error;
  }
}

/**
 * Looks at what a run without a model is to do, before it begins.
 *
 * @throws {UsageError} When it is no directive, or a wrong one.
 */
export function checkDirectives(input: string, hub: HubLike): void {
  const tools = hub.tools().map(({ qualifiedName: name, tool: { inputSchema } }) => ({
    name,
    description: "",
    inputSchema,
  }));
  const faults = directiveFaults(input, tools);
  if (faults === undefined) {
    throw new UsageError(
      "There is no model, so only directives are followed: " +
        'name one with --model and --model-url, or write causeway run "call server.tool key=value"',
    );
  }
  if (faults.length > 0) throw new UsageError(`Nothing was called: ${faults.join("; ")}`);
}
