/** Versions of Node that are not on PATH, from npm, kept in `.cache`: one that has SQLite, and the newest. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { runProcess } from "../process.ts";
import { bunPath, nodePath, root } from "../programs.ts";

const version = "22.19.0";
const newestVersion = "26.12.1";

/** The path of a Node from 22.13 on; undefined where there is none and none can be fetched. */
export async function newerNodePath(): Promise<string | undefined> {
  const node = nodePath();
  if (node !== undefined) {
    const { standardOutput } = await runProcess([node, "--version"]);
    const [, major, minor] = /^v(\d+)\.(\d+)/.exec(standardOutput) ?? [];
    if (Number(major) > 22 || (Number(major) === 22 && Number(minor) >= 13)) return node;
  }
  return await packagedNode(version, "newer_node");
}

/** The path of the newest Node that this repository knows of; undefined where it cannot be fetched. */
export async function newestNodePath(): Promise<string | undefined> {
  return await packagedNode(newestVersion, "newest_node");
}

async function packagedNode(version: string, place: string): Promise<string | undefined> {
  const system = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${system}-${process.arch}`;
  const folder = join(root, ".cache", place);
  const program = join(folder, "node_modules", name, "bin", system === "win" ? "node.exe" : "node");
  if (existsSync(program)) return program;
  const bun = bunPath();
  if (bun === undefined) return undefined;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: { [name]: version } }));
  await runProcess([bun, "install", "--no-save"], { cwd: folder, timeout: 120_000 });
  return existsSync(program) ? program : undefined;
}
