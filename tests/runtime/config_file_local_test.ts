import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { readConfigFile } from "../../src/runtime/config_file.ts";

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-config-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("files of configs", () => {
  test("are read up to their bound, and not a byte more", () =>
    inFolder(async (folder) => {
      const file = join(folder, "mcp.json");
      writeFileSync(file, "\uFEFF{ä}");
      assertEquals(await readConfigFile(file, 7), "\uFEFF{ä}");
      await assertRejects(() => readConfigFile(file, 6), Error, "it has more than 6 bytes");
      writeFileSync(file, "");
      assertEquals(await readConfigFile(file, 6), "");
      const link = join(folder, "link.json");
      symlinkSync(file, link);
      assertEquals(await readConfigFile(link, 6), "");
    }));

  test("that are not there are none; what is no file is refused at once", () =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, "file"), "x");
      assertEquals(await readConfigFile(join(folder, "none.json"), 9), undefined);
      assertEquals(await readConfigFile(join(folder, "file", "below.json"), 9), undefined);
      mkdirSync(join(folder, "sub"));
      await assertRejects(() => readConfigFile(join(folder, "sub"), 9), Error, "it is a folder");
      writeFileSync(join(folder, "latin.json"), new Uint8Array([0x22, 0xe4, 0x22]));
      await assertRejects(
        () => readConfigFile(join(folder, "latin.json"), 9),
        Error,
        "it is no UTF-8: save it as such",
      );
    }));

  test("a pipe that nobody writes to holds nothing up", {
    skip: process.platform === "win32" && "there are no pipes in folders",
  }, () =>
    inFolder(async (folder) => {
      execFileSync("mkfifo", [join(folder, "pipe")]);
      await assertRejects(() => readConfigFile(join(folder, "pipe"), 9), Error, "it is no file");
    }));

  const isRoot = process.platform === "win32" || process.getuid?.() === 0;
  test(
    "that one may not read are told as such",
    { skip: isRoot && "root may read everything" },
    () =>
      inFolder(async (folder) => {
        const file = join(folder, "mcp.json");
        writeFileSync(file, "{}");
        chmodSync(file, 0);
        await assertRejects(() => readConfigFile(file, 9), Error, "you may not read it: check its permissions");
      }),
  );
});
