/**
 * Makes a schema ready: finds all its parts, resolves its references, and sorts its keywords into nodes. Without
 * recursion, so that no nesting breaks it.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { JsonSchema } from "../types.ts";
import { type FormatChecks, refuse } from "./dialect.ts";
import { ValueSet } from "./equality.ts";
import { ANY, isKey, LISTS, NAMED, own, type PatternRule, type SchemaNode, SCHEMAS, TYPES, UNLIMITED } from "./node.ts";
import { Pattern } from "./pattern.ts";
import type { PatternBudget } from "./pattern_parser.ts";
import { type ResourceOptions, Resources } from "./resources.ts";

/** What a schema is made ready with. */
export interface CompileOptions extends ResourceOptions {
  /** About how large a schema may be, as JSON. */
  readonly bytes: number;
}

/** How many states the patterns of one schema may need together. */
const STATES = 10_000;

/**
 * Makes a schema ready.
 *
 * @returns The node of its root.
 * @throws {TypeError} When it is too large, no schema, of an unknown dialect, or has a reference that leads nowhere.
 */
export function compileSchema(schema: JsonSchema, options: CompileOptions): SchemaNode {
  measure(schema, options.bytes);
  const resources = new Resources(options);
  const budget = { states: STATES, classes: new Map() };
  const context = { resources, patterns: new Map(), budget, formats: options.formats ?? {} };
  const root = resources.add(schema);
  for (const [node, schema] of resources.open) new Reader(node, schema, context).read();
  return root;
}

interface Context {
  readonly resources: Resources;
  readonly patterns: Map<string, PatternRule>;
  readonly budget: PatternBudget;
  readonly formats: FormatChecks;
}

/** Reads the keywords of one schema into its node. */
class Reader {
  readonly #node: SchemaNode;
  readonly #schema: Record<string, unknown>;
  readonly #context: Context;

  constructor(node: SchemaNode, schema: Record<string, unknown>, context: Context) {
    this.#node = node;
    this.#schema = schema;
    this.#context = context;
  }

  read(): void {
    const node = this.#node;
    const { dialect } = node.resource;
    const alone = dialect.year < 2019 && isText(own(this.#schema, "$ref"));
    for (const [keyword, value] of Object.entries(this.#schema)) {
      if (value === undefined || (alone && keyword !== "$ref") || !dialect.knows(keyword)) continue;
      if (!this.#keyword(node, keyword, value)) node.malformed = [...node.malformed, keyword];
    }
    if (Array.isArray(own(this.#schema, "items"))) node.items = node.additionalItems;
    const { minProperties, maxProperties } = node.limits;
    const open = !node.additionalProperties || node.additionalProperties.always;
    node.walk = !open || !!node.propertyNames || node.patterns.length > 0 || minProperties >= 0 || maxProperties >= 0;
    node.cost += node.required.length + node.entries.length + node.dependentRequired.length +
      node.dependentSchemas.length;
  }

  /** Takes in one keyword. False: it is not understood. */
  #keyword(node: SchemaNode, keyword: string, value: unknown): boolean {
    if (isKey(UNLIMITED, keyword)) {
      node.rules |= /imum|multi/.test(keyword) ? 6 : /Length/.test(keyword) ? 1 : /Prop/.test(keyword) ? 32 : 64;
      if (typeof value !== "number") return false;
      node.limits = { ...node.limits, [keyword]: value };
    } else if (isKey(LISTS, keyword) || (keyword === "items" && Array.isArray(value))) {
      if (!Array.isArray(value)) return false;
      const list = keyword === "items" ? "prefixItems" : keyword;
      node.rules |= LISTS[list];
      node[list] = value.map((schema) => this.#child(schema));
    } else if (isKey(SCHEMAS, keyword)) {
      node.rules |= SCHEMAS[keyword];
      node[keyword] = this.#child(value);
    } else if (isKey(NAMED, keyword)) {
      if (!isObject(value)) return false;
      node.rules |= NAMED[keyword];
      const children = Object.entries(value).map(([key, schema]) => [key, this.#child(schema)] as const);
      if (keyword === "properties") node.properties = new Map(node.entries = children);
      else if (keyword === "dependentSchemas") node.dependentSchemas = [...node.dependentSchemas, ...children];
      else node.patterns = children.map(([key, child]) => [this.#pattern(key), child]);
    } else return this.#special(node, keyword, value);
    return true;
  }

  #special(node: SchemaNode, keyword: string, value: unknown): boolean {
    switch (keyword) {
      case "type":
        return this.#type(node, Array.isArray(value) ? value : [value]);
      case "const":
        node.const = setOf([value]);
        return true;
      case "enum":
        if (Array.isArray(value)) node.enum = setOf(value);
        return !!node.enum;
      case "uniqueItems":
        node.rules |= 64;
        node.uniqueItems = value === true;
        return typeof value === "boolean";
      case "required":
        node.rules |= 32;
        if (isNames(value)) node.required = value;
        return isNames(value);
      case "dependentRequired":
      case "dependencies":
        return isObject(value) && this.#dependencies(node, value);
      case "$ref":
      case "$dynamicRef":
      case "$recursiveRef":
        return isText(value) && this.#reference(node, keyword, value);
      case "pattern":
        node.rules |= 1;
        if (isText(value)) node.pattern = this.#pattern(value);
        return !!node.pattern;
      case "format":
        return isText(value) && this.#format(node, value);
    }
    return true;
  }

  #type(node: SchemaNode, names: readonly unknown[]): boolean {
    let types = 0;
    for (const name of names) {
      const bits = isText(name) && own(TYPES, name);
      if (!bits) return false;
      types |= bits;
    }
    node.types = types;
    node.typeNames = names.join(" or ");
    return types > 0;
  }

  #format(node: SchemaNode, name: string): boolean {
    const check = own(this.#context.formats, name);
    node.rules |= 1;
    node.format = check && { name, check };
    return true;
  }

  #dependencies(node: SchemaNode, dependencies: Record<string, unknown>): boolean {
    const needs: [string, readonly string[]][] = [];
    const children: [string, SchemaNode][] = [];
    for (const [key, value] of Object.entries(dependencies)) {
      if (isNames(value)) needs.push([key, value]);
      else children.push([key, this.#child(value)]);
    }
    node.rules |= 32;
    node.dependentRequired = [...node.dependentRequired, ...needs];
    node.dependentSchemas = [...node.dependentSchemas, ...children];
    return true;
  }

  #reference(node: SchemaNode, keyword: string, reference: string): boolean {
    const { resources } = this.#context;
    const { schema, resource } = resources.find(reference, node.resource);
    const target = resources.node(schema, resource);
    const name = reference.split("#")[1] ?? "";
    node.rules |= ANY;
    if (keyword !== "$ref" && resource.dynamic.get(name) === target) node.dynamic = { name, target };
    else node.refs = [...node.refs, target];
    return true;
  }

  #child(schema: unknown): SchemaNode {
    return this.#context.resources.node(schema, this.#node.resource);
  }

  #pattern(source: string): PatternRule {
    const { patterns, budget } = this.#context;
    let rule = patterns.get(source);
    if (!rule) patterns.set(source, rule = { source, matcher: matcher(source, budget) });
    return rule;
  }
}

function matcher(source: string, budget: PatternBudget): Pattern | undefined {
  try {
    return new Pattern(source, budget);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Refuses what is larger than so many bytes of JSON, about. */
function measure(schema: unknown, limit: number): void {
  const open: unknown[] = [schema];
  let size = 0;
  while (open.length) {
    const value = open.pop();
    if (typeof value === "string") size += value.length;
    else if (Array.isArray(value)) { for (const item of value) open.push(item); }
    else if (isObject(value)) {
      for (const [key, item] of Object.entries(value)) {
        size += key.length + 3;
        open.push(item);
      }
    }
    size += 2;
    if (size + open.length > limit) refuse("its bytes are more than ", String(limit), "");
  }
}

function setOf(values: readonly unknown[]): ValueSet {
  try {
    const set = new ValueSet(values);
    for (const value of values) set.add(value, () => {});
    return set;
  } catch {
    return refuse("a value nests too deep in ", "enum", "");
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
