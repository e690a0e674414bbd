/**
 * Servers that are written into a config of another folder, and mean there what they meant here.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { basename, delimiter, isAbsolute, resolve } from "node:path";
import type { InputDefinition } from "../../hub/config/mod.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import { inputVariable } from "../target/server_entry.ts";

/**
 * The entry with what is relative to a folder bound to it: `${workspaceFolder}`, a relative `cwd`, and the paths in its
 * words and variables, for which it gets that folder as `cwd`.
 *
 * @param from The folder that it was written for.
 * @param to The folder of the config that it goes into.
 */
export function anchor(entry: JsonObject, from: string, to: string): JsonObject {
  if (resolve(from) === resolve(to)) return entry;
  const bound = withVariables(
    entry,
    (name) => name === "workspaceFolder" ? from : name === "workspaceFolderBasename" ? basename(from) : undefined,
  );
  // Zed once had `command: { path, args, env }`.
  const { path: command, args = bound.args, env = bound.env } = isObject(bound.command)
    ? bound.command
    : { path: bound.command };
  const { cwd } = bound;
  if (typeof command !== "string") return bound;
  // Programs are looked for on the PATH, unless they have a slash.
  const words = [
    ...(/[\\/]/.test(command) ? [command] : []),
    ...(Array.isArray(args) ? args : []),
    ...(isObject(env) ? Object.values(env) : []),
  ];
  const folder = typeof cwd !== "string"
    ? words.some((word) => isPathIn(word, from)) && from
    : !isAbsolute(cwd) && !cwd.startsWith("${") && resolve(from, cwd);
  return folder ? { ...bound, cwd: folder } : bound;
}

/**
 * The entry with the variables that stand for what an editor would ask for: the questions themselves stay behind in its file.
 *
 * @returns Undefined where a default cannot be written into a variable.
 */
export function unasked(entry: JsonObject, inputs: readonly InputDefinition[]): JsonObject | undefined {
  let isSound = true;
  const changed = withVariables(entry, (name) => {
    const [, id] = /^input:([\w.-]+)$/.exec(name) ?? [];
    if (id === undefined) return undefined;
    const usual = inputs.find((input) => input.id === id)?.default;
    if (usual !== undefined && /[$}]/.test(usual)) isSound = false;
    return `\${${inputVariable(id)}${usual === undefined ? "" : `:-${usual}`}}`;
  });
  return isSound ? changed : undefined;
}

/** The entry with other texts for some of its variables; undefined leaves one as it is. */
function withVariables(entry: JsonObject, replace: (name: string) => string | undefined): JsonObject {
  // `$${` is `${` itself.
  return withTexts(
    entry,
    (text) =>
      text.replace(
        /(\$*)\$\{([^}]*)\}/g,
        (all, before: string, name: string) => before === "" ? replace(name) ?? all : all,
      ),
  );
}

function withTexts(entry: JsonObject, change: (text: string) => string): JsonObject {
  const changed = (value: JsonValue | undefined): JsonValue | undefined => {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return value.map((item) => changed(item) ?? null);
    return isObject(value) ? withTexts(value, change) : value;
  };
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, changed(value)]));
}

/** Whether a word, or what stands behind its `=`, names something in the folder: by itself, in a list of paths, or in a URL. */
function isPathIn(word: unknown, folder: string): boolean {
  if (typeof word !== "string") return false;
  const value = word.startsWith("-") ? word.slice(word.indexOf("=") + 1) : word;
  // Of "sqlite:///x.db" what follows the third slash is relative too, for many who read it.
  const [, inUrl = ""] = /^\w[\w+.-]+:(?:\/\/\/)?([^?#]+)/.exec(value) ?? [];
  const list = /^\w[\w+.-]+:\/\//.test(value) ? [] : value.split(delimiter);
  return [value, inUrl, ...list].some((path) =>
    path !== "" && !path.startsWith("-") && !path.includes("${") && !isAbsolute(path) &&
    existsSync(resolve(folder, path))
  );
}
