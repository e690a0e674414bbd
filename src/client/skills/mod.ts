/**
 * Skills of one server, for who wants to use them.
 *
 * @module
 */
export { skillsOf } from "./skills.ts";
export type { ListedSkills, SkillReader, SkillReaderOptions, SkillSource } from "./skills.ts";
export type { LoadedSkill, SkillContent } from "./loaded.ts";
export type { ParseYaml } from "./verify.ts";
export type { Skill, SkillResource } from "../../protocol/skills/rules.ts";
