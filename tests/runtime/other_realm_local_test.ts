/**
 * Errors of another realm: under jest and its like those of the system and of the global `fetch` are of no class that the program knows.
 * Here another class stands in the place of `Error` meanwhile.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect as connectPlainly } from "../../mod.ts";
import { connect, createFileStore } from "../../src/entry/local.ts";
import { ConnectError, SpawnError } from "../../src/protocol/errors.ts";

async function elsewhere(run: () => Promise<void>): Promise<void> {
  const own = globalThis.Error;
  globalThis.Error = class extends own {} as ErrorConstructor;
  try {
    await run();
  } finally {
    globalThis.Error = own;
  }
}

test("files are kept where errors of the system are of another realm", async () => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-realm-"));
  try {
    await elsewhere(async () => {
      const [store, other] = [createFileStore(join(folder, "store")), createFileStore(join(folder, "store"))];
      assertEquals(await store.get("key"), undefined);
      await store.delete("key");
      // They meet at the lock.
      await Promise.all([store.set("key", "one"), other.set("key", "one")]);
      assertEquals(await store.get("key"), "one");
      assertEquals(await store.get("other"), undefined);
      assertEquals(await store.compareAndSet("key", "one", undefined), true);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a program that is not there is told as ever where errors are of another realm", async () => {
  await elsewhere(async () => {
    const open = () => connect({ command: "causeway-no-such-program" });
    await assertRejects(open, SpawnError, "there is no such program on the PATH");
  });
});

test("a server that is not there is a ConnectError where errors of fetch are of another realm", async () => {
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: refused }));
  await elsewhere(async () => {
    await assertRejects(() => connectPlainly("http://localhost:1/mcp", { fetch }), ConnectError, "ECONNREFUSED");
  });
});
