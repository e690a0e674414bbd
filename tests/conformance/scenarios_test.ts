import { assertEquals, AssertionError, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { connect } from "../../mod.ts";
import type { Connect } from "../../mod.ts";
import { runScenario } from "./scenarios.ts";

const run = { scenario: "tools_call", version: "2026-07-28", context: "", url: "https://suite.test/mcp" };

/** A modern server with `add_numbers`, whose answer is `text`. The methods that it was asked go to `asked`. */
function suite(text: string, asked: string[] = []): Connect {
  const cached = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  const results: Record<string, object> = {
    "server/discover": { ...cached, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    "tools/list": { ...cached, tools: [{ name: "add_numbers", inputSchema: { type: "object" } }] },
    "tools/call": { resultType: "complete", content: [{ type: "text", text }] },
  };
  return (target, options) =>
    connect(target, {
      ...options,
      fetch: async (url, init) => {
        const { id, method } = await new Request(url, init).json();
        asked.push(method);
        return Response.json({ jsonrpc: "2.0", id, result: results[method] });
      },
    });
}

describe("the conformance client", () => {
  test("does what the scenario asks for", async () => {
    const asked: string[] = [];
    await runScenario(suite("The sum of 5 and 3 is 8", asked), run);
    assertEquals(asked, ["server/discover", "tools/list", "tools/call"]);
  });

  test("fails when the client gets something else than the server is known to send", async () => {
    await assertRejects(() => runScenario(suite("The sum of 5 and 3 is 9"), run), AssertionError);
  });

  test("fails when the other era was found than the one that the suite speaks", async () => {
    const legacy = { ...run, version: "2025-11-25" };
    await assertRejects(() => runScenario(suite("The sum of 5 and 3 is 8"), legacy), AssertionError, "legacy");
  });

  test("refuses what is no scenario, before it connects", async () => {
    for (const scenario of ["", "tools_cal", "toString"]) {
      const asked: string[] = [];
      await assertRejects(() => runScenario(suite("", asked), { ...run, scenario }), TypeError, `"${scenario}"`);
      assertEquals(asked, []);
    }
  });
});
