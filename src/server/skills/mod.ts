/**
 * Skills of a server.
 *
 * @module
 */
export { withSkills } from "./skills.ts";
export type { SkillServer, SkillsOptions } from "./skills.ts";
export type { SkillFile, SkillOptions } from "./folder.ts";
