/**
 * Makes a schema ready: finds all its parts, resolves its references, and turns its keywords into checks. Without
 * recursion, so that no nesting breaks it.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { JsonSchema } from "../types.ts";
import type { Reader } from "./assertions.ts";
import { refuse } from "./dialect.ts";
import { KEYWORDS, LATE } from "./keywords.ts";
import { ANY, own, type PatternRule, type Rule, type SchemaNode } from "./node.ts";
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
  const { formats = {} } = options;
  const resources = new Resources(options);
  const patterns = patternsOf({ states: STATES, classes: new Map() });
  const root = resources.add(schema);
  for (const [node, schema] of resources.open) {
    const { dialect } = node.resource;
    const alone = dialect.year < 2019 && typeof own(schema, "$ref") === "string";
    const reader: Reader = {
      node,
      formats,
      pattern: patterns,
      get: (keyword) =>
        Object.hasOwn(schema, keyword) && (!alone || keyword === "$ref") && dialect.knows(keyword)
          ? schema[keyword]
          : undefined,
      schema: (schema) => resources.node(schema, node.resource),
      find: (reference) => resources.find(reference, node.resource),
    };
    for (const [table, checks] of [[KEYWORDS, node.checks], [LATE, node.late]] as const) {
      for (const keyword in table) read(reader, keyword, table, checks);
    }
  }
  return root;
}

/** Reads one keyword, if it is there. */
function read(reader: Reader, keyword: string, table: typeof KEYWORDS, checks: Rule[]): void {
  const value = reader.get(keyword);
  const [types, make] = table[keyword] as typeof KEYWORDS[string];
  if (value === undefined) return;
  const check = make(value, reader, keyword);
  if (typeof check === "function") checks.push({ keyword, types, check });
  else if (!check) {
    checks.push({ keyword, types: ANY, check: (run) => run.unknown(`the keyword ${keyword} is not understood`) });
  }
}

/** Makes patterns ready, each once. */
function patternsOf(budget: PatternBudget): (source: string) => PatternRule {
  const known = new Map<string, PatternRule>();
  return (source) => {
    let rule = known.get(source);
    if (!rule) {
      let matcher: Pattern | undefined;
      try {
        matcher = new Pattern(source, budget);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
      known.set(source, rule = { source, matcher });
    }
    return rule;
  };
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
    if (size + open.length > limit) refuse("its bytes are more than ", String(limit));
  }
}
