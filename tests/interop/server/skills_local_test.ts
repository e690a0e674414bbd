/** The official client's host of skills at our server: it checks digests, and reads frontmatter with a YAML reader of its own. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { serveHttp } from "../../../src/entry/local.ts";
import { createHandler, McpServer, withSkills } from "../../../src/server/mod.ts";
import type { SkillOptions } from "../../../src/server/mod.ts";
import { loadSdk, loadSdkSkills, skipSdk } from "./official.ts";
import type { SdkSkills } from "./official.ts";

/** Frontmatter of each kind that is read without help, after the name. */
const frontmatters = [
  "description: Plain, with (brackets), a dash - and http://example.com/?a=1&b=2#c",
  "description: It's 3 o'clock \\ 100% of * the > time | or & not!",
  "description: ünïcode ✓ 🌉 日本語",
  'description: "quotes: \\"inside\\", # no comment, \\n a line, \\u00e9 \\ud83c\\udf09 \\/ \\t"',
  "description: 'single ''quotes'': # and a colon'",
  'description: d\nmetadata:\n  version: "1.0"\n  author.name: Ada\n  x/y: "true"',
  "description: d\nallowed-tools:\n  - Read\n  - 'Bash(git:*)'\n  - 12",
  'description: d\ntags: ["a", 1, -2, true, null, {"b": [0.5, 1e3]}]\nmore: {"deep": {"er": "x: y"}}',
  "description: d\ncount: 12\nnegative: -3\nzero: 0\nopen: true\nshut: false\nempty:\n# a comment\n\nlast: yes-man",
  "description: d\r\nlicense: MIT\r\nmetadata:\r\n  a: b",
  "description: >-\n  Reads PDF: files,\n  # and - [more] 'of' it\nlines: |-\n   one\n   1.0\n\nclipped: >\n a\n b\nkept: |\n a\n b\nlast: |-\n  yes",
  "description: |-\r\n  a\r\n  b\r\nlast: >-\r\n  c\r\n  d",
  "description: d   \nwords: nullable truest 3D-printing v1.0 1st .hidden",
];
const skills: SkillOptions[] = frontmatters.map((more, index) => ({
  markdown: `${index === 3 ? "\uFEFF" : ""}---\nname: skill-${index}\n${more}\n---\n\n# Skill ${index}\n`,
  folder: index % 2 === 0 ? "even/more" : "",
  files: { "references/a b.md": `${index} ✓`, "raw.bin": new Uint8Array([0, index, 255]) },
}));

interface Asked {
  skills: InstanceType<SdkSkills["SkillsClient"]>;
}

async function withClient(mode: string, run: (asked: Asked) => Promise<void>): Promise<void> {
  const [{ Client, StreamableHTTPClientTransport }, { SkillsClient }] = await Promise.all([loadSdk(), loadSdkSkills()]);
  const server = new McpServer({ name: "skilled", version: "1.0.0" }, {
    cache: { ttlMs: 60_000, cacheScope: "public" },
  });
  await using host = await serveHttp(createHandler(withSkills(server, skills, { pageSize: 4 })), { port: 0 });
  const client = new Client({ name: "official", version: "2.4.0" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${host.url}/mcp`)));
  try {
    await run({ skills: new SkillsClient(client) });
  } finally {
    await client.close();
  }
}

if (skipSdk) test("the official client's skills", { skip: skipSdk }, () => {});
else {
  describe("the official client's skills", () => {
    test("all pages are listed, and every entry is sound", () =>
      withClient("auto", async ({ skills: host }) => {
        assertEquals([host.supported, host.directoryRead], [true, true]);
        const { skills: listed, ttlMs } = await host.list();
        assertEquals(ttlMs, 60_000);
        assertEquals(listed.map(({ frontmatter }) => frontmatter.name), skills.map((_, index) => `skill-${index}`));
        for (const entry of listed) assertEquals((await host.get(entry.uri)).skill, entry);
      }));

    test("every file has the digest and every SKILL.md the frontmatter that was said, read by another reader", () =>
      withClient("auto", async ({ skills: host }) => {
        for (const [index, entry] of (await host.list()).skills.entries()) {
          const manifest = await host.read(entry);
          assertEquals([manifest.verified, manifest.text], [true, skills[index]?.markdown]);
          assertEquals((await host.read(entry, "references/a b.md")).text, `${index} ✓`);
          assertEquals([...(await host.read(entry, "raw.bin")).bytes], [0, index, 255]);
          await assertRejects(() => host.read(entry, "none.md"));
        }
      }));

    test("directories are read", () =>
      withClient("auto", async ({ skills: host }) => {
        const { resources } = await host.readDirectory("skill://even/more/skill-0");
        assertEquals(resources.map(({ uri, mimeType }) => [uri.slice(26), mimeType]), [
          ["SKILL.md", "text/markdown"],
          ["references", "inode/directory"],
          ["raw.bin", "application/octet-stream"],
        ]);
        assertEquals((await host.readDirectory("skill://even/more")).resources.length, 7);
        await assertRejects(() => host.readDirectory("skill://none"));
      }));

    test("older revisions have none", () =>
      withClient("legacy", async ({ skills: host }) => {
        assert(!host.supported);
        assertEquals((await host.list()).skills, []);
      }));
  });
}
