import { assertEquals } from "@std/assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

/** Types that TypeScript's own library for pages has, and `@types/bun` alone has not. */
const ofPages = /\b(HeadersInit|BodyInit|RequestInfo|KeyUsage|AlgorithmIdentifier|AesGcmParams|Ec(Key\w+|dsaParams))\b/;

describe("a project that has linked the clone", () => {
  test("as `bun init` makes it, it can check the types of our source with its own", () => {
    const root = join(import.meta.dirname!, "../../src");
    const found: string[] = [];
    for (const path of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      // The page of the dashboard is for browsers, and is served as text.
      if (!path.endsWith(".ts") || path.includes("dashboard")) continue;
      const named = ofPages.exec(readFileSync(join(root, path), "utf8"));
      if (named) found.push(`${path}: ${named[0]}`);
    }
    assertEquals(found, []);
  });
});
