/** What has to agree before anything is published. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest, NpmManifest } from "../publish/manifest.ts";
import { moduleOf, publishedManifest } from "../publish/manifest.ts";

/** What is judged. */
export interface Repository {
  readonly deno: Manifest;
  readonly npm: NpmManifest;
  /** What `src/version.ts` tells servers. */
  readonly version: string | undefined;
  /** Whether a file of the repository is there. */
  readonly exists: (path: string) => boolean;
  /** The workflows by their names. */
  readonly workflows: Readonly<Record<string, string>>;
}

/** Reads it from its root. */
export function readRepository(root: string): Repository {
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const folder = join(root, ".github", "workflows");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return {
    deno: JSON.parse(read("deno.json")),
    npm: JSON.parse(read("package.json")),
    version: /version = "([^"]+)"/.exec(read("src/version.ts"))?.[1],
    exists: (path) => existsSync(join(root, path)),
    workflows: Object.fromEntries(names.map((name) => [name, read(`.github/workflows/${name}`)])),
  };
}

/**
 * The two manifests say the same, name only what is there, and a single lockfile stands beside them; the published one leads to the
 * same sources.
 */
export function judgeManifests({ deno, npm, version, exists }: Repository): string[] {
  const problems: string[] = [];
  if (exists("bun.lock")) problems.push("bun.lock stands beside bun.lockb and wins over it: delete it");
  for (const key of ["name", "version", "license", "exports"] as const) {
    if (JSON.stringify(deno[key]) !== JSON.stringify(npm[key])) {
      problems.push(`"${key}" differs in deno.json and package.json`);
    }
  }
  if (version !== deno.version) problems.push(`src/version.ts says ${version}, deno.json ${deno.version}`);
  if (!npm.private) problems.push("package.json is not private: what npm gets is built (tools/build_package)");
  for (const [name, path] of Object.entries(deno.exports)) {
    if (!exists(path)) problems.push(`the export "${name}" names ${path}, which is not there`);
  }
  const published = publishedManifest();
  const found = Object.entries(published["exports"] ?? {}).map(([name, door]) => [name, door.default]);
  const wanted = Object.entries(deno.exports).map(([name, path]) => [name, moduleOf(path)]);
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    problems.push("the published exports are not those of deno.json");
  }
  const taken = [...Object.keys(published["dependencies"] ?? {}), ...Object.keys(published["peerDependencies"] ?? {})];
  const missing = Object.keys(npm.dependencies).filter((name) => !taken.includes(name));
  for (const name of missing) problems.push(`the published manifest does not name ${name}`);
  return problems;
}

/**
 * Actions are pinned to a whole version or a commit, rights are named, each job ends, and nothing is a secret or a path of somebody's
 * machine.
 */
export function judgeWorkflows(workflows: Repository["workflows"]): string[] {
  const problems: string[] = [];
  for (const name of ["ci.yml", "release.yml"]) {
    if (!(name in workflows)) problems.push(`the workflow ${name} is not there`);
  }
  for (const [name, text] of Object.entries(workflows)) {
    for (const [, action = ""] of text.matchAll(/\buses:\s*(\S+)/g)) {
      if (!/@(v\d+\.\d+\.\d+|[0-9a-f]{40})$/.test(action)) {
        problems.push(`${name}: ${action} is not pinned to a whole version (v1.2.3) or a commit`);
      }
    }
    if (!/^permissions:/m.test(text)) problems.push(`${name}: it does not name its permissions`);
    if (/\bsecrets\b/.test(text)) problems.push(`${name}: it uses a secret`);
    if (/(^|[\s"'=])\/(home|root|work|Users|tmp)\b/m.test(text)) problems.push(`${name}: it names a path of a machine`);
    const jobs = text.match(/^ {4}runs-on:/gm)?.length ?? 0;
    const limits = text.match(/^ {4}timeout-minutes:/gm)?.length ?? 0;
    if (jobs === 0 || jobs !== limits) problems.push(`${name}: ${jobs} jobs, and ${limits} of them have a timeout`);
  }
  return problems;
}
