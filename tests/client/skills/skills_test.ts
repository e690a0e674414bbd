import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, test } from "node:test";
import { MethodNotFoundError, ProtocolViolationError } from "../../../src/protocol/errors.ts";
import { connect, skillsOf } from "../../../mod.ts";
import { createHandler, McpServer, withSkills } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { answersOf, entryOf, fileOf, forms, formsUri, markdown, source, text, uri } from "./support.ts";

describe("skills of a server", () => {
  test("of our own: all pages are listed, and what is loaded is what was given", async () => {
    const names = Array.from({ length: 7 }, (_, index) => `skill-${index}`);
    const bytes = new Uint8Array([0, 255, 10]);
    const server = new McpServer({ name: "skilled", version: "1.0.0" });
    const served = withSkills(
      server,
      names.map((name) => ({
        folder: "acme/a b",
        markdown:
          `\uFEFF---\r\nname: ${name}\r\ndescription: '${name}: ✓'\r\nmetadata:\r\n  version: "1.0"\r\n---\r\n# A\r\n`,
        files: { "references/a b.md": `${name} 🌉`, "raw.bin": bytes },
      })),
      { pageSize: 3 },
    );
    const methods: string[] = [];
    const handler = createHandler(served);
    await using client = await connect("http://localhost/mcp", {
      fetch: async (url, init) => {
        const request = new Request(url, init);
        methods.push((await request.clone().json()).method);
        return await handler(request);
      },
    });
    const reader = skillsOf(client, { server: "mine" });
    assertEquals(await reader.supported(), true);
    const { skills, rejected, truncated } = await reader.list();
    assertEquals(skills.map(({ frontmatter }) => frontmatter["name"]), names);
    assertEquals([rejected, truncated], [[], undefined]);
    assertEquals(methods, ["server/discover", "skills/list", "skills/list", "skills/list"], "no file was read");
    const [first] = skills;
    assert(first);
    assertEquals(await reader.get(first.uri), first);
    const skill = await reader.load(first);
    assertEquals([skill.server, skill.name, skill.verified], ["mine", "skill-0", true]);
    assertEquals(skill.files, ["SKILL.md", "references/a b.md", "raw.bin"]);
    assert(skill.text.startsWith("\uFEFF---\r\nname: skill-0"), "every byte is there");
    assertEquals((await skill.read("./references/a b.md")).text, "skill-0 🌉");
    assertEquals((await skill.read("raw.bin")).bytes, bytes);
    assertEquals((await skill.read("raw.bin")).text, undefined);
    assertEquals(methods.filter((method) => method === "resources/read").length, 3, "what was checked is kept");
    handler.close();
  });

  test("nothing is read ahead: one request for each thing that is asked for", async () => {
    const asked: string[] = [];
    const reader = skillsOf(source(await answersOf(), asked));
    const { skills } = await reader.list();
    assertEquals(asked.splice(0), ["skills/list"]);
    const skill = await reader.load(skills[0]!);
    assertEquals(asked.splice(0), [`resources/read ${uri}`]);
    assertEquals(skill.text, markdown);
    assertEquals((await skill.read(formsUri)).text, forms);
    assertEquals((await skill.read("references/FORMS.md")).path, "references/FORMS.md");
    assertEquals(asked.splice(0), [`resources/read ${formsUri}`]);
    await reader.load(uri);
    assertEquals(asked, [`skills/get ${uri}`, `resources/read ${uri}`], "a skill that is listed nowhere is loaded too");
  });

  test("a server that does not say that it has them is asked nothing", async () => {
    for (const extensions of [{}, [], "all", { "io.modelcontextprotocol/skills": true }]) {
      const asked: string[] = [];
      const reader = skillsOf(source(await answersOf(), asked, extensions));
      assertEquals(await reader.supported(), false);
      const entry = await reader.list().then(() => assert(false), (error) => error);
      assert(entry instanceof MethodNotFoundError && entry.delivery === "not-sent", String(entry));
      await assertRejects(() => reader.get(uri), MethodNotFoundError, '"played"');
      await assertRejects(() => reader.load(uri), MethodNotFoundError, "does not declare");
      assertEquals(asked, []);
    }
  });

  test("what is not as its entry says is refused, whatever it is, and by its name", async () => {
    const evil = markdown.replace("# PDF", "# EVI");
    const cases: [read: unknown, wrong: string][] = [
      [text(uri, evil), 'SKILL.md: its "digest" is "sha256:'],
      [text(uri, markdown + "\n"), `its "size" is ${new TextEncoder().encode(markdown).length + 1}, expected`],
      [text(uri, markdown.slice(1)), 'its "size" is'],
      [text(formsUri, markdown), '"contents[0].uri" is "skill://acme/pdf/references/FORMS.md", expected'],
      [text(uri, "\ud800"), "half a surrogate pair"],
      [{ contents: [] }, '"contents" holds 0, expected one'],
      [{ contents: [...text(uri, markdown)["contents"] as [], ...text(uri, markdown)["contents"] as []] }, "holds 2"],
      [{ contents: "no" }, '"contents" holds nothing'],
      [{ contents: [null] }, '"contents[0].uri" is missing'],
      [{ contents: [{ uri, blob: "*" }] }, "no base64"],
      [{ contents: [{ uri }] }, 'no "text" and no "blob"'],
    ];
    for (const [read, wrong] of cases) {
      const reader = skillsOf(source(await answersOf({ "resources/read": read as { contents: [] } })));
      const error = await assertRejects(() => reader.load(uri), ProtocolViolationError, wrong);
      assertStringIncludes(error.message, 'Cannot use the skill "pdf" of "played": ');
    }
  });

  test("each byte of a file counts", async () => {
    const bytes = new TextEncoder().encode(forms);
    for (let at = 0; at < bytes.length; at++) {
      const other = bytes.slice();
      other[at] = other[at]! ^ 1;
      const blob = btoa(String.fromCharCode(...other));
      const reader = skillsOf(source(
        await answersOf({
          "resources/read": (params) =>
            params["uri"] === uri ? text(uri, markdown) : { contents: [{ uri: formsUri, blob }] },
        }),
      ));
      const skill = await reader.load(uri);
      const wrong = 'references/FORMS.md: its "digest" is "sha256:';
      await assertRejects(() => skill.read("references/FORMS.md"), ProtocolViolationError, wrong);
    }
  });

  test("a file that the entry does not have is not asked for", async () => {
    const asked: string[] = [];
    const reader = skillsOf(source(await answersOf(), asked));
    const skill = await reader.load(uri);
    asked.length = 0;
    for (
      const path of ["", "other.md", "../pdf/SKILL.md", "references", "/references/FORMS.md", "skill://x/SKILL.md"]
    ) {
      await assertRejects(() => skill.read(path), ProtocolViolationError, JSON.stringify(path));
    }
    assertEquals(asked, []);
  });

  test("frontmatter is held against the entry, field by field, nested ones too", async () => {
    const head = 'name: pdf\ndescription: d\nmetadata:\n  version: "1"\ntags: [1, {"a": null}]\nempty:';
    const written = `---\n${head}\n---\n`;
    const right = { name: "pdf", description: "d", metadata: { version: "1" }, tags: [1, { a: null }] };
    const file = await fileOf(uri, written);
    const load = async (frontmatter: object) => {
      const entry = await entryOf({ frontmatter: frontmatter as typeof right, resources: [file] });
      const answers = await answersOf({ "skills/get": { skill: entry }, "resources/read": text(uri, written) });
      return await skillsOf(source(answers)).load(uri);
    };
    assertEquals((await load(right)).text, written);
    assertEquals((await load({ ...right, empty: null })).text, written);
    const wrong: [string, object][] = [
      ["description", { ...right, description: "D" }],
      ["metadata", { ...right, metadata: { version: 1 } }],
      ["metadata", { ...right, metadata: { version: "1", more: "x" } }],
      ["metadata", { ...right, metadata: undefined }],
      ["tags", { ...right, tags: [1, {}] }],
      ["tags", { ...right, tags: [{ a: null }, 1] }],
      ["tags", { ...right, tags: { 0: 1, 1: { a: null } } }],
      ["empty", { ...right, empty: "" }],
      ["allowed-tools", { ...right, "allowed-tools": "Bash" }],
      ["toString", { ...right, toString: "x" }],
    ];
    for (const [field, frontmatter] of wrong) {
      await assertRejects(() => load(frontmatter), ProtocolViolationError, `"${field}" of its frontmatter is `);
    }
  });

  test("frontmatter that is more than plain is refused, or read with what the caller gives", async () => {
    const written = "---\nname: pdf\ndescription: >-\n  Read\n\n  PDF\n---\n# A\n";
    const entry = await entryOf({
      frontmatter: { name: "pdf", description: "Read\nPDF" },
      resources: [await fileOf(uri, written)],
    });
    const client = source(await answersOf({ "skills/get": { skill: entry }, "resources/read": text(uri, written) }));
    await assertRejects(() => skillsOf(client).load(uri), ProtocolViolationError, 'says "  PDF", expected');
    const seen: string[] = [];
    const parseYaml = (yaml: string) => {
      seen.push(yaml);
      return { name: "pdf", description: "Read\nPDF" };
    };
    assertEquals((await skillsOf(client, { parseYaml }).load(uri)).text, written);
    assertEquals(seen, ["name: pdf\ndescription: >-\n  Read\n\n  PDF"]);
    const refused: [(yaml: string) => unknown, string][] = [
      [() => [], "is [], expected pairs"],
      [() => ({ name: "pdf" }), '"description" of its frontmatter is missing'],
      [() => {
        throw new Error("line 2");
      }, "line 2"],
    ];
    for (const [parse, wrong] of refused) {
      const reader = skillsOf(client, { parseYaml: parse });
      await assertRejects(() => reader.load(uri), ProtocolViolationError, wrong);
    }
    const bare = await entryOf({ resources: [await fileOf(uri, "# A\n")] });
    const without = await answersOf({ "skills/get": { skill: bare }, "resources/read": text(uri, "# A\n") });
    for (const options of [{}, { parseYaml }]) {
      await assertRejects(() => skillsOf(source(without), options).load(uri), ProtocolViolationError, "no frontmatter");
    }
  });

  test("files that are made anew each time are refused, or read on the caller's word, under the cap", async () => {
    const entry = await entryOf({ resources: "dynamic" });
    const asked: string[] = [];
    const client = source(
      await answersOf({
        "skills/get": { skill: entry },
        "resources/read": (params) => text(String(params["uri"]), params["uri"] === uri ? markdown : "x".repeat(100)),
      }),
      asked,
    );
    await assertRejects(() => skillsOf(client).load(uri), ProtocolViolationError, '"resources" is "dynamic"');
    const skill = await skillsOf(client, { allowDynamic: true, limits: { bytes: 300 } }).load(uri);
    assertEquals([skill.verified, skill.files], [false, []]);
    assertEquals((await skill.read("a b/now.md")).uri, "skill://acme/pdf/a%20b/now.md");
    await assertRejects(() => skill.read("../other/SKILL.md"), ProtocolViolationError);
    await skill.read("2.md");
    await assertRejects(() => skill.read("3.md"), ProtocolViolationError, "expected at most 300");
    const evil = source(
      await answersOf({
        "skills/get": { skill: entry },
        "resources/read": text(uri, markdown.replace("Read", "Send")),
      }),
    );
    await assertRejects(
      () => skillsOf(evil, { allowDynamic: true }).load(uri),
      ProtocolViolationError,
      '"description"',
    );
  });

  test("a path that begins with a dot is one from the skill's folder, whether its files are listed or made anew", async () => {
    for (const resources of [(await entryOf()).resources!, "dynamic"]) {
      const asked: string[] = [];
      const entry = await entryOf({ resources });
      const reader = skillsOf(source(await answersOf({ "skills/get": { skill: entry } }), asked), {
        allowDynamic: true,
      });
      const skill = await reader.load(uri);
      const { path, text } = await skill.read("./references/FORMS.md");
      assertEquals([path, text, asked.at(-1)], ["references/FORMS.md", forms, `resources/read ${formsUri}`]);
      await assertRejects(
        () => skill.read("././references/FORMS.md"),
        ProtocolViolationError,
        "expected one of its files",
      );
    }
  });

  test("each request has the caller's options, and may be sent again; what was read is the caller's own", async () => {
    const played = source(await answersOf());
    const given: unknown[] = [];
    const connected: unknown[] = [];
    const reader = skillsOf({
      ...played,
      connect: (options) => Promise.resolve(void connected.push(options?.signal)),
      request(method, params, options) {
        given.push(options);
        return played.request(method, params);
      },
    });
    const { signal } = new AbortController();
    const options = { signal, timeout: 5_000 };
    await reader.get(uri, options);
    const skill = await reader.load(uri, options);
    await reader.load(skill.skill, options);
    const file = await skill.read("references/FORMS.md", options);
    assertEquals(given, Array.from({ length: 5 }, () => ({ ...options, idempotent: true })));
    assertEquals(connected, [signal, signal, signal]);
    assertEquals(file.mimeType, "text/markdown");
    const bytes = file.bytes.slice();
    file.bytes.fill(0);
    const again = await skill.read("references/FORMS.md");
    assertEquals(again.bytes, bytes);
    again.bytes.fill(0);
    assertEquals((await skill.read("references/FORMS.md")).bytes, bytes);
    given.length = 0;
    await reader.list({ signal, timeout: 5_000 });
    assertEquals(given, [{ signal, timeout: 5_000, idempotent: true }]);
  });

  test("a list without an end is cut, and one that is none is refused", async () => {
    let turn = 0;
    const endless = source({
      "skills/list": () => ({ skills: [{ uri: `skill://${turn}` }], nextCursor: `${turn++}` }),
    });
    const cut = await skillsOf(endless, { clock: new VirtualClock() }).list();
    assertEquals([cut.truncated, cut.rejected.length, turn], ["pages", 100, 100]);
    turn = 0;
    assertEquals((await skillsOf(endless, { limits: { skills: 3 } }).list()).truncated, "items");
    for (const page of [{}, { skills: null }, { skills: {} }, { skills: [], nextCursor: 1 }]) {
      const reader = skillsOf(source({ "skills/list": page }));
      await assertRejects(() => reader.list(), ProtocolViolationError, 'the result of "skills/list"');
    }
    assertThrows(() => skillsOf(endless, { limits: { files: 0 } }), RangeError, '"limits.files" is 0');
  });

  test("another skill than the one that was asked for is refused", async () => {
    const reader = skillsOf(source(await answersOf()));
    await assertRejects(() => reader.get("skill://pdf/SKILL.md"), ProtocolViolationError, `"uri" is "${uri}"`);
  });
});
