/** A server that publishes one skill as a test tells it, and what it was asked. */
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { SkillSource } from "../../../src/client/mod.ts";
import { sha256 } from "../../../src/protocol/web_crypto.ts";

/** Where the skill is. */
export const uri = "skill://acme/pdf/SKILL.md";
/** Its text. */
export const markdown = "---\nname: pdf\ndescription: Read PDF files ✓\n---\n\n# PDF\n\nSee references/FORMS.md\n";
/** A file beside it. */
export const forms = "# Formulare\n\nä ✓ 🌉\n";
/** Another one. */
export const formsUri = "skill://acme/pdf/references/FORMS.md";

/** The entry of a file. */
export async function fileOf(at: string, text: string): Promise<{ uri: string; digest: string; size: number }> {
  return { uri: at, digest: `sha256:${await sha256(text)}`, size: new TextEncoder().encode(text).length };
}

/** The right entry of the skill, with changes. */
export async function entryOf(changes: JsonObject = {}): Promise<JsonObject> {
  return {
    uri,
    frontmatter: { name: "pdf", description: "Read PDF files ✓" },
    resources: [await fileOf(uri, markdown), await fileOf(formsUri, forms)],
    ...changes,
  };
}

/** What a server answers, by method; a function is given the parameters. */
export type Answers = Readonly<Record<string, JsonObject | ((params: JsonObject) => JsonObject)>>;

/** A client of a server that answers so. `asked` gets `method uri`. */
export function source(answers: Answers, asked: string[] = [], extensions: unknown = undefined): SkillSource {
  const capabilities = { extensions: extensions ?? { "io.modelcontextprotocol/skills": {} } } as JsonObject;
  return {
    label: "played",
    info: { server: undefined, capabilities, instructions: undefined },
    connect: () => Promise.resolve(),
    request(method, params = {}) {
      asked.push([method, params["uri"] ?? params["cursor"]].filter((part) => part !== undefined).join(" "));
      const answer = answers[method];
      if (!answer) return Promise.reject(new Error(`"${method}" was not expected`));
      return Promise.resolve(typeof answer === "function" ? answer(params) : answer);
    },
  };
}

/** A text as the result of a read. */
export function text(at: string, value: string): JsonObject {
  return { contents: [{ uri: at, mimeType: "text/markdown", text: value }] };
}

/** Answers of a right server, with others in the place of some. */
export async function answersOf(changes: Answers = {}): Promise<Answers> {
  const entry = await entryOf();
  return {
    "skills/list": { skills: [entry] },
    "skills/get": { skill: entry },
    "resources/read": (params) => params["uri"] === uri ? text(uri, markdown) : text(formsUri, forms),
    ...changes,
  };
}
