/**
 * `causeway init agent|worker [folder]`: a new project that runs.
 *
 * @module
 */
import { mkdir, open, readdir, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { didYouMean } from "../../../hub/config/nearest.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, OutputError, UsageError } from "../../failure.ts";
import { checkFolder, isFull, whyNot } from "../../read.ts";
import { writeOut } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";
import { agentFiles, workerFiles } from "./templates.ts";

const kinds: Readonly<
  Record<string, { readonly files: (name: string) => Readonly<Record<string, string>>; readonly next: string }>
> = {
  agent: { files: agentFiles, next: "npm install && npx causeway tools 'npx causeway agent agent.ts'" },
  worker: { files: workerFiles, next: "npm install && npx wrangler dev" },
};

/** Writes it, and answers the exit code. A folder that holds anything is left as it is. */
export async function init(line: CommandLine): Promise<number> {
  const [kind, given, ...more] = line.words;
  const found = kind !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (kind === undefined || !found) {
    const what = kind === undefined
      ? "It is not said what for"
      : `Unknown kind "${kind}"${didYouMean(kind, Object.keys(kinds))}`;
    throw new UsageError(`${what}: write causeway init agent [folder], or causeway init worker [folder]`);
  }
  if (more.length > 0) throw new UsageError(`Unexpected "${more[0]}" after the folder: leave it out`);
  await checkFolder(given ?? kind);
  const folder = resolve(given ?? kind);
  const there = await readdir(folder).catch(() => []);
  if (there.length > 0) {
    throw new UsageError(`Cannot begin in "${given ?? kind}": the folder is not empty; name another`);
  }
  const name = basename(folder).toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "") || kind;
  const files = found.files(name);
  await writeAll(folder, files).catch((error: unknown) => {
    throw new (isFull(error) ? OutputError : UsageError)(
      `Cannot begin in "${given ?? kind}": ${whyNot(error)}; name another folder`,
    );
  });
  const into = given ?? kind;
  // For a shell to read: quoted where it would take it for several words, or for something else.
  const next = `cd ${/^[\w./~@:\\-]+$/.test(into) ? into : `'${into.replaceAll("'", "'\\''")}'`} && ${found.next}`;
  await writeOut(
    line.json
      ? plainJson({ folder, files: Object.keys(files), next }) + "\n"
      : `Made ${oneLine(folder)}: ${Object.keys(files).join(", ")}\nNext: ${oneLine(next)}\n`,
  );
  return exitCodes.ok;
}

/** All of a project, or nothing: a part of one would be in the way of the next try. */
async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  const begun: string[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      const file = await open(join(folder, name), "wx");
      begun.push(join(folder, name));
      await file.writeFile(text).finally(() => file.close());
    }
  } catch (error) {
    for (const path of begun) await rm(path, { force: true }).catch(() => {});
    // With those around it that were not there.
    for (let at = folder; made !== undefined && at.length >= made.length; at = dirname(at)) {
      await rmdir(at).catch(() => {});
    }
    throw error;
  }
}
