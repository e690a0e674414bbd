/**
 * The fields of one server of a config: each is read by its kind, and what is wrong is told with its place.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import { fillIn } from "../interpolate.ts";
import type { Variables } from "../interpolate.ts";
import { kindOf } from "../problems.ts";
import type { Problems } from "../problems.ts";
import type { ConfigProblemCode } from "../types.ts";

/** What all servers of a file share. */
export interface EntryContext {
  readonly problems: Problems;
  readonly variables: Variables;
  /** The names that lead to the servers: `mcpServers`. */
  readonly path: readonly string[];
}

/** Reads the fields of one server. */
export class Entry {
  /** Whether something is wrong that makes the server unusable. */
  failed = false;
  /** What must not be shown. */
  readonly secrets: Set<string> = new Set();
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly #context: EntryContext;
  readonly #isOff: boolean;

  /** @param isOff Nobody uses it: what is wrong with it is a warning. */
  constructor(name: string, fields: Readonly<Record<string, unknown>>, context: EntryContext, isOff: boolean) {
    this.name = name;
    this.fields = fields;
    this.#context = context;
    this.#isOff = isOff;
  }

  /** What variables are known. */
  get variables(): Variables {
    return this.#context.variables;
  }

  /** Something that makes the server unusable. */
  error(field: readonly string[], say: () => string, code: ConfigProblemCode = "value"): void {
    this.failed = true;
    this.#add(this.#isOff ? "warning" : "error", code, field, say);
  }

  /** Something that should be looked at. */
  warn(field: readonly string[], say: () => string, code: ConfigProblemCode = "value"): void {
    this.#add("warning", code, field, say);
  }

  #add(severity: "error" | "warning", code: ConfigProblemCode, field: readonly string[], say: () => string): void {
    const path = [...this.#context.path, this.name, ...field];
    this.#context.problems.add(severity, code, { path, server: this.name, ...(field.length > 0 && { field }) }, say);
  }

  /** True when a field is there. Null counts as missing: editors write it for fields that are not set. */
  has(field: string): boolean {
    return this.fields[field] !== undefined && this.fields[field] !== null && Object.hasOwn(this.fields, field);
  }

  /** The value of a field; undefined where it is missing. */
  value(field: string): unknown {
    return this.has(field) ? this.fields[field] : undefined;
  }

  /** A text with its variables filled in; undefined when that fails. */
  fill(field: readonly string[], value: unknown, isSecret = false): string | undefined {
    if (typeof value !== "string") {
      const remedy = typeof value === "number" || typeof value === "boolean" ? ": write it in double quotes" : "";
      this.error(field, () => `expected a text, found ${kindOf(value)}${remedy}`);
      return undefined;
    }
    if (/^\$(env:)?[A-Za-z_]\w*$/.test(value)) {
      const name = value.replace(/^\$(env:)?/, "");
      this.warn(
        field,
        () => `"${value.slice(0, 60)}" stays as it is: write "\${${name.slice(0, 60)}}" for the variable`,
      );
    }
    const filled = fillIn(value, this.variables);
    if ("wrong" in filled) {
      this.error(field, filled.wrong, "variable");
      return undefined;
    }
    for (const secret of filled.secrets) this.secrets.add(secret);
    if (filled.text.includes("\0")) {
      this.error(field, () => "it holds a NUL character: take it out");
      return undefined;
    }
    if (isSecret) this.secret(filled.text);
    return filled.text;
  }

  /** Marks a credential, also without the word before it: `Bearer …`. */
  secret(text: string): void {
    if (text !== "") this.secrets.add(text);
    const [, credential = ""] = /^[A-Za-z]+ +(\S+)$/.exec(text) ?? [];
    if (credential !== "") this.secrets.add(credential);
  }

  /** A text that must not be empty. */
  text(field: readonly string[], value: unknown, isSecret = false): string | undefined {
    const text = this.fill(field, value, isSecret);
    if (text !== undefined && text.trim() === "") {
      this.error(field, () => "it is empty: expected a text");
      return undefined;
    }
    return text;
  }

  /** A list of texts as they stand, none of them empty. */
  names(field: readonly string[], value: unknown): string[] | undefined {
    if (!Array.isArray(value)) {
      const remedy = typeof value === "string" ? ': write it in brackets, as in ["…"]' : "";
      this.error(field, () => `expected a list of texts, found ${kindOf(value)}${remedy}`);
      return undefined;
    }
    const items: readonly unknown[] = value;
    return items.filter((item, index): item is string => {
      if (typeof item === "string" && item !== "") return true;
      this.error([...field, String(index)], () => `expected a text, found ${kindOf(item)}`);
      return false;
    });
  }

  /** An object whose values are texts, filled in. */
  record(
    field: string,
    check: (name: string, value: string) => string | undefined,
    isSecret: (name: string) => boolean,
  ): Record<string, string> {
    const value = this.value(field) ?? {};
    if (!isObject(value)) {
      this.error([field], () => `expected { "NAME": "value" }, found ${kindOf(value)}`);
      return {};
    }
    const entries: [string, string][] = [];
    for (const [name, item] of Object.entries(value)) {
      const text = this.fill([field, name], item, isSecret(name));
      if (text === undefined) continue;
      const wrong = check(name, text);
      if (wrong !== undefined) this.error([field, name], () => wrong);
      entries.push([name, text]);
    }
    return Object.fromEntries(entries);
  }

  /** A number of something. */
  number(field: string, rule: { least: number; most: number; what: string; whole: boolean }): number | undefined {
    const value = this.value(field);
    if (value === undefined) return undefined;
    const { least, most, what, whole } = rule;
    const wanted = `expected ${what} from ${least} to ${most}`;
    if (typeof value !== "number") {
      const remedy = typeof value === "string" ? ", without quotes" : "";
      this.error([field], () => `${wanted}${remedy}, found ${kindOf(value)}`);
    } else if (!(value >= least && value <= most)) {
      this.error([field], () => `${value} cannot be used: ${wanted}`);
    } else if (whole && !Number.isInteger(value)) {
      this.error([field], () => `${value} is no whole number: ${wanted}`);
    } else return value;
    return undefined;
  }

  /** Yes or no. */
  flag(field: string): boolean | undefined {
    const value = this.value(field);
    if (value === undefined || typeof value === "boolean") return value;
    const remedy = value === "true" || value === "false" ? ": take the quotes away" : "";
    this.error([field], () => `expected true or false, found ${kindOf(value)}${remedy}`);
    return undefined;
  }
}
