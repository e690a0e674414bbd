import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { story } from "./support.ts";

const isHere = "Bun" in globalThis || "Deno" in globalThis;
const skip = isHere ? false : "it is for Bun and Deno, which run the server that it starts as it is";

describe("the agent on this machine", () => {
  test("asks before it writes, reads without a question, and tells what it observed", { skip }, async () => {
    const lines = await story("local_agent");
    assertEquals(lines.map((line) => /^(May it [a-z-]+|[\w-]+: \w+)/.exec(line)?.[0]), [
      "May it write-file",
      "write-file: ok",
      "May it write-file",
      "write-file: denied",
      "read-file: ok",
      "files__write-file: Wrote",
      "files__write-file: Tool",
      "files__read-file: Write",
    ]);
  });
});
