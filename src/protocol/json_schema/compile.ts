/**
 * Makes a schema ready: finds all its parts, resolves its references, and sorts its keywords into nodes. Without
 * recursion, so that no nesting breaks it.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { JsonSchema } from "../types.ts";
import { refuse } from "./dialect.ts";
import { ValueSet } from "./equality.ts";
import { ANY, LISTS, NUMBERS, type PatternRule, type SchemaNode, SCHEMAS, TYPES } from "./node.ts";
import { Pattern } from "./pattern.ts";
import type { PatternBudget } from "./pattern_parser.ts";
import { own, type ResourceOptions, Resources } from "./resources.ts";

/** Checks of `format`, by name. */
export type FormatChecks = Readonly<Record<string, (text: string) => boolean>>;

/** What a schema is made ready with. */
export interface CompileOptions extends Omit<ResourceOptions, "formats"> {
  /** About how large a schema may be, as JSON. */
  readonly bytes: number;
  readonly checks: FormatChecks | undefined;
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
  const { checks } = options;
  const resources = new Resources({ ...options, formats: checks !== undefined });
  const context = {
    resources,
    patterns: new Map(),
    budget: { states: STATES, classes: new Map() },
    checks: checks ?? {},
  };
  const root = resources.add(schema);
  for (const [node, schema] of resources.open) new Reader(node, schema, context).read();
  return root;
}

interface Context {
  readonly resources: Resources;
  readonly patterns: Map<string, PatternRule>;
  readonly budget: PatternBudget;
  readonly checks: FormatChecks;
}

/** Reads the keywords of one schema into its node. Always in the same order, so that all nodes have one shape. */
class Reader {
  readonly #node: SchemaNode;
  readonly #schema: Record<string, unknown>;
  readonly #context: Context;
  readonly #alone: boolean;

  constructor(node: SchemaNode, schema: Record<string, unknown>, context: Context) {
    this.#node = node;
    this.#schema = schema;
    this.#context = context;
    this.#alone = node.resource.dialect.year < 2019 && isText(own(schema, "$ref"));
  }

  read(): void {
    const node = this.#node;
    this.#values(node);
    for (const [bits, keywords] of NUMBERS) {
      for (const keyword of keywords) node[keyword] = this.#get(keyword, isNumber, bits) ?? NaN;
    }
    for (const [bits, keywords] of SCHEMAS) for (const keyword of keywords) node[keyword] = this.#one(keyword, bits);
    for (const [bits, keywords] of LISTS) for (const keyword of keywords) node[keyword] = this.#many(keyword, bits);
    this.#texts(node);
    this.#lists(node);
    this.#records(node);
    this.#references(node);
  }

  #values(node: SchemaNode): void {
    const types = this.#get("type", isSomething);
    for (const type of Array.isArray(types) ? types : types === undefined ? [] : [types]) {
      const bits = isText(type) && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
      if (bits) node.types |= bits;
      else node.malformed.push("type");
    }
    if (node.malformed.length) node.types = 0;
    const constant = this.#get("const", isSomething);
    node.const = constant === undefined ? undefined : setOf([constant]);
    const values = this.#get("enum", Array.isArray);
    node.enum = values && setOf(values);
  }

  #texts(node: SchemaNode): void {
    const source = this.#get("pattern", isText, 1);
    node.pattern = source === undefined ? undefined : this.#pattern(source);
    const { checks } = this.#context;
    const name = this.#get("format", isText) ?? "";
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    node.format = check && { name, check };
    if (check) node.rules |= 1;
  }

  #lists(node: SchemaNode): void {
    node.uniqueItems = this.#get("uniqueItems", isSomething, 64) === true;
    if (!this.#tuple()) return;
    node.prefixItems ??= this.#many("items", 64);
    node.items = this.#one("additionalItems", 64);
  }

  #records(node: SchemaNode): void {
    const entries = this.#named("properties");
    node.entries = entries;
    node.properties = new Map(entries);
    node.required = this.#get("required", isNames, 32) ?? [];
    node.patterns = this.#named("patternProperties").map(([key, child]) => [this.#pattern(key), child]);
    const dependents = this.#named("dependentSchemas");
    const needs: [string, readonly string[]][] = [];
    for (const keyword of ["dependentRequired", "dependencies"]) {
      for (const [key, value] of Object.entries(this.#get(keyword, isObject, 32) ?? {})) {
        if (isNames(value)) needs.push([key, value]);
        else dependents.push([key, this.#child(value)]);
      }
    }
    node.dependentRequired = needs;
    node.dependentSchemas = dependents;
    const { additionalProperties, propertyNames, minProperties, maxProperties } = node;
    const sized = minProperties >= 0 || maxProperties >= 0;
    node.walk = sized ||
      !!(node.patterns.length || propertyNames || (additionalProperties && !additionalProperties.always));
    node.cost += node.required.length + entries.length + needs.length + dependents.length;
  }

  #references(node: SchemaNode): void {
    const refs: SchemaNode[] = [];
    node.refs = refs;
    node.dynamic = undefined;
    for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      const reference = this.#get(keyword, isText, ANY);
      if (reference === undefined) continue;
      const { schema, resource } = this.#context.resources.find(reference, node.resource);
      const target = this.#context.resources.node(schema, resource);
      const name = reference.split("#")[1] ?? "";
      if (keyword !== "$ref" && resource.dynamic.get(name) === target) node.dynamic = { name, target };
      else refs.push(target);
    }
  }

  /** The value of a keyword in force when it is right; a wrong one is noted. */
  #get<Value>(keyword: string, right: (value: unknown) => value is Value, bits = 0): Value | undefined {
    const value = own(this.#schema, keyword);
    if (value === undefined || (this.#alone && keyword !== "$ref")) return undefined;
    if (!this.#node.resource.dialect.knows(keyword)) return undefined;
    this.#node.rules |= bits;
    if (right(value)) return value;
    this.#node.malformed.push(keyword);
    return undefined;
  }

  #child(schema: unknown): SchemaNode {
    return this.#context.resources.node(schema, this.#node.resource);
  }

  #tuple(): boolean {
    return Array.isArray(own(this.#schema, "items"));
  }

  #one(keyword: string, bits: number): SchemaNode | undefined {
    if (keyword === "items" && this.#tuple()) return undefined;
    const schema = this.#get(keyword, isSomething, bits);
    return schema === undefined ? undefined : this.#child(schema);
  }

  #many(keyword: string, bits: number): SchemaNode[] | undefined {
    return this.#get(keyword, Array.isArray, bits)?.map((schema) => this.#child(schema));
  }

  #named(keyword: string): [string, SchemaNode][] {
    return Object.entries(this.#get(keyword, isObject, 32) ?? {}).map(([key, schema]) => [key, this.#child(schema)]);
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
  const set = new ValueSet();
  try {
    for (const value of values) set.add(value, () => {});
  } catch {
    refuse("a value nests too deep in ", "enum", "");
  }
  return set;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isSomething(value: unknown): value is unknown {
  return value !== undefined;
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
