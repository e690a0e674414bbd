/**
 * Checks a value against a schema that was made ready. Three answers: it fits, it does not, it cannot be judged. Every
 * piece of work is paid for from a budget of steps, and nesting is bounded, so that it always ends.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { Validation, ValidationIssue } from "../validation.ts";
import { clip, isMultiple, keysOf, ValueSet } from "./equality.ts";
import { ANY, type PatternRule, type Resource, type SchemaNode } from "./node.ts";

/** Bounds of one check. */
export interface EvaluationLimits {
  /** How much work: about one for each schema and value it is applied to. */
  readonly steps: number;
  /** How deep schemas may nest for one and the same value. */
  readonly depth: number;
}

/** Three answers, such that `&` is "both": it does not fit, it cannot be judged, it fits. */
type Verdict = number;
const FAIL = 0;
const UNKNOWN = 1;
const PASS = 3;

/** What is found among several schemas: one that cannot be judged, one that fits, more that fit. */
const UNSURE = 1;
const ONE = 2;
const MANY = 4;

const STOP = new Error("the check has ended");
const ISSUES = 20;
/** How deep schemas may nest over all values; keeps the stack of every host whole. */
const NESTING = 512;

/** What of an object or array a schema has looked at: for the `unevaluated…` keywords. */
class Marks {
  /** Names of properties, or places in an array. */
  readonly seen: Set<string | number> = new Set();
  /** So many items at the start of an array. */
  items = 0;

  add(other: Marks): void {
    for (const key of other.seen) this.seen.add(key);
    this.items = Math.max(this.items, other.items);
  }
}

interface Scope {
  readonly resource: Resource;
  readonly outer: Scope | undefined;
}

/** One check of one value. */
export class Evaluation {
  /** Steps that are left. */
  steps: number;
  readonly #limits: EvaluationLimits;
  readonly #issues: ValidationIssue[] = [];
  readonly #unchecked: Set<string> = new Set();
  readonly #path: (string | number)[] = [];
  #scope: Scope | undefined;
  #quiet = false;
  #depth = 0;
  #nesting = 0;

  constructor(limits: EvaluationLimits) {
    this.#limits = limits;
    this.steps = limits.steps;
  }

  /** Does the check; to be called once. */
  run(node: SchemaNode, value: unknown): Validation {
    let verdict: Verdict = UNKNOWN;
    try {
      verdict = this.#apply(node, value);
    } catch (error) {
      if (error instanceof RangeError) this.#unknown("the value nests too deep");
      else if (error !== STOP) throw error;
    }
    const rest = verdict !== PASS && this.#unchecked.size ? { unchecked: [...this.#unchecked] } : {};
    return this.#issues.length ? { valid: false, issues: this.#issues, ...rest } : { valid: true, ...rest };
  }

  readonly #spend = (steps: number): void => {
    if ((this.steps -= steps) >= 0) return;
    this.#unknown(`the check was ended after ${this.#limits.steps} steps`);
    throw STOP;
  };

  #apply(node: SchemaNode, value: unknown, marks?: Marks): Verdict {
    if ((this.steps -= node.cost) < 0) this.#spend(0);
    if (node.always !== undefined) return node.always ? PASS : this.#fail("false", "must not be there");
    if (this.#depth > this.#limits.depth || this.#nesting > NESTING) return this.#unknown("schemas nest too deep");
    const scope = this.#scope;
    this.#nesting++;
    if (scope?.resource !== node.resource) this.#scope = { resource: node.resource, outer: scope };
    const verdict = this.#judge(node, value, marks);
    this.#scope = scope;
    this.#nesting--;
    return verdict;
  }

  #judge(node: SchemaNode, value: unknown, outer: Marks | undefined): Verdict {
    const { types, rules, malformed, unevaluatedItems, unevaluatedProperties } = node;
    const type = typeOf(value);
    if (types && !(types & type)) return this.#fail("type", "must be of the type ", node.typeNames);
    let verdict: Verdict = PASS;
    for (const keyword of malformed) verdict = this.#unknown(`the keyword ${keyword} is not understood`);
    if (node.const && !node.const.has(value, this.#spend)) verdict = this.#fail("const", "must be ", node.const.shown);
    if (node.enum && !node.enum.has(value, this.#spend)) {
      verdict = this.#fail("enum", "must be one of ", node.enum.shown);
    }
    const marks = unevaluatedItems || unevaluatedProperties ? new Marks() : outer;
    if (rules & type) {
      if (typeof value === "number") verdict &= this.#number(node, value);
      else if (typeof value === "string") verdict &= this.#text(node, value);
      else if (Array.isArray(value)) verdict &= this.#list(node, value, marks);
      else if (isObject(value)) verdict &= this.#record(node, value, marks);
    }
    if (verdict === FAIL && this.#quiet) return FAIL;
    if (rules & ANY) verdict &= this.#logic(node, value, marks);
    if (marks === outer || verdict !== PASS || !marks) return verdict;
    if (unevaluatedItems && Array.isArray(value)) {
      for (let index = marks.items; index < value.length; index++) {
        if (marks.seen.has(index)) continue;
        verdict &= this.#child(unevaluatedItems, value[index], index, "unevaluatedItems");
      }
      marks.items = value.length;
    }
    if (unevaluatedProperties && isObject(value)) {
      for (const key of keysOf(value, this.#spend)) {
        if (marks.seen.has(key)) continue;
        verdict &= this.#child(unevaluatedProperties, value[key], key, "unevaluatedProperties");
        marks.seen.add(key);
      }
    }
    outer?.add(marks);
    return verdict;
  }

  #number(node: SchemaNode, value: number): Verdict {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node.limits;
    let verdict = this.#range(value, minimum, maximum, "imum", "be");
    if (value <= exclusiveMinimum) verdict = this.#fail("exclusiveMinimum", "must be more than ", exclusiveMinimum);
    if (value >= exclusiveMaximum) verdict = this.#fail("exclusiveMaximum", "must be less than ", exclusiveMaximum);
    if (multipleOf > 0 && !isMultiple(value, multipleOf)) {
      verdict = this.#fail("multipleOf", "must be a multiple of ", multipleOf);
    }
    return verdict;
  }

  #text(node: SchemaNode, value: string): Verdict {
    const { pattern, format } = node;
    const { minLength, maxLength } = node.limits;
    let verdict: Verdict = PASS;
    // Code points count: at most as many as code units, and at least half.
    if (value.length > maxLength || value.length < 2 * minLength) {
      this.#spend(value.length >> 4);
      let length = 0;
      for (const _ of value) length++;
      verdict = this.#range(length, minLength, maxLength, "Length", "have a length of");
    }
    if (pattern) verdict &= this.#matches(pattern, value) || this.#fail("pattern", "must match ", pattern.source);
    if (format) {
      this.#spend(value.length >> 4);
      if (!format.check(value)) verdict = this.#fail("format", "must have the format ", format.name);
    }
    return verdict;
  }

  #list(node: SchemaNode, value: readonly unknown[], marks: Marks | undefined): Verdict {
    const { prefixItems, items, contains } = node;
    const { length } = value;
    let verdict = this.#range(length, node.limits.minItems, node.limits.maxItems, "Items", "have a length of");
    if (node.uniqueItems) {
      const seen = new ValueSet();
      this.#spend(length);
      if (!value.every((item) => seen.add(item, this.#spend))) {
        verdict = this.#fail("uniqueItems", "must hold no item twice");
      }
    }
    const end = items && !items.always ? length : Math.min(prefixItems.length, length);
    for (let index = 0; index < end; index++) {
      if (verdict === FAIL && this.#quiet) return FAIL;
      const prefix = prefixItems[index];
      const child = prefix ?? items;
      if (child) verdict &= this.#child(child, value[index], index, prefix ? "prefixItems" : "items");
    }
    if (marks) marks.items = Math.max(marks.items, items ? length : end);
    return contains ? verdict & this.#contains(contains, node, value, marks) : verdict;
  }

  #contains(child: SchemaNode, node: SchemaNode, value: readonly unknown[], marks: Marks | undefined): Verdict {
    const { minContains, maxContains } = node.limits;
    const most = maxContains >= 0 ? maxContains : Infinity;
    const least = minContains >= 0 ? minContains : 1;
    const quiet = this.#quiet;
    let passes = 0;
    let unknown = 0;
    this.#quiet = true;
    for (let index = 0; index < value.length; index++) {
      const verdict = this.#child(child, value[index], index, "");
      if (verdict === UNKNOWN) unknown++;
      if (verdict !== PASS) continue;
      passes++;
      if (marks && node.resource.dialect.year > 2019) marks.seen.add(index);
      else if (passes > most || (passes >= least && most === Infinity)) break;
    }
    this.#quiet = quiet;
    if (passes > most) return this.#fail("maxContains", 'must hold fewer items that fit "contains": at most ', most);
    if (passes + unknown < least) {
      const keyword = least === 1 ? "contains" : "minContains";
      return this.#fail(keyword, 'must hold more items that fit "contains": at least ', least);
    }
    return unknown && (marks || passes < least || passes + unknown > most) ? UNKNOWN : PASS;
  }

  #record(node: SchemaNode, value: Record<string, unknown>, marks: Marks | undefined): Verdict {
    let verdict = this.#needs(node.required, value, "required");
    if (node.walk || marks) {
      verdict &= this.#walk(node, value, marks);
    } else {
      for (const [name, child] of node.entries) {
        if (verdict === FAIL && this.#quiet) return FAIL;
        if (has(value, name)) verdict &= this.#child(child, value[name], name, "properties");
      }
    }
    for (const [name, needed] of node.dependentRequired) {
      if (!has(value, name)) continue;
      this.#spend(needed.length);
      verdict &= this.#needs(needed, value, "dependentRequired");
    }
    for (const [name, child] of node.dependentSchemas) {
      if (has(value, name)) verdict &= this.#here(child, value, marks);
    }
    return verdict;
  }

  #needs(names: readonly string[], value: Record<string, unknown>, keyword: string): Verdict {
    let verdict: Verdict = PASS;
    for (const name of names) {
      if (!has(value, name)) verdict = this.#fail(keyword, "must have the property ", JSON.stringify(name));
    }
    return verdict;
  }

  /** Goes through the keys of an object. */
  #walk(node: SchemaNode, value: Record<string, unknown>, marks: Marks | undefined): Verdict {
    const { propertyNames, additionalProperties, limits } = node;
    const keys = keysOf(value, this.#spend);
    let verdict = this.#range(keys.length, limits.minProperties, limits.maxProperties, "Properties", "have a size of");
    for (const key of keys) {
      if (verdict === FAIL && this.#quiet) return FAIL;
      const item = value[key];
      const child = node.properties?.get(key);
      let known = child !== undefined;
      if (propertyNames) verdict &= this.#child(propertyNames, key, key, "propertyNames");
      if (child) verdict &= this.#child(child, item, key, "properties");
      for (const [pattern, child] of node.patterns) {
        const match = this.#matches(pattern, key);
        if (match === FAIL) continue;
        known = true;
        verdict &= match === PASS ? this.#child(child, item, key, "patternProperties") : UNKNOWN;
      }
      if (!known && additionalProperties) {
        known = true;
        verdict &= this.#child(additionalProperties, item, key, "additionalProperties");
      }
      if (known) marks?.seen.add(key);
    }
    return verdict;
  }

  #logic(node: SchemaNode, value: unknown, marks: Marks | undefined): Verdict {
    const { anyOf, oneOf, dynamic } = node;
    let verdict = this.#all(node.refs, value, marks) & this.#all(node.allOf, value, marks);
    if (verdict === FAIL && this.#quiet) return FAIL;
    if (dynamic) {
      let { target } = dynamic;
      for (let scope = this.#scope; scope; scope = scope.outer) {
        this.#spend(1);
        target = scope.resource.dynamic.get(dynamic.name) ?? target;
      }
      verdict &= this.#here(target, value, marks);
    }
    if (anyOf) {
      const found = this.#count(anyOf, value, marks);
      if (!found) verdict = this.#fail("anyOf", "must fit at least one of its schemas: ", anyOf.length);
      else if (found & UNSURE && (marks || found === UNSURE)) verdict &= UNKNOWN;
    }
    if (oneOf) {
      const found = this.#count(oneOf, value, marks, MANY);
      if (!found || found & MANY) verdict = this.#fail("oneOf", "must fit exactly one of its schemas: ", oneOf.length);
      else if (found & UNSURE) verdict &= UNKNOWN;
    }
    if (node.not) {
      const found = this.#count([node.not], value);
      if (found & ONE) verdict = this.#fail("not", "must not fit its schema");
      else if (found) verdict &= UNKNOWN;
    }
    if (node.if) {
      const found = this.#count([node.if], value, marks);
      const branch = found ? node.then : node.else;
      if (found === UNSURE) verdict &= UNKNOWN;
      else if (branch) verdict &= this.#here(branch, value, marks);
    }
    return verdict;
  }

  #all(nodes: readonly SchemaNode[], value: unknown, marks: Marks | undefined): Verdict {
    let verdict: Verdict = PASS;
    for (const node of nodes) {
      verdict &= this.#here(node, value, marks);
      if (verdict === FAIL && this.#quiet) break;
    }
    return verdict;
  }

  /** Tells whether one of the schemas fits, or many, or whether one is unsure; without marks it ends at the `last` sign. */
  #count(nodes: readonly SchemaNode[], value: unknown, marks?: Marks, last = ONE): number {
    const quiet = this.#quiet;
    let found = 0;
    this.#quiet = true;
    for (const node of nodes) {
      const own = marks && new Marks();
      const verdict = this.#here(node, value, own);
      if (verdict === UNKNOWN) found |= UNSURE;
      if (verdict !== PASS) continue;
      found |= found & ONE ? MANY : ONE;
      if (own) marks?.add(own);
      else if (found & last) break;
    }
    this.#quiet = quiet;
    return found;
  }

  #here(node: SchemaNode, value: unknown, marks?: Marks): Verdict {
    this.#depth++;
    const verdict = this.#apply(node, value, marks);
    this.#depth--;
    return verdict;
  }

  #child(node: SchemaNode, value: unknown, key: string | number, keyword: string): Verdict {
    const depth = this.#depth;
    this.#depth = 0;
    this.#path.push(key);
    const verdict = node.always === false ? this.#fail(keyword, "must not be there") : this.#apply(node, value);
    this.#path.pop();
    this.#depth = depth;
    return verdict;
  }

  #matches({ source, matcher }: PatternRule, text: string): Verdict {
    if (matcher) return matcher.matches(text, this.#spend) ? PASS : FAIL;
    return this.#unknown(`pattern ${clip(source)} cannot be checked in linear time`);
  }

  #range(size: number, min: number, max: number, what: string, verb: string): Verdict {
    if (size < min) return this.#fail("min" + what, `must ${verb} at least `, min);
    return size > max ? this.#fail("max" + what, `must ${verb} at most `, max) : PASS;
  }

  #unknown(what: string): Verdict {
    if (this.#unchecked.size < ISSUES) this.#unchecked.add(what);
    return UNKNOWN;
  }

  #fail(keyword: string, expectation: string, detail: string | number = ""): Verdict {
    if (this.#quiet) return FAIL;
    const path = this.#path.map((key) => "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
    this.#issues.push({ path, keyword, message: expectation + clip(String(detail), 400) });
    if (this.#issues.length >= ISSUES) throw STOP;
    return FAIL;
  }
}

function has(value: Record<string, unknown>, name: string): boolean {
  return value[name] !== undefined && Object.hasOwn(value, name);
}

function typeOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return 1;
    case "number":
      return Number.isInteger(value) ? 4 : 2;
    case "boolean":
      return 8;
    case "object":
      return value === null ? 16 : Array.isArray(value) ? 64 : 32;
  }
  return 256;
}
