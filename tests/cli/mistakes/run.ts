/** Makes a mistake as a user makes it: in a shell, in a folder of its own, with the real command. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { assertEquals } from "@std/assert";
import { peer, program, quote } from "../support.ts";
import type { Run } from "../support.ts";
import type { Mistake } from "./mistake.ts";

/** How long one may take, in milliseconds: the machine may be busy with other runtimes. */
const longest = 30_000;
/** What a runtime prints of an error that nobody caught. */
const trace = /^\s+at |^\s*(Uncaught )?\w*Error: |node:internal|UnhandledPromise|^error: /m;
const rest = "\u2026";

/** Types what the row says, and holds what came of it against the row. */
export async function make(mistake: Mistake, variables: Readonly<Record<string, string>>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-mistake-"));
  try {
    for (const [name, text] of Object.entries(mistake.files ?? {})) {
      if (name.endsWith("/")) mkdirSync(join(folder, name), { recursive: true });
      else writeFileSync(join(folder, name), text);
    }
    const own = { PEER: peer("modern"), SELF: program("src/cli/main.ts").map(quote).join(" ") };
    const known = { ...variables, ...own, FOLDER: folder, HOME: join(folder, "home") };
    const { code, out, err } = await type(mistake, folder, known);
    const told = `${mistake.number} ${mistake.title}: $ ${mistake.typed}\n${out}${err}`;
    assertEquals(code, mistake.code, told);
    assertEquals(trace.test(`${out}${err}`), false, `a stack trace in ${told}`);
    assertWhole(out, mistake.out ?? "", { known, told });
    const lines = [mistake.says].flat().map((line) => `causeway: ${line}\n`).join("");
    assertWhole(err, lines, { known, told });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function type(mistake: Mistake, folder: string, known: Readonly<Record<string, string>>): Promise<Run> {
  const command = program("src/cli/main.ts").map(quote).join(" ");
  // The exit code is that of the command, also in front of a pipe; what a signal does is up to the command.
  const script = `set -o pipefail; trap : INT TERM; causeway() { ${command} "$@"; }; ${mistake.typed}\n`;
  const none = {
    CAUSEWAY_HOME: "",
    XDG_CONFIG_HOME: "",
    CAUSEWAY_MODEL: "",
    CAUSEWAY_MODEL_URL: "",
    OPENAI_API_KEY: "",
  };
  const env = { ...process.env, ...none, ...known, NO_COLOR: "1", ...mistake.env };
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", script], { cwd: folder, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => err += text);
    child.stdin.on("error", () => {});
    child.stdin.end(mistake.input ?? "");
    const kill = (signal: NodeJS.Signals): void => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
    };
    const timer = setTimeout(() => kill("SIGKILL"), longest);
    const watch = mistake.signal && setInterval(() => {
      if (!existsSync(join(folder, "ready"))) return;
      clearInterval(watch);
      kill(mistake.signal ?? "SIGINT");
    }, 20);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      clearInterval(watch);
      resolve({ code, out, err });
    });
  });
}

function assertWhole(
  seen: string,
  wanted: string,
  { known, told }: { known: Readonly<Record<string, string>>; told: string },
): void {
  const text = Object.entries(known).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), wanted);
  const pattern = text.split(rest).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[^\\n]*");
  if (!new RegExp(`^${pattern}$`).test(seen)) assertEquals(seen, text, told);
}
