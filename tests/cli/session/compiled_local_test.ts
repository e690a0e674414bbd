import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { compiledFolder, isFirstTime } from "../../../src/cli/session/compiled.ts";
import { causeway, peer, quote } from "../support.ts";

const skip = process.platform === "win32" ? "it needs a POSIX shell" : false;

describe("the folder for compiled code", () => {
  const linux = { platform: "linux", env: { HOME: "/home/ann" } };
  const base = "/home/ann/.cache/causeway/compiled";

  test("is one for each server, and for what keeps any", () => {
    const folders: [string, string[], string | undefined][] = [
      ["node", ["/srv/a server/index.js", "--port=1"], `${base}/node-_srv_a_server_index.js`],
      ["/usr/bin/node", ["--no-warnings", "index.js"], `${base}/node-index.js`],
      ["npx", ["-y", "@scope/server@1.2.0", "secret"], `${base}/npx-@scope_server@1.2.0`],
      ["node", [], `${base}/node`],
      ["node", ["../../../etc"], `${base}/node-.._.._.._etc`],
      ["node", ["x".repeat(500)], `${base}/node-${"x".repeat(80)}`],
      ["bun", ["server.ts"], `${base}/bun-server.ts`],
      ["deno", ["run", "server.ts"], undefined],
      ["python3", ["server.py"], undefined],
      ["", [], undefined],
    ];
    for (const [command, args, folder] of folders) assertEquals(compiledFolder(command, args, linux), folder, command);
  });

  test("is where caches belong", () => {
    const at = (env: Record<string, string>, platform = "linux"): string | undefined =>
      compiledFolder("node", ["a.js"], { platform, env });
    assertEquals(at({ XDG_CACHE_HOME: "/cache", HOME: "/home/ann" }), "/cache/causeway/compiled/node-a.js");
    assertEquals(at({ XDG_CACHE_HOME: "cache", HOME: "/home/ann" }), `${base}/node-a.js`);
    assertEquals(at({ CAUSEWAY_HOME: "/own", HOME: "/home/ann" }), "/own/compiled/node-a.js");
    assertEquals(at({}), undefined);
    assertEquals(at({ HOME: "/home/ann", NODE_DISABLE_COMPILE_CACHE: "1" }), undefined);
    assertEquals(at({ LOCALAPPDATA: "C:\\Users\\ann" }, "win32"), "C:\\Users\\ann\\causeway\\compiled\\node-a.js");
    assertEquals(at({ HOME: "/home/ann" }, "win32"), undefined);
  });

  test("is new once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-compiled-"));
    try {
      const inside = join(folder, "a", "b");
      assertEquals([await isFirstTime(inside), await isFirstTime(inside)], [true, false]);
      // Where nothing can be kept, nobody waits for it.
      writeFileSync(join(folder, "file"), "");
      assertEquals(await isFirstTime(join(folder, "file", "c")), false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("a server on Node", () => {
  /**
   * A program of this name that says what it was told, serves, and ends late by itself.
   *
   * @param late After so many seconds; less than the 2 after which each server is asked.
   */
  function fakeNode(folder: string, late: number): string {
    const file = join(folder, "node");
    const noted = quote(join(folder, "noted"));
    const note = (text: string): string => `echo ${text} >> ${noted}`;
    const script = [
      "#!/bin/sh",
      `trap '${note("asked")}; exit' TERM`,
      note('"$NODE_COMPILE_CACHE"'),
      peer("modern"),
      `sleep ${late} & wait $!`,
      note("own"),
    ];
    writeFileSync(file, script.join("\n") + "\n", { mode: 0o755 });
    return file;
  }

  test("may keep its code, and is left to end by itself the first time", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-compiled-"));
    try {
      const noted = (): string[] => readFileSync(join(folder, "noted"), "utf8").trim().split("\n");
      const env = { CAUSEWAY_HOME: join(folder, "home"), NODE_DISABLE_COMPILE_CACHE: "" };
      const kept = join(folder, "home", "compiled", "node-._server.js");
      for (const end of ["own", "asked"]) {
        // On a busy machine it takes a while until it is asked.
        const target = `${fakeNode(folder, end === "own" ? 0.4 : 1.6)} ./server.js`;
        const run = await causeway(["call", target, "echo", "text=hi"], { env });
        assertEquals({ ...run, err: "" }, { code: 0, out: "hi\n", err: "" }, run.err);
        assertEquals(noted().slice(-2), [kept, end]);
      }
      assertEquals(readdirSync(kept).includes(".begun"), true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("keeps nothing where the person says so, or says where", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-compiled-"));
    try {
      const home = join(folder, "home");
      const target = `${fakeNode(folder, 0.4)} ./server.js`;
      const env = { CAUSEWAY_HOME: home, NODE_DISABLE_COMPILE_CACHE: "1" };
      assertEquals((await causeway(["tools", target], { env })).code, 0);
      const own = { CAUSEWAY_HOME: home, NODE_DISABLE_COMPILE_CACHE: "" };
      assertEquals((await causeway(["tools", `NODE_COMPILE_CACHE=/elsewhere ${target}`], { env: own })).code, 0);
      const told = readFileSync(join(folder, "noted"), "utf8").split("\n").filter((line) =>
        !/^(own|asked)$/.test(line)
      );
      assertEquals(told, ["", "/elsewhere", ""]);
      assertEquals(existsSync(join(home, "compiled", "node-._server.js", ".begun")), true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
