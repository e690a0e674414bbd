import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { skillsOf } from "../../../src/client/mod.ts";
import { ProtocolViolationError } from "../../../src/protocol/errors.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { answersOf, entryOf, fileOf, formsUri, markdown, source, uri } from "./support.ts";

const digest = `sha256:${"0".repeat(64)}`;
const at = (path: string, changes: JsonObject = {}): JsonObject => ({ uri: path, digest, size: 1, ...changes });
const own = at(uri);

/** What is changed of a right entry, and what is said of it. */
const broken: readonly [JsonObject, string][] = [
  [{ uri: 1 }, '"uri" is 1, expected a URI'],
  [{ uri: "skill://acme/pdf/skill.md" }, '"uri" is'],
  [{ uri: "skill://acme/pdf/SKILL.md?a" }, '"uri" is'],
  [{ uri: "SKILL.md" }, '"uri" is'],
  [{ uri: `skill://${"a".repeat(3000)}/pdf/SKILL.md` }, '"uri" is'],
  [{ uri: "skill://acme/other/SKILL.md" }, '"frontmatter.name" is "pdf", expected "other"'],
  [{ frontmatter: undefined }, '"frontmatter" is missing, expected an object'],
  [{ frontmatter: [] }, '"frontmatter" is [], expected an object'],
  [{ frontmatter: { name: "Pdf", description: "d" } }, '"frontmatter.name" is "Pdf", expected 1 to 64'],
  [{ frontmatter: { name: "a--b", description: "d" } }, '"frontmatter.name" is "a--b"'],
  [{ frontmatter: { name: "pdf" } }, '"frontmatter.description" is missing, expected a text of 1 to 1024'],
  [{ frontmatter: { name: "pdf", description: "" } }, '"frontmatter.description" is ""'],
  [{ frontmatter: { name: "pdf", description: "x".repeat(1025) } }, '"frontmatter.description" is'],
  [{ resources: undefined }, '"resources" is missing, expected a list, or "dynamic"'],
  [{ resources: "static" }, '"resources" is "static", expected a list'],
  [{ resources: {} }, '"resources" is {}'],
  [{ resources: [] }, `"resources" is "without SKILL.md", expected a list with "${uri}"`],
  [{ resources: [at(formsUri)] }, "without SKILL.md"],
  [{ resources: [own, null] }, '"resources[1]" is null, expected an object'],
  [{ resources: [own, at(formsUri, { uri: 1 })] }, '"resources[1].uri" is 1'],
  [{ resources: [own, at(formsUri, { size: -1 })] }, '"resources[1].size" is -1, expected a whole number of bytes'],
  [{ resources: [own, at(formsUri, { size: "1" })] }, '"resources[1].size" is "1"'],
  [{ resources: [own, at(formsUri, { size: 0.5 })] }, '"resources[1].size" is 0.5'],
  [{ resources: [own, at(formsUri, { digest: undefined })] }, '"resources[1].digest" is missing, expected "sha256:"'],
  [{ resources: [own, at(formsUri, { digest: digest.replace("sha256", "md5") })] }, '"resources[1].digest" is'],
  [{ resources: [own, at(formsUri, { digest: `sha256:${"A".repeat(64)}` })] }, '"resources[1].digest" is'],
  [{ resources: [own, own] }, '"resources[1].uri" is "skill://acme/pdf/SKILL.md", expected each file once'],
  [{ resources: [own, at("skill://acme/pdf/a b"), at("skill://acme/pdf/a%20b")] }, "expected a file below"],
  [{ resources: [own, at("skill://acme/pdf/a%62"), at("skill://acme/pdf/ab")] }, "expected each file once"],
  [
    { resources: [own, at("skill://acme/pdfx/a")] },
    '"resources[1].uri" is "skill://acme/pdfx/a", expected a file below',
  ],
  [{ resources: [own, at("skill://acme/pdf")] }, "expected a file below"],
  [{ resources: [own, at("skill://acme/pdf/")] }, "expected a file below"],
  [{ resources: [own, at("skill://acme/pdf/../x")] }, "expected a file below"],
  [{ resources: [own, at("skill://acme/pdf/%2e%2E/x")] }, "expected a file below"],
  [{ resources: [own, at("skill://acme/pdf/a%2f..%2fb")] }, "expected a file below"],
  [{ resources: [own, at("skill://acme/pdf/a\\b")] }, "expected a file below"],
  [{ resources: [own, at("skill://acme/pdf/%00")] }, "expected a file below"],
  [{ resources: [own, at("skill://acme/pdf/%ff")] }, "expected a file below"],
  [{ resources: [own, at("skill://acme/pdf/a?b")] }, "expected a file below"],
  [{ resources: [own, at(formsUri, { size: 16_777_216 })] }, '"size" is 16777217, expected at most 16777216 bytes'],
];

describe("what a server says of a skill", () => {
  test("is refused where it breaks a rule, with the skill, the field and what was expected; nothing is read", async () => {
    for (const [changes, wrong] of broken) {
      const asked: string[] = [];
      const entry = await entryOf(changes);
      const reader = skillsOf(source(await answersOf({ "skills/list": { skills: [entry] } }), asked), {
        server: "mine",
      });
      const { skills, rejected } = await reader.list();
      assertEquals(skills, [], wrong);
      assertStringIncludes(rejected[0]?.reason ?? "", wrong);
      assertStringIncludes(rejected[0]?.reason ?? "", 'of "mine": ');
      assert((rejected[0]?.reason.length ?? 0) < 1_000);
      const kept = entry as unknown as Parameters<typeof reader.load>[0];
      await assertRejects(() => reader.load(kept), ProtocolViolationError, wrong);
      assertEquals(asked, ["skills/list"]);
    }
  });

  test("that is no object, or comes twice, spoils none of the others", async () => {
    const entry = await entryOf();
    const answers = await answersOf({ "skills/list": { skills: [null, "x", entry, 1, entry] } });
    const { skills, rejected } = await skillsOf(source(answers)).list();
    assertEquals(skills.map((skill) => skill.uri), [uri]);
    assertEquals(rejected.length, 4);
    assertStringIncludes(rejected[3]?.reason ?? "", "listed twice");
  });

  test("may be as large as the rules let it: 512 files, 16 MiB", async () => {
    const files = Array.from({ length: 511 }, (_, index) => at(`skill://acme/pdf/${index}`, { size: 0 }));
    const most = [await fileOf(uri, markdown), ...files] as JsonObject[];
    files[0]!["size"] = 16_777_216 - Number(most[0]!["size"]);
    const list = async (resources: JsonObject[]) => {
      const answers = await answersOf({ "skills/list": { skills: [await entryOf({ resources })] } });
      return await skillsOf(source(answers)).list();
    };
    assertEquals((await list(most)).skills[0]?.resources.length, 512);
    assertStringIncludes(
      (await list([...most, at("skill://acme/pdf/x")])).rejected[0]?.reason ?? "",
      "at most 512 files",
    );
  });
});
