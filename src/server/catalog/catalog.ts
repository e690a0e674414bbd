/**
 * All that a server offers, and the methods that reach it.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CacheHints, Implementation, ServerCapabilities, Tool } from "../../protocol/types.ts";
import type { SchemaValidator } from "../../protocol/validation.ts";
import type { Logger } from "../../ports.ts";
import type { RequestContext } from "../definitions.ts";
import type { Methods, ServerChange, TaskTerms } from "../seam.ts";
import { anyCompletes, complete } from "./completions.ts";
import { Prompts } from "./prompts.ts";
import { Resources } from "./resources.ts";
import { Tools } from "./tools.ts";

/** What a catalog is made of. */
export interface CatalogOptions {
  readonly info: Implementation;
  readonly instructions: string | undefined;
  readonly cache: CacheHints;
  readonly pageSize: number;
  readonly validator: SchemaValidator;
  readonly logger: Logger | undefined;
}

/** The catalog: what is registered, and what is said of it over the wire. */
export class Catalog implements Methods {
  readonly info: Implementation;
  readonly instructions: string | undefined;
  readonly cache: CacheHints;
  readonly tools: Tools;
  readonly resources: Resources;
  readonly prompts: Prompts;
  readonly #logger: Logger | undefined;
  readonly #listeners: Set<(change: ServerChange) => void> = new Set();
  #completes = false;

  /** Makes an empty one. */
  constructor(options: CatalogOptions) {
    const { info, instructions, cache, pageSize, validator, logger } = options;
    this.info = info;
    this.instructions = instructions;
    this.cache = cache;
    this.#logger = logger;
    this.tools = new Tools(pageSize, validator, logger, () => this.tell({ type: "tools" }));
    this.resources = new Resources(pageSize, () => this.tell({ type: "resources" }));
    this.prompts = new Prompts(pageSize, () => this.tell({ type: "prompts" }));
  }

  /** What is there, or was: a client that was told of it may go on asking. */
  capabilities(): ServerCapabilities {
    return {
      ...(this.tools.shelf.used && { tools: {} }),
      ...(this.#hasResources() && { resources: {} }),
      ...(this.prompts.shelf.used && { prompts: {} }),
      ...(this.#hasCompletions() && { completions: {} }),
      logging: {},
    };
  }

  /** Answers one method; undefined where nothing of its kind is there. */
  run(method: string, params: JsonObject, context: RequestContext): Promise<JsonObject> | undefined {
    switch (method) {
      case "tools/call":
        return this.tools.shelf.used
          ? this.tools.call(params, context) as Promise<unknown> as Promise<JsonObject>
          : undefined;
      case "tools/list":
        return this.tools.shelf.used ? soon(() => this.tools.shelf.page(params)) : undefined;
      case "resources/read":
        return this.#hasResources() ? this.resources.read(params, context) : undefined;
      case "resources/list":
        return this.#hasResources() ? soon(() => this.resources.shelf.page(params)) : undefined;
      case "resources/templates/list":
        return this.#hasResources() ? soon(() => this.resources.templates.page(params)) : undefined;
      case "prompts/get":
        return this.prompts.shelf.used ? this.prompts.get(params, context) : undefined;
      case "prompts/list":
        return this.prompts.shelf.used ? soon(() => this.prompts.shelf.page(params)) : undefined;
      case "completion/complete":
        return this.#hasCompletions() ? complete(this.prompts, this.resources, params, context) : undefined;
    }
    return undefined;
  }

  /** A tool as it is listed. */
  tool(name: string): Tool | undefined {
    return this.tools.shelf.get(name)?.listed;
  }

  /** How a tool goes on as a task. */
  task(name: string): TaskTerms | undefined {
    return this.tools.shelf.get(name)?.task;
  }

  /** Hears of changes until the returned function is called. */
  watch(listener: (change: ServerChange) => void): () => void {
    const own = (change: ServerChange): void => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Tells all who watch. A listener that throws keeps nobody else from hearing. */
  tell(change: ServerChange): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (error) {
        this.#logger?.({ level: "error", message: "A listener of the server's changes failed", fields: { error } });
      }
    }
  }

  #hasResources(): boolean {
    return this.resources.shelf.used || this.resources.templates.used;
  }

  #hasCompletions(): boolean {
    return this.#completes ||= anyCompletes(this.prompts, this.resources);
  }
}

/** A promise of what is there at once; what is thrown rejects it. */
function soon(make: () => JsonObject): Promise<JsonObject> {
  return new Promise((resolve) => resolve(make()));
}
