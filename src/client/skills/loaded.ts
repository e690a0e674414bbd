/**
 * A skill in use: its `SKILL.md`, and its other files when they are asked for.
 *
 * @module
 */
import { ProtocolViolationError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { manifestName, type Skill, type SkillResource } from "../../protocol/skills/rules.ts";
import type { RequestOptions } from "../session/request.ts";
import { type CheckedEntry, show } from "./entry.ts";
import { contentOf, type ParseYaml, type Refuse, textOf, verifyFile, verifyFrontmatter } from "./verify.ts";

/** A file of a skill. */
export interface SkillContent {
  /** Where it was read. */
  readonly uri: string;
  /** From the skill's own folder: `references/FORMS.md`. */
  readonly path: string;
  /** What was checked. */
  readonly bytes: ReturnType<Uint8Array["slice"]>;
  /** The same as text, where the server sent one. */
  readonly text: string | undefined;
  /** Its type, as the server says. */
  readonly mimeType: string | undefined;
}

/**
 * A skill that is in use. Its texts come from a server: show a model whose they are, run nothing of them without a person's
 * word, and grant no `allowed-tools` of theirs.
 */
export interface LoadedSkill {
  /** What you call the server. */
  readonly server: string;
  /** What was said of it: its files are held against that as long as it is in use. */
  readonly skill: Skill;
  /** A label: skills of other servers, and other ones of this server, may have the same. */
  readonly name: string;
  /** The text of `SKILL.md`, frontmatter included. */
  readonly text: string;
  /** Whether digests were checked: false where the files are made anew each time. */
  readonly verified: boolean;
  /** The paths of its files. */
  readonly files: readonly string[];
  /**
   * Reads one of its files, now.
   *
   * @param path From the skill's own folder, as its texts say it; or a URI of the entry.
   * @throws {ProtocolViolationError} When it is not what the entry says, or the entry has no such file: then nothing is sent.
   */
  read(path: string, options?: RequestOptions): Promise<SkillContent>;
}

/** What a skill is loaded with. */
export interface LoadedParts {
  readonly entry: CheckedEntry;
  readonly server: string;
  readonly most: number;
  readonly parseYaml: ParseYaml | undefined;
  readonly read: (uri: string, options: RequestOptions) => Promise<JsonObject>;
  readonly refuse: Refuse;
}

/** A skill whose `SKILL.md` was checked. */
export class Loaded implements LoadedSkill {
  readonly #parts: LoadedParts;
  readonly #kept = new Map<string, SkillContent>();
  #bytes = 0;
  #text = "";

  constructor(parts: LoadedParts) {
    this.#parts = parts;
  }

  /** Reads `SKILL.md` and checks all of it, before anybody sees it. */
  static async open(parts: LoadedParts, options: RequestOptions): Promise<LoadedSkill> {
    const loaded = new Loaded(parts);
    const { skill, files } = parts.entry;
    const { bytes } = await loaded.#read(manifestName, { uri: skill.uri, file: files.get(manifestName) }, options);
    const refuse: Refuse = (wrong) => parts.refuse(`${manifestName}: ${wrong}`);
    loaded.#text = textOf(bytes, refuse);
    verifyFrontmatter(loaded.#text, skill.frontmatter, { refuse, parseYaml: parts.parseYaml });
    return loaded;
  }

  get server(): string {
    return this.#parts.server;
  }

  get skill(): Skill {
    return this.#parts.entry.skill;
  }

  get name(): string {
    return this.#parts.entry.name;
  }

  get text(): string {
    return this.#text;
  }

  get verified(): boolean {
    return this.skill.resources !== "dynamic";
  }

  get files(): readonly string[] {
    return [...this.#parts.entry.files.keys()];
  }

  async read(path: string, options: RequestOptions = {}): Promise<SkillContent> {
    const { files } = this.#parts.entry;
    const wanted = path.replace(/^\.\//, "");
    const [known, file] = [...files].find(([key, { uri }]) => key === wanted || uri === path) ?? [];
    if (known !== undefined && file) return await this.#read(known, { uri: file.uri, file }, options);
    const parts = wanted.split("/");
    if (this.verified || parts.some((part) => part === "" || part === "." || part === ".." || !part.isWellFormed())) {
      throw new ProtocolViolationError(
        `Cannot read ${show(path)} of the skill "${this.name}" of "${this.server}": expected one of its files`,
        { server: this.server, method: "resources/read", delivery: "not-sent" },
      );
    }
    const root = this.skill.uri.slice(0, -manifestName.length);
    return await this.#read(wanted, { uri: root + parts.map(encodeURIComponent).join("/") }, options);
  }

  async #read(
    path: string,
    { uri, file }: { uri: string; file?: SkillResource | undefined },
    options: RequestOptions,
  ): Promise<SkillContent> {
    const kept = this.#kept.get(path);
    if (kept) return { ...kept, bytes: kept.bytes.slice() };
    const refuse: Refuse = (wrong) => this.#parts.refuse(`${path}: ${wrong}`);
    const { bytes, isText, mimeType } = contentOf(await this.#parts.read(uri, options), uri, refuse);
    const total = this.#bytes + bytes.length;
    if (file) await verifyFile(bytes, file, refuse);
    else if (total > this.#parts.most) refuse(`with it ${total} bytes were read, expected at most ${this.#parts.most}`);
    const content = { uri, path, bytes, text: isText ? textOf(bytes, refuse) : undefined, mimeType };
    // What was checked stays what it is; what is made anew each time does not.
    if (file) this.#kept.set(path, { ...content, bytes: bytes.slice() });
    else this.#bytes = total;
    return content;
  }
}
