/**
 * The prompts of a server: registered, listed, filled in.
 *
 * @module
 */
import { excerpt } from "../../protocol/excerpt.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { type Fields, find, maybeBoolean, maybeObject, maybeText, text } from "../../protocol/shapes/shape.ts";
import type { Prompt, PromptArgument, ServerCapabilities } from "../../protocol/types.ts";
import type { PromptArgumentOptions, PromptHandler, PromptOptions, RequestContext } from "../definitions.ts";
import { soundResult } from "./json.ts";
import { checkName, checkOptions, checkWord, described, listing, refuse } from "./checks.ts";
import type { Kind } from "./kind.ts";
import { checkParams, invalidParams, readTexts } from "./params.ts";
import { Shelf, type Shelved } from "./shelf.ts";

interface RegisteredPrompt extends Shelved {
  readonly listed: Prompt;
  readonly arguments: ReadonlyMap<string, PromptArgumentOptions>;
  readonly fill: PromptHandler;
}

const shape: Fields = { ...described, arguments: maybeObject };
const argumentShape: Fields = { title: maybeText, description: maybeText, required: maybeBoolean };
const getShape: Fields = { name: text, arguments: maybeObject };

/** The prompts. */
export class Prompts implements Kind {
  readonly shelf: Shelf<RegisteredPrompt>;

  /** Makes an empty collection; `changed` is called after each registration and removal. */
  constructor(pageSize: number, changed: () => void) {
    this.shelf = new Shelf("prompts", pageSize, changed);
  }

  /** What is declared. */
  capabilities(): ServerCapabilities {
    return this.shelf.used ? { prompts: {} } : {};
  }

  /** Answers one method. */
  run(method: string, params: JsonObject, context: RequestContext): Promise<JsonObject> | undefined {
    if (!this.shelf.used) return undefined;
    if (method === "prompts/get") return this.get(params, context);
    return method === "prompts/list" ? this.shelf.list(params) : undefined;
  }

  /**
   * Registers a prompt.
   *
   * @returns What takes it away again.
   * @throws {TypeError} When anything about it is wrong, or there is one of that name.
   */
  add(name: string, options: PromptOptions, fill: PromptHandler): () => void {
    checkName("a prompt", "name", name);
    const what = `the prompt "${name}"`;
    checkOptions(what, options, shape, fill);
    checkWord(what, options, "arguments", "argsSchema");
    const { title, description, icons, meta } = options;
    const taken = new Map(Object.entries(options.arguments ?? {}));
    for (const [key, argument] of taken) {
      checkName(what, "arguments", key);
      const wrong = find({ [key]: argument }, { [key]: argumentShape });
      if (wrong) throw new TypeError(`Cannot set up ${what}: "arguments${wrong}`);
      const { complete } = argument;
      if (complete !== undefined && typeof complete !== "function") {
        refuse(what, `arguments.${key}.complete`, complete, "a function");
      }
    }
    const listed = listing<Prompt>(what, {
      name,
      title,
      description,
      arguments: taken.size ? [...taken].map(listedArgument) : undefined,
      icons,
      _meta: meta,
    });
    return this.shelf.add({ key: name, listed, arguments: taken, fill });
  }

  /**
   * Fills a prompt in (specification 2026-07-28: prompts, Getting a Prompt). Arguments that it does not name are left out.
   *
   * @throws {InvalidParamsError} When the parameters are malformed, there is no such prompt, or a required argument is missing.
   * @throws {TypeError} When the handler gave what is no prompt.
   */
  async get(params: JsonObject, context: RequestContext): Promise<JsonObject> {
    checkParams(params, getShape);
    const name = params.name as string;
    const prompt = this.shelf.get(name);
    if (!prompt) throw invalidParams(`Unknown prompt: ${excerpt(name, 200)}`);
    const given = readTexts(params.arguments, "arguments");
    for (const [key, { required }] of prompt.arguments) {
      if (required && !Object.hasOwn(given, key)) {
        throw invalidParams(`Cannot fill in the prompt "${name}": the argument "${key}" is missing`);
      }
    }
    const known = Object.entries(given).filter(([key]) => prompt.arguments.has(key));
    const returned = await prompt.fill(Object.fromEntries(known), context);
    const { description } = prompt.listed;
    if (typeof returned === "string") {
      const messages = [{ role: "user", content: { type: "text", text: returned } }];
      return description === undefined ? { messages } : { description, messages };
    }
    const what = `Cannot fill in the prompt "${name}": its handler gave no sound messages`;
    return soundResult("prompts/get", returned, what);
  }
}

function listedArgument([name, { title, description, required }]: [string, PromptArgumentOptions]): PromptArgument {
  return { name, title, description, required } as PromptArgument;
}
