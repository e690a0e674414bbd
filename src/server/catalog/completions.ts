/**
 * Suggestions for the arguments of prompts and the variables of templates.
 *
 * @module
 */
import { excerpt } from "../../protocol/excerpt.ts";
import { isTexts } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { own } from "../../protocol/json_schema/node.ts";
import { type Fields, maybeObject, oneOf, text } from "../../protocol/shapes/shape.ts";
import type { ServerCapabilities } from "../../protocol/types.ts";
import type { Completer, RequestContext } from "../definitions.ts";
import type { Kind } from "./kind.ts";
import { checkParams, invalidParams, readTexts } from "./params.ts";
import type { Prompts } from "./prompts.ts";
import type { Resources } from "./resources.ts";

const shape: Fields = {
  ref: { type: /* @__PURE__ */ oneOf("ref/prompt|ref/resource") },
  argument: { name: text, value: text },
  context: maybeObject,
};

/** The suggestions of prompts and templates. */
export class Completions implements Kind {
  readonly #prompts: Prompts;
  readonly #resources: Resources;
  #used = false;

  /** Suggests what these know. */
  constructor(prompts: Prompts, resources: Resources) {
    this.#prompts = prompts;
    this.#resources = resources;
  }

  /** What is declared. */
  capabilities(): ServerCapabilities {
    return this.#isUsed() ? { completions: {} } : {};
  }

  /** Answers one method. */
  run(method: string, params: JsonObject, context: RequestContext): Promise<JsonObject> | undefined {
    return method === "completion/complete" && this.#isUsed() ? this.complete(params, context) : undefined;
  }

  /**
   * Suggests values (specification 2026-07-28: completion). An argument that nobody completes has no suggestions.
   *
   * @returns At most 100 values, how many there are, and whether that is more.
   * @throws {InvalidParamsError} When the parameters are malformed, or there is no such prompt, template or argument.
   * @throws {TypeError} When the author's completer gave no list of texts.
   */
  async complete(params: JsonObject, context: RequestContext): Promise<JsonObject> {
    const most = 100;
    checkParams(params, shape);
    const { name, value } = params.argument as { name: string; value: string };
    const known = readTexts((params.context as JsonObject | null | undefined)?.arguments, "context.arguments");
    const values: unknown = await this.#find(params.ref as JsonObject, name)?.(value, known, context) ?? [];
    if (!isTexts(values)) {
      throw new TypeError(`Cannot complete "${excerpt(name, 200)}": its completer gave no list of texts`);
    }
    const { length } = values;
    return { completion: { values: values.slice(0, most), total: length, hasMore: length > most } };
  }

  #isUsed(): boolean {
    return this.#used ||= this.#completes();
  }

  #completes(): boolean {
    for (const prompt of this.#prompts.shelf.items()) {
      for (const argument of prompt.arguments.values()) if (argument.complete) return true;
    }
    for (const template of this.#resources.templates.items()) if (Object.keys(template.complete).length) return true;
    return false;
  }

  #find(ref: JsonObject, name: string): Completer | undefined {
    const isPrompt = ref.type === "ref/prompt";
    checkParams({ ref }, { ref: isPrompt ? { name: text } : { uri: text } });
    const key = (isPrompt ? ref.name : ref.uri) as string;
    if (isPrompt) {
      const prompt = this.#prompts.shelf.get(key) ?? unknown("prompt", key);
      return (prompt.arguments.get(name) ?? unknown("argument", name)).complete;
    }
    const template = this.#resources.templates.get(key);
    if (!template && !this.#resources.shelf.get(key)) return unknown("resource template", key);
    // A resource without variables has nothing to complete.
    if (!template?.variables.includes(name)) return unknown("argument", name);
    return own(template.complete, name);
  }
}

function unknown(what: string, key: string): never {
  throw invalidParams(`Unknown ${what}: ${excerpt(key, 200)}`);
}
