/**
 * What both sides of the skills extension go by (SEP-2640, https://agentskills.io/specification).
 *
 * @module
 */
import type { JsonObject } from "../json_rpc.ts";

/** The extension's name. */
export const skillsExtension = "io.modelcontextprotocol/skills";

/** What a skill may be at most: every host takes that much. */
export const skillLimits: { readonly files: number; readonly bytes: number } = { files: 512, bytes: 16_777_216 };

/** The file that every skill has. */
export const manifestName = "SKILL.md";

/** Whether a name is one of a skill. */
export function isSkillName(name: unknown): name is string {
  return typeof name === "string" && /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(name);
}

/** What a server says of a skill. */
export interface Skill {
  /** Where its `SKILL.md` is read. With the server it names the skill; its `name` does not. */
  readonly uri: string;
  /** What its `SKILL.md` begins with, as JSON: `name`, `description`, and whatever else its author wrote. */
  readonly frontmatter: JsonObject;
  /** All its files: the length in bytes, and `sha256:` with 64 hexadecimal digits; or that they are made anew each time. */
  readonly resources: readonly SkillResource[] | "dynamic";
}

/** One file of a skill. */
export interface SkillResource {
  /** Where it is read: in the folder of its skill. */
  readonly uri: string;
  /** `sha256:` and 64 hexadecimal digits, of its bytes. */
  readonly digest: string;
  /** Its length in bytes. */
  readonly size: number;
}
