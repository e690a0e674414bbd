/**
 * Where editors and assistants keep their configs, as data.
 *
 * @module
 */
import type { Platform } from "./types.ts";

/** A file that may hold servers. */
export interface ConfigLocation {
  /** Whose file it is. */
  readonly client: string;
  /** Whether it belongs to the folder, or to the person. */
  readonly scope: "workspace" | "user";
  /**
   * The path, with slashes on every system; missing where there is none. `{folder}` is that of the workspace, `{home}` the
   * person's, `{config}` where programs keep settings (`$XDG_CONFIG_HOME` or `~/.config`), `{data}` where they do on Windows
   * (`%APPDATA%`), `{claude}` and `{causeway}` what these two may be told by variables.
   */
  readonly path: Readonly<Partial<Record<Platform, string>>>;
  /** Whether other settings stand there, too, so that it is no fault if it has no servers. */
  readonly isSettings: boolean;
  /** Whether the servers are those that the file keeps for this folder, below `projects`. */
  readonly isProject: boolean;
}

/**
 * All of them, the most important first: where two files define the same name, the earlier one counts. What belongs to the
 * folder comes before what belongs to the person, and our own file before those of others.
 */
export const configLocations: readonly ConfigLocation[] = [
  everywhere("Causeway", "workspace", "{folder}/causeway.json"),
  everywhere("any", "workspace", "{folder}/mcp.json"),
  { ...everywhere("Claude Code", "workspace", "{claude}/.claude.json"), isSettings: true, isProject: true },
  everywhere("Claude Code", "workspace", "{folder}/.mcp.json"),
  everywhere("Cursor", "workspace", "{folder}/.cursor/mcp.json"),
  everywhere("VS Code", "workspace", "{folder}/.vscode/mcp.json"),
  { ...everywhere("Gemini CLI", "workspace", "{folder}/.gemini/settings.json"), isSettings: true },
  { ...everywhere("Zed", "workspace", "{folder}/.zed/settings.json"), isSettings: true },
  everywhere("Causeway", "user", "{causeway}/causeway.json"),
  { ...everywhere("Claude Code", "user", "{claude}/.claude.json"), isSettings: true },
  {
    ...everywhere("Claude Desktop", "user", "{config}/Claude/claude_desktop_config.json"),
    path: {
      mac: "{home}/Library/Application Support/Claude/claude_desktop_config.json",
      linux: "{config}/Claude/claude_desktop_config.json",
      windows: "{data}/Claude/claude_desktop_config.json",
    },
    isSettings: true,
  },
  everywhere("Cursor", "user", "{home}/.cursor/mcp.json"),
  {
    ...everywhere("VS Code", "user", ""),
    path: {
      mac: "{home}/Library/Application Support/Code/User/mcp.json",
      linux: "{config}/Code/User/mcp.json",
      windows: "{data}/Code/User/mcp.json",
    },
  },
  everywhere("Windsurf", "user", "{home}/.codeium/windsurf/mcp_config.json"),
  { ...everywhere("Gemini CLI", "user", "{home}/.gemini/settings.json"), isSettings: true },
  {
    ...everywhere("Zed", "user", ""),
    path: {
      mac: "{home}/.config/zed/settings.json",
      linux: "{config}/zed/settings.json",
      windows: "{data}/Zed/settings.json",
    },
    isSettings: true,
  },
];

/** What paths are made of. */
export interface Places {
  /** The folder that one works in. */
  readonly folder: string;
  /** The person's own folder. */
  readonly home: string;
  /** The system. */
  readonly platform: Platform;
  /** The variables that configs may name. All of them are within their reach: give no more than that. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The path of a location on this machine; undefined where there is none. */
export function pathOf({ path }: ConfigLocation, { folder, home, platform, environment }: Places): string | undefined {
  const isWindows = platform === "windows";
  const template = path[platform];
  if (template === undefined) return undefined;
  const { XDG_CONFIG_HOME = "", APPDATA = "", CLAUDE_CONFIG_DIR = "", CAUSEWAY_HOME = "" } = environment;
  const data = APPDATA || `${home}/AppData/Roaming`;
  // Relative ones are to be ignored (XDG Base Directory Specification).
  const config = XDG_CONFIG_HOME.startsWith("/") ? XDG_CONFIG_HOME : `${home}/.config`;
  const roots: Readonly<Record<string, string>> = {
    folder,
    home,
    data,
    config: isWindows ? data : config,
    claude: CLAUDE_CONFIG_DIR || home,
    causeway: CAUSEWAY_HOME || `${isWindows ? data : config}/causeway`,
  };
  const filled = template.replace(/^\{(\w+)\}/, (_, name: string) => (roots[name] ?? "").replace(/[\\/]+$/, ""));
  return isWindows ? filled.replaceAll("/", "\\") : filled;
}

/** The folder that a config file is about: the one it is in, or the one above when it is an editor's own. */
export function workspaceOf(path: string): string {
  const parent = path.replace(/[\\/][^\\/]*$/, "");
  const above = parent.replace(/[\\/]\.(vscode|cursor|gemini|zed)$/i, "");
  return above || "/";
}

function everywhere(client: string, scope: ConfigLocation["scope"], path: string): ConfigLocation {
  return { client, scope, path: { mac: path, linux: path, windows: path }, isSettings: false, isProject: false };
}
