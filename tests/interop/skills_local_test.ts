/** Our client at the official server of skills, which reads frontmatter with a YAML reader of its own. */
import { assert, assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { connect, skillsOf } from "../../mod.ts";
import { root } from "../../tools/programs.ts";

const dist = join(root, "node_modules/@modelcontextprotocol/server/dist");
const skip = existsSync(join(dist, "ext/skills/index.mjs")) ? false : "the official server is not installed";

/** The official library, as far as it is used. */
interface Sdk {
  readonly McpServer: new (info: object, options: object) => object;
  createMcpHandler(make: () => object, options: object): {
    fetch(request: Request): Promise<Response>;
    close(): Promise<void>;
  };
  readonly SkillCatalog: {
    load(files: unknown, options: object): Promise<{ attach(server: object): void }>;
  };
  memorySkillFiles(files: Record<string, string | Uint8Array>): unknown;
}

/** What authors write, after the name. */
const written = [
  "description: Extract text (and tables) from PDF files; see http://example.com/?a=1#b",
  'description: "quotes: \\"inside\\", # no comment, \\u00e9"',
  "description: 'it''s: fine'\nlicense: Apache-2.0",
  "description: >-\n  Reads PDF: files,\n  # and - [more] of it\nlicense: MIT",
  "description: |-\n  one\n  two\nallowed-tools: Read, Bash(git:*)",
  'description: d\nmetadata:\n  author: Ada\n  version: "1.0"',
  "description: ünïcödé ✓ 🌉 日本語",
];

async function loadSdk(): Promise<Sdk> {
  const load = async (file: string): Promise<object> => await import(pathToFileURL(join(dist, file)).href);
  return { ...await load("index.mjs"), ...await load("ext/skills/index.mjs") } as Sdk;
}

describe("skills of the official server", () => {
  test("are listed over all pages, and each of their files is what it says", { skip }, async () => {
    const { McpServer, createMcpHandler, SkillCatalog, memorySkillFiles } = await loadSdk();
    const bytes = new Uint8Array([0, 255, 10]);
    const files = Object.fromEntries(written.flatMap((more, index): [string, string | Uint8Array][] => [
      [`skill-${index}/SKILL.md`, `---\nname: skill-${index}\n${more}\n---\n\n# Skill ${index}\n`],
      [`skill-${index}/references/a b.md`, `${index} ✓`],
      [`skill-${index}/raw.bin`, bytes],
    ]));
    const catalog = await SkillCatalog.load(memorySkillFiles(files), { pageSize: 3 });
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "official", version: "2.4.0" }, {});
      catalog.attach(server);
      return server;
    }, { legacy: "reject" });
    const fetch = (url: string, init: RequestInit) => handler.fetch(new Request(url, init));
    await using client = await connect("http://localhost/mcp", { fetch });
    const reader = skillsOf(client, { server: "official" });
    const { skills, rejected } = await reader.list();
    assertEquals([skills.length, rejected], [written.length, []]);
    for (const entry of skills) {
      assertEquals(await reader.get(entry.uri), entry);
      const skill = await reader.load(entry);
      const index = Number(skill.name.slice("skill-".length));
      assertEquals([skill.verified, skill.text], [true, String(files[`${skill.name}/SKILL.md`])]);
      assertEquals((await skill.read("references/a b.md")).text, `${index} ✓`);
      assertEquals((await skill.read("raw.bin")).bytes, bytes);
    }
    assert(skills.some(({ frontmatter }) => frontmatter["description"] === "Reads PDF: files, # and - [more] of it"));
    await handler.close();
  });
});
