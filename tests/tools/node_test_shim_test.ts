import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import * as shim from "../hosts/node_test_shim.ts";

/** Registers tests with the shim, runs them as workerd does, and answers the lines of the report. */
async function run(name: string, register: () => void): Promise<shim.Line[]> {
  await shim.collect(name, () => Promise.resolve(register()));
  const text = await shim.handleRequest(new Request(`http://tests/?file=${name}`)).text();
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

function brief(lines: readonly shim.Line[]): string[] {
  return lines.map(({ name, status }) => `${status} ${name}`);
}

describe("the stand-in for node:test in workerd and Node", () => {
  test("a test that throws, rejects or hangs has failed, and the others still run", async () => {
    const lines = await run("failing", () => {
      shim.test("throws", () => {
        throw new Error("boom");
      });
      shim.test("rejects", () => Promise.reject(new TypeError("late")));
      shim.test("hangs", { timeout: 20 }, () => new Promise(() => {}));
      shim.test("works", async () => {
        await Promise.resolve();
      });
    });
    assertEquals(brief(lines), ["failed throws", "failed rejects", "failed hangs", "passed works"]);
    assertStringIncludes(lines[0]?.detail ?? "", "boom");
    assertStringIncludes(lines[1]?.detail ?? "", "TypeError: late");
    assertStringIncludes(lines[2]?.detail ?? "", "within 20 ms");
  });

  test("suites nest, and hooks run around what they belong to", async () => {
    const order: string[] = [];
    const lines = await run("nested", () => {
      shim.describe("outer", () => {
        shim.before(() => order.push("before"));
        shim.beforeEach(() => order.push("each"));
        shim.afterEach(() => order.push("after each"));
        shim.after(() => order.push("after"));
        shim.test("first", (context) => {
          context.after(() => order.push("own"));
          order.push("first");
        });
        shim.describe("inner", () => {
          shim.beforeEach(() => order.push("inner each"));
          shim.it("second", () => order.push("second"));
        });
      });
    });
    assertEquals(brief(lines), ["passed outer > first", "passed outer > inner > second"]);
    const first = ["each", "first", "own", "after each"];
    assertEquals(order, ["before", ...first, "each", "inner each", "second", "after each", "after"]);
  });

  test("what is skipped does not run, is counted, and says why", async () => {
    const ran: string[] = [];
    const lines = await run("skipping", () => {
      shim.test("by reason", { skip: "no disk" }, () => ran.push("a"));
      shim.test("by flag", { skip: true }, () => ran.push("b"));
      shim.test("not", { skip: false }, () => ran.push("c"));
      shim.describe("suite", { skip: "no network" }, () => {
        shim.test("inside", () => ran.push("d"));
      });
      shim.test("late", (context) => context.skip("found out late"));
    });
    assertEquals(brief(lines), [
      "skipped by reason",
      "skipped by flag",
      "passed not",
      "skipped suite",
      "skipped late",
    ]);
    assertEquals(lines.map(({ detail }) => detail ?? ""), ["no disk", "", "", "no network", "found out late"]);
    assertEquals(ran, ["c"]);
  });

  test("a failed subtest, hook or module is a failure", async () => {
    const subtest = await run("subtest", () => {
      shim.test("parent", async (context) => {
        await context.test("child", () => {
          throw new Error("small");
        });
      });
    });
    assertEquals(brief(subtest), ["failed parent > child", "failed parent"]);
    const hook = await run("hook", () => {
      shim.beforeEach(() => {
        throw new Error("no ground");
      });
      shim.test("never begins", () => {});
    });
    assertEquals(brief(hook), ["failed never begins"]);
    const broken = await run("module", () => {
      throw new Error("cannot load");
    });
    assertEquals(brief(broken), ["failed the module loads"]);
    assert(broken[0]?.detail?.includes("cannot load"));
  });

  test("what a failed hook has begun is tidied up, and each hook has its time", async () => {
    const order: string[] = [];
    const lines = await run("hooks", () => {
      shim.describe("suite", { timeout: 20 }, () => {
        shim.before(() => {
          throw new Error("no ground");
        });
        shim.after(() => order.push("after"));
        shim.after(() => new Promise(() => {}));
        shim.test("never begins", () => order.push("test"));
      });
    });
    assertEquals([brief(lines), order], [["failed suite", "failed suite"], ["after"]]);
    assertStringIncludes(lines.map(({ detail }) => detail).join(), "within 20 ms");
  });

  test("a test has the time of its suite where it says nothing of its own", async () => {
    const lines = await run("limits", () => {
      shim.describe("suite", { timeout: 20 }, () => {
        shim.test("hangs", () => new Promise(() => {}));
        shim.test("has longer", { timeout: 5_000 }, () => new Promise((resolve) => setTimeout(resolve, 40)));
      });
    });
    assertEquals(brief(lines), ["failed suite > hangs", "passed suite > has longer"]);
  });

  test("a file that was never collected is an error", () => {
    assertEquals(shim.handleRequest(new Request("http://tests/?file=unknown")).status, 404);
  });
});
