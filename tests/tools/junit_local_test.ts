import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { parseJunit } from "../../tools/test/junit.ts";
import { completeRun, countOutcomes, describeAttacks } from "../../tools/test/results.ts";

describe("reports of test runs", () => {
  test("cases are read with suite, file, reason and unescaped text", () => {
    const xml = `<?xml version="1.0"?><testsuites><testsuite name="x">
      <testcase name="plain" classname="" file="tests/a_test.ts" time="0.1" />
      <testcase name="a &lt;b&gt;" classname="suite" file="tests/a_test.ts"><failure type="Error"
        message="no &quot;x&quot;">no &quot;x&quot;&#10;at line 1 &amp;c</failure></testcase>
      <testcase name="later" classname="./tests/b_test.ts"><skipped message="no disk"/></testcase>
      <testcase name="deep &gt; step" classname="ext:deno_node/testing.ts"></testcase>
    </testsuite></testsuites>`;
    assertEquals(parseJunit(xml), [
      { name: "plain", file: "tests/a_test.ts", status: "passed", milliseconds: 100 },
      { name: "suite > a <b>", file: "tests/a_test.ts", status: "failed", detail: 'no "x"\nat line 1 &c' },
      { name: "later", file: "tests/b_test.ts", status: "skipped", detail: "no disk" },
      { name: "deep > step", file: undefined, status: "passed" },
    ]);
  });

  test("a crash, a kill and an empty report count as failures", () => {
    const passed = [{ name: "a", status: "passed" as const }];
    const ended = { code: 0, timedOut: false, output: "", milliseconds: 1 };
    const failures = (run: Partial<typeof ended>, outcomes = passed) =>
      countOutcomes(completeRun("bun", outcomes, [], { ...ended, ...run }).outcomes).failed;
    assertEquals(failures({}), 0);
    assertEquals(failures({ code: 139 }), 1);
    assertEquals(failures({ timedOut: true }), 1);
    assertEquals(failures({}, []), 1);
  });
});

test("a table counts the cases of attacks, over all runtimes", () => {
  const run = (status: "passed" | "failed") => ({
    runtime: "bun" as const,
    milliseconds: 0,
    outcomes: [
      { name: "group > state: 12 cases, 0 hits", status },
      { name: "group > code: 3 cases, 0 hits", status: "passed" as const },
      { name: "another > a plain test", status: "failed" as const },
    ],
  });
  const rows = (...runs: ReturnType<typeof run>[]) =>
    describeAttacks(runs).split("\n").slice(1).map((row) => row.split(/\s+/));
  assertEquals(rows(run("passed"), run("passed")), [["group", "30", "0"]]);
  assertEquals(rows(run("passed"), run("failed")), [["group", "18", "FAILED"]]);
  assertEquals(describeAttacks([{ runtime: "node", milliseconds: 0, outcomes: [] }]), "");
});
