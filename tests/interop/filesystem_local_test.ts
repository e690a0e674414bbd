import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { connect, openHub } from "../../src/entry/local.ts";
import type { Client, RequestOptions } from "../../src/entry/local.ts";
import { filesystem, isAlive, skip, until } from "./peers.ts";
import { record } from "./recording.ts";
import { textOf } from "./support.ts";

const manifest = [
  ...["read_file", "read_text_file", "read_media_file", "read_multiple_files", "write_file", "edit_file"],
  ...["create_directory", "list_directory", "list_directory_with_sizes", "directory_tree", "move_file"],
  ...["search_files", "get_file_info", "list_allowed_directories"],
];

if (skip) test("server-filesystem over stdio", { skip }, () => {});
else describe("server-filesystem over stdio", filesystemSuite);

function filesystemSuite(): void {
  const recording = record();
  let folder = "";
  let client: Client;
  const call = (name: string, args: Record<string, string | string[]>, options?: RequestOptions) =>
    client.callTool(name, args, options);

  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "causeway-files-")));
    client = await connect(filesystem(folder), { spawn: recording.spawn });
  });
  after(async () => {
    await client?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  test("lists the tools of the manifest, each with an output schema that can be checked", async () => {
    const { tools, rejected } = await client.listTools();
    assertEquals(tools.map(({ name }) => name), manifest);
    assertEquals(rejected, undefined);
    assert(tools.every(({ outputSchema }) => outputSchema?.type === "object"));
  });

  test("is heard, by itself and in a hub, when it writes to its standard error", async () => {
    const listen = (lines: string[]) => ({ ...filesystem(folder), onStderr: (line: string) => void lines.push(line) });
    const [alone, inHub]: [string[], string[]] = [[], []];
    await using _client = await connect(listen(alone));
    await using _hub = await openHub({ files: listen(inHub) });
    for (const lines of [alone, inHub]) {
      await until(() => lines.length > 0, "its first line", 20_000);
      assertStringIncludes(lines[0] ?? "", "running on stdio");
    }
  });

  test("writes, reads, edits, moves and finds files", async () => {
    const path = join(folder, "note.txt");
    await call("write_file", { path, content: "one\ntwo ✓\n" });
    assertEquals(readFileSync(path, "utf8"), "one\ntwo ✓\n");
    const read = await call("read_text_file", { path });
    assertEquals(read.structuredContent, { content: "one\ntwo ✓\n" });
    const edits = [{ oldText: "two ✓", newText: "three" }];
    await client.callTool("edit_file", { path, edits });
    assertEquals(readFileSync(path, "utf8"), "one\nthree\n");
    await call("create_directory", { path: join(folder, "deep/er") });
    await call("move_file", { source: path, destination: join(folder, "deep/er/moved.txt") });
    assertStringIncludes(await textOf(call("search_files", { path: folder, pattern: "**/*.txt" })), "moved.txt");
    assertStringIncludes(await textOf(call("list_directory", { path: folder })), "[DIR] deep");
  });

  test("a file of several megabytes comes through whole", async () => {
    const path = join(folder, "large.txt");
    const content = "0123456789abcdef\n".repeat(120_000); // 2 MB, sent twice: as text and as structured content
    writeFileSync(path, content);
    assertEquals((await call("read_text_file", { path })).structuredContent, { content });
  });

  test("an image comes through byte by byte", async () => {
    const path = join(folder, "dot.png");
    const bytes = Uint8Array.from({ length: 5_000 }, (_, index) => (index * 7) % 256);
    writeFileSync(path, bytes);
    const [block] = (await call("read_media_file", { path })).content;
    assert(block?.type === "image" && block.mimeType === "image/png");
    assertEquals(Uint8Array.from(atob(block.data), (letter) => letter.charCodeAt(0)), bytes);
  });

  test("what lies outside of the folder is refused as a result", async () => {
    const result = await call("read_text_file", { path: "/etc/hostname" });
    assertEquals(result.isError, true);
    assertStringIncludes(await textOf(result), "Access denied");
  });

  test("100 of 100 calls side by side get their own answers", async () => {
    const paths = Array.from({ length: 100 }, (_, index) => join(folder, `file-${index}.txt`));
    for (const path of paths) writeFileSync(path, path);
    const results = await Promise.all(paths.map((path) => call("read_text_file", { path })));
    assertEquals(results.map(({ structuredContent }) => structuredContent), paths.map((content) => ({ content })));
  });

  test("the roots that the client names replace the server's folders, also when they change", async () => {
    const [first, second] = [join(folder, "first"), join(folder, "second")];
    mkdirSync(first);
    mkdirSync(second);
    let root = first;
    await using rooted = await connect(filesystem(folder), {
      handlers: { roots: () => [{ uri: pathToFileURL(root).href }] },
    });
    const allowed = async () => await textOf(rooted.callTool("list_allowed_directories"));
    const settled = async (path: string) => {
      for (let tries = 0; tries < 2_000 && !(await allowed()).endsWith(path); tries++);
      assertEquals(await allowed(), `Allowed directories:\n${path}`);
    };
    await settled(first);
    root = second;
    await rooted.rootsChanged();
    await settled(second);
  });

  test("the process is gone after the end", async () => {
    const [pid = 0] = recording.pids;
    assert(isAlive(pid));
    await client.close();
    await until(() => !isAlive(pid), "the end of the process");
  });
}
