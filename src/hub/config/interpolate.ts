/**
 * Fills in what a config leaves open: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`, `${userHome}`,
 * `${workspaceFolder}`, `${workspaceFolderBasename}`, `${pathSeparator}` and `${/}`. `$${` is `${` itself.
 *
 * @module
 */
import { didYouMean } from "./nearest.ts";
import { quoted } from "./problems.ts";
import type { InputDefinition, Platform } from "./types.ts";

/** What can be filled in. */
export interface Variables {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly inputs: Readonly<Record<string, string | undefined>>;
  readonly definitions: ReadonlyMap<string, InputDefinition>;
  readonly platform: Platform;
  readonly home?: string | undefined;
  readonly folder?: string | undefined;
}

/** A text with everything filled in, or why that cannot be done; the words are only made when they are wanted. */
export type Filled =
  | { readonly text: string; readonly secrets: readonly string[] }
  | { readonly wrong: () => string };

type Found = { readonly value: string; readonly secret?: boolean } | { readonly wrong: () => string };

/** Variables that say where and who one is: their values stand in every path, so they are no secrets. */
const harmless =
  /^(home|homedrive|homepath|userprofile|user|username|logname|path|shell|term|lang|pwd|tmpdir|temp|tmp|appdata|localappdata|programdata|programfiles|programfiles\(x86\)|systemroot|systemdrive|xdg_\w+)$/i;

/**
 * Fills a text in. What came in is not looked at again, so a value may hold `${`. One pass.
 *
 * @param text As it stands in the config.
 */
export function fillIn(text: string, variables: Variables): Filled {
  const secrets: string[] = [];
  let result = "";
  let at = 0;
  for (let open = text.indexOf("${"); open >= 0; open = text.indexOf("${", at)) {
    if (open > at && text[open - 1] === "$") {
      result += text.slice(at, open - 1) + "${";
      at = open + 2;
      continue;
    }
    const close = text.indexOf("}", open);
    if (close < 0) {
      return { wrong: () => 'a "${" is not closed: write "}" after the name, or "$${" for the characters' };
    }
    const found = lookUp(text.slice(open + 2, close), variables);
    if ("wrong" in found) return found;
    if (found.secret && found.value !== "") secrets.push(found.value);
    result += text.slice(at, open) + found.value;
    at = close + 1;
  }
  return { text: result + text.slice(at), secrets };
}

/** The value of a variable of the environment; on Windows whatever its case. Undefined when it is missing or empty. */
function readVariable(
  name: string,
  { environment, platform }: Pick<Variables, "environment" | "platform">,
): string | undefined {
  const exact: unknown = environment[name];
  if (typeof exact === "string" && exact !== "") return exact;
  if (platform !== "windows") return undefined;
  const other = Object.keys(environment).find((key) => key.toUpperCase() === name.toUpperCase());
  return other === undefined ? undefined : environment[other] || undefined;
}

function lookUp(inner: string, variables: Variables): Found {
  const { home, folder, platform } = variables;
  const separator = platform === "windows" ? "\\" : "/";
  if (inner.startsWith("input:")) return lookUpInput(inner.slice(6), variables);
  if (inner === "userHome") {
    return place(home ?? readVariable(platform === "windows" ? "USERPROFILE" : "HOME", variables), inner);
  }
  if (inner === "workspaceFolder") return place(folder, inner);
  if (inner === "workspaceFolderBasename") return place(folder?.split(/[\\/]/).findLast((part) => part !== ""), inner);
  if (inner === "pathSeparator" || inner === "/") return { value: separator };
  const [, name, otherwise] = /^(?:env:)?([A-Za-z_][\w.()]*)(?::-([^$]*))?$/.exec(inner) ?? [];
  if (name !== undefined) {
    const value = readVariable(name, variables);
    if (value !== undefined) return { value, secret: !harmless.test(name) };
    if (otherwise !== undefined) return { value: otherwise };
    return { wrong: () => whyMissing(name, variables) };
  }
  return { wrong: () => whyUnknown(inner) };
}

function whyMissing(name: string, { environment }: Variables): string {
  const near = didYouMean(name, nearNames(name, environment));
  const remedy = `set it, or write "\${${name.slice(0, 60)}:-default}"`;
  return `the environment variable ${quoted(name)} is not set${near}: ${remedy}`;
}

function lookUpInput(id: string, { inputs, definitions }: Variables): Found {
  const definition = definitions.get(id);
  const given: unknown = Object.hasOwn(inputs, id) ? inputs[id] : undefined;
  const value = typeof given === "string" ? given : definition?.default;
  if (value === undefined) {
    if (definition) return { wrong: () => `the input ${quoted(id)} was not answered: give its value` };
    return {
      wrong: () => {
        const near = didYouMean(id, definitions.keys());
        return `there is no input ${quoted(id)}${near}: define it in "inputs", or give its value`;
      },
    };
  }
  if (definition?.options && !definition.options.includes(value)) {
    const options = definition.options.slice(0, 9);
    return {
      wrong: () =>
        `the answer to the input ${quoted(id)} is no choice: expected one of ${options.map(quoted).join(", ")}`,
    };
  }
  return { value, secret: true };
}

function place(value: string | undefined, name: string): Found {
  return value === undefined ? { wrong: () => `"\${${name}}" is not known here: write the path itself` } : { value };
}

/** Values may stand after the first sign that is no letter, so nothing behind it is shown. */
function whyUnknown(inner: string): string {
  const name = /^(?:env:)?[A-Za-z_]\w{0,60}/.exec(inner)?.[0] ?? "";
  const start = inner.indexOf(":-");
  if (start >= 0 && inner.includes("$", start)) {
    return 'a default holds a "$": expected plain text between ":-" and "}"';
  }
  if (inner.includes("${")) return 'a variable stands inside of another one: expected a name between "${" and "}"';
  if (name !== "" && /^(-|:?[=?+])|^:[^-]/.test(inner.slice(name.length)) && !/^(file|command|config):/.test(inner)) {
    return `"\${${name}…}" cannot be read: a default is written "\${${name}:-default}"`;
  }
  return `"\${${name}${name === inner ? "" : "…"}}" is no variable that is known here: ` +
    'expected "${NAME}", "${env:NAME}" or "${input:id}"';
}

/** Of a large environment the names that begin alike: what is shown is a name that exists, so few are enough. */
function nearNames(name: string, environment: Readonly<Record<string, string | undefined>>): string[] {
  const start = name.slice(0, 2).toUpperCase();
  return Object.keys(environment).filter((key) => key.slice(0, 2).toUpperCase() === start).slice(0, 50);
}
