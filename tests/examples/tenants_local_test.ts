import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { packagesInstalled } from "../../tools/programs.ts";
import { story } from "./support.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isOld = !("Bun" in globalThis || "Deno" in globalThis) && (major < 22 || (major === 22 && minor < 13));
const skip = !packagesInstalled() ? "hono is not installed" : isOld ? "Node has SQLite since 22.13" : false;

describe("the runner for two tenants", () => {
  test("nobody reaches the other's servers and runs, and a run is finished by the next process", { skip }, async () => {
    const lines = await story("tenants/try");
    assertEquals(lines.slice(-4), [
      "Bob at Ada's bank, and at her run: 404 404",
      'May the tool "pay" of the server "bank" be called?',
      "Yes. bank__balance: 100 euros",
      "bank__pay: paid Grace",
    ]);
  });
});
