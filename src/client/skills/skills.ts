/**
 * The skills that one server publishes: listed, got by URI and loaded, each file checked against what was said of it (SEP-2640).
 *
 * @module
 */
import { MethodNotFoundError, ProtocolViolationError } from "../../protocol/errors.ts";
import { isObject, type JsonObject } from "../../protocol/json_rpc.ts";
import { defaultLimits, defaultTimeouts } from "../../protocol/limits.ts";
import { type Skill, skillLimits, skillsExtension } from "../../protocol/skills/rules.ts";
import type { ListResult } from "../../protocol/types.ts";
import { type Clock, systemClock } from "../../ports.ts";
import { walkPages } from "../lists.ts";
import type { RequestOptions, ServerInfo, SessionRequestOptions } from "../session/request.ts";
import { type CheckedEntry, checkEntry, type EntryLimits, show } from "./entry.ts";
import { Loaded, type LoadedSkill } from "./loaded.ts";
import type { ParseYaml } from "./verify.ts";

/** What skills are read through: a `Client`. */
export interface SkillSource {
  /** Names the server in errors. */
  readonly label: string;
  /** What the server said about itself, once it is connected. */
  readonly info: ServerInfo | null;
  /** Opens the session, where that is still to be done. */
  connect(options?: { signal?: AbortSignal | undefined }): Promise<unknown>;
  /** Sends a request. */
  request(method: string, params?: JsonObject, options?: SessionRequestOptions): Promise<JsonObject>;
}

/** Options of {@linkcode skillsOf}. */
export interface SkillReaderOptions {
  /** What you call the server: what is loaded says so. Default: the client's label. Never what the server calls itself. */
  server?: string | undefined;
  /** Skills in a list (10,000), files of one (512), and bytes of all its files (16 MiB). */
  limits?: { skills?: number | undefined; files?: number | undefined; bytes?: number | undefined } | undefined;
  /** Loads skills too whose files are made anew each time, so that nothing says what they should hold (false). */
  allowDynamic?: boolean | undefined;
  /** Reads YAML that is more than plain `key: value` lines. Without it a skill with such frontmatter is not loaded. */
  parseYaml?: ParseYaml | undefined;
  /** Measures how long a list may take. Default: the runtime's. */
  clock?: Clock | undefined;
}

/** The skills that a server lists: there may be more that it does not list. */
export interface ListedSkills {
  /** Those that keep to the rules, in the order of the server. */
  readonly skills: readonly Skill[];
  /** Entries that break the rules: they were left out. */
  readonly rejected: readonly { readonly uri: string; readonly reason: string }[];
  /** The cap that ended the list early. */
  readonly truncated?: ListResult["truncated"];
}

/** Lists and loads the skills of one server. */
export interface SkillReader {
  /** Whether the server says that it has skills. Connects where need be. */
  supported(options?: RequestOptions): Promise<boolean>;
  /** What the server says of its skills. No file is read. */
  list(options?: RequestOptions): Promise<ListedSkills>;
  /**
   * What the server says of one skill, listed or not.
   *
   * @throws {ProtocolViolationError} When what it says breaks the rules.
   */
  get(uri: string, options?: RequestOptions): Promise<Skill>;
  /**
   * Reads a skill's `SKILL.md`, and checks size, digest and frontmatter. When it was changed since, `get` has the new entry.
   *
   * @param skill An entry, or the URI of one.
   * @throws {ProtocolViolationError} Naming the skill, the field and what was expected: the text must not be used.
   */
  load(skill: Skill | string, options?: RequestOptions): Promise<LoadedSkill>;
}

/**
 * The skills of a server: the extension `io.modelcontextprotocol/skills` of 2026-07-28 (SEP-2640).
 *
 * Nothing is read ahead: a list reads no file, `load` reads `SKILL.md` alone, and `read` the one file that it is asked for.
 *
 * @param client A client of the server.
 * @returns What lists and loads. All of it rejects with a `MethodNotFoundError` when the server does not say that it has skills.
 *
 * @example Load the first skill
 * ```ts
 * import { connect, skillsOf } from "@causeway/mcp";
 * import { createHandler, McpServer, withSkills } from "@causeway/mcp/server";
 *
 * const markdown = "---\nname: refunds\ndescription: Refund a customer\n---\n\nAsk for the order first.\n";
 * const handler = createHandler(withSkills(new McpServer({ name: "shop", version: "1.0.0" }), [{ markdown }]));
 *
 * const fetch = (url: string, init: RequestInit) => handler(new Request(url, init));
 * await using client = await connect("http://localhost/mcp", { fetch });
 * const reader = skillsOf(client, { server: "shop" });
 * const { skills } = await reader.list();
 * for (const skill of skills.slice(0, 1)) console.log((await reader.load(skill)).text);
 * handler.close();
 * ```
 */
export function skillsOf(client: SkillSource, options: SkillReaderOptions = {}): SkillReader {
  return new Reader(client, options);
}

class Reader implements SkillReader {
  readonly #client: SkillSource;
  readonly #options: SkillReaderOptions;
  readonly #limits: EntryLimits & { readonly skills: number };
  readonly #server: string;

  constructor(client: SkillSource, options: SkillReaderOptions) {
    const { skills = defaultLimits.items, files = skillLimits.files, bytes = skillLimits.bytes } = options.limits ?? {};
    for (const [name, value] of Object.entries({ skills, files, bytes })) {
      if (!Number.isSafeInteger(value) || value < 1) {
        throw new RangeError(`"limits.${name}" is ${value}, expected a whole number above 0`);
      }
    }
    this.#client = client;
    this.#options = options;
    this.#limits = { skills, files, bytes };
    this.#server = options.server ?? client.label;
  }

  async supported({ signal }: RequestOptions = {}): Promise<boolean> {
    await this.#client.connect({ signal });
    const { extensions } = this.#client.info?.capabilities ?? {};
    return isObject(extensions) && isObject(extensions[skillsExtension]);
  }

  async list(options: RequestOptions = {}): Promise<ListedSkills> {
    await this.#check("skills/list", options);
    const { clock = systemClock } = this.#options;
    const milliseconds = Math.min(options.timeout ?? Infinity, defaultTimeouts.pages);
    const limits = { ...defaultLimits, items: this.#limits.skills };
    const page = (cursor: string | undefined, left?: number): Promise<JsonObject> =>
      this.#page(cursor, left && options.timeout ? { ...options, timeout: left } : options);
    const { skills: entries, truncated } = await walkPages("skills", page, { clock, limits, milliseconds });
    const skills = new Map<string, Skill>();
    const rejected: { uri: string; reason: string }[] = [];
    for (const entry of entries as unknown[]) {
      try {
        const { skill } = this.#entry("skills/list", entry);
        if (skills.has(skill.uri)) {
          this.#refuse("skills/list", skill.uri, "it is listed twice, expected each skill once");
        }
        skills.set(skill.uri, skill);
      } catch (error) {
        if (!(error instanceof ProtocolViolationError)) throw error;
        rejected.push({ uri: uriOf(entry), reason: error.message });
      }
    }
    const cut = truncated as ListResult["truncated"];
    return { skills: [...skills.values()], rejected, ...(cut && { truncated: cut }) };
  }

  async get(uri: string, options: RequestOptions = {}): Promise<Skill> {
    return (await this.#get(uri, options)).skill;
  }

  async load(skill: Skill | string, options: RequestOptions = {}): Promise<LoadedSkill> {
    if (typeof skill !== "string") await this.#check("resources/read", options);
    const entry = typeof skill === "string" ? await this.#get(skill, options) : this.#entry("resources/read", skill);
    const isDynamic = entry.skill.resources === "dynamic";
    if (isDynamic && !this.#options.allowDynamic) {
      this.#refuse(
        "resources/read",
        entry.name,
        '"resources" is "dynamic", expected digests, or the option "allowDynamic" that does without',
      );
    }
    return await Loaded.open({
      entry,
      server: this.#server,
      most: this.#limits.bytes,
      parseYaml: this.#options.parseYaml,
      read: (uri, readOptions) => this.#request("resources/read", { uri }, readOptions),
      refuse: (wrong) => this.#refuse("resources/read", entry.name, wrong),
    }, options);
  }

  async #get(uri: string, options: RequestOptions): Promise<CheckedEntry> {
    await this.#check("skills/get", options);
    const { skill } = await this.#request("skills/get", { uri }, options);
    const entry = this.#entry("skills/get", skill);
    if (entry.skill.uri !== uri) {
      this.#refuse("skills/get", uri, `"uri" is ${show(entry.skill.uri)}, expected "${uri}"`);
    }
    return entry;
  }

  async #page(cursor: string | undefined, options: RequestOptions): Promise<JsonObject> {
    const page = await this.#request("skills/list", { cursor }, options);
    const { skills, nextCursor } = page;
    if (!Array.isArray(skills) || (nextCursor != null && typeof nextCursor !== "string")) {
      throw this.#violation("skills/list", 'Cannot use the result of "skills/list": expected "skills", a list');
    }
    return page;
  }

  /** Nothing of the extension is asked before the server has said that it has it. */
  async #check(method: string, options: RequestOptions): Promise<void> {
    if (await this.supported(options)) return;
    const error = new MethodNotFoundError(
      `Cannot read skills of "${this.#server}": it does not declare the extension "${skillsExtension}"`,
      { server: this.#server, method },
    );
    error.delivery = "not-sent";
    throw error;
  }

  #request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    // Reading twice is the same as reading once.
    return this.#client.request(method, params, { ...options, idempotent: true });
  }

  #entry(method: string, entry: unknown): CheckedEntry {
    const named = nameOf(entry);
    return checkEntry(entry, this.#limits, (field, value, expected): never => {
      this.#refuse(method, named, `"${field}" is ${show(value)}, expected ${expected}`);
    });
  }

  #refuse(method: string, name: string, wrong: string): never {
    throw this.#violation(method, `Cannot use the skill "${name}" of "${this.#server}": ${wrong}`);
  }

  #violation(method: string, message: string): ProtocolViolationError {
    return new ProtocolViolationError(message, { server: this.#server, method, delivery: "answered" });
  }
}

function nameOf(entry: unknown): string {
  const name = isObject(entry) && isObject(entry.frontmatter) ? entry.frontmatter.name : undefined;
  return typeof name === "string" ? show(name).slice(1, -1) : uriOf(entry);
}

function uriOf(entry: unknown): string {
  return isObject(entry) && typeof entry.uri === "string" ? show(entry.uri).slice(1, -1) : "";
}
