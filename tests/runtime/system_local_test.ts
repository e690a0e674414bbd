import { build } from "esbuild";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ConnectError } from "../../src/protocol/errors.ts";
import * as bun from "../../src/runtime/bun.ts";
import * as deno from "../../src/runtime/deno.ts";
import * as node from "../../src/runtime/node.ts";

const own = "Bun" in globalThis ? bun : "Deno" in globalThis ? deno : node;

describe("baseEnvironment", () => {
  test("holds what is harmless, not what is secret, and what is added", () => {
    process.env.CAUSEWAY_TEST_SECRET = "canary";
    try {
      const given = own.baseEnvironment({ ADDED: "1" });
      assertEquals([given.PATH, given.ADDED], [process.env.PATH, "1"]);
      assert(!Object.values(given).includes("canary"));
      assertEquals(own.baseEnvironment({ PATH: "/mine" }).PATH, "/mine");
    } finally {
      delete process.env.CAUSEWAY_TEST_SECRET;
    }
  });
});

describe("resolve", () => {
  test("names from the system's own list, and addresses as they are", async () => {
    const local = await own.resolve("localhost");
    assert(local.length > 0 && local.every((address) => address === "127.0.0.1" || address === "::1"), local.join());
    assertEquals(await own.resolve("192.0.2.7"), ["192.0.2.7"]);
    assertEquals(await own.resolve("2001:db8::7"), ["2001:db8::7"]);
  });

  test("an unknown name is a ConnectError that names it", async () => {
    const error = await assertRejects(() => own.resolve("no such host"), ConnectError, '"no such host"');
    assertEquals(error.delivery, "not-sent");
  });
});

test("a background timer of the clock keeps no process alive", async () => {
  const [name, run] = "Bun" in globalThis
    ? ["bun", []]
    : "Deno" in globalThis
    ? ["deno", ["run", "-A", "--no-check", "--quiet"]]
    : ["node", []];
  const contents = `
    import { clock } from "./src/runtime/${name}.ts";
    clock.schedule(() => {}, 600_000, { background: true });`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["ws"],
    write: false,
    logLevel: "silent",
  });
  const folder = await mkdtemp(join(tmpdir(), "causeway-clock-"));
  try {
    const program = join(folder, "program.mjs");
    await writeFile(program, outputFiles[0]?.contents ?? "");
    const child = spawn(process.execPath, [...run, program], { stdio: "ignore", timeout: 20_000 });
    assertEquals(await new Promise((resolve) => child.once("exit", (code, signal) => resolve([code, signal]))), [
      0,
      null,
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
