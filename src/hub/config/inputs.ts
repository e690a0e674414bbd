/**
 * VS Code's `inputs`: what a person is asked for before a server is used.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import { didYouMean } from "./nearest.ts";
import { kindOf, quoted } from "./problems.ts";
import type { Problems } from "./problems.ts";
import type { InputDefinition } from "./types.ts";

const types = ["promptString", "pickString", "command"] as const;

/**
 * Reads the definitions. One that is wrong is left out, so that servers that name it cannot be used.
 *
 * @param path Where they stand.
 */
export function readInputs(value: unknown, path: readonly string[], problems: Problems): Map<string, InputDefinition> {
  const found = new Map<string, InputDefinition>();
  if (value === undefined || value === null) return found;
  if (!Array.isArray(value)) {
    const say = () => `expected a list of { "id": …, "type": … }, found ${kindOf(value)}`;
    problems.add("error", "shape", { path }, say);
    return found;
  }
  value.forEach((item: unknown, index) => {
    const wrong = (field: readonly string[], say: () => string): void =>
      problems.add("error", "value", { path: [...path, String(index), ...field] }, say);
    const definition = readInput(item, wrong);
    if (!definition) return;
    if (found.has(definition.id)) wrong(["id"], () => `${quoted(definition.id)} stands twice: give it another name`);
    else found.set(definition.id, definition);
  });
  return found;
}

function readInput(
  item: unknown,
  wrong: (field: readonly string[], say: () => string) => void,
): InputDefinition | undefined {
  if (!isObject(item)) return void wrong([], () => `expected { "id": …, "type": … }, found ${kindOf(item)}`);
  const { id, description, password, default: usual, options, command } = item;
  if (typeof id !== "string" || !/^[\w.-]{1,128}$/.test(id)) {
    return void wrong(["id"], () => "this is no id: expected letters, digits, dashes, dots and underscores");
  }
  const type = types.find((name) => name === item.type);
  if (type === undefined) {
    return void wrong(["type"], () => {
      const near = typeof item.type === "string" ? didYouMean(item.type, types) : "";
      const found = typeof item.type === "string" ? quoted(item.type) : kindOf(item.type);
      return `${found} is no type of input${near}: expected "promptString", "pickString" or "command"`;
    });
  }
  if (usual !== undefined && typeof usual !== "string") {
    return void wrong(["default"], () => `expected a text, found ${kindOf(usual)}`);
  }
  const choices = type === "pickString" ? readOptions(options) : undefined;
  if (type === "pickString" && !choices) {
    return void wrong(["options"], () => 'expected a list of texts, or of { "label": …, "value": … }');
  }
  return {
    id,
    type,
    ...(typeof description === "string" && { description }),
    password: password === true,
    ...(usual !== undefined && { default: usual }),
    ...(choices && { options: choices }),
    ...(typeof command === "string" && { command }),
  };
}

function readOptions(value: unknown): string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const options: string[] = [];
  for (const item of value) {
    const option: unknown = isObject(item) ? item.value : item;
    if (typeof option !== "string") return undefined;
    options.push(option);
  }
  return options;
}
