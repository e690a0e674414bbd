/**
 * Reads a config in any of the shapes that are in use: `mcpServers` (Claude, Cursor, Windsurf, Gemini and ours), `servers`
 * with `inputs` (VS Code, also below `mcp` in its settings) and `context_servers` (Zed).
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import { readInputs } from "./inputs.ts";
import type { Variables } from "./interpolate.ts";
import { parseJsonc } from "./jsonc.ts";
import type { RepeatedName } from "./jsonc.ts";
import { nearest } from "./nearest.ts";
import { kindOf, Problems, quoted } from "./problems.ts";
import { readServer } from "./server/server.ts";
import type { InputDefinition, ReadConfig, ReadOptions, ReadServer } from "./types.ts";

/** The names under which servers stand, in the order in which they are looked for. */
const containers = [["mcpServers"], ["servers"], ["mcp", "servers"], ["context_servers"]] as const;
const longestName = 128;

/** What stands under these names, one in the other; undefined where nothing does. */
export function valueAt(root: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((inner, name) => isObject(inner) ? own(inner, name) : undefined, root);
}

/** The names that lead to the servers of a file: of those that may, the first that are there. Undefined where none are. */
export function serversPath(root: unknown): readonly string[] | undefined {
  return containers.find((names) => (valueAt(root, names) ?? undefined) !== undefined);
}

/** Where in a file the servers are. */
export interface Section {
  /** The names that lead to the object that holds them: `["projects", "/home/ada/app"]`. */
  readonly path: readonly string[];
  /** Whether they may be missing: a file of settings holds other things, too. */
  readonly optional: boolean;
}

/**
 * Reads a config: finds its servers, checks every field, and fills in variables and inputs. It never throws: what is wrong is
 * a problem, and leaves out the one server that it is about.
 *
 * @param given The text of a file (JSON; comments and trailing commas are taken), or what was parsed of one.
 * @param options Variables, answers to inputs, and what to call the file.
 *
 * @example A config with a variable
 * ```ts
 * import { readHubConfig } from "@causeway/mcp/hub";
 *
 * const text = `{ "mcpServers": { "docs": { "url": "https://\${HOST:-example.com}/mcp" } } }`;
 * const { servers, problems } = readHubConfig(text, { source: "mcp.json", environment: {} });
 * console.log(servers.docs, problems);
 * ```
 */
export function readHubConfig(given: string | object, options: ReadOptions): ReadConfig {
  const problems = new Problems(options.source ?? "config");
  const parsed = parse(given, problems);
  if (!parsed) return { servers: {}, names: [], inputs: [], problems: problems.list() };
  return readSection(parsed, { path: [], optional: false }, problems, options);
}

/** What was read of a file, before its servers are looked for. */
export interface Parsed {
  readonly value: unknown;
  readonly repeated: readonly RepeatedName[];
}

/** Parses a text; undefined when that cannot be done, and the problem is told. */
export function parse(given: string | object, problems: Problems): Parsed | undefined {
  if (typeof given !== "string") return { value: given, repeated: [] };
  const result = parseJsonc(given);
  if (!("fault" in result)) return result;
  const { line, column, what } = result.fault;
  problems.add("error", "json", { line, column }, () => isToml(given) ? notToml : what);
  return undefined;
}

const notToml =
  'it is TOML, as Codex keeps it, expected JSON: { "mcpServers": { "<name>": { … } } } with the same servers';

/** Whether the first line that is no comment is a table, or a key with a value. */
function isToml(text: string): boolean {
  const [line = ""] = /^\uFEFF?[ \t]*[^\s#].*/m.exec(text) ?? [];
  return /^\s*(?:\[+\s*(?:[\w.-]|"[^"]*"|'[^']*')+\s*\]|(?:[\w.-]|"[^"]*"|'[^']*')+\s*=)/.test(line);
}

/** Reads the servers of one part of a file. */
export function readSection(
  { value, repeated }: Parsed,
  { path, optional }: Section,
  problems: Problems,
  options: ReadOptions,
): ReadConfig {
  const root = path.reduce<unknown>((inner, name) => isObject(inner) ? own(inner, name) : undefined, value);
  const found = findServers(root, { path, optional }, problems);
  const inputsPath = found?.path.at(-2) === "mcp" ? [...path, "mcp", "inputs"] : [...path, "inputs"];
  const inputs = readInputs(found?.inputs, inputsPath, problems);
  if (!found) return { servers: {}, names: [], inputs: [], problems: problems.list() };
  // A text under the name of a comment is one.
  const names = Object.keys(found.servers).filter((name) =>
    !name.startsWith("//") || typeof found.servers[name] !== "string"
  );
  const unclear = new Set(checkRepeated(repeated, found.path, problems));
  const variables = variablesOf(options, inputs);
  const context = { problems, variables, path: found.path };
  const servers: [string, ReadServer][] = [];
  for (const name of soundNames(names, found.path, problems)) {
    if (unclear.has(name) || (options.only !== undefined && options.only !== name)) continue;
    const server = readServer(name, own(found.servers, name), context);
    if (server) servers.push([name, server]);
  }
  return { servers: Object.fromEntries(servers), names, inputs: [...inputs.values()], problems: problems.list() };
}

interface FoundServers {
  readonly servers: Readonly<Record<string, unknown>>;
  readonly path: readonly string[];
  readonly inputs: unknown;
}

function findServers(root: unknown, { path, optional }: Section, problems: Problems): FoundServers | undefined {
  const wanted = 'expected { "mcpServers": { "<name>": { … } } }';
  const wrong = (at: readonly string[], say: () => string): void => problems.add("error", "shape", { path: at }, say);
  if (!isObject(root)) {
    if (!optional || (root !== undefined && path.length === 0)) wrong(path, () => `${wanted}, found ${kindOf(root)}`);
    return undefined;
  }
  let found: FoundServers | undefined;
  for (const names of containers) {
    const holder = valueAt(root, names.slice(0, -1));
    const servers = valueAt(root, names);
    const at = [...path, ...names];
    if (servers === undefined || servers === null || !isObject(holder)) continue;
    if (found) {
      const first = found.path.at(-1);
      problems.add(
        "warning",
        "shape",
        { path: at },
        () => `it stands beside "${first}", which counts: keep one of the two`,
      );
    } else if (isObject(servers)) found = { servers, path: at, inputs: own(holder, "inputs") };
    else {
      wrong(at, () => `expected { "<name>": { … } }, found ${kindOf(servers)}`);
      return undefined;
    }
  }
  if (!found && !optional) {
    wrong(path, () => {
      const known = ["mcpServers", "servers"];
      // Not one that is there, and null.
      const names = Object.keys(root).slice(0, 100).filter((name) => !known.includes(name));
      const near = names.find((name) => known.includes(nearest(name, known) ?? ""));
      const meant = near === undefined ? "" : nearest(near, known);
      const hint = near === undefined ? "" : ` (did you mean "${meant}" where it says ${quoted(near)}?)`;
      return `it has no servers${hint}: ${wanted}`;
    });
  }
  return found;
}

/** The names of servers that stand twice in a text: which one is meant cannot be told. Other names only get a warning. */
function checkRepeated(repeated: readonly RepeatedName[], path: readonly string[], problems: Problems): string[] {
  const unclear: string[] = [];
  for (const { path: at, line, column } of repeated) {
    if (!path.every((name, index) => at[index] === name) || at.length <= path.length) continue;
    const server = at[path.length] ?? "";
    const isServer = at.length === path.length + 1;
    const field = isServer ? undefined : at.slice(path.length + 1);
    if (isServer) unclear.push(server);
    const say = (): string =>
      `it stands twice: ${isServer ? "take one out or rename it" : "the last one counts, take the other out"}`;
    problems.add(isServer ? "error" : "warning", "name", { path: at, server, field, line, column }, say);
  }
  return unclear;
}

function soundNames(names: readonly string[], path: readonly string[], problems: Problems): string[] {
  const seen = new Map<string, string>();
  return names.filter((name) => {
    const folded = name.toLowerCase();
    const other = seen.get(folded);
    const wrong = other !== undefined
      ? `it differs from ${quoted(other)} in case only: give it another name`
      : whyNoName(name);
    if (wrong === undefined) seen.set(folded, name);
    else problems.add("error", "name", { path: [...path, name], server: name }, () => wrong);
    return wrong === undefined;
  });
}

function whyNoName(name: string): string | undefined {
  if (name === "") return "the name is empty: give the server a name";
  if (name === "__proto__") return "JavaScript uses this name itself: give the server another one";
  if (name.length > longestName) return `the name has ${name.length} characters: expected ${longestName} at most`;
  if (/^[\p{L}\p{N}_@]([\p{L}\p{M}\p{N}_@./: +()&-]*[\p{L}\p{M}\p{N}_)+])?$/u.test(name)) return undefined;
  return "the name holds characters that it may not: expected letters, digits, dashes, dots and spaces inside";
}

function variablesOf(options: ReadOptions, definitions: ReadonlyMap<string, InputDefinition>): Variables {
  const { environment, inputs = {}, platform = "linux", home, folder } = options;
  return { environment, inputs, definitions, platform, home, folder };
}

function own(holder: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}
