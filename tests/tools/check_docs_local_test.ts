import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { checkLinks } from "../../tools/check_docs/links.ts";
import { parsePage } from "../../tools/check_docs/pages.ts";
import { checkPlainBlocks } from "../../tools/check_docs/plain_blocks.ts";

function linksOf(text: string): string[] {
  const page = parsePage("docs/HUB.md", text);
  const other = parsePage("README.md", "# Start\n\n## What else it does\n\n## What else it does\n");
  return checkLinks([page], [page, other]);
}

function plainOf(text: string): string[] {
  return checkPlainBlocks([parsePage("docs/HUB.md", text)]);
}

describe("links of pages", () => {
  test("to pages, headings and addresses that are there are right", () => {
    const text =
      "# Names, and `calls`!\n[a](#names-and-calls) [b](../README.md#start) [c](LIMITS.md) [d](https://example.com/#no)\n" +
      "[e](../README.md#what-else-it-does-1) `[f](NOWHERE.md)` `src/client/client.ts` `src/client`\n";
    assertEquals(linksOf(text), []);
  });

  test("a page, a heading or a path that is missing is named with its line", () => {
    assertEquals(linksOf("text\n[a](NOWHERE.md)\n"), [
      "docs/HUB.md:2 links to NOWHERE.md, and there is no docs/NOWHERE.md",
    ]);
    assertEquals(linksOf("[a](../README.md#end)\n"), [
      "docs/HUB.md:1 links to ../README.md#end, and README.md has no heading of that name",
    ]);
    assertEquals(linksOf("[a](#here)\n").length, 1);
    assertEquals(linksOf("[a](../../elsewhere.md)\n").length, 1);
    assertEquals(linksOf("`src/client/nowhere.ts`\n"), [
      "docs/HUB.md:1 names src/client/nowhere.ts, which is not there",
    ]);
  });

  test("what stands in a block is no link and no heading", () => {
    assertEquals(linksOf("```sh\n# Here\n[a](NOWHERE.md)\n```\n"), []);
    assertEquals(linksOf("```sh\n# Here\n```\n[a](#here)\n").length, 1);
  });
});

describe("blocks that are no program", () => {
  test("JSON has to be JSON, and a language one that something looks at", () => {
    assertEquals(plainOf('```json\n{ "a": 1 }\n```\n'), []);
    assertEquals(plainOf("```json\n{ a: 1 }\n```\n").length, 1);
    assertEquals(plainOf("```js\n1\n```\n").length, 1);
  });

  test("commands of the repository have to be there, in blocks and in prose", () => {
    const right = "`bun run demo`, `npx -y bun@1.4.4 run test`, `deno task demo` and `bun tools/run.ts check_docs`\n";
    assertEquals(plainOf(`${right}\n\`\`\`sh\n${right}wrangler deploy --config workers/client.toml\n\`\`\`\n`), []);
    assertEquals(plainOf("`bun run nothing`\n"), ['docs/HUB.md:1 names "bun run nothing", which is not there']);
    assertEquals(plainOf("```sh\ndeno task nothing\nbun tools/run.ts nothing\n```\n").length, 2);
    assertEquals(plainOf("```sh\nwrangler deploy --config workers/nothing.toml\n```\n").length, 1);
  });
});
