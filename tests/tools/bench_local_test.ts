/** What the bench starts: the servers that it measures serve until they are ended. */
import { assertEquals } from "@std/assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startUpstream } from "../../bench/runner/workerd.ts";
import { connect } from "../../src/entry/local.ts";
import { bunPath } from "../../tools/programs.ts";

test("the server behind the bench of the runner serves, though nobody writes to it", {
  skip: "Bun" in globalThis ? false : "it is a program of Bun's",
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-bench-"));
  try {
    await using server = await startUpstream(bunPath() ?? "", folder);
    await using client = await connect(`http://127.0.0.1:${server.port}/mcp`);
    const { content } = await client.callTool("noop");
    assertEquals(content, [{ type: "text", text: "ok" }]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
