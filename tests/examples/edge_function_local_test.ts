/** The function at the edge of `examples/edge_function.ts`, in real Deno, with one permission. */
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { runProcess } from "../../tools/process.ts";
import { root } from "../../tools/programs.ts";
import { linesOf } from "./support.ts";

const skip = "Deno" in globalThis ? false : "it is for Deno";
const file = join(root, "examples", "edge_function.ts");
const deno = [process.execPath, "run", "--no-prompt", "--no-check", "--quiet"];

describe("the function at the edge", () => {
  test("answers with what a remote tool says, and in time", { skip }, async () => {
    assertEquals(await linesOf([...deno, "--allow-net=127.0.0.1", file]), [
      'Bern: 200 {"degrees":21}',
      'Bern: 200 {"degrees":21}',
      "Nowhere: 404 no such city",
      "Atlantis: 502 no forecast now",
    ]);
  });

  test("needs that permission, and cannot do without", { skip }, async () => {
    const { code, output } = await runProcess([...deno, "--allow-net=127.0.0.2", file], { timeout: 60_000 });
    assertEquals(code, 1);
    assertStringIncludes(output, "Requires net access");
  });
});
