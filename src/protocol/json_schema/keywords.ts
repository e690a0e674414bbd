/**
 * What each keyword holds and checks, in the order in which they are looked at.
 *
 * @module
 */
import { isTexts } from "../json_rpc.ts";
import { spend } from "./budget.ts";
import { isMultiple, keyOf, keysOf } from "./equality.ts";
import { each, isFree, matches, some, tell, visit } from "./evaluate.ts";
import {
  ALL,
  type Check,
  LISTED,
  type Marks,
  NAMED,
  type Named,
  NAMES,
  ONE,
  own,
  PASS,
  refuse,
  type Run,
  type SchemaNode,
  UNKNOWN,
  UNUSED,
  type Verdict,
} from "./node.ts";
import { ANY, LATE, LIST, NUMBER, RECORD, TEXT, TYPES } from "./types.ts";

/** Makes an operand ready; gives undefined when it is not understood. */
export type Prepare = (
  value: unknown,
  node: SchemaNode,
  find: (reference: string) => SchemaNode,
  keyword: string,
) => unknown;

/** What a keyword holds: schemas (bits), a primitive (its type), or what is made ready by a function. */
export type Shape = number | string | Prepare;

/** The types of values that a keyword looks at, what it holds, its check, and what it asks for. */
export type Row = readonly [types: number, shape: Shape, check?: Check, words?: string];
/** What JSON has that can be measured. */
type Sized = number | string | unknown[] | Members;
type Members = Record<string, unknown>;

const below: Check = (run, value: Sized, limit: number) => sizeOf(run, value, limit) <= limit;
const above: Check = (run, value: Sized, limit: number) => sizeOf(run, value, limit) >= limit;
const oneOf: Check = (run, value, keys: Set<string | number>) => keys.has(keyOf(run, value));

const required: Check = (run, value: Members, names: string[], _, __, keyword) =>
  each(run, names, (name) => has(value, name) ? PASS : tell(run, keyword, "have the property ", name));

const dependencies: Check = (run, value: Members, entries: Named<SchemaNode | string[]>[], marks, node, keyword) => {
  spend(run, entries.length * 3 >> 2);
  return each(
    run,
    entries,
    ({ name, part }) =>
      !has(value, name)
        ? PASS
        : Array.isArray(part)
        ? required(run, value, part, marks, node, keyword) as Verdict
        : visit(run, value, part, marks),
  );
};

/** A schema for each of the first items, or one for all that follow. */
const items: Check = (run, value: unknown[], operand: SchemaNode | SchemaNode[], marks, { operands }, keyword) => {
  if (Array.isArray(operand)) {
    return each(run, operand, (node, index) => {
      if (index >= value.length) return PASS;
      marks?.add(index);
      return visit(run, value[index], node, undefined, index, "items");
    });
  }
  const before = operands[keyword === "items" ? "prefixItems" : "items"];
  const start = Array.isArray(before) ? before.length : 0;
  if (keyword !== "items" && !Array.isArray(before)) return PASS;
  marks?.add(ALL);
  return isFree(operand) || each(
    run,
    value,
    (item, index) => index < start ? PASS : visit(run, item, operand, undefined, index, "items"),
  );
};

/** Goes through the keys of an object: patterns, and what no other keyword looks at. */
const members: Check = (run, value: Members, operand, marks, { operands, schema }) => {
  const { properties, patternProperties = [], additionalProperties: more } = operands;
  if (more) {
    if (operand !== more) return PASS;
    marks?.add(ALL);
    if (isFree(more) && !patternProperties.length) return PASS;
  }
  return each(run, Object.keys(value), (name) => {
    let found = properties && Object.hasOwn(schema.properties as object, name);
    let verdict: Verdict = PASS;
    if (value[name] === undefined) return PASS;
    for (const entry of patternProperties) {
      const match = matches(run, entry.name, name);
      if (match) {
        found = true;
        marks?.add(name);
        verdict &= match === PASS ? visit(run, value[name], entry.part, undefined, name, "patternProperties") : match;
      }
    }
    return found || !more ? verdict : visit(run, value[name], more, undefined, name, "additionalProperties");
  });
};

/** What no other keyword has looked at, of a list or an object. */
const others: Check = (run, value: Record<string | number, unknown>, node: SchemaNode, marks, _, keyword) => {
  const isList = Array.isArray(value);
  const verdict = marks?.has(ALL) || isFree(node) || each(run, isList ? value : Object.keys(value), (item, index) => {
    const key = isList ? index : item;
    return marks?.has(key) || value[key] === undefined ? PASS : visit(run, value[key], node, undefined, key, keyword);
  });
  marks?.add(ALL);
  return verdict;
};

/** A reference; a dynamic one has a name, and leads to the outermost anchor of that name. */
const follow: Check = (run, value, { target, name }: { target: SchemaNode; name: string }, marks) => {
  let node = target;
  if (name) {
    spend(run, run.scope.length >> 3);
    node = run.scope.find(({ anchors }) => anchors.has(name))?.anchors.get(name) ?? target;
  }
  return visit(run, value, node, marks);
};

const refer: Prepare = (reference, _, find, keyword) => {
  if (typeof reference !== "string") return;
  const target = find(reference);
  const name = "#" + (reference.split("#")[1] ?? "");
  return { target, name: keyword !== "$ref" && target.resource.anchors.get(name) === target ? name : "" };
};

const keys = (values: unknown): unknown => {
  try {
    return Array.isArray(values) ? new Set(values.map((value) => keyOf({ steps: Infinity }, value))) : undefined;
  } catch {
    return refuse("it nests too deep in ", "enum");
  }
};

const positive: Prepare = (limit) => typeof limit === "number" && limit >= 0 ? limit : undefined;
const names: Prepare = (value) => isTexts(value) ? value : undefined;

/** The keywords: the types of values that each looks at, what it holds, its check, and what it asks for. */
export const KEYWORDS: Readonly<Record<string, Row>> = {
  $defs: [0, NAMED | UNUSED],
  definitions: [0, NAMED | UNUSED],
  contentSchema: [0, ONE | UNUSED],
  type: [0, (value, node) => {
    const names = [value].flat();
    const bits = names.map((name) => typeof name === "string" && own(TYPES, name) || 0);
    if (!bits.length || bits.includes(0)) return;
    node.types = bits.reduce((all, bit) => all | bit);
    node.words = "be of the type " + names.join(" or ");
    return true;
  }],
  const: [ANY, (value) => keys([value]), oneOf, "be "],
  enum: [ANY, keys, oneOf, "be one of "],
  minimum: [NUMBER, "number", above, "be at least "],
  maximum: [NUMBER, "number", below, "be at most "],
  exclusiveMinimum: [NUMBER, "number", (_, value: number, limit: number) => value > limit, "be more than "],
  exclusiveMaximum: [NUMBER, "number", (_, value: number, limit: number) => value < limit, "be less than "],
  multipleOf: [
    NUMBER,
    "number",
    (_, value: number, divisor: number) => !(divisor > 0) || isMultiple(value, divisor),
    "be a multiple of ",
  ],
  minLength: [TEXT, "number", above, "have a length of at least "],
  maxLength: [TEXT, "number", below, "have a length of at most "],
  pattern: [TEXT, "string", (run, value: string, source: string) => matches(run, source, value) || false, "match "],
  format: [TEXT, "string", (run, value: string, name: string) => {
    spend(run, value.length >> 4);
    return own(run.limits.formats, name)?.(value) ?? true;
  }, "have the format "],
  minItems: [LIST, "number", above, "have a length of at least "],
  maxItems: [LIST, "number", below, "have a length of at most "],
  uniqueItems: [LIST, "boolean", (run, value: unknown[], wanted) => {
    const seen = new Set();
    return !wanted || value.every((item) => seen.size < seen.add(keyOf(run, item)).size);
  }, "hold no item twice"],
  prefixItems: [LIST, LISTED, items],
  items: [LIST, LISTED | ONE, items],
  additionalItems: [LIST, ONE, items],
  contains: [LIST, ONE, (run, value: unknown[], node: SchemaNode, outer, { operands, resource }, keyword) => {
    const { minContains: least = 1, maxContains: most = Infinity } = operands;
    const marks = resource.year > 2019 ? outer : undefined;
    return some(run, value, least, most, marks, (item, marks, index) => {
      marks?.add(index);
      return visit(run, item, node, undefined, index);
    }) || tell(run, keyword, `hold ${least} to ${most} items that fit its schema`);
  }],
  minContains: [0, positive],
  maxContains: [0, positive],
  required: [RECORD, names, required],
  minProperties: [RECORD, "number", above, "have a size of at least "],
  maxProperties: [RECORD, "number", below, "have a size of at most "],
  properties: [RECORD, NAMED, (run, value: Members, entries: Named[], marks) =>
    each(run, entries, ({ name, part }) => {
      if (!has(value, name)) return PASS;
      marks?.add(name);
      return visit(run, value[name], part, undefined, name, "properties");
    })],
  patternProperties: [RECORD, NAMED, members],
  additionalProperties: [RECORD, ONE, members],
  propertyNames: [
    RECORD,
    ONE,
    (run, value: Members, node: SchemaNode) =>
      each(run, Object.keys(value), (key) => visit(run, key, node, undefined, key)),
  ],
  dependentRequired: [RECORD, NAMED | NAMES, dependencies],
  dependentSchemas: [RECORD, NAMED | NAMES, dependencies],
  dependencies: [RECORD, NAMED | NAMES, dependencies],
  $ref: [ANY, refer, follow],
  $recursiveRef: [ANY, refer, follow],
  $dynamicRef: [ANY, refer, follow],
  allOf: [
    ANY,
    LISTED,
    (run, value, nodes: SchemaNode[], marks) => each(run, nodes, (node) => visit(run, value, node, marks)),
  ],
  anyOf: [
    ANY,
    LISTED,
    (run, value, nodes: SchemaNode[], marks) => fitting(run, value, nodes, 1, Infinity, marks),
    "fit at least one of its schemas",
  ],
  oneOf: [
    ANY,
    LISTED,
    (run, value, nodes: SchemaNode[], marks) => fitting(run, value, nodes, 1, 1, marks),
    "fit exactly one of its schemas",
  ],
  not: [ANY, ONE, (run, value, node: SchemaNode) => fitting(run, value, [node], 0, 0), "not fit its schema"],
  if: [ANY, ONE, (run, value, node: SchemaNode, marks, { operands }) => {
    const verdict = fitting(run, value, [node], 1, 1, marks);
    const next = operands[verdict ? "then" : "else"];
    return verdict === UNKNOWN ? UNKNOWN : !next || visit(run, value, next, marks);
  }],
  then: [0, ONE],
  else: [0, ONE],
  unevaluatedItems: [LIST | LATE, ONE, others],
  unevaluatedProperties: [RECORD | LATE, ONE, others],
};

/** Whether a value fits `least` to `most` of some schemas. */
function fitting(
  run: Run,
  value: unknown,
  nodes: readonly SchemaNode[],
  least: number,
  most: number,
  marks?: Marks,
): Verdict | false {
  return some(run, nodes, least, most, marks, (node, marks) => visit(run, value, node, marks));
}

/** A number itself; the items of a list, the keys of an object; the code points of a text: about, where the limit is far. */
function sizeOf(run: Run, value: Sized, limit: number): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return (Array.isArray(value) ? value : keysOf(run, value)).length;
  let { length } = value;
  // At most as many as code units, and at least half.
  if (length < limit || length > 2 * limit) return length;
  spend(run, length >> 4);
  length = 0;
  for (const _ of value) length++;
  return length;
}

/** True for a key that JSON would keep. */
function has(value: Record<string, unknown>, name: string): boolean {
  return value[name] !== undefined && Object.hasOwn(value, name);
}
