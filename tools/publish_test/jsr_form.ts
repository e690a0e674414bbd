/** JSR as npm's clients use it: `npm:@jsr/scope__name`. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readDenoManifest } from "../publish/manifest.ts";
import { jsrNpmArchive } from "../publish/jsr_npm.ts";
import type { Registry } from "../publish/registry.ts";
import { checkTypes, makeProject, type Plan, type Workshop } from "./npm_project.ts";
import { judgeProgram, npmDoor } from "./programs.ts";

/** Offers the form that JSR would make of what was published, then installs and uses it. */
export async function proveJsrForm(
  workshop: Workshop,
  registry: Registry,
  declarations: ReadonlyMap<string, string>,
): Promise<void> {
  const { checks, folder, bun, node, newestNode, names } = workshop;
  const { name, version } = readDenoManifest();
  const offered = await checks.check("JSR for npm: made", async () => {
    const place = join(folder, "jsr_npm");
    mkdirSync(place);
    const archive = await jsrNpmArchive({ files: registry.published(), declarations, folder: place });
    registry.offer(archive);
    return `${archive.byteLength} bytes`;
  });
  if (!offered) return;
  const packaged = `npm:@jsr/${name.slice(1).replace("/", "__")}@${version}`;
  // JSR lowers nothing: the command's `await using` wants Node 24, and so it has its package on npm for older ones.
  const subpaths = Object.keys(names).filter((subpath) => subpath !== "./cli");
  const plan = { door: npmDoor(name), dependencies: { [name]: packaged } };
  const use = async (by: Plan["by"], runtime: string | undefined, paths: readonly string[]): Promise<void> => {
    const label = `JSR for npm: ${by} install`;
    if (runtime === undefined) return checks.skip(label, `there is no ${by}`);
    await checks.check(`${label}, use`, async () => {
      const project = await makeProject(workshop, { ...plan, name: label, subpaths: paths, by });
      const wanted = Object.fromEntries(paths.map((subpath) => [subpath, names[subpath] ?? []]));
      const ended = await checks.run([runtime, "program.mjs"], { cwd: project });
      return judgeProgram(ended.standardOutput, wanted);
    });
  };
  await use("npm", node, subpaths);
  await use("bun", bun, Object.keys(names));
  if (node !== undefined) {
    const project = join(folder, "JSR_for_npm_npm_install");
    await checks.check("JSR for npm: types", () => checkTypes(workshop, project));
    if (newestNode === undefined) return checks.skip("JSR for npm: use, newest Node", "npm has none for this machine");
    await checks.check("JSR for npm: use, newest Node", async () => {
      const ended = await checks.run([newestNode, "program.mjs"], { cwd: project });
      const wanted = Object.fromEntries(subpaths.map((subpath) => [subpath, names[subpath] ?? []]));
      return judgeProgram(ended.standardOutput, wanted);
    });
  }
}
