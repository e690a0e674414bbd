/** Scratch projects that get the package from npm's side of the local registry. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmPath, root } from "../programs.ts";
import type { ProcessOptions } from "../process.ts";
import type { Checks } from "./checks.ts";
import { type Door, writePrograms } from "./programs.ts";

/** What all projects share. */
export interface Workshop {
  readonly checks: Checks;
  /** A scratch folder; projects are made in it. */
  readonly folder: string;
  /** The registry's address. */
  readonly registry: string;
  readonly deno: string;
  readonly bun: string | undefined;
  readonly node: string | undefined;
  /** The newest Node that npm has. */
  readonly newestNode: string | undefined;
  /** The names that each subpath has to give. */
  readonly names: Readonly<Record<string, readonly string[]>>;
}

/** One project. */
export interface Plan {
  readonly name: string;
  readonly door: Door;
  readonly dependencies: Readonly<Record<string, string>>;
  /** The subpaths that its programs import. Default: all. */
  readonly subpaths?: readonly string[];
  /** What installs. */
  readonly by: "npm" | "bun";
}

/**
 * Makes a project and installs what it wants.
 *
 * @returns Its folder.
 */
export async function makeProject(workshop: Workshop, plan: Plan): Promise<string> {
  const { checks, folder, registry, bun, names } = workshop;
  const project = join(folder, plan.name.replaceAll(/\W+/g, "_"));
  mkdirSync(project, { recursive: true });
  const manifest = { name: "scratch", private: true, type: "module", dependencies: plan.dependencies };
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(project, ".npmrc"), `registry=${registry}\n@jsr:registry=${registry}\n`);
  writePrograms(project, plan.door, plan.subpaths ?? Object.keys(names));
  const options = installing(workshop, project);
  const install = plan.by === "bun"
    ? [bun ?? "bun", "install", "--no-progress"]
    : [npmPath() ?? "npm", "install", "--no-audit", "--no-fund", "--loglevel=error"];
  await checks.run(install, options);
  return project;
}

/** How npm and Bun are run: with caches of their own, and no settings of this machine's user. */
export function installing(
  { folder }: Pick<Workshop, "folder">,
  cwd: string,
): Required<Pick<ProcessOptions, "cwd" | "env">> {
  return {
    cwd,
    env: {
      npm_config_userconfig: join(folder, "npmrc"),
      npm_config_cache: join(folder, "npm_cache"),
      npm_config_update_notifier: "false",
      BUN_INSTALL_CACHE_DIR: join(folder, "bun_cache"),
    },
  };
}

/**
 * Type-checks the project's `types.ts` in the ways of resolving that are in use, declarations of packages included: without the types
 * of any runtime, and with those of Node alone; with `older` also as TypeScript did that reads no `exports`.
 */
export async function checkTypes(
  { checks, node, bun }: Workshop,
  project: string,
  { older = false }: { readonly older?: boolean } = {},
): Promise<string> {
  const compiler = join(root, "node_modules", "typescript", "lib", "tsc.js");
  // A page's types, and those of Node alone.
  const page = { lib: ["esnext", "dom"], types: [] };
  const alone = { lib: ["esnext"], types: ["node"], typeRoots: [join(root, "node_modules", "@types")] };
  const usual = [["esnext", "bundler", page], ["nodenext", "nodenext", page], ["node16", "node16", alone]] as const;
  const kinds = older ? [...usual, ["esnext", "node10", page] as const] : usual;
  const checking = kinds.map(async ([module, moduleResolution, known]) => {
    const config = join(project, `tsconfig.${moduleResolution}.json`);
    writeFileSync(
      config,
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          target: "esnext",
          ...known,
          skipLibCheck: false,
          module,
          moduleResolution,
        },
        files: ["types.ts"],
      }),
    );
    await checks.run([node ?? bun ?? "node", compiler, "--project", config], { cwd: project });
  });
  await Promise.all(checking);
  return kinds.map(([, resolution]) => resolution).join(", ");
}
