/** The Worker of `examples/worker`, in real workerd. */
import { describe, test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { packagesInstalled } from "../../tools/programs.ts";
import { story } from "./support.ts";

const skip = !packagesInstalled()
  ? "miniflare and esbuild are not installed"
  : "Bun" in globalThis
  ? false
  : "it is the same workerd from each runtime: once is enough, on Bun";

describe("the Worker that calls remote tools", () => {
  test("sends the call alone once the catalog is kept, gives up in time, and follows nobody elsewhere", {
    skip,
  }, async () => {
    const lines = await story("worker/try");
    assertEquals(lines.filter((line) => line.startsWith("    ")).map((line) => line.trim()), [
      "sent: server/discover, tools/list, tools/call",
      "sent: tools/call",
      "sent: tools/call",
      "sent: tools/call",
    ]);
    assertEquals(lines.slice(0, 3).filter((line) => line.startsWith("/")), [
      '/add?a=3&b=4 → 200 {"sum":7}',
      '/add?a=20&b=22 → 200 {"sum":42}',
    ]);
    assertMatch(lines[4] ?? "", /502 .*No answer within 2000 ms/);
    assertMatch(lines[6] ?? "", /502 .*Cannot follow 307/);
  });
});
