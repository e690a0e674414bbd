/** The command as a module (`@causeway/mcp/cli`), and by the link that a package manager makes to it. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { assertEquals, assertMatch } from "@std/assert";
import { program } from "./support.ts";

const [runtime = "", ...words] = program("src/cli/main.ts");
const main = words.at(-1) ?? "";
// A program elsewhere knows nothing of this package's dependencies on Deno; an installed package names them itself.
const config = "Deno" in globalThis ? ["--config", fileURLToPath(new URL("../../deno.json", import.meta.url))] : [];
const flags = [...words.slice(0, -1), ...config];

/** Runs a file with the flags of this runtime. */
function start(file: string, ...rest: string[]): { code: number | null; out: string; err: string } {
  const ended = spawnSync(runtime, [...flags, file, ...rest], { encoding: "utf8", timeout: 20_000 });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

function inFolder(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "causeway-cli-import-"));
  try {
    use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the command as a module", () => {
  test("who imports it gets `run`, and the program goes on", () => {
    inFolder((folder) => {
      const file = join(folder, "program.mjs");
      const door = JSON.stringify(pathToFileURL(main).href);
      writeFileSync(file, `import { run } from ${door};\nconsole.log(typeof run, process.argv.length);\n`);
      assertEquals(start(file), { code: 0, out: "function 2\n", err: "" });
    });
  });

  test("a signal that outlives a run is left as it was", () => {
    inFolder((folder) => {
      const file = join(folder, "program.mjs");
      const door = JSON.stringify(pathToFileURL(main).href);
      writeFileSync(
        file,
        `import { run } from ${door};
        const { signal } = new AbortController();
        let listeners = 0;
        for (const [name, by] of [["addEventListener", 1], ["removeEventListener", -1]]) {
          const method = signal[name].bind(signal);
          signal[name] = (...given) => {
            listeners += by;
            method(...given);
          };
        }
        for (let times = 0; times < 3; times++) await run(["--version"], signal);
        console.log(listeners);\n`,
      );
      const { out, err } = start(file);
      assertEquals([out.split("\n").at(-2), err], ["0", ""]);
    });
  });

  const skip = "Deno" in globalThis
    ? "Deno does not follow links to modules"
    : process.platform === "win32" && "links need rights there";
  test("a link to it runs it", { skip }, () => {
    inFolder((folder) => {
      const link = join(folder, `causeway${extname(main)}`);
      symlinkSync(main, link);
      const { code, out, err } = start(link, "--version");
      assertEquals([code, err], [0, ""]);
      assertMatch(out, /^causeway \d+\.\d+\.\d+\n$/);
    });
  });
});
