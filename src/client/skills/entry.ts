/**
 * What a server says of a skill, held against the rules before anybody goes by it (SEP-2640, Skill Entries).
 *
 * @module
 */
import { excerpt } from "../../protocol/excerpt.ts";
import { isObject, type JsonObject } from "../../protocol/json_rpc.ts";
import { isSkillName, manifestName, type Skill, type SkillResource } from "../../protocol/skills/rules.ts";

/** What a skill may be at most. */
export interface EntryLimits {
  readonly files: number;
  readonly bytes: number;
}

/** An entry that keeps to the rules, and its files by their path from the skill's own folder. */
export interface CheckedEntry {
  readonly skill: Skill;
  readonly name: string;
  /** Empty where the files are made anew each time. */
  readonly files: ReadonlyMap<string, SkillResource>;
}

/** A value as it may stand in a message. */
export function show(value: unknown): string {
  return value === undefined ? "missing" : excerpt(JSON.stringify(value) ?? String(value), 200);
}

/**
 * Checks an entry.
 *
 * @param bad Is told the field, what it is, and what was expected; it throws.
 */
export function checkEntry(
  entry: unknown,
  limits: EntryLimits,
  bad: (field: string, value: unknown, expected: string) => never,
): CheckedEntry {
  const { uri, frontmatter, resources }: Record<string, unknown> = isObject(entry)
    ? entry
    : bad("skill", entry, "an object");
  if (typeof uri !== "string" || uri.length > 2048 || !/^[a-zA-Z][\w+.-]*:[^\s\\?#]+\/SKILL\.md$/.test(uri)) {
    bad("uri", uri, `a URI of at most 2048 characters that ends in "/${manifestName}"`);
  }
  if (!isObject(frontmatter)) bad("frontmatter", frontmatter, "an object");
  const { name, description } = frontmatter;
  if (!isSkillName(name)) bad("frontmatter.name", name, '1 to 64 characters of "a-z0-9" with single "-" between them');
  if (
    typeof description !== "string" || !description || description.length > 2_048 || [...description].length > 1_024
  ) {
    bad("frontmatter.description", description, "a text of 1 to 1024 characters");
  }
  const root = uri.slice(0, -manifestName.length);
  const folder = root.slice(0, -1).split("/").at(-1);
  if (folder !== name) bad("frontmatter.name", name, `"${folder}", the last folder of its URI`);
  const skill: Skill = { uri, frontmatter: frontmatter as JsonObject, resources: "dynamic" };
  if (resources === "dynamic") return { skill, name, files: new Map() };
  if (!Array.isArray(resources)) bad("resources", resources, 'a list, or "dynamic"');
  if (resources.length > limits.files) bad("resources", resources.length, `at most ${limits.files} files`);
  const files = new Map<string, SkillResource>();
  let bytes = 0;
  resources.forEach((resource: unknown, at) => {
    const file = checkFile(resource, (field, value, expected) => bad(`resources[${at}]${field}`, value, expected));
    const path = pathOf(file.uri, root);
    if (path === undefined) bad(`resources[${at}].uri`, file.uri, `a file below "${root}"`);
    if (files.has(path)) bad(`resources[${at}].uri`, file.uri, "each file once");
    files.set(path, file);
    bytes += file.size;
  });
  if (bytes > limits.bytes) bad("size", bytes, `at most ${limits.bytes} bytes in all its files`);
  if (files.get(manifestName)?.uri !== uri) bad("resources", "without SKILL.md", `a list with "${uri}"`);
  return { skill: { ...skill, resources: [...files.values()] }, name, files };
}

function checkFile(
  resource: unknown,
  bad: (field: string, value: unknown, expected: string) => never,
): SkillResource {
  const { uri, digest, size }: Record<string, unknown> = isObject(resource) ? resource : bad("", resource, "an object");
  if (typeof uri !== "string" || uri.length > 2_048) bad(".uri", uri, "a URI of at most 2048 characters");
  if (typeof digest !== "string" || !/^sha256:[\da-f]{64}$/.test(digest)) {
    bad(".digest", digest, '"sha256:" and 64 hexadecimal digits in lower case');
  }
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) {
    bad(".size", size, "a whole number of bytes");
  }
  return { uri, digest, size };
}

/** The path of a file from its skill's folder, as a file system has it; undefined where it would lead elsewhere. */
function pathOf(uri: string, root: string): string | undefined {
  if (!uri.startsWith(root)) return undefined;
  const path = uri.slice(root.length);
  if (/[\s?#\\]/.test(path)) return undefined;
  try {
    const parts = path.split("/").map(decodeURIComponent);
    // deno-lint-ignore no-control-regex
    const odd = (part: string): boolean => part === "" || part === "." || part === ".." || /[/\\\0-\x1f]/.test(part);
    return parts.some(odd) ? undefined : parts.join("/");
  } catch {
    return undefined;
  }
}
