import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { InvalidParamsError } from "../../mod.ts";
import type { Client } from "../../mod.ts";
import { textOf } from "../support/clients.ts";
import { withExample } from "./support.ts";

/** A folder with a secret beside it, and links from the inside to it. */
async function withFolder(run: (client: Client, folder: string, outside: string) => Promise<void>): Promise<void> {
  const outside = mkdtempSync(join(tmpdir(), "causeway-files-"));
  try {
    const folder = join(outside, "inside");
    mkdirSync(join(folder, "sub"), { recursive: true });
    writeFileSync(join(outside, "secret.txt"), "secret");
    writeFileSync(join(folder, "note.txt"), "grüße");
    symlinkSync(join(outside, "secret.txt"), join(folder, "link.txt"));
    symlinkSync(join(outside, "new.txt"), join(folder, "dangling.txt"));
    symlinkSync(outside, join(folder, "up"));
    symlinkSync(join(folder, "note.txt"), join(folder, "inner.txt"));
    // A neighbour whose name begins like the folder's.
    mkdirSync(`${folder}-not`);
    writeFileSync(`${folder}-not/secret.txt`, "secret");
    symlinkSync(`${folder}-not`, join(folder, "neighbour"));
    await withExample("file_agent", [folder], (client) => run(client, folder, outside));
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
}

describe("the file agent", () => {
  test("it lists both tools, reads and writes", () =>
    withFolder(async (client, folder) => {
      assertEquals((await client.listTools()).tools.map(({ name }) => name), ["read-file", "write-file"]);
      assertEquals(textOf(await client.callTool("read-file", { path: "note.txt" })), "grüße");
      assertEquals(
        textOf(await client.callTool("read-file", { path: "./sub/../note.txt" }))?.startsWith("Cannot"),
        true,
      );
      const written = await client.callTool("write-file", { path: "sub/new.txt", content: "long ünd new" });
      assertEquals([written.isError, textOf(written)], [undefined, "Wrote 13 bytes to sub/new.txt"]);
      await client.callTool("write-file", { path: "sub/new.txt", content: "short" });
      assertEquals(readFileSync(join(folder, "sub/new.txt"), "utf8"), "short");
      assertEquals(textOf(await client.callTool("read-file", { path: "inner.txt" })), "grüße");
    }));

  test("nothing outside of the folder is read or written, and no message tells where it is", () =>
    withFolder(async (client, folder, outside) => {
      const paths = [
        "../secret.txt",
        "sub/../../secret.txt",
        "..\\secret.txt",
        join(outside, "secret.txt"),
        join(folder, "note.txt"),
        "\\secret.txt",
        "C:\\secret.txt",
        "link.txt",
        "dangling.txt",
        "up/secret.txt",
        "up/new.txt",
        "neighbour/secret.txt",
        "note.txt\0.png",
        ".",
        "sub",
        "missing/new.txt",
        "",
      ];
      for (const path of paths) {
        for (
          const [tool, args] of [["read-file", { path }], ["write-file", { path, content: "overwritten" }]] as const
        ) {
          const result = await client.callTool(tool, args);
          assertEquals(result.isError, true, `${tool} ${path}`);
          assert(!textOf(result)?.includes("secret\n"), textOf(result));
          if (!path.startsWith("/")) assert(!textOf(result)?.includes(outside), textOf(result));
        }
      }
      assertEquals(readFileSync(join(outside, "secret.txt"), "utf8"), "secret");
      assertEquals(readFileSync(`${folder}-not/secret.txt`, "utf8"), "secret");
      assertEquals(readFileSync(join(folder, "note.txt"), "utf8"), "grüße");
      assertEquals(existsSync(join(outside, "new.txt")), false);
    }));

  test("no message tells where the folder was, once it is gone", () =>
    withFolder(async (client, folder) => {
      await client.listTools();
      rmSync(folder, { recursive: true });
      const result = await client.callTool("read-file", { path: "note.txt" });
      assertEquals([result.isError, textOf(result)], [true, 'Cannot use "note.txt": the agent\'s folder is not there']);
      mkdirSync(folder);
    }));

  test("files that are too long, arguments that do not fit, a tool that is not there", () =>
    withFolder(async (client, folder) => {
      writeFileSync(join(folder, "long.txt"), "x".repeat(1_048_577));
      assertEquals((await client.callTool("read-file", { path: "long.txt" })).isError, true);
      assertEquals((await client.callTool("read-file", { path: 7 })).isError, true);
      assertEquals((await client.callTool("write-file", { path: "x" })).isError, true);
      await assertRejects(() => client.callTool("delete-file", {}), InvalidParamsError, "Unknown tool: delete-file");
    }));
});
