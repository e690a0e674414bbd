/**
 * The language model that an operator has chosen by settings: loaded when it is wanted, and not before.
 *
 * @module
 */
import type { LanguageModel } from "../../agent/model/seam.ts";
import type { WorkersAiBinding } from "../../agent/model/workers_ai_model.ts";

/** What says which model it is. */
export interface ModelSettings {
  /** The binding of Workers AI, where there is one. */
  readonly AI?: WorkersAiBinding | undefined;
  /** Which of its models (`@cf/meta/llama-3.3-70b-instruct-fp8-fast`). */
  readonly AI_MODEL?: string | undefined;
  /** The key of an endpoint with OpenAI's chat completions. Secret. */
  readonly OPENAI_API_KEY?: string | undefined;
  /** Where it is (`https://api.openai.com/v1`). */
  readonly OPENAI_BASE_URL?: string | undefined;
  /** Which of its models: has to be said where there is a key or an address. */
  readonly OPENAI_MODEL?: string | undefined;
}

/**
 * Gives the model: the endpoint's where there is a key or an address of one, else that of Workers AI where there is a binding, else
 * `directiveModel`, which needs nothing.
 *
 * @throws {TypeError} When a setting is missing or makes no sense.
 */
export async function chooseModel(settings: ModelSettings): Promise<LanguageModel> {
  const { AI, AI_MODEL, OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = settings;
  if (OPENAI_API_KEY || OPENAI_BASE_URL) {
    if (!OPENAI_MODEL) throw new TypeError('"OPENAI_MODEL" is not set, expected the name of a model of the endpoint');
    const { openAiModel } = await import("../../agent/model/openai_model.ts");
    const baseUrl = OPENAI_BASE_URL || "https://api.openai.com/v1";
    return openAiModel({ baseUrl, model: OPENAI_MODEL, ...(OPENAI_API_KEY && { apiKey: OPENAI_API_KEY }) });
  }
  if (AI) {
    const { workersAiModel } = await import("../../agent/model/workers_ai_model.ts");
    return workersAiModel(AI, AI_MODEL || "@cf/meta/llama-3.3-70b-instruct-fp8-fast");
  }
  const { directiveModel } = await import("../../agent/model/directive_model.ts");
  return directiveModel();
}
