/** Installs the packages of the lockfile when they are missing or older than it. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProcess } from "./process.ts";
import { bunPath, denoPath, packagesInstalled, root } from "./programs.ts";

const inputs = ["bun.lockb", "bunfig.toml"];
/** What decides about packages in `package.json`: not the scripts and exports, which change more often. */
const wanting = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides"];
const stamp = join(root, "node_modules", ".causeway_installed");

/** Answers false when an install was needed and failed. Without Bun it is Deno that installs, which does not know the lockfile. */
export async function installWhatIsMissing(): Promise<boolean> {
  const wanted = fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return true;
  const [bun, deno] = [bunPath(), denoPath()];
  const program = bun ?? deno;
  if (program === undefined || (!bun && packagesInstalled())) return true;
  const [what, command] = bun
    ? ["the packages of bun.lockb", [bun, "install", "--frozen-lockfile"]]
    : ["the packages of package.json", [program, "install"]];
  console.error(`Installing ${what} …`);
  const result = await runProcess(command, { timeout: 600_000 });
  if (result.code !== 0) {
    console.error(result.output);
    console.error(`Cannot install the packages: \`${command.join(" ")}\` failed`);
    return false;
  }
  writeFileSync(stamp, wanted);
  return true;
}

function fingerprint(): string {
  const hash = createHash("sha256");
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, unknown>;
  hash.update(JSON.stringify(wanting.map((field) => manifest[field])));
  for (const name of inputs) {
    const file = join(root, name);
    hash.update(`${name}\n`).update(existsSync(file) ? readFileSync(file) : "");
  }
  return hash.digest("hex");
}
