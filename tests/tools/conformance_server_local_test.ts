import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { listScenarios, runServerScenario, type Verdict } from "../../tools/conformance_strict.ts";
import { endProcess, startProcess } from "../../tools/process.ts";
import { bunPath, packagesInstalled, scriptCommand } from "../../tools/programs.ts";

const program = scriptCommand();
const able = bunPath() !== undefined && packagesInstalled() && program !== undefined;
const skip = able ? false : "the conformance suite needs bun and its package";
const version = "2025-11-25";

async function judge(scenario: string, url: string): Promise<Verdict> {
  const scratch = mkdtempSync(join(tmpdir(), "causeway-conformance-"));
  try {
    return await runServerScenario({ scenario, version, url, scratch, timeout: 15_000 });
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

describe("the strict conformance runner, asking a server", () => {
  let child: ChildProcess | undefined;
  let started: Promise<string> | undefined;
  after(() => child && endProcess(child));

  /** The fakes of the client's tests: they have `ping`, and none of the suite's tools. */
  function server(): Promise<string> {
    return started ??= new Promise((resolve) => {
      child = startProcess([...program ?? [], "tests/hosts/test_server.ts"]);
      child.stdout?.setEncoding("utf8").once("data", (line: string) => {
        resolve(`${line.trim().replace("127.0.0.1", "localhost")}/legacy@conformance/mcp`);
      });
    });
  }

  test("a server that does what is asked passes", { skip }, async () => {
    const verdict = await judge("ping", await server());
    assert(verdict.passed, verdict.reasons.join("; "));
    assertEquals(verdict.succeeded, verdict.decided);
  });

  test("a server without the tool fails, with the suite's words", { skip }, async () => {
    const verdict = await judge("tools-call-image", await server());
    assertEquals(verdict.passed, false);
    assertStringIncludes(verdict.reasons.join("; "), "FAILURE tools-call-image");
  });

  test("what is only a warning fails too, although the suite passes it", { skip }, async () => {
    const { passed, reasons } = await judge("server-sse-polling", await server());
    assertEquals(passed, false);
    assert(!reasons.some((reason) => reason.startsWith("exit code")), reasons.join("; "));
  });

  test("where nobody listens, nothing passes", { skip }, async () => {
    const verdict = await judge("ping", "http://localhost:9/mcp");
    assertEquals(verdict.passed, false);
  });

  test("the scenarios are listed by revision, those of extensions by themselves", { skip }, async () => {
    assertEquals(await listScenarios("2025-03-26", "server"), ["server-session-lifecycle"]);
    const extensions = await listScenarios(undefined, "server");
    assert(extensions.includes("tasks-lifecycle") && !extensions.includes("ping"), extensions.join(" "));
  });
});
