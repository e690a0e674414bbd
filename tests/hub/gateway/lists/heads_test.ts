import { describe, test } from "node:test";
import { assertEquals, assertLess } from "@std/assert";
import fc from "fast-check";
import type { CatalogTemplate } from "../../../../mod.ts";
import { Heads } from "../../../../src/hub/gateway/lists/heads.ts";

function headsOf(all: readonly CatalogTemplate[]): Heads {
  const heads = new Heads();
  for (const found of all) heads.add(found);
  return heads;
}

const found = (uriTemplate: string) => ({ server: "one", template: { name: uriTemplate, uriTemplate } });

describe("templates by how they begin", () => {
  test("those that a URI begins like", () => {
    const heads = headsOf(["b:{x}", "a:/{x}", "{x}", "a:{+x}", "a:/b/{x}", "a:/{y}", "a:/{+z}"].map(found));
    const near = (uri: string) => heads.near(uri).map(({ template }) => template.uriTemplate).sort().join(" ");
    assertEquals(near("a:/b/c"), "a:/b/{x} a:/{+z} a:/{x} a:/{y} a:{+x} {x}");
    assertEquals(near("a:/b"), "a:/{+z} a:/{x} a:/{y} a:{+x} {x}");
    assertEquals([near(""), near("c:d"), near("b:")], ["{x}", "{x}", "b:{x} {x}"]);
    assertEquals(headsOf([]).near("a:b"), []);
  });

  test("are those that all are held against one by one", () => {
    const head = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 6 });
    fc.assert(fc.property(fc.array(head, { maxLength: 12 }), head, (all, uri) => {
      const heads = headsOf(all.map((text) => found(`${text}{x}`)));
      const expected = all.filter((text) => uri.startsWith(text)).map((text) => `${text}{x}`);
      assertEquals(heads.near(uri).map(({ template }) => template.uriTemplate).sort(), expected.sort());
    }));
  });

  test("of one of each length only the beginning is looked at", () => {
    const heads = headsOf(Array.from({ length: 2_000 }, (_, at) => found(`${"a".repeat(at)}{x}`)));
    let characters = 0;
    const uri = "a".repeat(4_000);
    const watched = {
      length: uri.length,
      slice(from: number, to: number) {
        characters += to - from;
        return uri.slice(from, to);
      },
    };
    assertEquals(heads.near(watched as string).length, 2_000);
    assertLess(characters, 10_000);
    assertEquals(heads.near(`${"a".repeat(50)}b`).length, 51);
  });

  test("of many that begin otherwise none is looked at", () => {
    let looks = 0;
    const all = Array.from({ length: 10_000 }, (_, at) => {
      const template = {
        name: "a",
        get uriTemplate() {
          looks++;
          return `a:/${at}/{x}`;
        },
      };
      return { server: "one", template };
    });
    const heads = headsOf(all);
    looks = 0;
    for (let at = 0; at < 10_000; at++) assertEquals(heads.near(`b:/${at}/c`).length, 0);
    assertEquals(looks, 0);
    assertEquals(heads.near("a:/77/c").length, 1);
  });
});
