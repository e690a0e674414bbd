/** Configs of the working folder that are another user's: their programs would run as whoever is in that folder. */
import { lchownSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { isTrustedOwner } from "../../../src/cli/target/place.ts";
import { assertFailure, inPlace, peer, program } from "../support.ts";

const skip = process.getuid?.() !== 0 && "only the administrator can give a file away";
const stranger = 54_321;
const [command = "", ...args] = program("tests/servers/stdio_server.ts");
const files = { "app/mcp.json": JSON.stringify({ mcpServers: { theirs: { command, args } } }) };
const refused = /^causeway: Cannot use "mcp\.json": it is another user's, .*; --config mcp\.json takes it/;

describe("a config of the folder that is another user's", () => {
  test("belongs to one whom nobody has to trust: not this user, nor the administrator", () => {
    assertEquals([1000, 0, 1001].map((owner) => isTrustedOwner(owner, 1000, {})), [true, true, false]);
    assertEquals([1000, 0].map((owner) => isTrustedOwner(owner, 0, {})), [false, true]);
    // By `sudo`.
    assertEquals([1000, 1001].map((owner) => isTrustedOwner(owner, 0, { SUDO_UID: "1000" })), [true, false]);
    assertEquals(isTrustedOwner(1001, 1000, { SUDO_UID: "1001" }), false);
    // Windows has no numbers.
    assertEquals(isTrustedOwner(0, undefined, {}), true);
  });

  test("is not used unless it is named", { skip }, async () => {
    await inPlace(files, async ({ root, run }) => {
      assertEquals((await run("tools", "theirs")).code, 0);
      lchownSync(join(root, "app", "mcp.json"), stranger, stranger);
      assertFailure(await run("tools", "theirs"), 2, refused);
      assertFailure(await run("call", "theirs.echo", "text=hi"), 2, refused);
      for (const verb of ["list", "doctor"]) assertFailure(await run("servers", verb), 2, refused);
      const { code, err } = await run("tools", "theirs", "--config", "mcp.json");
      assertEquals(code, 0, err);
    });
  });

  test("holds nothing else up", { skip }, async () => {
    await inPlace({ "app/mcp.json": "[" }, async ({ root, run }) => {
      lchownSync(join(root, "app", "mcp.json"), stranger, stranger);
      const own = JSON.stringify({ mcpServers: { mine: { command, args } } });
      writeFileSync(join(root, "app", ".mcp.json"), own);
      for (const target of ["mine", peer()]) {
        const { code, err } = await run("tools", target);
        assertEquals(code, 0, err);
      }
    });
  });

  test("is left out, and told of, by what takes the servers of all configs", { skip }, async () => {
    const own = JSON.stringify({ mcpServers: { mine: { command, args } } });
    await inPlace({ ...files, "app/.mcp.json": own }, async ({ root, run }) => {
      lchownSync(join(root, "app", "mcp.json"), stranger, stranger);
      const told = /^causeway: warning: Cannot use "mcp\.json": it is another user's, .*; --config mcp\.json takes it/;
      const [list, search, ran] = await Promise.all([
        run("servers", "list"),
        run("search", "echo", "--limit", "1"),
        run("run", "call mine.echo text=hi", "--yes"),
      ]);
      for (const { code, err } of [list, search, ran]) {
        assertEquals([code, err.match(/another user's/g)?.length], [0, 1], err);
        assertMatch(err, told);
      }
      assertEquals([list.out.includes("mine"), list.out.includes("theirs")], [true, false]);
      assertEquals([search.out.startsWith("mine.echo"), ran.out], [true, "hi\n"]);
      const { code, out } = await run("doctor");
      assertEquals([code, /^ok +mine /m.test(out), /theirs/.test(out)], [2, true, false], out);
      assertMatch(out, /^!! +config +Cannot use "mcp\.json": it is another user's/m);
      assertEquals((await run("__complete", "tools", "")).out, "mine\n");
    });
  });

  test("does not become this user's by a change of it", { skip }, async () => {
    await inPlace({ "app/causeway.json": files["app/mcp.json"] }, async ({ root, run }) => {
      const file = join(root, "app", "causeway.json");
      lchownSync(file, stranger, stranger);
      const denied = /^causeway: Cannot use "causeway\.json": it is another user's, .*; --config causeway\.json takes/;
      assertFailure(await run("servers", "add", "mine", peer(), "--here", "--unchecked"), 2, denied);
      assertFailure(await run("servers", "disable", "theirs", "--here"), 2, denied);
      assertEquals([statSync(file).uid, readFileSync(file, "utf8")], [stranger, files["app/mcp.json"]]);
      assertEquals((await run("servers", "disable", "theirs", "--config", "causeway.json")).code, 0);
    });
  });

  test("that only they may read, or nobody, holds nothing else up", { skip }, async () => {
    await inPlace({ "app/mcp.json/file": "" }, async ({ root, run }) => {
      const { code } = await run("tools", peer());
      assertEquals(code, 2, "one's own");
      lchownSync(join(root, "app", "mcp.json"), stranger, stranger);
      const free = await run("tools", peer());
      assertEquals(free.code, 0, free.err);
      assertFailure(await run("servers", "list"), 2, refused);
    });
  });

  test("is theirs where the link to it is", { skip }, async () => {
    await inPlace({ "home/mine.json": files["app/mcp.json"] }, async ({ root, run }) => {
      const link = join(root, "app", "mcp.json");
      symlinkSync(join(root, "home", "mine.json"), link);
      assertEquals((await run("tools", "theirs")).code, 0);
      lchownSync(link, stranger, stranger);
      const { code, err } = await run("tools", "theirs");
      assertEquals(code, 2);
      assertMatch(err, refused);
    });
  });
});
