/** `examples/README.md`: its commands are those that the examples name, each example is in it, and what it shows is what is printed. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { root } from "../../tools/programs.ts";
import { linesOf } from "./support.ts";

const folder = join(root, "examples");
const page = readFileSync(join(folder, "README.md"), "utf8");
const rows = [...page.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\) +\| `([^`]+)` +\|/gm)].map((
  [, story = "", link = "", command = ""],
) => ({
  story,
  link,
  command,
}));
const skip = "Bun" in globalThis ? false : "what it shows was printed by Bun";

describe("examples/README.md", () => {
  test("names the command that each example names itself, and leads to files that are there", () => {
    assertEquals(rows.length, 8);
    for (const { story, link, command } of rows) {
      assert(existsSync(join(folder, link)), link);
      const [, file = ""] = / (examples\/\S+\.ts)/.exec(command) ?? [];
      const [words = ""] = command.split(" https:");
      assertStringIncludes(readFileSync(join(root, file), "utf8").split("*/")[0] ?? "", words, story);
    }
  });

  test("has each program of the folder that is started by itself", () => {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => file.replaceAll("\\", "/"));
    const named = [page, readFileSync(join(root, "docs/AGENTS.md"), "utf8")].join();
    const helpers = ["start.ts", "team_gateway/authority.ts"];
    for (const file of files.filter((file) => file.endsWith(".ts") && !helpers.includes(file))) {
      assert(named.includes(`](${file})`) || named.includes(`examples/${file}`) || named.includes(`\`${file}\``), file);
    }
  });

  const shown = [...page.matchAll(/^```console\n\$ bun (\S+)\n([\s\S]*?)^```$/gm)];
  for (const [, file = "", says = ""] of shown) {
    test(`shows what ${file} prints`, { skip }, async () => {
      const lines = await linesOf([process.execPath, join(root, file)]);
      const pattern = says.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", "\\d+");
      assertMatch(lines.join("\n"), new RegExp(`^${pattern}$`));
    });
  }

  test("shows two of them", () => assertEquals(shown.length, 2));
});
