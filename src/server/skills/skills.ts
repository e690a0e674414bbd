/**
 * Serving skills: files of instructions for agents, as resources, with the methods that list them (SEP-2640).
 *
 * @module
 */
import { excerpt } from "../../protocol/excerpt.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { type Fields, maybeText, text } from "../../protocol/shapes/shape.ts";
import { type Skill, skillsExtension } from "../../protocol/skills/rules.ts";
import type { CacheHints, Implementation, Resource, ServerCapabilities, Tool } from "../../protocol/types.ts";
import { refuse } from "../catalog/checks.ts";
import { checkParams, invalidParams } from "../catalog/params.ts";
import { defaultPageSize, Shelf } from "../catalog/shelf.ts";
import type { RequestContext } from "../definitions.ts";
import type { Methods, ServerChange, TaskTerms } from "../seam.ts";
import type { McpServer } from "../server.ts";
import { SkillFolder } from "./folder.ts";
import type { SkillOptions } from "./folder.ts";

/** Options of {@linkcode withSkills}. */
export interface SkillsOptions {
  /** How many skills, or files of a folder, a page of a list has (100). */
  pageSize?: number | undefined;
}

/** A server that serves skills too: for `createHandler`, `serveStdio` and whatever else serves a server. */
export interface SkillServer {
  /** What the server can do. */
  readonly methods: Methods;
  /**
   * Adds a skill.
   *
   * @returns A function that removes it again.
   * @throws {TypeError} When it is not what the format asks for, or a file of it is served already.
   */
  add(skill: SkillOptions): () => void;
}

const scheme = "skill://";
const getShape: Fields = { uri: text };
const directoryShape: Fields = { uri: text, cursor: maybeText };

/**
 * Lets a server serve skills: the extension `io.modelcontextprotocol/skills` of 2026-07-28 (SEP-2640).
 *
 * Each file of a skill becomes a resource, `skill://NAME/SKILL.md` and its neighbours, so clients that know nothing of skills
 * can read them too. Clients that do find them with `skills/list` and `skills/get`, with the digest of every file, and look
 * into folders with `resources/directory/read`.
 *
 * @param server What else is served. It is not changed but for the resources that it gets.
 * @param skills The skills to begin with.
 * @returns What is to be served in the server's place.
 * @throws {TypeError} When a skill is not what the format asks for, or a file of it is served already.
 *
 * @example A skill of one text and a reference
 * ```ts
 * import { createHandler, McpServer, withSkills } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "shop", version: "1.0.0" });
 * const served = withSkills(server, [{
 *   markdown: "---\nname: refunds\ndescription: Refund a customer\n---\n\nRead references/RULES.md first.\n",
 *   files: { "references/RULES.md": "# Rules\n\nNo refunds on Mondays.\n" },
 * }]);
 * const handler = createHandler(served);
 * handler.close();
 * ```
 */
export function withSkills(
  server: Pick<McpServer, "methods" | "resource">,
  skills: readonly SkillOptions[] = [],
  options: SkillsOptions = {},
): SkillServer {
  const { pageSize = defaultPageSize } = options;
  if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
    refuse("skills", "pageSize", pageSize, "a whole number, 1 or more");
  }
  const methods = new SkillMethods(server, pageSize);
  for (const skill of skills) methods.add(skill);
  return { methods, add: (skill) => methods.add(skill) };
}

/** A skill among the others: it is listed by its URI, and its entry is made when somebody asks for it. */
interface Shelved {
  readonly key: string;
  readonly listed: { readonly uri: string };
  readonly folder: SkillFolder;
}

/** The methods of a server, and those of skills beside them. */
class SkillMethods implements Methods {
  readonly #server: Pick<McpServer, "methods" | "resource">;
  readonly #shelf: Shelf<Shelved>;
  readonly #pageSize: number;

  constructor(server: Pick<McpServer, "methods" | "resource">, pageSize: number) {
    this.#server = server;
    this.#pageSize = pageSize;
    this.#shelf = new Shelf("skills", pageSize, () => {});
  }

  get info(): Implementation {
    return this.#server.methods.info;
  }

  get instructions(): string | undefined {
    return this.#server.methods.instructions;
  }

  get cache(): CacheHints {
    return this.#server.methods.cache;
  }

  add(options: SkillOptions): () => void {
    const folder = new SkillFolder(options);
    const root = rootOf(folder.uri);
    for (const { key } of this.#shelf.items()) {
      const other = rootOf(key);
      // The entry of the outer one would have to list the files of the inner one.
      if (key === folder.uri || !(root.startsWith(other) || other.startsWith(root))) continue;
      refuse(`the skill "${root}"`, "folder", other, "no skill inside of another: their files belong to the outer one");
    }
    const removals: (() => void)[] = [];
    const remove = () => removals.splice(0).forEach((removal) => removal());
    try {
      removals.push(this.#shelf.add({ key: folder.uri, listed: { uri: folder.uri }, folder }));
      for (const { uri, listed, content } of folder.files) {
        removals.push(this.#server.resource(uri, listed, () => content));
      }
    } catch (error) {
      remove();
      throw error;
    }
    return remove;
  }

  capabilities(): ServerCapabilities {
    const capabilities = this.#server.methods.capabilities();
    if (!this.#shelf.used) return capabilities;
    return { ...capabilities, extensions: { ...capabilities.extensions, [skillsExtension]: { directoryRead: true } } };
  }

  run(method: string, params: JsonObject, context: RequestContext): JsonObject | Promise<JsonObject> | undefined {
    // Older revisions have no extensions: to their clients the files are resources like others.
    if (this.#shelf.used && context.era === "modern") {
      if (method === "skills/list") return this.#list(params);
      if (method === "skills/get") return this.#get(params);
      if (method === "resources/directory/read") return this.#readDirectory(params);
    }
    return this.#server.methods.run(method, params, context);
  }

  tool(name: string): Tool | undefined {
    return this.#server.methods.tool(name);
  }

  task(name: string): TaskTerms | undefined {
    return this.#server.methods.task?.(name);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    return this.#server.methods.watch(listener);
  }

  watched(): Set<string> {
    return this.#server.methods.watched?.() ?? new Set();
  }

  async #list(params: JsonObject): Promise<JsonObject> {
    const page = this.#shelf.page(params);
    const folders = (page.skills as JsonObject[]).map(({ uri }) => this.#shelf.get(uri as string)!.folder);
    return this.#fresh({ ...page, skills: await Promise.all(folders.map(toEntry)) });
  }

  async #get(params: JsonObject): Promise<JsonObject> {
    checkParams(params, getShape);
    const uri = params.uri as string;
    const found = this.#shelf.get(uri);
    if (!found) throw invalidParams(`There is no skill at ${excerpt(uri, 500)}`, { uri });
    return this.#fresh({ skill: await toEntry(found.folder) });
  }

  /** A result that says how long it is good. */
  #fresh(result: JsonObject): JsonObject {
    const { ttlMs = 0, cacheScope = "private" } = this.cache;
    return { ...result, ttlMs, cacheScope };
  }

  // deno-lint-ignore require-await -- what is thrown has to reject
  async #readDirectory(params: JsonObject): Promise<JsonObject> {
    checkParams(params, directoryShape);
    const uri = params.uri as string;
    const children = [...this.#childrenOf(uri).values()];
    if (children.length === 0) throw invalidParams(`There is no directory at ${excerpt(uri, 500)}`, { uri });
    const cursor = params.cursor ?? undefined;
    // A cursor is the URI of the last child that was seen.
    const after = cursor === undefined ? 0 : children.findIndex((child) => child.uri === cursor) + 1;
    if (cursor !== undefined && after === 0) throw invalidParams('Cannot read the directory: "cursor" is none of it');
    const resources = children.slice(after, after + this.#pageSize) as unknown as JsonObject[];
    const isLast = after + this.#pageSize >= children.length;
    return this.#fresh({ resources, ...(!isLast && { nextCursor: resources.at(-1)!.uri as string }) });
  }

  /** What is directly in a directory, by its URI: the files of all skills are one tree. */
  #childrenOf(uri: string): Map<string, Resource> {
    const found = new Map<string, Resource>();
    const prefix = `${uri}/`;
    if (!uri.startsWith(scheme) || uri.length === scheme.length || uri.endsWith("/")) return found;
    for (const { folder } of this.#shelf.items()) {
      for (const { uri: file, listed } of folder.files) {
        if (!file.startsWith(prefix)) continue;
        const [name = "", ...deeper] = file.slice(prefix.length).split("/");
        const child = prefix + name;
        const directory = { uri: child, name: decodeURIComponent(name), mimeType: "inode/directory" };
        if (!found.has(child)) found.set(child, deeper.length > 0 ? directory : { uri: child, ...listed });
      }
    }
    return found;
  }
}

/** The directory of a skill, with a slash at its end. */
function rootOf(uri: string): string {
  return uri.slice(0, -"SKILL.md".length);
}

async function toEntry(folder: SkillFolder): Promise<JsonObject> {
  const entry: Skill = await folder.entry();
  return { ...entry } as unknown as JsonObject;
}
