/** What the tools of publishing find, and what they make. The whole of it is proved by `bun run publish-test`. */
import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { describeChanges, describeEntries } from "../../tools/api_snapshot/snapshot.ts";
import { judgeManifests, judgeWorkflows, readRepository } from "../../tools/manifests/judge.ts";
import { root } from "../../tools/programs.ts";
import { buildDeclarations, buildModules, renameSource } from "../../tools/publish/build.ts";
import { publishedManifest, readDenoManifest } from "../../tools/publish/manifest.ts";
import { publishedSources } from "../../tools/publish/package.ts";
import { startRegistry } from "../../tools/publish/registry.ts";
import { readArchive, writeArchive } from "../../tools/publish/tar.ts";
import { judgeDeclarations, judgeJsrFiles, judgeModules, judgeNpmFiles } from "../../tools/publish_test/contents.ts";

const encoder = new TextEncoder();

async function inFolder(files: Record<string, string>, use: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-publish-test-"));
  try {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("archives", () => {
  test("what is written is read again, long paths too", () => {
    const long = `${"folder/".repeat(20)}file.js`;
    const files = new Map([["package.json", encoder.encode("{}")], [long, new Uint8Array(1025).fill(7)], [
      "empty",
      new Uint8Array(),
    ]]);
    const read = readArchive(writeArchive(files));
    assertEquals([...read.keys()], [...files.keys()].map((path) => `package/${path}`));
    assertEquals([...read.values()].map((bytes) => [...bytes]), [...files.values()].map((bytes) => [...bytes]));
  });

  test("a path that fits nowhere is refused", () => {
    assertThrows(() => writeArchive(new Map([["x".repeat(120), new Uint8Array()]])), RangeError, "too long");
  });

  test("an archive that ends early gives what is there", () => {
    assertEquals(readArchive(gzipSync(new Uint8Array(100))).size, 0);
  });
});

describe("modules and declarations", () => {
  test("declarations that an entry reaches name nothing that TypeScript 5.4 does not know", async () => {
    const files = {
      "mod.d.ts": `/** Not Uint8Array<ArrayBuffer> here. */\nexport type { A } from "./a.js";\n`,
      "a.d.ts": `import type { B } from "./b.js";\nexport type A = B | import("./c.js").C;\n`,
      "b.d.ts": "export type B = AsyncIterable<string, number>;\n",
      "c.d.ts": "export type C = Uint8Array;\n",
      "own.d.ts": "export type Own = Uint8Array<ArrayBuffer>;\n",
    };
    await inFolder(files, (folder) => {
      assertThrows(() => judgeDeclarations(folder, ["mod.d.ts"]), Error, "b.d.ts: export type B = AsyncIterable");
      writeFileSync(join(folder, "b.d.ts"), "export type B = AsyncIterable<string>;\n");
      assertEquals(judgeDeclarations(folder, ["mod.d.ts"]), "4 declarations");
    });
  });

  test("a program for Node is bundled where no package is installed, and begins without them", async () => {
    const { build } = await import("esbuild");
    const folder = mkdtempSync(join(tmpdir(), "causeway-publish-test-"));
    try {
      const plan = { folder: root, sources: publishedSources(), target: "node20", rename: renameSource };
      for (const [path, text] of await buildModules(plan)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
      for (const entry of ["node", "local"]) {
        const { metafile } = await build({
          stdin: { contents: `export * from "./src/entry/${entry}.js";`, resolveDir: folder },
          bundle: true,
          format: "esm",
          platform: "node",
          outfile: join(folder, "bundle.mjs"),
          metafile: true,
          write: false,
          logLevel: "silent",
        });
        const imports = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
        const packages = imports.filter(({ path }) => !path.startsWith("node:"));
        // A static import would be looked for before the first line runs.
        assertEquals([...new Set(packages.map(({ path, kind }) => `${kind} ${path}`))], ["dynamic-import ws"]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("types go, `using` is lowered, imports name modules; texts and comments stay as they are", async () => {
    const source = `import type { B } from "./b.ts";
export { b } from "./b.ts";
/** Not "./b.ts" here. */
export async function a(): Promise<B> {
  await using _ = { [Symbol.asyncDispose]: async () => {} };
  const { b } = await import("./b.ts");
  return b ?? "./b.ts";
}
export type Again = typeof import("./b.ts");
export class C { [Symbol.asyncDispose](): Promise<void> { return Promise.resolve(); } }
`;
    await inFolder(
      { "a.ts": source, "b.ts": `export type B = string;\nexport const b: B = "b";\n` },
      async (folder) => {
        const plan = { folder, sources: ["a.ts", "b.ts"], target: "node20", rename: renameSource };
        const modules = await buildModules(plan);
        assertEquals([...modules.keys()], ["a.js", "b.js"]);
        const built = modules.get("a.js") ?? "";
        assertMatch(built, /export \{ b \} from "\.\/b\.js"|import \{ b \} from "\.\/b\.js"/);
        assertMatch(built, /import\("\.\/b\.js"\)/);
        assertMatch(built, /"\.\/b\.ts"/);
        assertEquals(/await using|Promise<B>/.test(built), false);
        const declarations = buildDeclarations(plan).get("a.d.ts") ?? "";
        assertEquals(declarations.match(/"\.\/b\.\w+"/g), ['"./b.js"', '"./b.js"', '"./b.ts"', '"./b.js"']);
        assertEquals(declarations.match(/asyncDispose/g)?.length, 1);
      },
    );
  });

  test("a type that is left to be inferred is refused", async () => {
    await inFolder({ "a.ts": `export const a = [1].map(String);\n` }, (folder) => {
      const plan = { folder, sources: ["a.ts"], rename: renameSource };
      assertThrows(() => buildDeclarations(plan), TypeError, "a.ts");
    });
  });
});

describe("manifests and workflows", () => {
  test("the published manifest leads to modules, and names what each package is for", () => {
    const manifest = publishedManifest("owner/name");
    assertEquals(Object.keys(manifest["exports"] ?? {}), Object.keys(readDenoManifest().exports));
    // For TypeScript's older way of resolving, `node10`.
    assertEquals(manifest["types"], "./mod.d.ts");
    const { "*": types } = manifest["typesVersions"] as { readonly "*": Record<string, unknown> };
    assertEquals(Object.keys(types).map((name) => `./${name}`), Object.keys(readDenoManifest().exports).slice(1));
    assertEquals(types["server"], ["./src/server/mod.d.ts"]);
    assertEquals(manifest["private"], undefined);
    // The first with `Symbol.asyncDispose`, which `await using` stands on.
    assertEquals(manifest["engines"], { node: ">=20.4" });
    assertEquals(manifest["bin"], { causeway: "src/cli/main.js" });
    assertEquals(Object.keys(manifest["dependencies"] ?? {}).sort(), ["commander", "oauth4webapi"]);
    assertEquals(manifest["peerDependenciesMeta"], {
      "@opentelemetry/api": { optional: true },
      hono: { optional: true },
      ws: { optional: true },
    });
    assertEquals(manifest["repository"], { type: "git", url: "git+https://github.com/owner/name.git" });
  });

  test("this repository agrees with itself; what does not agree is named", () => {
    const repository = readRepository(root);
    assertEquals(judgeManifests(repository), []);
    assertEquals(judgeWorkflows(repository.workflows), []);
    const { deno } = repository;
    const other = { ...deno, version: "9.9.9", exports: { ...deno.exports, "./new": "./src/new.ts" } };
    assertEquals(judgeManifests({ ...repository, deno: other }), [
      `"version" differs in deno.json and package.json`,
      `"exports" differs in deno.json and package.json`,
      `src/version.ts says ${deno.version}, deno.json 9.9.9`,
      `the export "./new" names ./src/new.ts, which is not there`,
      "the published exports are not those of deno.json",
    ]);
  });

  test("a workflow with loose pins, secrets or no end is found", () => {
    const workflow = `jobs:
  one:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v5
      - run: /home/somebody/tool --token \${{ secrets.TOKEN }}
`;
    assertEquals(
      judgeWorkflows({ "ci.yml": workflow, "release.yml": "permissions:\n    runs-on: a\n    timeout-minutes: 1\n" }),
      [
        "ci.yml: actions/checkout@v5 is not pinned to a whole version (v1.2.3) or a commit",
        "ci.yml: it does not name its permissions",
        "ci.yml: it uses a secret",
        "ci.yml: it names a path of a machine",
        "ci.yml: 1 jobs, and 0 of them have a timeout",
      ],
    );
  });
});

describe("contents", () => {
  test("one file too much or too few is named", () => {
    const pages = ["CHANGELOG.md", "LICENSE", "README.md"];
    const npm = ["package.json", ...pages, "mod.js", "mod.d.ts"];
    assertEquals(judgeNpmFiles(npm, ["mod.ts"]), "6 files");
    assertThrows(() => judgeNpmFiles([...npm, ".env"], ["mod.ts"]), Error, "too much: .env");
    assertThrows(() => judgeNpmFiles(npm.slice(1), ["mod.ts"]), Error, "missing: package.json");
    assertThrows(
      () => judgeJsrFiles(["deno.json", ...pages, "mod.ts", "src/a_test.ts"], ["mod.ts"]),
      Error,
      "src/a_test.ts",
    );
  });

  test("code that is made from text is found", async () => {
    await inFolder({ "a.js": `const retrieval = 1;\n`, "b.js": `new Function("return 1")();\n` }, (folder) => {
      assertEquals(judgeModules(folder, ["a.js"]), "1 modules");
      assertThrows(() => judgeModules(folder, ["a.js", "b.js"]), Error, "b.js");
    });
  });
});

describe("the API as text", () => {
  const describeOne = (text: string): string =>
    describeEntries({ name: "@s/p", entries: { ".": "./mod.ts" }, declarations: new Map([["mod.d.ts", text]]) })
      .get("mod.txt") ?? "";

  test("documentation and internals are not API; names are in order", () => {
    const text = describeOne(`/** B. */
export declare class B {
  #private;
  /** @internal */
  hidden: string;
  /** Shown. */
  shown: string;
}
export declare const a: number;
`);
    assertEquals(text, "@s/p\n\nB:\nclass B {\n    shown: string;\n}\n\na:\nconst a: number;\n");
  });

  test("what an entry before has given is named", () => {
    const declarations = new Map([
      ["mod.d.ts", `export * from "./src/a.js";\n`],
      ["src/a.d.ts", `export declare function a(): void;\n`],
    ]);
    const pages = describeEntries({ name: "@s/p", entries: { ".": "./mod.ts", "./a": "./src/a.ts" }, declarations });
    assertEquals(pages.get("a.txt"), "@s/p/a\n\na: as in @s/p\n");
  });

  test("each change is told", () => {
    const before = describeOne(`export declare const a: number;\nexport declare const b: number;\n`);
    const after = describeOne(`export declare const a: string;\nexport declare const c: number;\n`);
    assertEquals(describeChanges(before, before), []);
    assertEquals(describeChanges(before, after), [
      "new: c",
      "gone: b",
      "changed: a\n    - const a: number;\n    + const a: string;",
    ]);
  });
});

describe("the local registry", () => {
  test("npm finds what was offered and what is lent, and nothing else", async () => {
    const registry = await startRegistry(["oauth4webapi"]);
    try {
      const manifest = encoder.encode(`{"name":"@s/p","version":"1.2.3"}`);
      registry.offer(writeArchive(new Map([["package.json", manifest]])));
      const offered = await (await fetch(`${registry.url}@s%2fp`)).json();
      const { tarball, integrity } = offered.versions["1.2.3"].dist;
      assertEquals(offered["dist-tags"], { latest: "1.2.3" });
      const bytes = new Uint8Array(await (await fetch(tarball)).arrayBuffer());
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-512", bytes));
      assertEquals(integrity, `sha512-${btoa(String.fromCharCode(...digest))}`);
      assertEquals((await fetch(`${registry.url}oauth4webapi`).then((answer) => answer.json())).name, "oauth4webapi");
      for (const missing of ["typescript", "@s%2fq", "-/tarballs/typescript.tgz"]) {
        const answer = await fetch(registry.url + missing);
        await answer.body?.cancel();
        assertEquals(answer.status, 404, missing);
      }
    } finally {
      await registry.stop();
    }
    await assertRejects(() => fetch(registry.url), TypeError);
  });
});
