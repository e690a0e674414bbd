/**
 * Finds the configs of the usual editors and assistants, and what of them counts.
 *
 * @module
 */
import { plain } from "../../egress/redact.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { configLocations, pathOf } from "./locations.ts";
import type { ConfigLocation, Places } from "./locations.ts";
import { Problems } from "./problems.ts";
import { parse, readSection } from "./read.ts";
import type { ConfigProblem, ReadConfig, ReadOptions, ReadServer } from "./types.ts";

/** What looking for configs needs. */
export interface DiscoverOptions extends Places, Pick<ReadOptions, "inputs"> {
  /**
   * Reads a file. Resolves to undefined where there is none; rejects when it cannot be read, or has more than `maxBytes`.
   * The files that are asked for are those of {@linkcode configLocations}, and no others.
   */
  readonly read: (path: string, maxBytes: number) => Promise<string | undefined>;
  /** How large a file may be (1 MiB). */
  readonly maxBytes?: number | undefined;
  /** Where to look ({@linkcode configLocations}), the most important first. */
  readonly locations?: readonly ConfigLocation[] | undefined;
}

/** Where something is defined. */
export interface Origin {
  /** Whose file it is. */
  readonly client: string;
  /** Whether it belongs to the folder, or to the person. */
  readonly scope: "workspace" | "user";
  /** Where it is. */
  readonly path: string;
}

/** A file that is there, and what it says. */
export interface FoundConfig extends Origin, ReadConfig {}

/** A name, and which file decides what it means. */
export interface FoundServer {
  /** The name of the server. */
  readonly name: string;
  /** The file that counts. */
  readonly origin: Origin;
  /** What it says; undefined when that cannot be used: its problems say why. A file further behind does not take its place. */
  readonly server?: ReadServer | undefined;
  /** Files that define the name as well, and do not count. */
  readonly shadows: readonly Origin[];
}

/** What was found. */
export interface Discovery {
  /** The files that are there, the most important first. */
  readonly files: readonly FoundConfig[];
  /** All names, in the order of the files. */
  readonly servers: readonly FoundServer[];
  /** What is wrong, file by file; also with those that could not be read. */
  readonly problems: readonly ConfigProblem[];
}

const defaultMaxBytes = 1024 * 1024;

/**
 * Looks where Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Gemini CLI, Zed and Causeway keep their servers. Files
 * of the folder come before those of the person; the first that defines a name decides.
 *
 * What was found was not approved: a config starts programs and sends what is in `environment` to where it says, and those of
 * a folder come from whoever wrote what is in it. Show them before they are used.
 *
 * @param options Where to look, and what reads files. It never rejects: what `read` rejects with becomes a problem.
 *
 * @example What a folder has, with a reader of your own
 * ```ts
 * import { discoverConfigs } from "@causeway/mcp/hub";
 *
 * const files = new Map([["/app/.mcp.json", `{ "mcpServers": { "docs": { "url": "https://example.com/mcp" } } }`]]);
 * const { servers } = await discoverConfigs({
 *   folder: "/app",
 *   home: "/home/ada",
 *   platform: "linux",
 *   environment: {},
 *   read: (path) => Promise.resolve(files.get(path)),
 * });
 * console.log(servers[0]?.name, servers[0]?.origin.path);
 * ```
 */
export async function discoverConfigs(options: DiscoverOptions): Promise<Discovery> {
  const { locations = configLocations } = options;
  const reads = new Map<string, Promise<Content>>();
  const found: { location: ConfigLocation; path: string; content: Promise<Content> }[] = [];
  for (const location of locations) {
    const path = pathOf(location, options);
    if (path === undefined) continue;
    const content = reads.get(path) ?? readContent(path, options);
    reads.set(path, content);
    found.push({ location, path, content });
  }
  const files: FoundConfig[] = [];
  const problems: ConfigProblem[] = [];
  const told = new Set<string>();
  for (const { location, path, content } of found) {
    const result = understand(location, path, await content, options);
    if (!result) continue;
    const { client, scope } = location;
    // A file that is looked into twice is told of once.
    const fresh = result.problems.filter(({ message }) => !told.has(message));
    for (const { message } of fresh) told.add(message);
    problems.push(...fresh);
    if (result.names.length > 0 || !location.isSettings) {
      files.push({ client, scope, path, ...result, problems: fresh });
    }
  }
  return { files, servers: merge(files), problems };
}

type Content = { readonly text: string | undefined } | { readonly why: string };

async function readContent(path: string, { read, maxBytes = defaultMaxBytes }: DiscoverOptions): Promise<Content> {
  try {
    const text = await read(path, maxBytes);
    if (text !== undefined && text.length > maxBytes) return { why: `it has more than ${maxBytes} bytes` };
    return { text };
  } catch (error) {
    return { why: plain(error instanceof Error ? error.message : String(error), 200) };
  }
}

function understand(
  location: ConfigLocation,
  path: string,
  content: Content,
  options: DiscoverOptions,
): ReadConfig | undefined {
  const problems = new Problems(path);
  const nothing = { servers: {}, names: [], inputs: [] };
  if ("why" in content) {
    problems.add("error", "unreadable", {}, () => `it cannot be read: ${content.why}`);
    return { ...nothing, problems: problems.list() };
  }
  if (content.text === undefined) return undefined;
  const parsed = parse(content.text, problems);
  if (!parsed) return { ...nothing, problems: problems.list() };
  const project = location.isProject ? projectOf(parsed.value, options) : undefined;
  if (location.isProject && project === undefined) return undefined;
  const section = { path: project === undefined ? [] : ["projects", project], optional: location.isSettings };
  return readSection(parsed, section, problems, { ...options, source: path });
}

/** The name under which a file keeps what belongs to the folder. */
function projectOf(value: unknown, { folder, platform }: Places): string | undefined {
  const projects = isObject(value) && isObject(value.projects) ? value.projects : {};
  const fold = (path: string): string => {
    const slashed = (platform === "windows" ? path.replaceAll("\\", "/").toLowerCase() : path).replace(/\/+$/, "");
    return slashed || "/";
  };
  return Object.keys(projects).find((path) => fold(path) === fold(folder));
}

function merge(files: readonly FoundConfig[]): FoundServer[] {
  const found = new Map<string, FoundServer & { readonly shadows: Origin[] }>();
  for (const { client, scope, path, names, servers } of files) {
    const origin = { client, scope, path };
    for (const name of names) {
      const first = found.get(name);
      const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
      if (first) first.shadows.push(origin);
      else found.set(name, { name, origin, ...(server && { server }), shadows: [] });
    }
  }
  return [...found.values()];
}
