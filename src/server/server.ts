/**
 * The server of an author: what it offers is registered here, whatever the wire, the era and the runtime.
 *
 * @module
 */
import type { Implementation } from "../protocol/types.ts";
import { checkUri } from "./catalog/checks.ts";
import { Completions } from "./catalog/completions.ts";
import { Prompts } from "./catalog/prompts.ts";
import { Resources } from "./catalog/resources.ts";
import type {
  PromptHandler,
  PromptOptions,
  ResourceHandler,
  ResourceOptions,
  TemplateHandler,
  TemplateOptions,
} from "./definitions.ts";
import { type ServerOptions, ToolServer } from "./tool_server.ts";

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
export class McpServer extends ToolServer {
  readonly #resources: Resources;
  readonly #prompts: Prompts;

  /**
   * Makes a server that offers nothing yet.
   *
   * @param info Who it is: `name` and `version`, and what else there is to say.
   * @param options How it behaves.
   * @throws {TypeError} When a name, a version or an option is not what it has to be.
   */
  constructor(info: Implementation, options: ServerOptions = {}) {
    super(info, options);
    const { kinds } = this;
    const { pageSize } = kinds;
    this.#resources = kinds.add(new Resources(pageSize, () => kinds.tell({ type: "resources" })));
    this.#prompts = kinds.add(new Prompts(pageSize, () => kinds.tell({ type: "prompts" })));
    kinds.add(new Completions(this.#prompts, this.#resources));
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
    return this.#resources.add(uri, options, handler);
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
    return this.#resources.addTemplate(uriTemplate, options, handler);
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
    return this.#prompts.add(name, options, handler);
  }

  /**
   * Tells the clients that watch a resource that it has changed.
   *
   * @param uri Which one; it need not be registered by itself, a template's member can change too.
   * @throws {TypeError} When it is no absolute URI.
   */
  resourceUpdated(uri: string): void {
    checkUri(uri);
    this.kinds.tell({ type: "resource", uri });
  }
}
