import { spawn, spawnSync } from "node:child_process";
import { existsSync, linkSync, lstatSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { writeResultFile } from "../../../src/cli/read.ts";
import { peer, program, quote } from "../support.ts";

/** Runs the command with its standard output somewhere. */
function runInto(words: readonly string[], output: number): Promise<{ code: number | null; err: string }> {
  const [command = "", ...args] = program("src/cli/main.ts");
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args, ...words], { stdio: ["ignore", output, "pipe"], env: process.env });
    let err = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => err += text);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, err }));
  });
}

describe("what is said", () => {
  const skip = process.platform === "win32" && "there is no shell of that kind";
  test("is whole where its reader is slow", { skip }, () => {
    const target = peer("modern", "--extra-tools=400", "--page-size=5");
    const words = [...program("src/cli/main.ts"), "tools", target, "--verbose"].map(quote).join(" ");
    // What is more than a pipe holds waits until somebody reads.
    const { stdout } = spawnSync("sh", ["-c", `{ ${words} > /dev/null; } 2>&1 | { sleep 2; cat; }`]);
    const lines = String(stdout).split("\n");
    const told = ["> ", "< "].map((start) => lines.filter((line) => line.startsWith(start)).length);
    assertEquals([told[0] === told[1], Number(told[0]) > 80], [true, true], String(told));
  });
});

describe("results that cannot be written", () => {
  const skip = existsSync("/dev/full") ? false : "there is no /dev/full";

  test("a full disk is one line, with 1", { skip }, async () => {
    assertEquals(await runInto(["tools", peer("modern")], openSync("/dev/full", "w")), {
      code: 1,
      err: "causeway: Cannot write the results: the disk is full\n",
    });
  });

  test("a reader that goes away is no failure", () => {
    const words = [...program("src/cli/main.ts"), "call", peer("modern"), "big", "bytes=3000000"].map(quote).join(" ");
    const { stdout, stderr } = spawnSync("sh", ["-c", `{ ${words}; echo "code $?" >&2; } | head -c 3`]);
    assertEquals([String(stdout), String(stderr)], ["xxx", "code 0\n"]);
  });

  test(
    "a file that is there stays as it was where the new one does not fit",
    { skip: process.platform === "win32" },
    () => {
      const folder = mkdtempSync(join(tmpdir(), "causeway-output-"));
      const file = join(folder, "tools.ts");
      try {
        writeFileSync(file, "// the old one\n", { mode: 0o640 });
        const words = [...program("src/cli/main.ts"), "types", peer("modern"), "--output", file];
        const full = spawnSync("sh", ["-c", `trap '' XFSZ; ulimit -f 0; "$@"`, "sh", ...words]);
        assertEquals(String(full.stderr), `causeway: Cannot write "${file}": a file may not be so large here\n`);
        assertEquals([readFileSync(file, "utf8"), readdirSync(folder)], ["// the old one\n", ["tools.ts"]]);
        assertEquals(spawnSync("sh", ["-c", '"$@"', "sh", ...words]).status, 0);
        assertMatch(readFileSync(file, "utf8"), /^\/\/ The tools of /);
        assertEquals([readdirSync(folder), statSync(file).mode & 0o777], [["tools.ts"], 0o640]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  test("a link, and a file with two names, are written through", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-output-"));
    const [file, link, twin] = [join(folder, "a"), join(folder, "link"), join(folder, "twin")];
    try {
      writeFileSync(file, "old");
      symlinkSync(file, link);
      await writeResultFile(link, "new");
      assertEquals([readFileSync(file, "utf8"), lstatSync(link).isSymbolicLink()], ["new", true]);
      linkSync(file, twin);
      await writeResultFile(twin, "newer");
      assertEquals([readFileSync(file, "utf8"), readdirSync(folder).sort()], ["newer", ["a", "link", "twin"]]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
