/**
 * `causeway deploy [folder]`: looks at what keeps a Worker from running, and hands it to `wrangler deploy`.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { readText } from "../../read.ts";
import { writeError } from "../../terminal.ts";

/** As wrangler looks for them: it takes the first. */
const configs = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** Checks, tries, deploys, and answers the exit code. */
export async function deploy(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [folder = ".", ...more] = line.words;
  if (more.length > 0) throw new UsageError(`Unexpected "${more[0]}" after the folder: leave it out`);
  await check(folder);
  const wrangler = await findWrangler(folder);
  const tried = await run(wrangler, ["deploy", "--dry-run"], { folder, signal });
  if (tried !== 0) {
    await writeError("causeway: nothing was deployed: wrangler cannot build it, and says why above\n");
    return exitCodes.toolFailed;
  }
  if (line.options?.["dry-run"]) return exitCodes.ok;
  const code = await run(wrangler, ["deploy"], { folder, signal });
  if (code !== 0) await writeError("causeway: wrangler did not deploy it, and says why above\n");
  return code === 0 ? exitCodes.ok : exitCodes.toolFailed;
}

/** What wrangler would only tell in the middle of it. */
async function check(folder: string): Promise<void> {
  for (const name of configs) {
    const text = await readText(join(folder, name), `"${join(folder, name)}"`);
    if (text === undefined) continue;
    const value = (key: string): string | undefined =>
      new RegExp(`(?:^|[{,\\n])\\s*"?${key}"?\\s*[=:]\\s*(["'])(.*?)\\1`).exec(text)?.[2];
    const main = value("main");
    if (main === undefined) throw new UsageError(`Cannot deploy "${join(folder, name)}": it names no "main"`);
    if (!await isFile(join(folder, main))) {
      throw new UsageError(`Cannot deploy "${join(folder, name)}": its main "${main}" is not there`);
    }
    if (value("compatibility_date") === undefined) {
      throw new UsageError(`Cannot deploy "${join(folder, name)}": add a "compatibility_date", such as "2026-05-03"`);
    }
    if (value("ALLOWED_HOSTS") === "") {
      await writeError(
        'causeway: warning: "ALLOWED_HOSTS" is empty, so that the Worker answers this machine alone: put its host name there\n',
      );
    }
    return;
  }
  throw new UsageError(
    `There is no ${configs.toReversed().join(", nor ")} in "${folder}": causeway init worker makes a project`,
  );
}

/** That of the project, or of a folder above. */
async function findWrangler(folder: string): Promise<string> {
  for (let at = resolve(folder);; at = dirname(at)) {
    const path = join(at, "node_modules", ".bin", process.platform === "win32" ? "wrangler.cmd" : "wrangler");
    if (await isFile(path)) return path;
    if (dirname(at) === at) break;
  }
  throw new UsageError(`There is no wrangler in "${folder}": install the packages of the project first (npm install)`);
}

function run(
  wrangler: string,
  args: readonly string[],
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<number> {
  return new Promise((done, fail) => {
    const child = spawn(wrangler, args, { cwd: folder, stdio: "inherit", shell: process.platform === "win32" });
    const stop = (): void => void child.kill();
    signal.addEventListener("abort", stop);
    child.on("error", (error) => fail(new UsageError(`Cannot start wrangler: ${error.message}`)));
    child.on("close", (code) => {
      signal.removeEventListener("abort", stop);
      if (signal.aborted) fail(signal.reason);
      else done(code ?? 1);
    });
  });
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then((found) => found.isFile(), () => false);
}
