/**
 * What each keyword checks, in the order in which they are looked at.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import {
  among,
  bound,
  codePoints,
  has,
  isNames,
  isNumber,
  isText,
  type Keyword,
  needs,
  type Reader,
  same,
  size,
} from "./assertions.ts";
import { isMultiple, keyOf, keysOf } from "./equality.ts";
import { ANY, type Check, Marks, own, PASS, type Run, type SchemaNode, TYPES, UNKNOWN, type Verdict } from "./node.ts";

/** What is found among several schemas: one that cannot be judged, one that fits, more that fit. */
const UNSURE = 1;
const ONE = 2;
const MANY = 4;

const NUMBER = 6;
const TEXT = 1;
const LIST = 64;
const RECORD = 32;

/** The keywords: the types of values that each looks at, and what makes its check. */
export const KEYWORDS: Readonly<Record<string, readonly [types: number, make: Keyword]>> = {
  type: [ANY, (value, { node }) => {
    const names: readonly unknown[] = Array.isArray(value) ? value : [value];
    const bits = names.map((name) => isText(name) && own(TYPES, name) || 0);
    if (bits.includes(0)) return false;
    node.types = bits.reduce((all, bit) => all | bit, 0);
    node.typeNames = names.join(" or ");
    return node.types > 0;
  }],
  const: [ANY, (value) => among([value], "be ")],
  enum: [ANY, (value) => Array.isArray(value) && among(value, "be one of ")],
  minimum: [NUMBER, bound(-1, "be at least ")],
  maximum: [NUMBER, bound(1, "be at most ")],
  exclusiveMinimum: [NUMBER, bound(-1, "be more than ", same, 0)],
  exclusiveMaximum: [NUMBER, bound(1, "be less than ", same, 0)],
  multipleOf: [
    NUMBER,
    (divisor) =>
      isNumber(divisor) &&
      ((_, value) => !(divisor > 0) || isMultiple(value, divisor) || "be a multiple of " + divisor),
  ],
  minLength: [TEXT, bound(-1, "have a length of at least ", codePoints)],
  maxLength: [TEXT, bound(1, "have a length of at most ", codePoints)],
  pattern: [TEXT, (source, { pattern }) => {
    if (!isText(source)) return false;
    const rule = pattern(source);
    return (run, value) => run.matches(rule, value) || "match " + source;
  }],
  format: [TEXT, (name, { formats }) => {
    if (!isText(name)) return false;
    const check = own(formats, name);
    return !check || ((run, value) => {
      run.spend(value.length >> 4);
      return check(value) || "have the format " + name;
    });
  }],
  minItems: [LIST, bound(-1, "have a length of at least ", size)],
  maxItems: [LIST, bound(1, "have a length of at most ", size)],
  uniqueItems: [LIST, (wanted) =>
    wanted !== true ? wanted === false : (run, value) => {
      const seen = new Set();
      run.spend(value.length);
      return value.every((item: unknown) => seen.size < seen.add(keyOf(item, run.spend)).size) || "hold no item twice";
    }],
  prefixItems: [LIST, tuple],
  items: [
    LIST,
    (value, reader) => Array.isArray(value) ? tuple(value, reader) : rest(value, reader, reader.get("prefixItems")),
  ],
  additionalItems: [LIST, (value, reader) => {
    const items = reader.get("items");
    const check = rest(value, reader, items);
    return !Array.isArray(items) || check;
  }],
  contains: [LIST, contains],
  minContains: [0, isNumber],
  maxContains: [0, isNumber],
  required: [RECORD, (names) => isNames(names) && needs(names)],
  minProperties: [RECORD, bound(-1, "have a size of at least ", size)],
  maxProperties: [RECORD, bound(1, "have a size of at most ", size)],
  properties: [RECORD, (value, { schema }) => {
    if (!isObject(value)) return false;
    const entries = Object.entries(value).map(([name, child]) => [name, schema(child)] as const);
    return (run, value, marks) => {
      let verdict = PASS;
      run.spend(entries.length);
      for (const [name, child] of entries) {
        if (!verdict && run.quiet) break;
        if (!has(value, name)) continue;
        marks?.seen.add(name);
        verdict &= run.child(child, value[name], name, "properties");
      }
      return verdict;
    };
  }],
  patternProperties: [
    RECORD,
    (value, reader) => isObject(value) && (reader.get("additionalProperties") !== undefined || walk(true, reader)),
  ],
  additionalProperties: [RECORD, walk],
  propertyNames: [RECORD, (value, { schema }) => {
    const child = schema(value);
    return (run, value) => eachKey(value, run, (key) => run.child(child, key, key));
  }],
  dependentRequired: [RECORD, dependencies],
  dependentSchemas: [RECORD, dependencies],
  dependencies: [RECORD, dependencies],
  $ref: [ANY, (reference, { find }) => isText(reference) && follow(find(reference))],
  $recursiveRef: [ANY, dynamic],
  $dynamicRef: [ANY, dynamic],
  allOf: [
    ANY,
    list((nodes) => (run, value, marks) =>
      each(0, nodes.length, run, (index) => run.here(nodes[index] as SchemaNode, value, marks))
    ),
  ],
  anyOf: [
    ANY,
    list((nodes) => (run, value, marks) => {
      const found = count(nodes, run, value, marks);
      return !found
        ? "fit at least one of its schemas: " + nodes.length
        : found === UNSURE || found & UNSURE && marks
        ? UNKNOWN
        : PASS;
    }),
  ],
  oneOf: [
    ANY,
    list((nodes) => (run, value, marks) => {
      const found = count(nodes, run, value, marks, MANY);
      return !found || found & MANY
        ? "fit exactly one of its schemas: " + nodes.length
        : found & UNSURE
        ? UNKNOWN
        : PASS;
    }),
  ],
  not: [ANY, (value, { schema }) => {
    const nodes = [schema(value)];
    return (run, value) => {
      const found = count(nodes, run, value);
      return found & ONE ? "not fit its schema" : found ? UNKNOWN : PASS;
    };
  }],
  if: [ANY, (value, { schema, get }) => {
    const nodes = [schema(value)];
    const yes = schema(get("then") ?? true);
    const no = schema(get("else") ?? true);
    return (run, value, marks) => {
      const found = count(nodes, run, value, marks);
      return found === UNSURE ? UNKNOWN : run.here(found ? yes : no, value, marks);
    };
  }],
  then: [0, onlySchema],
  else: [0, onlySchema],
};

/** The keywords that come last: they look at what all others have left. */
export const LATE: typeof KEYWORDS = {
  unevaluatedItems: [LIST, (value, { schema }) => {
    const child = schema(value);
    return (run, value, marks = new Marks()) => {
      const { items, seen } = marks;
      marks.items = value.length;
      return each(
        items,
        value.length,
        run,
        (index) => seen.has(index) ? PASS : run.child(child, value[index], index),
      );
    };
  }],
  unevaluatedProperties: [RECORD, (value, { schema }) => {
    const child = schema(value);
    return (run, value, { seen } = new Marks()) =>
      eachKey(value, run, (key) => seen.size < seen.add(key).size ? run.child(child, value[key], key) : PASS);
  }],
};

/** The first items, a schema for each. */
function tuple(value: unknown, reader: Reader): Check | boolean {
  return list((nodes) => (run, value, marks) => {
    const end = Math.min(nodes.length, value.length);
    if (marks) marks.items = Math.max(marks.items, end);
    return each(0, end, run, (index) => run.child(nodes[index] as SchemaNode, value[index], index, "items"));
  })(value, reader, "");
}

/** The items after those that a tuple has. */
function rest(value: unknown, { schema }: Reader, before: unknown): Check {
  const child = schema(value);
  const start = Array.isArray(before) ? before.length : 0;
  return (run, value, marks) => {
    if (marks) marks.items = value.length;
    return child.always || each(start, value.length, run, (index) => run.child(child, value[index], index, "items"));
  };
}

/** Applies a step to each index, until nothing more can change the verdict. */
function each(from: number, to: number, run: Run, step: (index: number) => Verdict): Verdict {
  let verdict = PASS;
  for (let index = from; index < to && (verdict || !run.quiet); index++) verdict &= step(index);
  return verdict;
}

function eachKey(value: Record<string, unknown>, run: Run, step: (key: string) => Verdict): Verdict {
  const keys = keysOf(value, run.spend);
  return each(0, keys.length, run, (index) => step(keys[index] as string));
}

function contains(value: unknown, { schema, get, node }: Reader): Check {
  const child = schema(value);
  const limit = (keyword: string, missing: number): number => {
    const limit = get(keyword);
    return isNumber(limit) && limit >= 0 ? limit : missing;
  };
  const least = limit("minContains", 1);
  const most = limit("maxContains", Infinity);
  return (run, value, marks) => {
    const { quiet } = run;
    let passes = 0;
    let unknown = 0;
    run.quiet = true;
    for (let index = 0; index < value.length; index++) {
      const verdict = run.child(child, value[index], index);
      if (verdict === UNKNOWN) unknown++;
      if (verdict !== PASS) continue;
      passes++;
      if (marks && node.resource.dialect.year > 2019) marks.seen.add(index);
      else if (passes > most || passes >= least && most === Infinity) break;
    }
    run.quiet = quiet;
    return passes > most || passes + unknown < least
      ? `hold ${least} to ${most} items that fit its schema`
      : unknown && (marks || passes < least || passes + unknown > most)
      ? UNKNOWN
      : PASS;
  };
}

/** What has to hold where an object has a key: other keys, or a schema. */
function dependencies(value: unknown, { schema }: Reader, keyword: string): Check | boolean {
  if (!isObject(value)) return false;
  const checks = Object.entries(value).map(([key, value]) =>
    [key, isNames(value) ? needs(value) : follow(schema(value))] as const
  );
  return (run, value, marks) => {
    let verdict = PASS;
    run.spend(checks.length);
    for (const [name, check] of checks) {
      if (has(value, name)) verdict &= run.told(keyword, check(run, value, marks));
    }
    return verdict;
  };
}

/** Goes through the keys of an object: patterns, and what no other keyword looks at. */
function walk(more: unknown, { schema, get, pattern }: Reader): Check {
  const known = new Set(Object.keys(get("properties") ?? {}));
  const other = schema(more);
  const marked = get("additionalProperties") !== undefined;
  const patterns = Object.entries(get("patternProperties") ?? {}).map(([source, child]) =>
    [pattern(source), schema(child)] as const
  );
  return (run, value, marks) =>
    (other.always && !marks && !patterns.length) || eachKey(value, run, (key) => {
      let verdict = PASS;
      let found = known.has(key);
      for (const [pattern, child] of patterns) {
        const match = run.matches(pattern, key);
        if (match) found = true;
        if (match) verdict &= match === PASS ? run.child(child, value[key], key, "patternProperties") : match;
      }
      if (!found) verdict &= run.child(other, value[key], key, "additionalProperties");
      if (found || marked) marks?.seen.add(key);
      return verdict;
    });
}

function follow(node: SchemaNode): Check {
  return (run, value, marks) => run.here(node, value, marks);
}

function dynamic(reference: unknown, { find }: Reader): Check | boolean {
  if (!isText(reference)) return false;
  const target = find(reference);
  const name = reference.split("#")[1] ?? "";
  if (target.resource.dynamic.get(name) !== target) return follow(target);
  return (run, value, marks) => {
    let node = target;
    for (let { scope } = run; scope; scope = scope.outer) {
      run.spend(1);
      node = scope.resource.dynamic.get(name) ?? node;
    }
    return run.here(node, value, marks);
  };
}

/** Tells whether one of the schemas fits, or many, or whether one is unsure; without marks it ends at the `last` sign. */
function count(nodes: readonly SchemaNode[], run: Run, value: unknown, marks?: Marks, last = ONE): number {
  const { quiet } = run;
  let found = 0;
  run.quiet = true;
  for (const node of nodes) {
    const own = marks && new Marks();
    const verdict = run.here(node, value, own);
    if (verdict === UNKNOWN) found |= UNSURE;
    if (verdict !== PASS) continue;
    found |= found & ONE ? MANY : ONE;
    if (own) marks?.add(own);
    else if (found & last) break;
  }
  run.quiet = quiet;
  return found;
}

/** A keyword whose value is a list of schemas. */
function list(make: (nodes: readonly SchemaNode[]) => Check): Keyword {
  return (value, { schema }) => Array.isArray(value) && make(value.map(schema));
}

function onlySchema(value: unknown, { schema }: Reader): boolean {
  return !!schema(value);
}
