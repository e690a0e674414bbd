/** The program of `examples/sign_in/terminal.ts`, at a real authorization server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { run } from "../../examples/sign_in/terminal.ts";
import { Browser } from "../auth/real/browser.ts";
import { introspector, startResources } from "../auth/real/resource.ts";
import { skipReal, startProvider } from "../auth/real/start.ts";
import { freePort } from "../support/free_port.ts";

describe("the program with a person at the terminal", () => {
  test("signs in with the browser, and without it the next time", { skip: skipReal }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-terminal-"));
    await using provider = await startProvider({ clients: [introspector], lifetime: 300 });
    await using resources = await startResources(provider.issuer);
    const browser = new Browser();
    const shown: string[] = [];
    const visited: Promise<string>[] = [];
    const world = {
      folder: join(folder, "kept"),
      port: await freePort(),
      show: (address: string) => shown.push(address),
      open: (address: string) => visited.push(browser.go(address)),
    };
    try {
      assertEquals(await run([resources.signed], world), "whoami\nwrite");
      assertStringIncludes((await Promise.all(visited)).join(), "this window can be closed");
      assertStringIncludes(await run([resources.signed, "whoami", "{}"], world), `${provider.issuer}#ada`);
      assertEquals([shown.length, visited.length], [1, 1]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("says what it wants", async () => {
    await assertRejects(() => run([]), TypeError, "expected the URL of a server");
  });
});
