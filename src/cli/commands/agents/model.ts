/**
 * Which model an agent of the command thinks with.
 *
 * @module
 */
import { directiveModel } from "../../../agent/model/directive_model.ts";
import { openAiModel } from "../../../agent/model/openai_model.ts";
import type { LanguageModel } from "../../../agent/model/seam.ts";
import { type CommandLine, optionOf } from "../../command_line.ts";
import { UsageError } from "../../failure.ts";

/**
 * The model of `--model` and `--model-url`, or of the variables; without any of them the one that follows directives. The key comes
 * from a variable alone: a command line is seen by others.
 *
 * @throws {UsageError} When one of the two is missing, or cannot be used.
 */
export function chooseModel(
  line: CommandLine,
  environment: Readonly<Record<string, string | undefined>>,
): LanguageModel {
  const { CAUSEWAY_MODEL, CAUSEWAY_MODEL_URL, CAUSEWAY_MODEL_KEY } = environment;
  const model = optionOf(line, "model") ?? (CAUSEWAY_MODEL || undefined);
  const baseUrl = optionOf(line, "model-url") ?? (CAUSEWAY_MODEL_URL || undefined);
  if (model === undefined && baseUrl === undefined) return directiveModel();
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
