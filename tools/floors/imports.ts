/** Rules 1 and 4 of the floors: who may import whom, no cycles, one door for each dependency, a clean core. */
import type { Import, Problem, Source } from "./source.ts";

/** The folders of `src` by floor; an import points to a lower floor or stays in its folder. */
const floors: Readonly<Record<string, number>> = {
  "src/ports.ts": 0,
  "src/version.ts": 0,
  "src/protocol": 1,
  "src/egress": 2,
  "src/transport": 3,
  "src/auth": 3,
  "src/client": 4,
  "src/server": 4,
  "src/hub": 5,
  "src/otel": 5,
  "src/agent": 6,
  "src/runner": 7,
};
const runtimeFolder = "src/runtime";
/** Floor 8. What ships stands before what only helps to build it. */
const shippedTop = ["src/cli", "src/entry", "workers"];
const buildTop = ["examples", "tests", "bench", "tools"];
/** What the main door may open; that none of it reaches a package or a runtime is proved apart. */
const doorOpens = ["src/ports.ts", "src/protocol", "src/egress", "src/transport", "src/client", "src/hub", "src/entry"];
/** The only folder that may import each npm package. */
const packageDoors: Readonly<Record<string, string>> = {
  oauth4webapi: "src/auth",
  hono: "src/runner",
  commander: "src/cli",
  "@opentelemetry/api": "src/otel",
  ws: runtimeFolder,
};
/** The only files that load a module which a person has named. */
const loaders: readonly string[] = ["src/cli/commands/agents/load.ts"];
/** Entries whose whole graph holds neither npm packages nor modules of a runtime. */
const cleanEntries = ["mod.ts", "src/client/mod.ts", "src/server/mod.ts"];

/** The rules about single imports, then cycles, then what the clean entries reach. */
export function checkImports(sources: readonly Source[]): Problem[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const problems = sources.flatMap((source) =>
    source.imports.flatMap((found) => {
      const judged = judgeImport(source.path, found);
      return judged === undefined ? [] : [{ file: source.path, line: found.line, ...judged }];
    })
  );
  return [...problems, ...findCycles(byPath), ...cleanEntries.flatMap((entry) => checkReach(entry, byPath))];
}

/** The files that the clean entries reach, themselves included. */
export function cleanFiles(sources: readonly Source[]): ReadonlySet<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  return new Set(cleanEntries.flatMap((entry) => [...reach(entry, byPath).keys()]));
}

/** The part of the house that a file belongs to: a floor's folder, `mod.ts`, or undefined for what is unknown. */
export function areaOf(path: string): string | undefined {
  if (path === "mod.ts" || path in floors) return path;
  const parts = path.split("/");
  const area = parts[0] === "src" ? parts.slice(0, 2).join("/") : parts[0];
  const known = [...Object.keys(floors), runtimeFolder, ...shippedTop, ...buildTop];
  return area !== undefined && known.includes(area) ? area : undefined;
}

/** True for floor 8, where runtimes may be named. */
export function isTop(area: string): boolean {
  return shippedTop.includes(area) || buildTop.includes(area);
}

function judgeImport(
  path: string,
  { specifier, file, isComputed }: Import,
): { rule: string; message: string } | undefined {
  if (isComputed && loaders.includes(path)) return undefined;
  const from = areaOf(path);
  if (from === undefined) {
    return { rule: "floors", message: `"${path}" lies in no folder that the table of floors knows` };
  }
  if (file === undefined) return judgePackage(from, specifier);
  if (!/\.(ts|mjs|json)$/.test(file)) return { rule: "floors", message: `"${specifier}" does not end in .ts` };
  const to = areaOf(file);
  if (to === undefined) {
    return buildTop.includes(from)
      ? undefined
      : { rule: "floors", message: `"${specifier}" lies outside of the floors` };
  }
  if (mayImport(from, to)) return undefined;
  return { rule: "floors", message: `${from} may not import ${to} ("${specifier}")` };
}

function mayImport(from: string, to: string): boolean {
  if (from === to || buildTop.includes(from)) return true;
  if (shippedTop.includes(from)) return !buildTop.includes(to);
  if (from === "mod.ts") return doorOpens.includes(to);
  const lower = floors[to];
  if (lower === undefined) return false;
  return from === runtimeFolder ? lower <= 1 : lower < (floors[from] ?? -1);
}

function judgePackage(from: string, specifier: string): { rule: string; message: string } | undefined {
  if (/^(node|bun|cloudflare):|^bun$/.test(specifier)) {
    if (from === runtimeFolder || isTop(from)) return undefined;
    return { rule: "runtime", message: `${from} may not import "${specifier}"` };
  }
  if (buildTop.includes(from)) return undefined;
  const name = specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
  const door = packageDoors[name];
  if (door === from) return undefined;
  if (door !== undefined) return { rule: "doors", message: `"${name}" is imported in ${door} only` };
  return { rule: "doors", message: `${from} may not import ${JSON.stringify(specifier)}: it has no door` };
}

/** One problem for each import that closes a circle, type-only imports too: a circle of types is a floor without a stair. */
function findCycles(byPath: ReadonlyMap<string, Source>): Problem[] {
  const problems: Problem[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  function visit(source: Source): void {
    path.push(source.path);
    for (const { file, line } of source.imports) {
      const next = file === undefined ? undefined : byPath.get(file);
      if (next === undefined || done.has(next.path)) continue;
      const at = path.indexOf(next.path);
      if (at < 0) visit(next);
      else problems.push(cycleProblem(source.path, line, [...path.slice(at), next.path]));
    }
    path.pop();
    done.add(source.path);
  }
  for (const source of byPath.values()) {
    if (!done.has(source.path)) visit(source);
  }
  return problems;
}

function cycleProblem(file: string, line: number, circle: readonly string[]): Problem {
  return { file, line, rule: "cycles", message: `a circle of imports: ${circle.join(" → ")}` };
}

function checkReach(entry: string, byPath: ReadonlyMap<string, Source>): Problem[] {
  return [...reach(entry, byPath)].flatMap(([path, way]) =>
    (byPath.get(path)?.imports ?? []).filter(({ file }) => file === undefined).map(({ specifier, line }) => {
      return { file: path, line, rule: "clean core", message: `${entry} reaches "${specifier}": ${way}` };
    })
  );
}

/** Every file that an entry imports over any number of steps, with one way to it. */
function reach(entry: string, byPath: ReadonlyMap<string, Source>): Map<string, string> {
  const seen = new Map<string, string>(byPath.has(entry) ? [[entry, entry]] : []);
  for (const [path, way] of seen) {
    for (const { file } of byPath.get(path)?.imports ?? []) {
      if (file !== undefined && !seen.has(file)) seen.set(file, `${way} → ${file}`);
    }
  }
  return seen;
}
