import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { readUrl } from "../../src/egress/url.ts";

describe("readUrl", () => {
  test("gives the URL, also one that leads on from another", () => {
    assertEquals(readUrl("https://example.com/a?b#c")?.href, "https://example.com/a?b#c");
    assertEquals(readUrl("../b", "https://example.com/a/")?.href, "https://example.com/b");
    assertEquals(readUrl(new URL("wss://example.com"))?.href, "wss://example.com/");
  });

  test("gives nothing for what is none", () => {
    for (const text of ["", "example.com", "https://", "https://a b/", "http://[::1", "//example.com"]) {
      assertEquals(readUrl(text), undefined, text);
    }
  });

  test("takes Latin letters however often it is asked", () => {
    let count = 0;
    for (let at = 0; at < 50_000; at++) if (readUrl("https://bücher.example/é")) count++;
    assertEquals(count, 50_000);
  });
});
