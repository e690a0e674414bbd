/**
 * A server of tools: the part of `McpServer` that the smallest bundle needs.
 *
 * @module
 */
import type { JsonObject } from "../protocol/json_rpc.ts";
import { find, maybeText } from "../protocol/shapes/shape.ts";
import type { CacheHints, Implementation } from "../protocol/types.ts";
import type { SchemaValidator } from "../protocol/validation.ts";
import type { Logger } from "../ports.ts";
import { Catalog } from "./catalog/catalog.ts";
import { checkCache, checkName, checkObject, listing, refuse } from "./catalog/checks.ts";
import type { Kinds } from "./catalog/kind.ts";
import { createLateValidator } from "./catalog/late_validator.ts";
import { defaultPageSize } from "./catalog/shelf.ts";
import type { AnySchema, Checked, ToolHandler, ToolOptions } from "./definitions.ts";
import { createSafeLogger } from "../egress/safe_logger.ts";
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
 * A server that offers tools and nothing else: what resources, templates, prompts and completions need is not in its
 * bundle. `McpServer` offers them too, and is served by the same functions.
 *
 * @example The smallest Worker
 * ```ts
 * import { createModernHandler, ToolServer } from "@causeway/mcp/server";
 *
 * const server = new ToolServer({ name: "echo", version: "1.0.0" });
 * const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
 * server.tool("echo", { input }, ({ text }) => String(text));
 * const handler = createModernHandler(server, { allowedHosts: ["mcp.example.com"] });
 * const worker = { fetch: handler };
 * console.assert(typeof worker.fetch === "function");
 * ```
 */
export class ToolServer {
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
    const { pageSize = defaultPageSize, cache, validator = createLateValidator(), logger } = options;
    if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
      refuse(what, "pageSize", pageSize, "a whole number, 1 or more");
    }
    if (typeof validator !== "function") refuse(what, "validator", validator, "a function");
    if (cache) checkCache(what, cache);
    this.logger = logger;
    this.#catalog = new Catalog({
      info: listing(what, info),
      instructions: options.instructions,
      cache: { ttlMs: cache?.ttlMs ?? 0, cacheScope: cache?.cacheScope ?? "private" },
      pageSize,
      validator,
      logger: logger && createSafeLogger(logger),
    });
  }

  /** Where a class that extends this one adds other kinds of things than tools. */
  protected get kinds(): Kinds {
    return this.#catalog;
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
   * error's message, except for an `RpcError` of its own making, which is answered as the protocol's error. So put no
   * secrets into messages.
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
}
