import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { InvalidParamsError } from "../../../src/protocol/errors.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { withSkills } from "../../../src/server/mod.ts";
import type { SkillOptions } from "../../../src/server/mod.ts";
import { newServer } from "../catalog/support.ts";
import { ask, digestOf, manifest, skilled } from "./support.ts";

const bytes = new Uint8Array([0, 255, 10]);
const forms = "# Formulare\n\nä ✓ 🌉\n";
const pdf: SkillOptions = {
  markdown: manifest("pdf"),
  files: {
    "references/FORMS.md": forms,
    "a b.bin": bytes,
    "run.py": { content: "print()", mimeType: "text/x-python" },
  },
};
const root = "skill://pdf";

describe("skills of a server", () => {
  test("are declared beside what is there, with their files as resources", async () => {
    const { server, served } = skilled([pdf]);
    server.tool("echo", {}, () => "hello");
    assertEquals(served.methods.capabilities(), {
      tools: {},
      resources: {},
      logging: {},
      extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
    });
    assertEquals(served.methods.info.name, "skilled");
    assertEquals(served.methods.tool("echo")?.name, "echo");
    const { resources } = await ask(served, "resources/list");
    assertEquals(resources, [
      { uri: `${root}/SKILL.md`, name: "pdf", description: "What pdf is good for", mimeType: "text/markdown" },
      { uri: `${root}/references/FORMS.md`, name: "FORMS.md", mimeType: "text/markdown" },
      { uri: `${root}/a%20b.bin`, name: "a b.bin", mimeType: "application/octet-stream" },
      { uri: `${root}/run.py`, name: "run.py", mimeType: "text/x-python" },
    ]);
  });

  test("are listed with all their files, each with its length and digest", async () => {
    const { served } = skilled([pdf, { markdown: manifest("refunds", "license: MIT\n"), folder: "acme/billing" }]);
    const { skills, ttlMs, cacheScope, nextCursor } = await ask(served, "skills/list");
    assertEquals([ttlMs, cacheScope, nextCursor], [5_000, "public", undefined]);
    const { markdown } = pdf;
    const refunds = manifest("refunds", "license: MIT\n");
    const uri = "skill://acme/billing/refunds/SKILL.md";
    assertEquals(skills, [
      {
        uri: `${root}/SKILL.md`,
        frontmatter: { name: "pdf", description: "What pdf is good for" },
        resources: [
          { uri: `${root}/SKILL.md`, digest: await digestOf(markdown), size: markdown.length },
          {
            uri: `${root}/references/FORMS.md`,
            digest: await digestOf(forms),
            size: new TextEncoder().encode(forms).length,
          },
          { uri: `${root}/a%20b.bin`, digest: await digestOf(bytes), size: 3 },
          { uri: `${root}/run.py`, digest: await digestOf("print()"), size: 7 },
        ],
      },
      {
        uri,
        frontmatter: { name: "refunds", description: "What refunds is good for", license: "MIT" },
        resources: [{ uri, digest: await digestOf(refunds), size: refunds.length }],
      },
    ]);
    assertEquals(await ask(served, "skills/get", { uri }), {
      skill: (skills as JsonObject[])[1],
      ttlMs: 5_000,
      cacheScope: "public",
    });
  });

  test("are read as they were given, whatever becomes of what was given", async () => {
    const own = new Uint8Array([1, 2, 3]);
    const { served } = skilled([{ markdown: manifest("own"), files: { "own.bin": own } }]);
    own.fill(9);
    const { contents } = await ask(served, "resources/read", { uri: "skill://own/own.bin" });
    assertEquals(contents, [{ uri: "skill://own/own.bin", mimeType: "application/octet-stream", blob: "AQID" }]);
    const { skill } = await ask(served, "skills/get", { uri: "skill://own/SKILL.md" });
    const [, file] = (skill as JsonObject).resources as JsonObject[];
    assertEquals(file?.digest, await digestOf(new Uint8Array([1, 2, 3])));
  });

  test("come in pages, each skill whole and once", async () => {
    const { served } = skilled(["a", "b", "c", "d", "e"].map((name) => ({ markdown: manifest(name) })), {
      pageSize: 2,
    });
    const names: unknown[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await ask(served, "skills/list", cursor === undefined ? {} : { cursor });
      for (const { frontmatter } of page.skills as JsonObject[]) names.push((frontmatter as JsonObject).name);
      cursor = page.nextCursor as string | undefined;
    } while (++pages < 9 && cursor !== undefined);
    assertEquals([names, pages], [["a", "b", "c", "d", "e"], 3]);
    await assertRejects(() => ask(served, "skills/list", { cursor: "nonsense" }), InvalidParamsError);
  });

  test("a skill that is not there is -32602, whatever else is at its URI", async () => {
    const { served } = skilled([pdf]);
    for (const uri of ["skill://none/SKILL.md", root, `${root}/run.py`, ""]) {
      const error = await assertRejects(() => ask(served, "skills/get", { uri }), InvalidParamsError);
      assertEquals([error.rpcCode, error.data], [-32602, { uri }]);
    }
    await assertRejects(() => ask(served, "skills/get", {}), InvalidParamsError);
    await assertRejects(() => ask(served, "skills/get", { uri: 7 }), InvalidParamsError);
  });

  test("are added and removed at any time, and listeners hear of their files", async () => {
    const { server, served } = skilled([]);
    assertEquals(served.methods.capabilities(), { logging: {} });
    assertEquals(served.methods.run("skills/list", {}, {} as never), undefined);
    const heard: string[] = [];
    served.methods.watch(({ type }) => void heard.push(type));
    const remove = served.add(pdf);
    assertEquals(heard, Array(4).fill("resources"));
    assertThrows(() => served.add(pdf), TypeError, "already");
    remove();
    remove();
    assertEquals((await ask(served, "skills/list")).skills, []);
    assertEquals((await ask(served, "resources/list")).resources, []);
    // What was told of may still be asked for.
    assert(served.methods.capabilities().extensions);
    server.resource(`${root}/run.py`, {}, () => "taken");
    assertThrows(() => served.add(pdf), TypeError, "already");
    assertEquals(((await ask(served, "resources/list")).resources as JsonObject[]).length, 1);
    assertEquals((await ask(served, "skills/list")).skills, []);
  });

  test("to clients of older revisions their files are resources like others", async () => {
    const { served } = skilled([pdf]);
    const legacy = { era: "legacy", revision: "2025-11-25" } as const;
    for (const method of ["skills/list", "skills/get", "resources/directory/read"]) {
      await assertRejects(() => ask(served, method, { uri: root }, legacy), Error, "is a method here");
    }
    const { contents } = await ask(served, "resources/read", { uri: `${root}/SKILL.md` }, legacy);
    assertEquals((contents as JsonObject[])[0]?.text, pdf.markdown);
  });
});

describe("directories of skills", () => {
  const deep: SkillOptions = {
    markdown: manifest("deep"),
    folder: "acme",
    files: { "t/one.md": "1", "t/sub dir/two.txt": "2", "t/sub dir/three.json": "{}", "z.svg": "<svg/>" },
  };

  test("give what is directly in them, folders as such", async () => {
    const { served } = skilled([deep, { markdown: manifest("other"), folder: "acme" }]);
    const read = async (uri: string) => {
      const { resources, ttlMs, cacheScope } = await ask(served, "resources/directory/read", { uri });
      assertEquals([ttlMs, cacheScope], [5_000, "public"]);
      return (resources as JsonObject[]).map(({ uri, name, mimeType }) => `${uri} ${name} ${mimeType}`);
    };
    assertEquals(await read("skill://acme/deep"), [
      "skill://acme/deep/SKILL.md deep text/markdown",
      "skill://acme/deep/t t inode/directory",
      "skill://acme/deep/z.svg z.svg image/svg+xml",
    ]);
    assertEquals(await read("skill://acme/deep/t"), [
      "skill://acme/deep/t/one.md one.md text/markdown",
      "skill://acme/deep/t/sub%20dir sub dir inode/directory",
    ]);
    assertEquals(await read("skill://acme/deep/t/sub%20dir"), [
      "skill://acme/deep/t/sub%20dir/two.txt two.txt text/plain",
      "skill://acme/deep/t/sub%20dir/three.json three.json application/json",
    ]);
    assertEquals(await read("skill://acme"), [
      "skill://acme/deep deep inode/directory",
      "skill://acme/other other inode/directory",
    ]);
  });

  test("what is none is -32602", async () => {
    const { served } = skilled([deep]);
    const none = [
      "skill://acme/deep/SKILL.md",
      "skill://acme/deep/",
      "skill://acme/dee",
      "skill://",
      "skill:/",
      "skill:",
      "",
    ];
    for (const uri of none) {
      const error = await assertRejects(
        () => ask(served, "resources/directory/read", { uri }),
        InvalidParamsError,
        "",
        uri,
      );
      assertEquals(error.rpcCode, -32602);
    }
  });

  test("come in pages", async () => {
    const files = Object.fromEntries(["a", "b", "c", "d"].map((name) => [`${name}.txt`, name]));
    const { served } = skilled([{ markdown: manifest("many"), files }], { pageSize: 2 });
    const names: unknown[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const params = { uri: "skill://many", ...(cursor !== undefined && { cursor }) };
      const page = await ask(served, "resources/directory/read", params);
      for (const { name } of page.resources as JsonObject[]) names.push(name);
      cursor = page.nextCursor as string | undefined;
    } while (++pages < 9 && cursor !== undefined);
    assertEquals([names, pages], [["many", "a.txt", "b.txt", "c.txt", "d.txt"], 3]);
    await assertRejects(
      () => ask(served, "resources/directory/read", { uri: "skill://many", cursor: "skill://many/none" }),
      InvalidParamsError,
    );
  });
});

describe("a skill that cannot be served", () => {
  const server = newServer();
  const refused = (skill: unknown, why: string) =>
    assertThrows(() => withSkills(server, [skill as SkillOptions]), TypeError, why);

  test("has no sound frontmatter", () => {
    refused(undefined, '"options"');
    refused({}, '"markdown" is missing');
    refused({ markdown: "# Text" }, '"markdown" is');
    refused({ markdown: "# Text", frontmatter: { name: "a", description: "b" } }, '"markdown" is');
    refused({ markdown: "---\ndescription: b\n---\n" }, '"name" is missing');
    refused({ markdown: "---\nname: a\n---\n" }, '"description" is missing');
    refused({ markdown: `---\nname: a\ndescription: ${"b".repeat(1_025)}\n---\n` }, '"description" is');
    for (const name of ["A", "-a", "a-", "a--b", "a_b", "a".repeat(65), "a/b", "ä"]) {
      refused({ markdown: `---\nname: ${JSON.stringify(name)}\ndescription: b\n---\n` }, '"name" is');
    }
    refused({ markdown: manifest("a", "metadata:\n  io.modelcontextprotocol/x: reserved\n") }, '"metadata" is');
    for (
      const metadata of ["metadata: text", "metadata: 7", "metadata:", "metadata:\n  - a", "metadata:\n  version: 7"]
    ) {
      refused({ markdown: manifest("a", `${metadata}\n`) }, '"metadata" is');
    }
    for (const compatibility of ["", "7", '""', "a".repeat(501)]) {
      refused({ markdown: manifest("a", `compatibility: ${compatibility}\n`) }, '"compatibility" is');
    }
    refused({ markdown: manifest("a", "version: 1.0\n") }, "its frontmatter says");
    const wide = `---\nname: a\ndescription: ${"🌉".repeat(1_024)}\n---\n`;
    withSkills(newServer(), [{ markdown: wide }]);
    refused({ markdown: wide.replace("🌉", "🌉🌉") }, '"description" is');
    refused({ markdown: manifest("a\ud800") }, "");
  });

  test("has files that are none, or too many, or too long", () => {
    const markdown = manifest("a");
    for (const path of ["", "/x", "x/", "a//b", "../x", "a/../b", ".", "a/./b", "a\ud800", "a\\b", "a\nb"]) {
      refused({ markdown, files: { [path]: "x" } }, '"files" is');
    }
    for (const folder of ["/", "a/", "..", "a//b", 7]) refused({ markdown, folder }, '"folder" is');
    for (const file of [7, null, {}, { content: 7 }, "\ud800"]) refused({ markdown, files: { x: file } }, '"x" is');
    refused({ markdown, files: { x: { content: "x", mimeType: 7 } } }, '"mimeType');
    refused({ markdown, files: { "SKILL.md": "x" } }, "each path once");
    refused({ markdown, files: { x: "1", "x/y": "2" } }, "no file of the name of a folder");
    refused({ markdown, files: { ["ü".repeat(400)]: "x" } }, "at most 2048 characters");
    const many = Object.fromEntries(Array.from({ length: 512 }, (_, index) => [`${index}`, ""]));
    refused({ markdown, files: many }, "at most 512");
    refused({ markdown, files: { x: new Uint8Array(16_777_216) } }, "at most 16777216");
    assertEquals(server.methods.capabilities(), newServer().methods.capabilities());
  });

  test("is inside of another one, or around it", () => {
    const { served } = skilled([{ markdown: manifest("b"), folder: "a" }]);
    assertThrows(() => served.add({ markdown: manifest("c"), folder: "a/b" }), TypeError, "inside of another");
    assertThrows(() => served.add({ markdown: manifest("a") }), TypeError, "inside of another");
    served.add({ markdown: manifest("bb"), folder: "a" });
  });

  test("pages of no size are refused", () => {
    for (const pageSize of [0, -1, 1.5, NaN]) assertThrows(() => skilled([], { pageSize }), TypeError, '"pageSize"');
  });
});

describe("frontmatter that is more than plain", () => {
  test("is what its author says it is", async () => {
    const markdown = "---\nname: long\ndescription: >-\n  Two\n\n  lines\n---\n";
    const frontmatter = { name: "long", description: "Two\nlines" };
    const { served } = skilled([{ markdown, frontmatter }]);
    const { skills } = await ask(served, "skills/list");
    assertEquals((skills as JsonObject[])[0]?.frontmatter, frontmatter);
  });
});
