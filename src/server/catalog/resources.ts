/**
 * The resources and resource templates of a server: registered, listed, read.
 *
 * @module
 */
import { excerpt } from "../../protocol/excerpt.ts";
import { isObject, type JsonObject } from "../../protocol/json_rpc.ts";
import { type Fields, maybeNumber, maybeObject, maybeText, text } from "../../protocol/shapes/shape.ts";
import type { CacheHints, Resource, ResourceTemplate, ServerCapabilities } from "../../protocol/types.ts";
import { matchUriTemplate, uriTemplateVariables } from "../../protocol/uri_template.ts";
import type {
  Completer,
  RequestContext,
  ResourceHandler,
  ResourceOptions,
  ResourceReturn,
  TemplateHandler,
  TemplateOptions,
} from "../definitions.ts";
import { checkName, checkOptions, checkUri, described, listing, refuse } from "./checks.ts";
import { soundResult } from "./json.ts";
import type { Kind } from "./kind.ts";
import { checkParams, invalidParams } from "./params.ts";
import { Shelf, type Shelved } from "./shelf.ts";

interface RegisteredResource extends Shelved {
  readonly listed: Resource;
  readonly cache: CacheHints | undefined;
  readonly read: ResourceHandler;
}

interface RegisteredTemplate extends Shelved {
  readonly listed: ResourceTemplate;
  readonly cache: CacheHints | undefined;
  readonly variables: readonly string[];
  readonly complete: Readonly<Record<string, Completer>>;
  readonly read: TemplateHandler;
}

/** What is to be read, and how. */
interface Reading {
  readonly listed: { readonly mimeType?: string };
  readonly cache: CacheHints | undefined;
  read(context: RequestContext): ReturnType<ResourceHandler>;
}

/** What may be said of resources and templates. */
const readable: Fields = {
  ...described,
  name: maybeText,
  mimeType: maybeText,
  size: maybeNumber,
  annotations: maybeObject,
  cache: maybeObject,
};
const templateShape: Fields = { ...readable, complete: maybeObject };
const resourceShape: Fields = { ...readable, size: maybeNumber };
const readShape: Fields = { uri: text };

/** The resources and templates. */
export class Resources implements Kind {
  readonly shelf: Shelf<RegisteredResource>;
  readonly templates: Shelf<RegisteredTemplate>;

  /** Makes an empty collection; `changed` is called after each registration and removal. */
  constructor(pageSize: number, changed: () => void) {
    this.shelf = new Shelf("resources", pageSize, changed);
    this.templates = new Shelf("resourceTemplates", pageSize, changed);
  }

  /** What is declared. */
  capabilities(): ServerCapabilities {
    return this.#used ? { resources: {} } : {};
  }

  /** Answers one method. */
  run(method: string, params: JsonObject, context: RequestContext): Promise<JsonObject> | undefined {
    if (!this.#used) return undefined;
    switch (method) {
      case "resources/read":
        return this.read(params, context);
      case "resources/list":
        return this.shelf.list(params);
      case "resources/templates/list":
        return this.templates.list(params);
    }
    return undefined;
  }

  /**
   * Registers a resource.
   *
   * @returns What takes it away again.
   * @throws {TypeError} When anything about it is wrong, or there is one of that URI.
   */
  add(uri: string, options: ResourceOptions, read: ResourceHandler): () => void {
    checkUri(uri);
    const what = `the resource "${uri}"`;
    checkOptions(what, options, resourceShape, read);
    const { name = uri, size, cache } = options;
    const listed = listing<Resource>(what, { uri, name, ...shared(options), size });
    return this.shelf.add({ key: uri, listed, cache, read });
  }

  /**
   * Registers a template.
   *
   * @returns What takes it away again.
   * @throws {TypeError} When anything about it is wrong, or there is one of that text.
   */
  addTemplate(uriTemplate: string, options: TemplateOptions, read: TemplateHandler): () => void {
    checkName("a template", "uriTemplate", uriTemplate);
    const what = `the template "${uriTemplate}"`;
    let variables: string[];
    try {
      variables = uriTemplateVariables(uriTemplate);
    } catch (error) {
      const why = error instanceof Error ? error.message : "it is malformed";
      throw new TypeError(`Cannot set up ${what}: expected an RFC 6570 template, ${why}`, { cause: error });
    }
    checkOptions(what, options, templateShape, read);
    const { name = uriTemplate, cache, complete = {} } = options;
    for (const [variable, completer] of Object.entries(complete)) {
      if (!variables.includes(variable)) refuse(what, "complete", variable, `one of its variables (${variables})`);
      if (typeof completer !== "function") refuse(what, `complete.${variable}`, completer, "a function");
    }
    const listed = listing<ResourceTemplate>(what, { uriTemplate, name, ...shared(options) });
    return this.templates.add({ key: uriTemplate, listed, cache, variables, complete: { ...complete }, read });
  }

  /**
   * Reads a resource: one of that very URI, else the first template that it matches (specification 2026-07-28:
   * resources, Reading Resources).
   *
   * @throws {InvalidParamsError} When the parameters are malformed, or there is no such resource: with `data: { uri }`.
   * @throws {TypeError} When the handler gave what is no resource.
   */
  async read(params: JsonObject, context: RequestContext): Promise<JsonObject> {
    checkParams(params, readShape);
    const uri = params.uri as string;
    const reading = this.#find(uri);
    const returned = await reading?.read(context);
    if (!reading || returned === undefined || returned === null) {
      throw invalidParams(`Resource not found: ${excerpt(uri, 500)}`, { uri });
    }
    const what = `Cannot read "${excerpt(uri, 500)}": its handler gave no sound contents`;
    const result = soundResult("resources/read", toContents(uri, returned, reading.listed.mimeType), what);
    const { ttlMs = 0, cacheScope = "private" } = reading.cache ?? {};
    return { ttlMs, cacheScope, ...result };
  }

  get #used(): boolean {
    return this.shelf.used || this.templates.used;
  }

  #find(uri: string): Reading | undefined {
    const resource = this.shelf.get(uri);
    if (resource) return { ...resource, read: (context) => resource.read(uri, context) };
    for (const template of this.templates.items()) {
      const variables = matches(template.key, uri);
      if (variables) {
        // Between other signs than slashes, dots climb only once they are a variable of their own.
        return climbs([uri, Object.values(variables)].flat(2).join("/"))
          ? undefined
          : { ...template, read: (context) => template.read(uri, variables, context) };
      }
    }
    return undefined;
  }
}

type Shared = Pick<TemplateOptions, "title" | "description" | "mimeType" | "annotations" | "icons"> & {
  readonly _meta: TemplateOptions["meta"];
};

/** What is said of resources and templates alike. */
function shared({ title, description, mimeType, annotations, icons, meta }: TemplateOptions): Shared {
  return { title, description, mimeType, annotations, icons, _meta: meta };
}

/** What the variables are; a URI that is longer than what is taken matches nothing. */
function matches(template: string, uri: string): Record<string, string | string[]> | undefined {
  try {
    return matchUriTemplate(template, uri);
  } catch {
    return undefined;
  }
}

/**
 * Whether a `file:` URI tries to leave its folder (specification 2026-07-28: resources, Security Considerations). Parsers of URLs skip
 * blanks and control characters.
 */
function climbs(uri: string): boolean {
  return /^file:/i.test(uri) &&
    /[:/\\]\.\.($|[\0- /\\?#])|\0/.test(uri.replace(/\s/g, "").replace(/%(2[ef]|5c|00)/gi, decodeURIComponent));
}

function toContents(uri: string, returned: Exclude<ResourceReturn, undefined>, mimeType?: string): JsonObject {
  if (isObject(returned) && "contents" in returned) return { ...returned as JsonObject };
  const list = typeof returned === "string"
    ? { uri, mimeType: mimeType ?? "text/plain", text: returned }
    : returned instanceof Uint8Array
    ? { uri, mimeType: mimeType ?? "application/octet-stream", blob: toBase64(returned) }
    : returned;
  return { contents: [list].flat() as unknown as JsonObject[] };
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8_192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  }
  return btoa(binary);
}
