/**
 * Finds schemas by their URIs: `$id`, `$anchor`, JSON Pointers, and the dialect of each. Nothing is ever fetched.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import { dialectOf, type DialectOptions, refuse } from "./dialect.ts";
import { HOLDERS, NAMED, own, type Resource, SchemaNode } from "./node.ts";

/** What schemas are made ready with. */
export interface ResourceOptions extends DialectOptions {
  readonly subschemas: number;
}

/** A schema and the resource that it belongs to. */
export interface Found {
  readonly schema: unknown;
  readonly resource: Resource;
}

/** The URI of a schema that has no absolute one. */
const HERE = "schema:///";

/** The schemas of one compilation. */
export class Resources {
  /** Nodes that were made but not filled yet. */
  readonly open: [SchemaNode, Record<string, unknown>][] = [];
  readonly #options: ResourceOptions;
  readonly #byUri: Map<string, Resource> = new Map();
  readonly #owners: Map<object, Resource> = new Map();
  readonly #nodes: Map<object, SchemaNode> = new Map();
  #count = 0;

  constructor(options: ResourceOptions) {
    this.#options = options;
  }

  /**
   * Takes in a whole document.
   *
   * @param counted Whether its sub-schemas count against the limit.
   * @throws {TypeError} When its dialect is unknown, an `$id` is no URI or it has too many sub-schemas.
   */
  add(document: unknown, uri: string = HERE, counted = true): SchemaNode {
    let resource = this.#resource(document, uri, undefined);
    this.#index(document, resource, counted);
    if (isObject(document)) resource = this.#owners.get(document) ?? resource;
    this.#byUri.set(uri, resource);
    return this.node(document, resource);
  }

  /**
   * The node of a schema; an unknown one is put on the list of open ones.
   *
   * @throws {TypeError} When it is no schema.
   */
  node(schema: unknown, resource: Resource): SchemaNode {
    if (typeof schema === "boolean") return new SchemaNode(resource, schema);
    if (!isObject(schema)) return refuse("a sub-schema is of the type ", typeof schema);
    let node = this.#nodes.get(schema);
    if (!node) {
      node = new SchemaNode(this.#owners.get(schema) ?? resource);
      this.#nodes.set(schema, node);
      this.open.push([node, schema]);
    }
    return node;
  }

  /**
   * Follows a reference.
   *
   * @throws {TypeError} When it leads nowhere.
   */
  find(reference: string, from: Resource): SchemaNode {
    const [uri = "", fragment = ""] = absolute(reference, from.uri).split("#");
    const supplied = own(this.#options.schemas, uri);
    if (!this.#byUri.has(uri) && supplied !== undefined) this.add(supplied, uri, false);
    let resource = this.#byUri.get(uri);
    const name = decode(fragment);
    const path = name.split("/");
    let schema = path[0] ? resource?.anchors.get(name) : resource?.root;
    for (const token of path.slice(1)) {
      const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
      schema = typeof schema === "object" && schema && Object.hasOwn(schema, key)
        ? Reflect.get(schema, key)
        : undefined;
      if (isObject(schema)) resource = this.#owners.get(schema) ?? resource;
    }
    if (!resource || schema === undefined) return refuse("the reference ", reference, " leads to nothing in it");
    if (isObject(schema) && !this.#owners.has(schema)) this.#index(schema, resource, true);
    return this.node(schema, resource);
  }

  #resource(root: unknown, uri: string, outer: Resource | undefined): Resource {
    const dialect = dialectOf(isObject(root) ? root.$schema : undefined, outer?.dialect, this.#options);
    const resource: Resource = { uri, root, dialect, anchors: new Map(), dynamic: new Map() };
    if (!this.#byUri.has(uri)) this.#byUri.set(uri, resource);
    return resource;
  }

  /** Notes the owner of each sub-schema, and all identifiers. */
  #index(document: unknown, start: Resource, counted: boolean): void {
    const list: Found[] = [{ schema: document, resource: start }];
    for (const { schema, resource: outer } of list) {
      if (counted && ++this.#count > this.#options.subschemas) {
        refuse("its sub-schemas are more than ", String(this.#options.subschemas));
      }
      if (!isObject(schema) || this.#owners.has(schema)) continue;
      const resource = this.#identify(schema, outer);
      this.#owners.set(schema, resource);
      for (const [keyword, inner] of Object.entries(schema)) {
        const named = NAMED.test(keyword) && isObject(inner);
        if (!named && !HOLDERS.test(keyword)) continue;
        for (const schema of named ? Object.values(inner) : Array.isArray(inner) ? inner : [inner]) {
          if (!Array.isArray(schema)) list.push({ schema, resource });
        }
      }
    }
  }

  /** The resource of a schema: a new one where it has an `$id`. */
  #identify(schema: Record<string, unknown>, outer: Resource): Resource {
    const { $id: id } = schema;
    const old = outer.dialect.year < 2019;
    let resource = outer;
    if (typeof id === "string" && !(old && typeof schema.$ref === "string")) {
      const [uri = "", fragment] = absolute(id, outer.uri).split("#");
      if (uri !== outer.uri) resource = this.#resource(schema, uri, outer);
      if (old && fragment) anchor(resource, decode(fragment), schema);
    }
    for (const keyword of ["$anchor", "$dynamicAnchor", "$recursiveAnchor"]) {
      let name = schema[keyword];
      if (!resource.dialect.knows(keyword)) continue;
      if (typeof name === "string") anchor(resource, name, schema);
      else if (name === true) name = "";
      if (typeof name !== "string" || keyword === "$anchor" || resource.dynamic.has(name)) continue;
      resource.dynamic.set(name, this.node(schema, resource));
    }
    return resource;
  }
}

function anchor(resource: Resource, name: string, schema: Record<string, unknown>): void {
  if (!resource.anchors.has(name)) resource.anchors.set(name, schema);
}

function absolute(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    return refuse("", reference, " is no URI");
  }
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
