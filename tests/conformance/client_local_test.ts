import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { runProcess } from "../../tools/process.ts";
import { scriptCommand } from "../../tools/programs.ts";

const program = scriptCommand();
const skip = program === undefined ? "needs bun or deno to run TypeScript" : false;

describe("the conformance client as a program", () => {
  test("ends with 1 and says why when there is no such scenario", { skip }, async () => {
    const env = { MCP_CONFORMANCE_SCENARIO: "tools_cal", MCP_CONFORMANCE_PROTOCOL_VERSION: "2026-07-28" };
    const command = [...program ?? [], "tests/conformance/client.ts", "http://localhost:9/mcp"];
    const { code, output } = await runProcess(command, { env, timeout: 20_000 });
    assertEquals(code, 1);
    assertStringIncludes(output, 'There is no scenario "tools_cal"');
  });
});
