/**
 * One skill as its author gives it: its files, where they are found, and the entry that says what is in them.
 *
 * @module
 */
import { isObject, type JsonObject } from "../../protocol/json_rpc.ts";
import type { Resource } from "../../protocol/types.ts";
import { readFrontmatter } from "../../protocol/skills/frontmatter.ts";
import { isSkillName, type Skill, skillLimits } from "../../protocol/skills/rules.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { checkObject, listing, refuse, show } from "../catalog/checks.ts";

/** A file beside `SKILL.md`: a text, bytes, or either with its type. */
export type SkillFile = string | Uint8Array | {
  readonly content: string | Uint8Array;
  /** Default: by the end of its name, else `text/plain` or `application/octet-stream`. */
  readonly mimeType?: string | undefined;
};

/** A skill, as the Agent Skills format has it (https://agentskills.io/specification). */
export interface SkillOptions {
  /** The text of `SKILL.md`: frontmatter with `name` and `description` between lines of `---`, then the instructions. */
  markdown: string;
  /** What the frontmatter says, where it is more than plain `key: value` lines: as a reader of YAML gives it. */
  frontmatter?: JsonObject | undefined;
  /** The other files by their path from the skill's own folder: `references/FORMS.md`. They are copied. */
  files?: Readonly<Record<string, SkillFile>> | undefined;
  /** The folder around it, in parts: `acme/billing` makes it `skill://acme/billing/NAME/SKILL.md`. Default: none. */
  folder?: string | undefined;
}

/** A file that can be served. */
export interface FolderFile {
  readonly uri: string;
  readonly listed: Omit<Resource, "uri">;
  readonly content: string | ReturnType<Uint8Array["slice"]>;
}

/** What clients take. */
const longestUri = 2_048;
const types: Readonly<Record<string, string>> = {
  css: "text/css",
  csv: "text/csv",
  html: "text/html",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  md: "text/markdown",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
};

/** The folder of one skill. */
export class SkillFolder {
  readonly uri: string;
  readonly files: readonly FolderFile[];
  readonly #frontmatter: JsonObject;
  #entry: Skill | undefined;

  /** @throws {TypeError} When anything about it is not what the format asks for. */
  constructor(options: SkillOptions) {
    checkObject("a skill", "options", options);
    const { markdown, folder = "", files = {} } = options;
    const anonymous = "a skill";
    if (typeof markdown !== "string") refuse(anonymous, "markdown", markdown, "a text");
    const frontmatter = listing<JsonObject>(
      anonymous,
      options.frontmatter === undefined ? readPlain(anonymous, markdown) : options.frontmatter,
    );
    const name = checkFrontmatter(frontmatter);
    const what = `the skill "${name}"`;
    if (!/^\uFEFF?---\r?\n/.test(markdown)) {
      refuse(what, "markdown", markdown.slice(0, 40), 'a text that begins with "---"');
    }
    checkObject(what, "files", files);
    if (typeof folder !== "string") refuse(what, "folder", folder, "a text");
    const root = `skill://${[...(folder === "" ? [] : encode(what, "folder", folder)), name].join("/")}`;
    const description = frontmatter.description as string;
    this.uri = `${root}/SKILL.md`;
    this.#frontmatter = frontmatter;
    const manifest = { uri: this.uri, listed: { name, description, mimeType: "text/markdown" } };
    this.files = [
      { ...manifest, content: checkContent(what, "markdown", markdown) },
      ...Object.entries(files).map(([path, file]) => openFile(what, root, path, file)),
    ];
    checkFiles(what, this.files);
  }

  /** What a client is told of it. The digests are made once. */
  async entry(): Promise<Skill> {
    // No promise is kept: on Workers one request must not wait for the work of another.
    return this.#entry ??= {
      uri: this.uri,
      frontmatter: this.#frontmatter,
      resources: await Promise.all(this.files.map(async ({ uri, content }) => {
        const bytes = bytesOf(content);
        return { uri, digest: `sha256:${await sha256(bytes)}`, size: bytes.length };
      })),
    };
  }
}

/**
 * What the frontmatter of a text says.
 *
 * @param what The skill, for messages.
 * @throws {TypeError} When there is none, or it is more than plain: then the option `frontmatter` says what it holds.
 */
export function readPlain(what: string, markdown: string): JsonObject {
  return readFrontmatter(markdown, (line) => {
    if (line === undefined) {
      refuse(what, "markdown", markdown.slice(0, 40), 'a text that begins with "---" and frontmatter');
    }
    throw new TypeError(
      `Cannot set up ${what}: its frontmatter says ${show(line)}, expected "key: value" in plain YAML, ` +
        'or the option "frontmatter" beside it',
    );
  });
}

/** Looks at what the format says of some fields, and gives the name. */
function checkFrontmatter({ name, description, compatibility, metadata }: JsonObject): string {
  if (!isSkillName(name)) {
    refuse("a skill", "name", name, '1 to 64 characters of "a-z0-9" with single "-" between them');
  }
  const what = `the skill "${name}"`;
  if (!isShort(description, 1_024)) refuse(what, "description", description, "a text of 1 to 1024 characters");
  if (compatibility !== undefined && !isShort(compatibility, 500)) {
    refuse(what, "compatibility", compatibility, "a text of 1 to 500 characters");
  }
  if (metadata === undefined) return name;
  if (!isObject(metadata) || !Object.values(metadata).every((value) => typeof value === "string")) {
    refuse(what, "metadata", metadata, "texts by their names");
  }
  const reserved = Object.keys(metadata).find((key) => key.startsWith("io.modelcontextprotocol/"));
  if (reserved) refuse(what, "metadata", reserved, 'names that do not begin with "io.modelcontextprotocol/"');
  return name;
}

function isShort(value: unknown, most: number): boolean {
  return typeof value === "string" && value !== "" && value.length <= 2 * most && [...value].length <= most;
}

function checkFiles(what: string, files: readonly FolderFile[]): void {
  if (files.length > skillLimits.files) {
    refuse(what, "files", files.length, `at most ${skillLimits.files} with SKILL.md`);
  }
  const bytes = files.reduce((sum, { content }) => sum + bytesOf(content).length, 0);
  if (bytes > skillLimits.bytes) refuse(what, "files", bytes, `at most ${skillLimits.bytes} bytes in all`);
  const long = files.find(({ uri }) => uri.length > longestUri);
  if (long) refuse(what, "files", long.uri, `URIs of at most ${longestUri} characters`);
  const uris = new Set(files.map(({ uri }) => uri));
  if (uris.size < files.length) refuse(what, "files", "SKILL.md", "each path once, and SKILL.md as markdown");
  for (const { uri } of files) {
    for (let end = uri.lastIndexOf("/"); end > "skill://".length; end = uri.lastIndexOf("/", end - 1)) {
      const above = uri.slice(0, end);
      if (uris.has(above)) refuse(what, "files", above, "no file of the name of a folder");
    }
  }
}

function openFile(what: string, root: string, path: string, file: SkillFile): FolderFile {
  const segments = encode(what, "files", path);
  const { content, mimeType = undefined } = typeof file === "string" || file instanceof Uint8Array
    ? { content: file }
    : isObject(file)
    ? file
    : refuse(what, path, file, "a text, bytes, or an object with them");
  if (mimeType !== undefined && typeof mimeType !== "string") refuse(what, "mimeType", mimeType, "a text");
  const checked = checkContent(what, path, content);
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const plain = typeof checked === "string" ? "text/plain" : "application/octet-stream";
  const known = Object.hasOwn(types, ending) ? types[ending] : undefined;
  const name = path.split("/").at(-1) as string;
  return {
    uri: `${root}/${segments.join("/")}`,
    listed: { name, mimeType: mimeType ?? known ?? plain },
    content: checked,
  };
}

/** The parts of a path, as they stand in a URI. */
function encode(what: string, field: string, path: string): string[] {
  const parts = path.split("/");
  // Clients refuse the whole skill for one of these.
  const odd = parts.some((part) =>
    // deno-lint-ignore no-control-regex
    part === "" || part === "." || part === ".." || /[\\\0-\x1f]/.test(part) || !part.isWellFormed()
  );
  if (odd) refuse(what, field, path, 'a path like "references/FORMS.md", without "." and ".."');
  return parts.map(encodeURIComponent);
}

/** A text that its bytes give back, or bytes of our own. */
function checkContent(what: string, field: string, content: unknown): string | Uint8Array<ArrayBuffer> {
  if (content instanceof Uint8Array) return new Uint8Array(content);
  return typeof content === "string" && content.isWellFormed()
    ? content
    : refuse(what, field, content, "a text or bytes");
}

function bytesOf(content: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}
