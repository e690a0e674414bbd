/** A server with skills, and a short way to ask it. */
import { assert } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { McpServer, withSkills } from "../../../src/server/mod.ts";
import type { RequestContext, SkillOptions, SkillServer, SkillsOptions } from "../../../src/server/mod.ts";
import { context } from "../catalog/support.ts";

/** The text of a `SKILL.md`. */
export function manifest(name: string, more = ""): string {
  return `---\nname: ${name}\ndescription: What ${name} is good for\n${more}---\n\n# ${name}\n`;
}

/** A server and what is served in its place. */
export function skilled(
  skills: readonly SkillOptions[],
  options: SkillsOptions = {},
): { server: McpServer; served: SkillServer } {
  const cache = { ttlMs: 5_000, cacheScope: "public" } as const;
  const server = new McpServer({ name: "skilled", version: "1.0.0" }, { cache });
  return { server, served: withSkills(server, skills, options) };
}

/** Runs a method, as an era does. */
export async function ask(
  { methods }: SkillServer,
  method: string,
  params: JsonObject = {},
  fields: Partial<RequestContext> = {},
): Promise<JsonObject> {
  const running = methods.run(method, params, context(fields));
  assert(running, `"${method}" is a method here`);
  return await running;
}

/** The digest of a text, made here. */
export async function digestOf(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${[...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
