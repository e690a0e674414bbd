import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { compiledFolder } from "../../../src/cli/session/compiled.ts";
import { isFirstEnd } from "../../../src/cli/session/quiet.ts";
import { causeway, peer, quote } from "../support.ts";

const skip = process.platform === "win32" ? "it needs a POSIX shell" : false;

describe("the folder for compiled code", () => {
  const linux = { platform: "linux", env: { HOME: "/home/ann" } };
  const base = "/home/ann/.cache/causeway/compiled";

  test("is one for each server, and for what keeps any", () => {
    const at = (command: string, ...args: string[]): string | undefined => compiledFolder(command, args, linux);
    for (const program of ["node", "npx", "npm", "pnpm", "pnpx", "yarn", "tsx", "bun", "bunx"]) {
      assertMatch(at(program, "a server") ?? "", new RegExp(`^${base}/${program}-[0-9a-f]{8}$`));
    }
    assertEquals(at("/usr/bin/node", "--no-warnings", "index.js"), at("node", "index.js", "--port=1"));
    assertNotEquals(at("node", "index.js"), at("node", "other.js"));
    assertMatch(at("node") ?? "", /\/node-[0-9a-f]{8}$/);
    for (const command of ["deno", "python3", "/bin/sh", "node-not", ""]) {
      assertEquals(at(command, "server"), undefined);
    }
  });

  test("tells no word of the command line", () => {
    const folder = compiledFolder("npx", ["--token", "canary/../secret", "server"], linux) ?? "";
    assertMatch(folder, new RegExp(`^${base}/npx-[0-9a-f]{8}$`));
  });

  test("is where caches belong", () => {
    const at = (env: Record<string, string>, platform = "linux"): string | undefined =>
      compiledFolder("node", ["a.js"], { platform, env });
    const name = at({ CAUSEWAY_HOME: "/own" })?.slice("/own/compiled/".length);
    assertEquals(at({ XDG_CACHE_HOME: "/cache", HOME: "/home/ann" }), `/cache/causeway/compiled/${name}`);
    assertEquals(at({ XDG_CACHE_HOME: "cache", HOME: "/home/ann" }), `${base}/${name}`);
    assertEquals(at({ CAUSEWAY_HOME: "/own", HOME: "/home/ann" }), `/own/compiled/${name}`);
    assertEquals(at({}), undefined);
    assertEquals(at({ CAUSEWAY_HOME: "/proc/own" }), undefined);
    assertEquals(at({ HOME: "/home/ann", NODE_DISABLE_COMPILE_CACHE: "1" }), undefined);
    assertEquals(at({ LOCALAPPDATA: "C:\\Users\\ann" }, "win32"), `C:\\Users\\ann\\causeway\\compiled\\${name}`);
    assertEquals(at({ HOME: "/home/ann" }, "win32"), undefined);
  });

  test("is none where its place may not be asked for", () => {
    const env = new Proxy({}, {
      get() {
        throw new Error('Requires env access to "XDG_CACHE_HOME"');
      },
    });
    for (const platform of ["linux", "win32"]) {
      assertEquals(compiledFolder("node", ["a.js"], { platform, env }), undefined);
    }
  });

  test("is new once", () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-compiled-"));
    try {
      const inside = join(folder, "a", "b");
      assertEquals([isFirstEnd(inside), isFirstEnd(inside)], [true, false]);
      // Where nothing can be kept, nobody waits for it.
      writeFileSync(join(folder, "file"), "");
      assertEquals(isFirstEnd(join(folder, "file", "c")), false);
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

  /** Calls a new one twice, and says how it ended each time. */
  async function endsOfTwo(): Promise<string[]> {
    const folder = mkdtempSync(join(tmpdir(), "causeway-compiled-"));
    try {
      const ends: string[] = [];
      const env = { CAUSEWAY_HOME: join(folder, "home"), NODE_DISABLE_COMPILE_CACHE: "" };
      const kept = compiledFolder("node", ["./server.js"], { platform: "linux", env }) ?? "";
      // On a busy machine it takes a while until it is asked.
      for (const late of [0.4, 1.6]) {
        const run = await causeway(["call", `${fakeNode(folder, late)} ./server.js`, "echo", "text=hi"], { env });
        assertEquals({ ...run, err: "" }, { code: 0, out: "hi\n", err: "" }, run.err);
        const [told, end = ""] = readFileSync(join(folder, "noted"), "utf8").trim().split("\n").slice(-2);
        assertEquals(told, kept);
        ends.push(end);
      }
      assertEquals(readdirSync(kept).includes(".begun"), true);
      return ends;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  test("may keep its code, and is left to end by itself the first time", { skip }, async () => {
    const wanted = ["own", "asked"];
    let ends = await endsOfTwo();
    // A machine that stands still for a second or two has it ask too early, or too late: one of three is right.
    for (let tries = 1; tries < 3 && ends.join() !== wanted.join(); tries++) ends = await endsOfTwo();
    assertEquals(ends, wanted);
  });

  test("has its folder for the person alone, and so has the command", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-compiled-"));
    try {
      const home = join(folder, "home");
      mkdirSync(home, { mode: 0o755 });
      const env = { CAUSEWAY_HOME: home, NODE_DISABLE_COMPILE_CACHE: "" };
      const modes = (): number[] => ["compiled", ...namesIn()].map((name) => statSync(join(home, name)).mode & 0o777);
      const namesIn = (): string[] => readdirSync(join(home, "compiled")).map((name) => join("compiled", name));
      // Where a call went well, the end of the program makes its folder, too.
      const { code, err } = await causeway(["call", `${fakeNode(folder, 0.1)} ./server.js`, "no-such-tool"], { env });
      assertEquals([code === 0, modes()], [false, namesIn().map(() => 0o700).concat(0o700)], err);
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
      assertEquals(
        readdirSync(join(home, "compiled")).some((name) => existsSync(join(home, "compiled", name, ".begun"))),
        true,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
