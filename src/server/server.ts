/**
 * The server of an author: what it offers is registered here, whatever the wire, the era and the runtime.
 *
 * @module
 */
import type { JsonObject } from "../protocol/json_rpc.ts";
import { createSchemaValidator } from "../protocol/json_schema/mod.ts";
import { find, maybeText } from "../protocol/shapes/shape.ts";
import type { CacheHints, Implementation } from "../protocol/types.ts";
import type { SchemaValidator } from "../protocol/validation.ts";
import type { Logger } from "../ports.ts";
import { Catalog } from "./catalog/catalog.ts";
import { checkCache, checkName, checkObject, checkUri, listing, refuse } from "./catalog/checks.ts";
import { defaultPageSize } from "./catalog/shelf.ts";
import type {
  AnySchema,
  Checked,
  PromptHandler,
  PromptOptions,
  ResourceHandler,
  ResourceOptions,
  TemplateHandler,
  TemplateOptions,
  ToolHandler,
  ToolOptions,
} from "./definitions.ts";
import { createSafeLogger } from "./safe_logger.ts";
import type { Methods } from "./seam.ts";

/** How a server behaves. */
export interface ServerOptions {
  /** How to use it well: advice for a model. */
  instructions?: string | undefined;
  /** How long and for whom its lists and its description are good (`{ ttlMs: 0, cacheScope: "private" }`). */
  cache?: CacheHints | undefined;
  /** How many items a page of a list has (100). */
  pageSize?: number | undefined;
  /**
   * Checks values against JSON Schemas (default: the library's own interpreter). Standard Schemas check by themselves.
   * Arguments that it cannot judge (`unchecked`) are refused.
   */
  validator?: SchemaValidator | undefined;
  /** Hears of tools that failed. */
  logger?: Logger | undefined;
}

/**
 * A server: its tools, resources, prompts and completions. It knows no wire: `createHandler` serves it over HTTP,
 * `serveStdio` over pipes, in both eras of the protocol.
 *
 * Everything can be registered and removed at any time; clients that listen are told.
 *
 * @example A server with one tool
 * ```ts
 * import { McpServer } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "sums", version: "1.0.0" });
 * server.tool("add", {
 *   description: "Adds two numbers",
 *   input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
 * }, ({ a, b }) => Number(a) + Number(b));
 * console.assert(server.methods.tool("add")?.description === "Adds two numbers");
 * ```
 */
export class McpServer {
  /** Hears of tools that failed; who serves this server may use it too. */
  readonly logger: Logger | undefined;
  readonly #catalog: Catalog;

  /**
   * Makes a server that offers nothing yet.
   *
   * @param info Who it is: `name` and `version`, and what else there is to say.
   * @param options How it behaves.
   * @throws {TypeError} When a name, a version or an option is not what it has to be.
   */
  constructor(info: Implementation, options: ServerOptions = {}) {
    const what = "the server";
    checkObject(what, "info", info);
    checkObject(what, "options", options);
    checkName(what, "name", info.name);
    checkName(what, "version", info.version);
    const wrong = find(info, { title: maybeText, description: maybeText, websiteUrl: maybeText }) ??
      find(options, { instructions: maybeText });
    if (wrong) throw new TypeError(`Cannot set up ${what}: "${wrong.slice(1)}`);
    const { pageSize = defaultPageSize, cache, validator = createSchemaValidator(), logger } = options;
    if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
      refuse(what, "pageSize", pageSize, "a whole number, 1 or more");
    }
    if (typeof validator !== "function") refuse(what, "validator", validator, "a function");
    checkCache(what, cache);
    this.logger = logger;
    this.#catalog = new Catalog({
      info: listing(what, info),
      instructions: options.instructions,
      cache: { ttlMs: cache?.ttlMs ?? 0, cacheScope: cache?.cacheScope ?? "private" },
      pageSize,
      validator,
      logger: createSafeLogger(logger),
    });
  }

  /** What the eras and bindings work with. */
  get methods(): Methods {
    return this.#catalog;
  }

  /**
   * Registers a tool (specification 2026-07-28: tools).
   *
   * The handler gets arguments that were checked. What it returns is a text, any JSON (`structuredContent`), whole
   * content (`{ content }`), `{ error }`, or nothing; what it throws becomes a result with `isError: true` that holds the
   * error's message, except for an `RpcError`, which is answered as the protocol's error. So put no secrets into messages.
   *
   * @param name 1 to 128 characters of `A-Za-z0-9_.-`, unique.
   * @param options What is said of it. `input` and `output` are JSON Schemas or Standard Schemas; of a Standard Schema
   * without `jsonSchema` clients see `{ type: "object" }` only. A JSON Schema is copied.
   * @param handler Runs it.
   * @returns A function that removes it again.
   * @throws {TypeError} When the name is taken, or anything about it is wrong: a schema that cannot be used or is not
   * about an object, a pattern that the validator cannot check, an `x-mcp-header` annotation that breaks the rules.
   *
   * @example A result with structure
   * ```ts
   * import { McpServer } from "@causeway/mcp/server";
   *
   * const server = new McpServer({ name: "weather", version: "1.0.0" });
   * const remove = server.tool("temperature", {
   *   input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
   *   output: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
   * }, ({ city }) => city === "Atlantis" ? { error: "It is under water" } : { celsius: 21 });
   * remove();
   * ```
   */
  tool<Input extends AnySchema = JsonObject>(
    name: string,
    options: ToolOptions<Input>,
    handler: ToolHandler<Checked<Input>>,
  ): () => void {
    // What the schema lets through is of the type that the schema names: the catalog gives nothing else to the handler.
    return this.#catalog.tools.add(name, options, handler as ToolHandler<unknown>);
  }

  /**
   * Registers a resource (specification 2026-07-28: resources).
   *
   * @param uri An absolute URI, unique; compared as it is written.
   * @param options What is said of it; without `name` it is called by its URI.
   * @param handler Reads it: a text (`mimeType`, or `text/plain`), bytes (`mimeType`, or `application/octet-stream`),
   * contents, or undefined when there is none.
   * @returns A function that removes it again.
   * @throws {TypeError} When the URI is none or taken, or an option is wrong.
   *
   * @example A text
   * ```ts
   * import { McpServer } from "@causeway/mcp/server";
   *
   * const server = new McpServer({ name: "notes", version: "1.0.0" });
   * server.resource("note://today", { title: "Today", mimeType: "text/markdown" }, () => "# Today");
   * ```
   */
  resource(uri: string, options: ResourceOptions, handler: ResourceHandler): () => void {
    return this.#catalog.resources.add(uri, options, handler);
  }

  /**
   * Registers a family of resources. A URI that no resource has goes to the first template that it matches. What the
   * variables are comes from the client: check it before it names a file or a row. `file:` URIs with `..` reach no handler.
   *
   * @param uriTemplate An RFC 6570 template, unique.
   * @param options What is said of it, and what suggests values for its variables.
   * @param handler Reads one of its members.
   * @returns A function that removes it again.
   * @throws {TypeError} When the template is malformed or taken, or an option is wrong.
   *
   * @example Notes by day
   * ```ts
   * import { McpServer } from "@causeway/mcp/server";
   *
   * const server = new McpServer({ name: "notes", version: "1.0.0" });
   * server.template("note://{day}", { complete: { day: () => ["monday", "tuesday"] } }, (_uri, { day }) =>
   *   day === "monday" ? "Wash the cat" : undefined);
   * ```
   */
  template(uriTemplate: string, options: TemplateOptions, handler: TemplateHandler): () => void {
    return this.#catalog.resources.addTemplate(uriTemplate, options, handler);
  }

  /**
   * Registers a prompt (specification 2026-07-28: prompts).
   *
   * @param name Any text, unique.
   * @param options What is said of it, and which arguments it takes.
   * @param handler Fills it in; a text is one message of the user.
   * @returns A function that removes it again.
   * @throws {TypeError} When the name is taken or an option is wrong.
   *
   * @example A prompt with one argument
   * ```ts
   * import { McpServer } from "@causeway/mcp/server";
   *
   * const server = new McpServer({ name: "reviews", version: "1.0.0" });
   * server.prompt("review", { arguments: { code: { required: true } } }, ({ code }) => `Review this:\n${code}`);
   * ```
   */
  prompt(name: string, options: PromptOptions, handler: PromptHandler): () => void {
    return this.#catalog.prompts.add(name, options, handler);
  }

  /**
   * Tells the clients that watch a resource that it has changed.
   *
   * @param uri Which one; it need not be registered by itself, a template's member can change too.
   * @throws {TypeError} When it is no absolute URI.
   */
  resourceUpdated(uri: string): void {
    checkUri(uri);
    this.#catalog.tell({ type: "resource", uri });
  }
}
