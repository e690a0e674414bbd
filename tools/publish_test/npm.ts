/** The package on npm: packed, published, installed and used. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { npmPath } from "../programs.ts";
import { declarationOf, readDenoManifest, readNpmManifest } from "../publish/manifest.ts";
import { buildPackage } from "../publish/package.ts";
import { proveCommand } from "./command.ts";
import { judgeDeclarations, judgeEdge, judgeModules, judgeNpmFiles } from "./contents.ts";
import { checkTypes, installing, makeProject, type Workshop } from "./npm_project.ts";
import { judgeProgram, npmDoor } from "./programs.ts";

/** What `npm pack --json` says. */
interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/**
 * Builds the package, packs and publishes it, and uses it in projects.
 *
 * @returns Its declarations by their paths; undefined when it could not be built.
 */
export async function proveNpm(
  workshop: Workshop,
  sources: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const { checks, folder } = workshop;
  const built = join(folder, "npm");
  let files: string[] = [];
  const isBuilt = await checks.check("npm: build", async () => {
    files = await buildPackage(built);
    return `${files.length} files`;
  });
  if (!isBuilt) return undefined;
  await checks.check("npm: no code from text", () => judgeModules(built, files));
  const entries = Object.values(readDenoManifest().exports).map(declarationOf);
  await checks.check("npm: declarations for older compilers", () => judgeDeclarations(built, entries));
  const npm = npmPath();
  if (npm === undefined) checks.skip("npm: pack, publish, install", "there is no npm on PATH");
  else await proveTarball(workshop, { npm, built, sources });
  const declarations = files.filter((file) => file.endsWith(".d.ts"));
  return new Map(declarations.map((file) => [file, readFileSync(join(built, file), "utf8")]));
}

async function proveTarball(
  workshop: Workshop,
  { npm, built, sources }: { npm: string; built: string; sources: readonly string[] },
): Promise<void> {
  const { checks, folder, registry } = workshop;
  let tarball = "";
  const isPacked = await checks.check("npm: pack, exact files", async () => {
    const command = [npm, "pack", "--json", "--pack-destination", folder];
    const { standardOutput } = await checks.run(command, installing(workshop, built));
    const [packed]: readonly Packed[] = JSON.parse(standardOutput);
    if (packed === undefined) throw new Error("npm packed nothing");
    tarball = join(folder, packed.filename);
    return `${judgeNpmFiles(packed.files.map(({ path }) => path), sources)}, ${packed.size} bytes`;
  });
  if (!isPacked) return;
  await checks.check("npm: publish", async () => {
    // The registry is named twice, so that no setting of anybody's can make it another one.
    const command = [npm, "publish", tarball, "--access", "public", "--registry", registry, "--loglevel=error"];
    const { env, cwd } = installing(workshop, folder);
    await checks.run(command, { cwd, env: { ...env, npm_config_registry: registry } });
    return "";
  });
  await proveInstalled(workshop);
  await proveBare(workshop, tarball);
  await proveBun(workshop, tarball);
}

/** From the registry, with its optional peers, in every runtime. */
async function proveInstalled(workshop: Workshop): Promise<void> {
  const { checks, deno, bun, node, newestNode, names } = workshop;
  const { name, version } = readDenoManifest();
  let project = "";
  const isInstalled = await checks.check("npm: install from the registry, with peers", async () => {
    const dependencies = { ...readNpmManifest().dependencies, [name]: version };
    project = await makeProject(workshop, { name: "npm project", door: npmDoor(name), dependencies, by: "npm" });
    return "";
  });
  if (!isInstalled) return;
  await checks.check("npm: types", () => checkTypes(workshop, project, { older: true }));
  await checks.check("npm: types, Deno", async () => {
    await checks.run([deno, "check", "--quiet", "--no-lock", "types.ts"], { cwd: project });
    return "";
  });
  const runtimes = {
    "Node": node && [node],
    "newest Node": newestNode && [newestNode],
    "Bun": bun && [bun],
    "Deno": [deno, "run", "-A", "--quiet", "--no-lock"],
  };
  for (const [runtime, command] of Object.entries(runtimes)) {
    if (!command) checks.skip(`npm: use, ${runtime}`, "it is not on this machine");
    else {
      await checks.check(`npm: use, ${runtime}`, async () => {
        const ended = await checks.run([...command, "program.mjs"], { cwd: project });
        return judgeProgram(ended.standardOutput, names);
      });
    }
  }
  await checks.check("npm: bundles for Workers and pages", () => judgeEdge(project));
  await proveCommand(workshop, project);
}

/** Without its optional peers: what is installed is the package and its one dependency, and only their entries miss them. */
async function proveBare(workshop: Workshop, tarball: string): Promise<void> {
  const { checks, node, names } = workshop;
  const { name } = readDenoManifest();
  const wanting: Readonly<Record<string, string>> = { "./otel": "@opentelemetry/api", "./runner": "hono" };
  const subpaths = Object.keys(names).filter((subpath) => !(subpath in wanting));
  await checks.check("npm: the tarball alone, Node", async () => {
    const dependencies = { [name]: `file:${tarball}` };
    const project = await makeProject(workshop, {
      name: "bare",
      door: npmDoor(name),
      dependencies,
      subpaths,
      by: "npm",
    });
    const installed = readdirSync(join(project, "node_modules")).filter((entry) => !entry.startsWith("."));
    if (installed.sort().join(" ") !== "@causeway commander oauth4webapi") {
      throw new Error(`installed: ${installed.join(" ")}`);
    }
    if (node === undefined) return "";
    const ended = await checks.run([node, "program.mjs"], { cwd: project });
    const told = judgeProgram(
      ended.standardOutput,
      Object.fromEntries(subpaths.map((path) => [path, names[path] ?? []])),
    );
    for (const [subpath, missing] of Object.entries(wanting)) {
      const code = `await import(${npmDoor(name)(subpath)}).then(() => "", (error) => error.message)`;
      const tried = await checks.run([node, "--input-type=module", "--eval", `console.log(${code})`], { cwd: project });
      if (!tried.standardOutput.includes(`'${missing}'`)) throw new Error(`${subpath} says: ${tried.standardOutput}`);
    }
    return told;
  });
}

/** Installed by Bun. */
async function proveBun(workshop: Workshop, tarball: string): Promise<void> {
  const { checks, bun, names } = workshop;
  const { name } = readDenoManifest();
  if (bun === undefined) return checks.skip("npm: the tarball, installed by Bun", "there is no bun");
  await checks.check("npm: the tarball, installed by Bun", async () => {
    const dependencies = { ...readNpmManifest().dependencies, [name]: tarball };
    const project = await makeProject(workshop, { name: "bun project", door: npmDoor(name), dependencies, by: "bun" });
    if (!existsSync(join(project, "node_modules", ".bin", "causeway"))) throw new Error("the command is not linked");
    const ended = await checks.run([bun, "program.mjs"], { cwd: project });
    return judgeProgram(ended.standardOutput, names);
  });
}
