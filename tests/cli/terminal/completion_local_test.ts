/** The completion scripts, in the shells that they are for: what the Tab key makes of a line. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { commandLine, Screen, withoutTmux } from "./screen.ts";

/** How each shell is started with the script, given a folder of its own. */
const shells: Readonly<Record<string, (folder: string) => string>> = {
  bash(folder) {
    writeFileSync(join(folder, "rc"), "PS1='$ '\nsource <(causeway completion bash)\n");
    return `bash --noprofile --rcfile ${folder}/rc -i`;
  },
  zsh(folder) {
    const rc = ["autoload -U compinit", `compinit -u -d ${folder}/dump`, "PS1='$ '"];
    writeFileSync(join(folder, ".zshrc"), [...rc, "source <(causeway completion zsh)", ""].join("\n"));
    return `ZDOTDIR=${folder} zsh -i`;
  },
  fish(folder) {
    mkdirSync(join(folder, "fish"));
    const prompt = "function fish_prompt; echo -n '$ '; end\nfunction fish_greeting; end\n";
    writeFileSync(join(folder, "fish", "config.fish"), `${prompt}causeway completion fish | source\n`);
    return `XDG_CONFIG_HOME=${folder} fish -i`;
  },
};

/** What is typed in front of the Tab key, and what stands there then. */
const lines: readonly (readonly [typed: string, completed: RegExp])[] = [
  ["causeway resou", /\$ causeway resources/],
  ["causeway servers disco", /\$ causeway servers discover/],
  ["causeway tools ever", /\$ causeway tools everything/],
  ["causeway call everything --ar", /\$ causeway call everything --args/],
  ["causeway replay wire", /\$ causeway replay wire\.ndjson/],
];

/** A folder with a server in its config, a recording, and the command under its name. */
async function inFolder(run: (folder: string, path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-completion-"));
  try {
    for (const name of ["bin", "shell", "work"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "bin", "causeway"), `#!/bin/sh\nexec ${commandLine([])} "$@"\n`);
    chmodSync(join(folder, "bin", "causeway"), 0o755);
    writeFileSync(join(folder, "work", "mcp.json"), '{ "mcpServers": { "everything": { "command": "x" } } }');
    writeFileSync(join(folder, "work", "wire.ndjson"), "");
    await run(folder, `${join(folder, "bin")}:${process.env.PATH}`);
  } finally {
    await remove(folder);
  }
}

/** fish goes on writing its own files for a moment, and Deno knows no `maxRetries`. */
async function remove(folder: string): Promise<void> {
  for (let left = 50;; left--) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

describe("causeway completion, at the Tab key", () => {
  for (const [shell, start] of Object.entries(shells)) {
    const isThere = spawnSync(shell, ["-c", "exit 0"]).status === 0;
    test(`of ${shell}`, { skip: withoutTmux || (isThere ? false : `${shell} is not installed`) }, async () => {
      await inFolder(async (folder, path) => {
        const options = { width: 100, cwd: join(folder, "work"), env: { PATH: path, HOME: join(folder, "work") } };
        await using screen = new Screen(start(join(folder, "shell")), options);
        await screen.shows(/^\$/m);
        for (const [typed, completed] of lines) {
          screen.press("-l", typed);
          await screen.shows(new RegExp(`\\$ ${typed}`));
          screen.press("Tab");
          await screen.shows(completed);
          screen.press("C-u");
        }
      });
    });
  }
});
