/**
 * Makes a schema ready: finds all its parts, resolves its references, and turns its keywords into checks. Without
 * recursion, so that no nesting breaks it. Nothing is ever fetched.
 *
 * @module
 */
import { isObject, isTexts } from "../json_rpc.ts";
import type { JsonSchema } from "../types.ts";
import type { FindDialect } from "./dialect.ts";
import { unknown } from "./evaluate.ts";
import { KEYWORDS, type Row, type Shape } from "./keywords.ts";
import { LISTED, NAMED, NAMES, ONE, own, refuse, type Resource, type SchemaNode, UNUSED } from "./node.ts";
import { ANY, LATE } from "./types.ts";

/** What a schema is made ready with. */
export interface CompileOptions {
  /** Schemas that others may refer to, by absolute URI. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly findDialect: FindDialect;
  /** How many sub-schemas it may have. */
  readonly subschemas: number;
  /** About how large it may be, as JSON. */
  readonly bytes: number;
}

const ROWS = Object.entries(KEYWORDS);

/** In the place of a keyword whose operand is not understood. */
const NOT_UNDERSTOOD: Row = [
  ANY,
  0,
  (run, _, __, ___, ____, keyword) => unknown(run, `the keyword ${keyword} is not understood`),
];

/** Makes one schema ready. */
export class Compiler {
  readonly #options: CompileOptions;
  readonly #resources: Map<string, Resource> = new Map();
  readonly #nodes: Map<unknown, SchemaNode> = new Map();
  /** The nodes that are in use: their keywords are read, which makes more of them. */
  readonly #used: Set<SchemaNode> = new Set();
  #bytes: number;
  #subschemas: number;

  constructor(options: CompileOptions) {
    this.#options = options;
    this.#bytes = options.bytes;
    this.#subschemas = options.subschemas;
  }

  /**
   * Makes it ready.
   *
   * @returns The node of its root.
   * @throws {TypeError} When it is too large, no schema, of an unknown dialect, or has a reference that leads nowhere.
   */
  compile(document: unknown): SchemaNode {
    // The URI of what has no absolute one.
    const root = this.#add(document, "schema:///", true);
    for (const node of this.#used) {
      const { resource, schema } = node;
      const isAlone = resource.year < 2019 && typeof schema.$ref === "string";
      for (const [keyword, row] of ROWS) {
        const [, shape] = row;
        const value = schema[keyword];
        if (value === undefined || Number(shape) & UNUSED || isAlone && keyword !== "$ref") continue;
        if (!resource.knows(keyword)) continue;
        const operand = this.#prepare(shape, value, node, keyword);
        const [types, , check, words = ""] = operand === undefined ? NOT_UNDERSTOOD : row;
        node.operands[keyword] = operand;
        node.types |= types & LATE;
        if (check) node.rules.push({ types, check, operand, words, keyword });
      }
    }
    return root;
  }

  /** Makes ready what a keyword holds; gives undefined when it is not understood. */
  #prepare(shape: Shape, value: unknown, node: SchemaNode, keyword: string): unknown {
    const { resource } = node;
    const child = (part: unknown): SchemaNode => this.#reach(part, resource);
    const type: string = typeof value;
    if (typeof shape === "string") return type === shape ? value : undefined;
    if (typeof shape === "function") return shape(value, node, (reference) => this.#find(reference, resource), keyword);
    if (shape & LISTED && Array.isArray(value)) return value.map(child);
    if (!(shape & NAMED)) return shape & ONE ? child(value) : undefined;
    return isObject(value)
      ? Object.entries(value).map(([name, part]) => ({
        name,
        part: shape & NAMES && isTexts(part) ? part : child(part),
      }))
      : undefined;
  }

  /** Takes in a document; of one that was supplied nothing is counted. */
  #add(document: unknown, uri: string, isCounted: boolean): SchemaNode {
    const outer = this.#resource(document, uri);
    this.#index(document, outer, isCounted);
    const node = this.#reach(document, outer);
    this.#resources.set(uri, node.resource);
    node.resource.anchors.set("", node);
    return node;
  }

  #resource(root: unknown, uri: string, outer?: Resource): Resource {
    const dialect = this.#options.findDialect(isObject(root) ? root.$schema : undefined, outer);
    const resource = { ...dialect, uri, anchors: new Map() };
    if (!this.#resources.has(uri)) this.#resources.set(uri, resource);
    return resource;
  }

  /** Makes the nodes of all schemas in a document, and notes all identifiers. */
  #index(document: unknown, start: Resource, isCounted: boolean): void {
    // What a part of it is: data, a schema, or a list or object of schemas.
    const DATA = 0;
    const SCHEMA = 1;
    const SCHEMAS = 2;
    const list: [value: unknown, role: number, outer: Resource][] = [[document, SCHEMA, start]];
    for (const [value, role, outer] of list) {
      const isList = Array.isArray(value);
      const isSchema = role === SCHEMA && !isList;
      if (isCounted) {
        this.#bytes -= typeof value === "string" || isList ? value.length + 2 : 2;
        if (this.#bytes < 0) refuse("its bytes exceed ", `${this.#options.bytes}`);
        if (isSchema && --this.#subschemas < 0) {
          refuse("its sub-schemas exceed ", `${this.#options.subschemas}`);
        }
      } else if (!role) continue;
      if (typeof value !== "object" || !value || this.#nodes.has(value)) continue;
      const inner = isSchema ? this.#identify(value as Record<string, unknown>, outer) : outer;
      for (const [key, part] of Object.entries(value)) {
        const shape = isSchema && Number(own(KEYWORDS, key)?.[1]) || DATA;
        const inside = Array.isArray(part) ? shape & LISTED : shape & NAMED ? SCHEMAS : shape & ONE;
        if (isCounted && !isList) this.#bytes -= key.length + 2;
        list.push([part, role === SCHEMAS ? SCHEMA : inside, inner]);
      }
    }
  }

  /** Makes the node of a schema, and the resource where it has an `$id`. */
  #identify(schema: Record<string, unknown>, outer: Resource): Resource {
    const { $id, $ref } = schema;
    const isOld = outer.year < 2019;
    let owner = outer;
    let old = "";
    if (typeof $id === "string" && !(isOld && typeof $ref === "string")) {
      const [uri, fragment] = locate($id, outer.uri);
      if (uri !== outer.uri) owner = this.#resource(schema, uri, outer);
      if (isOld) old = fragment;
    }
    const node = nodeOf(schema, owner, ANY);
    this.#nodes.set(schema, node);
    const anchor = (name: string): unknown => owner.anchors.has(name) || owner.anchors.set(name, node);
    anchor(old);
    for (const keyword of ["$anchor", "$dynamicAnchor", "$recursiveAnchor"]) {
      const name = schema[keyword] === true ? "" : schema[keyword];
      if (typeof name !== "string" || !owner.knows(keyword)) continue;
      anchor(name);
      if (keyword === "$anchor") continue;
      anchor("#" + name);
      this.#used.add(node);
    }
    return owner;
  }

  /** The node of a schema that is in use. */
  #reach(schema: unknown, resource: Resource): SchemaNode {
    if (typeof schema === "boolean") return nodeOf(schema, resource, schema ? ANY : 0);
    if (!isObject(schema)) return refuse("a sub-schema is of the type ", typeof schema);
    if (!this.#nodes.has(schema)) this.#index(schema, resource, true);
    const node = this.#nodes.get(schema) as SchemaNode;
    this.#used.add(node);
    return node;
  }

  /** Follows a reference. */
  #find(reference: string, from: Resource): SchemaNode {
    const [uri, fragment] = locate(reference, from.uri);
    const supplied = own(this.#options.schemas, uri);
    if (!this.#resources.has(uri) && supplied !== undefined) this.#add(supplied, uri, false);
    let owner = this.#resources.get(uri);
    let schema: unknown = owner?.anchors.get(fragment.replace(/^\/.*/s, ""))?.schema;
    for (const token of fragment.split("/").slice(1)) {
      schema = own(Object(schema), token.replaceAll("~1", "/").replaceAll("~0", "~"));
      owner = this.#nodes.get(schema)?.resource ?? owner;
    }
    if (!owner || schema === undefined) return refuse("the reference ", reference, " leads to nothing");
    return this.#reach(schema, owner);
  }
}

function nodeOf(schema: SchemaNode["schema"] | boolean, resource: Resource, types: number): SchemaNode {
  return { schema: schema as SchemaNode["schema"], resource, types, words: "not be there", rules: [], operands: {} };
}

/** The URI that a reference means, and the fragment after it. */
function locate(reference: string, base: string): [uri: string, fragment: string] {
  try {
    const [uri = "", fragment = ""] = new URL(reference, base).href.split("#");
    return [uri, decodeURIComponent(fragment.replace(/%(?![\da-f]{2})/gi, "%25"))];
  } catch {
    return refuse("", reference, " is no URI");
  }
}
