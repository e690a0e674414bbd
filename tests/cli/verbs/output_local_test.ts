import { spawn, spawnSync } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
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
});
