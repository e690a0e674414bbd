import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { listScenarios, runScenario, type Verdict } from "../../tools/conformance_strict.ts";
import { bunPath, packagesInstalled } from "../../tools/programs.ts";

const bun = bunPath();
const skip = bun !== undefined && packagesInstalled() ? false : "the conformance suite needs bun and its package";
const version = "2025-11-25";

async function judge(scenario: string, command: string, timeout = 15_000): Promise<Verdict> {
  const scratch = mkdtempSync(join(tmpdir(), "causeway-conformance-"));
  try {
    return await runScenario({ scenario, version, command, scratch, timeout });
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

describe("the strict conformance runner", () => {
  const client = `"${bun}" tests/tools/minimal_client.ts`;

  test("a client that does the work passes", { skip }, async () => {
    const verdict = await judge("tools_call", client);
    assert(verdict.passed, verdict.reasons.join("; "));
    assertEquals(verdict.succeeded, verdict.decided);
  });

  test("the same client fails when it ends with an error, although every check succeeded", { skip }, async () => {
    const verdict = await judge("tools_call", `${client} --crash`);
    assertEquals(verdict.succeeded, verdict.decided);
    assertEquals([verdict.passed, verdict.reasons], [false, ["exit code 1"]]);
  });

  test("a client that does nothing fails, although the suite passes it", { skip }, async () => {
    const verdict = await judge("initialize", "true");
    assertEquals([verdict.passed, verdict.reasons], [false, ["no real check succeeded"]]);
  });

  test("a client that hangs is ended and fails", { skip }, async () => {
    const verdict = await judge("initialize", "sleep 100 #", 1000);
    assertEquals(verdict.passed, false);
    assertStringIncludes(verdict.reasons.join("; "), "the client did not end within 1000 ms");
    assertLess(verdict.milliseconds, 20_000);
  });

  test("the scenarios of a revision are listed", { skip }, async () => {
    const names = await listScenarios("2026-07-28");
    assert(names.includes("tools_call") && !names.includes("sse-retry"), names.join(" "));
  });
});
