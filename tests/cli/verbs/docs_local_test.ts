import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert } from "@std/assert";
import { bunPath } from "../../../tools/programs.ts";
import { program, quote } from "../support.ts";

const root = process.cwd();
const guide = readFileSync(`${root}/docs/COMMAND.md`, "utf8");
const readme = readFileSync(`${root}/README.md`, "utf8");

/** One command of the guide, and what stands below it. */
interface Example {
  readonly command: string;
  readonly says: string;
}

function examplesOf(text: string): Example[] {
  return [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
    block.split(/^\$ /m).slice(1).map((part) => {
      const [command = "", ...lines] = part.split("\n");
      return { command, says: lines.join("\n") };
    })
  );
}

/** `…` is anything on its line; alone on a line, it is any lines. */
function patternOf(says: string): RegExp {
  const escaped = says.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/^…\n/gm, "(?:.*\n)*?").replaceAll("…", ".*")}$`);
}

/** A folder with what the guide begins with, and programs that stand for those of npm. */
function prepare(folder: string): Record<string, string> {
  const [, config = ""] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
  const bin = join(folder, "bin");
  for (const path of ["app", "home", "bin"]) mkdirSync(join(folder, path));
  writeFileSync(join(folder, "app", "mcp.json"), config);
  // The same program beside each runtime: what begins it soonest.
  const everything = [
    bunPath() ?? "node",
    `${root}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`,
  ];
  const write = (name: string, words: readonly string[], rest: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${words.map(quote).join(" ")} ${rest}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  write("causeway", program("src/cli/main.ts"), '"$@"');
  write("npx", everything, "");
  const home = join(folder, "home");
  return {
    ...{
      HOME: home,
      XDG_CONFIG_HOME: join(home, ".config"),
      CAUSEWAY_HOME: join(home, "causeway"),
      CLAUDE_CONFIG_DIR: home,
    },
    PATH: `${bin}:${process.env.PATH}`,
  };
}

function run(command: string, cwd: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `{ ${command}\n} 2>&1`], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
    child.on("error", reject);
    child.on("close", () => resolve(out));
  });
}

/** The parts of a page that have examples, by their headings. */
function partsOf(page: string): { heading: string; examples: Example[] }[] {
  return page.split(/^## /m)
    .map((part) => ({ heading: part.split("\n", 1)[0] ?? "", examples: examplesOf(part) }))
    .filter(({ examples }) => examples.length > 0);
}

for (const [name, page, least] of [["docs/COMMAND.md", guide, 30], ["README.md", readme, 1]] as const) {
  describe(`each command of ${name} gives what stands below it`, () => {
    let folder = "";
    let env: Record<string, string> = {};

    // One folder for the page, and a test for each part: a busy machine has its time for each.
    test("in a folder of its own", () => {
      assert(examplesOf(page).length > least, "only a few examples were found");
      folder = realpathSync(mkdtempSync(join(tmpdir(), "causeway-docs-")));
      env = prepare(folder);
    });

    for (const { heading, examples } of partsOf(page)) {
      test(heading, { timeout: 90_000 }, async () => {
        const wrong: string[] = [];
        for (const { command, says } of examples) {
          let out = await run(command, join(folder, "app"), env);
          // The second that is given stands for any time: a busy machine needs more to start a server.
          if (/^causeway: Not done within 1000 ms/.test(out)) {
            out = await run(command.replace(/ --timeout 1$/, " --timeout 8"), join(folder, "app"), env);
          }
          if (!patternOf(says).test(out)) wrong.push(`$ ${command}\n${out}--- should be\n${says}`);
        }
        assert(wrong.length === 0, wrong.join("\n"));
      });
    }

    test("which can be removed afterwards", () => {
      rmSync(folder, { recursive: true });
      assert(!existsSync(folder));
    });
  });
}
