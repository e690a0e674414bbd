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
import type { Kind, Kinds } from "./kind.ts";
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

/** The catalog: what is registered, and what is said of it over the wire. Tools are always there, other kinds are added. */
export class Catalog implements Methods, Kinds {
  readonly info: Implementation;
  readonly instructions: string | undefined;
  readonly cache: CacheHints;
  readonly pageSize: number;
  readonly tools: Tools;
  readonly #kinds: Kind[];
  readonly #logger: Logger | undefined;
  readonly #listeners: Set<(change: ServerChange) => void> = new Set();

  /** Makes an empty one. */
  constructor(options: CatalogOptions) {
    const { info, instructions, cache, pageSize, validator, logger } = options;
    this.info = info;
    this.instructions = instructions;
    this.cache = cache;
    this.pageSize = pageSize;
    this.#logger = logger;
    this.tools = new Tools(pageSize, validator, logger, () => this.tell({ type: "tools" }));
    this.#kinds = [this.tools];
  }

  /** Offers one more kind of things. */
  add<Added extends Kind>(kind: Added): Added {
    this.#kinds.push(kind);
    return kind;
  }

  /** What is declared. */
  capabilities(): ServerCapabilities {
    return Object.assign({ logging: {} }, ...this.#kinds.map((kind) => kind.capabilities()));
  }

  /** Answers one method; undefined where nothing of its kind is there. */
  run(method: string, params: JsonObject, context: RequestContext): JsonObject | Promise<JsonObject> | undefined {
    for (const kind of this.#kinds) {
      const running = kind.run(method, params, context);
      if (running) return running;
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
}
