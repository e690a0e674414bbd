/**
 * What a child process is given: its environment, and on Windows its command line. Pure functions, so that the rules of
 * Windows are tested everywhere.
 *
 * @module
 */
import { SpawnError } from "../../protocol/errors.ts";

/** The two families of systems that differ here. */
export type Platform = "posix" | "windows";

/** The names of the variables that a child inherits. */
export const inheritedNames: Readonly<Record<Platform, readonly string[]>> = {
  posix: ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"],
  windows: [
    ...["APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE"],
    ...["PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP"],
    ...["USERNAME", "USERPROFILE"],
  ],
};

/**
 * The environment that a child may have: a short list of harmless names out of `all`, then `extra` over it. Secrets in
 * the parent's environment stay there unless they are named in `extra` (specification: authorization, stdio takes its
 * credentials from the environment).
 *
 * @param platform On Windows names are compared without case, and the spelling of the parent is kept.
 * @param all The parent's environment. Values that begin with `()` are shell functions and are skipped.
 * @param extra What the user sets; it replaces a variable of the same name.
 */
export function safeEnvironment(
  platform: Platform,
  all: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const fold = (name: string) => platform === "windows" ? name.toUpperCase() : name;
  const wanted = new Set(inheritedNames[platform]);
  for (const name of Object.keys(extra)) wanted.delete(fold(name));
  const entries: [string, string][] = [];
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined && !value.startsWith("()") && wanted.has(fold(name))) entries.push([name, value]);
  }
  return Object.fromEntries([...entries, ...Object.entries(extra)]);
}

/** What {@linkcode windowsSpawnPlan} has to know of the machine. */
export interface WindowsLookup {
  /** The `PATH` that the child will have. */
  readonly path: string;
  /** `PATHEXT`; `.COM;.EXE;.BAT;.CMD` without it. */
  readonly pathExtensions?: string | undefined;
  /** `SystemRoot`, where `cmd.exe` is taken from: never from the folder one happens to be in. */
  readonly systemRoot?: string | undefined;
  /** The folder that this process is in. */
  readonly current?: string | undefined;
  /** The folder in which the child starts, maybe seen from `current`: what a relative command is relative to. */
  readonly folder?: string | undefined;
  /** Whether this is a file. */
  isFile(path: string): boolean;
}

/** How a program is started on Windows. */
export interface WindowsSpawnPlan {
  /** The program file. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** True when the arguments are to be joined by spaces as they are, without any further quoting. */
  readonly verbatim: boolean;
}

const runnable = [".com", ".exe", ".bat", ".cmd"];

/**
 * Finds out how to start a command on Windows. A program (`.exe`, `.com`) is started directly. A batch file (`npx`,
 * `uvx.cmd`) needs `cmd.exe`, whose rules let an argument break out ("BatBadBut"): each argument is quoted so that it
 * reaches the program as it is. No other shell is ever involved, and the current folder is not searched.
 *
 * @throws {SpawnError} When a batch file is not there, or an argument for it holds a line break or a NUL, which cannot
 *   be quoted; or when a bare name is in the current folder alone.
 */
export function windowsSpawnPlan(command: string, args: readonly string[], lookup: WindowsLookup): WindowsSpawnPlan {
  const found = findProgram(command, lookup);
  const file = found ?? command;
  // What we cannot see may be on the PATH all the same, so that the system looks too: but first where the child starts.
  if (found === undefined && !/[\\/:]/.test(command) && isIn(startFolder(lookup), command, lookup)) {
    throw new SpawnError(
      `Cannot start "${command}": there is no such program on the PATH, and the current folder is not searched; ` +
        `write ".\\${command}" if the one there is meant`,
    );
  }
  if (!/\.(bat|cmd)[. ]*$/i.test(file)) return { command: file, args, verbatim: false };
  if (found === undefined) {
    throw new SpawnError(
      `Cannot start "${command}": there is no such batch file; give its full path or put it on the PATH`,
    );
  }
  const line = [file, ...args];
  if (line.some((part) => /[\0\r\n]/.test(part)) || /["%]|\\$/.test(file)) {
    throw new SpawnError(
      `Cannot start "${command}": a batch file takes no line breaks in its arguments and no quotes or percent signs in ` +
        "its name; start the program behind it instead",
    );
  }
  const quoted = [`"${file}"`, ...args.map(quoteForBatch)].join(" ");
  const shell = systemProgram("cmd.exe", lookup.systemRoot);
  // No AutoRun, extensions on and delayed expansion off (the quoting counts on both), outer quotes stripped, run and end.
  return { command: shell, args: ["/d", "/e:ON", "/v:OFF", "/s", "/c", `"${quoted}"`], verbatim: true };
}

/** The program that ends the process `pid` and all that it started, as Windows has no process groups to signal. */
export function windowsKillPlan(
  pid: number,
  signal: "SIGTERM" | "SIGKILL",
  systemRoot?: string,
): { command: string; args: string[] } {
  const args = ["/pid", String(pid), "/T"];
  return {
    command: systemProgram("taskkill.exe", systemRoot),
    args: signal === "SIGKILL" ? [...args, "/F"] : args,
  };
}

/** A program of Windows by its full path: a bare name would be looked for in the current folder first. */
export function systemProgram(name: string, systemRoot?: string): string {
  return `${(systemRoot || "C:\\Windows").replace(/\\+$/, "")}\\System32\\${name}`;
}

/**
 * One argument for a batch file. Within quotes `& | < > ( ) ^` mean nothing; `"` is doubled, so that quotes stay paired
 * in both passes of `cmd.exe`; `%` is followed by an expansion that is always empty, so that no variable name is read.
 */
function quoteForBatch(argument: string): string {
  const text = argument
    .replace(/(\\*)("|$)/g, (_, slashes: string, end: string) => slashes + slashes + end + end)
    .replaceAll("%", "%%cd:~,%");
  return `"${text}"`;
}

function findProgram(command: string, lookup: WindowsLookup): string | undefined {
  const listed = (lookup.pathExtensions ?? runnable.join(";")).toLowerCase().split(";");
  const extensions = listed.filter((extension) => runnable.includes(extension));
  const hasExtension = runnable.some((extension) => command.toLowerCase().endsWith(extension));
  const endings = hasExtension ? ["", ...extensions] : extensions;
  for (const folder of searchFolders(command, lookup)) {
    for (const ending of endings) {
      const path = folder + command + ending;
      if (lookup.isFile(path)) return path;
    }
  }
  return undefined;
}

/** Whether the system would find this name in the folder: as it is only where it has an extension. */
function isIn(folder: string, name: string, lookup: WindowsLookup): boolean {
  return [...(name.includes(".") ? [""] : []), ".com", ".exe"].some((ending) => lookup.isFile(folder + name + ending));
}

/** Where to look, each with its final backslash: `PATH` for a bare name, else one place. */
function searchFolders(command: string, lookup: WindowsLookup): string[] {
  if (isRooted(command)) return [""];
  if (/[\\/]/.test(command)) return [startFolder(lookup)];
  const folders = lookup.path.split(";").map((folder) => folder.trim().replace(/^"(.*)"$/, "$1"));
  return folders.filter((folder) => /^(?:[a-z]:[\\/]|[\\/]{2})/i.test(folder)).map(withSlash);
}

/** Where the child starts. Whole: a part of a path would be read from there once more when it is started. */
function startFolder({ current = "", folder = "" }: WindowsLookup): string {
  return isRooted(folder) ? withSlash(folder) : withSlash(current) + withSlash(folder);
}

/** Whether a path begins at a drive or at its root. */
function isRooted(path: string): boolean {
  return /^(?:[a-z]:|[\\/])/i.test(path);
}

function withSlash(folder: string): string {
  return folder === "" || /[\\/]$/.test(folder) ? folder : folder + "\\";
}
