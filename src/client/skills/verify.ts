/**
 * Holding what was read against what the server said of it (SEP-2640, Integrity and Verification).
 *
 * @module
 */
import { isObject, type JsonObject, type JsonValue } from "../../protocol/json_rpc.ts";
import { readFrontmatter } from "../../protocol/skills/frontmatter.ts";
import type { SkillResource } from "../../protocol/skills/rules.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { show } from "./entry.ts";

/** Says what is wrong; it throws. */
export type Refuse = (wrong: string) => never;

/** Reads YAML: what stands between the lines of `---`. */
export type ParseYaml = (yaml: string) => unknown;

/** The bytes of a result of `resources/read`, and what it says of them. */
export function contentOf(
  result: JsonObject,
  uri: string,
  refuse: Refuse,
): { bytes: ReturnType<Uint8Array["slice"]>; isText: boolean; mimeType: string | undefined } {
  const { contents } = result;
  if (!Array.isArray(contents) || contents.length !== 1) {
    refuse(`"contents" holds ${Array.isArray(contents) ? contents.length : "nothing"}, expected one`);
  }
  const content = contents[0];
  if (!isObject(content) || content.uri !== uri) {
    refuse(`"contents[0].uri" is ${show(isObject(content) ? content.uri : undefined)}, expected "${uri}"`);
  }
  const { text, blob, mimeType } = content;
  const type = typeof mimeType === "string" ? mimeType : undefined;
  if (typeof text === "string") {
    // What is no text in Unicode has no bytes of its own: others would be hashed than those that a model sees.
    if (!text.isWellFormed()) refuse('"contents[0].text" has half a surrogate pair, expected well-formed Unicode');
    return { bytes: new TextEncoder().encode(text), isText: true, mimeType: type };
  }
  if (typeof blob !== "string") refuse('"contents[0]" has no "text" and no "blob", expected one of them');
  try {
    return { bytes: Uint8Array.from(atob(blob), (byte) => byte.charCodeAt(0)), isText: false, mimeType: type };
  } catch {
    return refuse('"contents[0].blob" is no base64, expected the bytes in base64');
  }
}

/** Holds a file's bytes against its size, then against its digest. */
export async function verifyFile(
  bytes: ReturnType<Uint8Array["slice"]>,
  { size, digest }: SkillResource,
  refuse: Refuse,
): Promise<void> {
  if (bytes.length !== size) refuse(`its "size" is ${bytes.length}, expected ${size}`);
  const found = `sha256:${await sha256(bytes)}`;
  if (found !== digest) refuse(`its "digest" is "${found}", expected "${digest}"`);
}

/** The text of bytes, every one of them. */
export function textOf(bytes: Uint8Array, refuse: Refuse): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse("its bytes are no UTF-8, expected a text");
  }
}

/** Holds the frontmatter of a text against that of the entry, field by field. */
export function verifyFrontmatter(
  markdown: string,
  expected: JsonObject,
  { refuse, parseYaml }: { refuse: Refuse; parseYaml: ParseYaml | undefined },
): void {
  const found = parseYaml ? readWith(parseYaml, markdown, refuse) : readFrontmatter(markdown, (line): never => {
    if (line === undefined) refuse('it has no frontmatter, expected a text that begins with "---"');
    return refuse(
      `its frontmatter says ${
        show(line)
      }, expected "key: value" in plain YAML, or the option "parseYaml" that reads more`,
    );
  });
  for (const field of new Set([...Object.keys(found), ...Object.keys(expected)])) {
    const [ours, theirs] = [own(found, field), own(expected, field)];
    // A field without a value says as much as none.
    if (!isSame(ours ?? null, theirs ?? null)) {
      refuse(`"${field.slice(0, 99)}" of its frontmatter is ${show(ours)}, expected ${show(theirs)}`);
    }
  }
}

function readWith(parseYaml: ParseYaml, markdown: string, refuse: Refuse): JsonObject {
  const [, inner] = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(markdown) ?? [];
  if (inner === undefined) return refuse('it has no frontmatter, expected a text that begins with "---"');
  let found: unknown;
  try {
    found = parseYaml(inner);
  } catch (error) {
    return refuse(`its frontmatter cannot be read (${show(String(error))}), expected YAML`);
  }
  return isObject(found) ? found as JsonObject : refuse(`its frontmatter is ${show(found)}, expected pairs`);
}

function own(object: JsonObject, field: string): JsonValue | undefined {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) || Array.isArray(right)) {
    return Array.isArray(left) && Array.isArray(right) && left.length === right.length &&
      left.every((item, at) => isSame(item, right[at]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]));
}
