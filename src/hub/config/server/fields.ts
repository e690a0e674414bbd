/**
 * The fields that a server of a config may have, and who reads them.
 *
 * @module
 */
import { nearest } from "../nearest.ts";
import type { Entry } from "./entry.ts";
import { quoted } from "../problems.ts";

/** Fields that are read here. */
const used: readonly string[] = [
  ...["type", "transport", "command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "baseUrl", "headers"],
  ...["disabled", "enabled", "timeout", "maxRetries", "retryDelay", "concurrency", "tools", "idempotent", "pins"],
  ...["autoApprove", "alwaysAllow", "trust", "auth", "oauth", "era"],
  ...["includeTools", "excludeTools", "allowedTools", "blockedTools", "disabledTools"],
];

/** Fields of editors that mean nothing here. */
const passedOver: readonly string[] = [
  ...["name", "description", "displayName", "icon", "gallery", "version", "dev", "watchPaths", "extensionName"],
  ...["source", "settings", "alwaysLoad", "autoStart", "registry", "metadata"],
];

/** Fields of editors without which a server may not work, or does more than its owner wants, and what to do instead. */
const unsupported: ReadonlyMap<string, string> = new Map([
  ["envFile", 'put its variables into "env", or set them before'],
  ["headersHelper", 'set what it gives as a variable, and write "${NAME}" in "headers"'],
  ["sandbox", "nothing is sandboxed here"],
  ["sandboxEnabled", "nothing is sandboxed here"],
  ["authProviderType", 'use "auth" or "headers"'],
  ["targetAudience", 'use "auth" or "headers"'],
  ["targetServiceAccount", 'use "auth" or "headers"'],
  ["tcp", 'use "url" with ws: or http:'],
]);

/** What people write for fields that have another name, in small letters without dashes. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["arguments", "args"],
  ["cmd", "command"],
  ["endpoint", "url"],
  ["environment", "env"],
  ["enviroment", "env"],
  ["executable", "command"],
  ["uri", "url"],
  ["workingdirectory", "cwd"],
]);

/** Fields that belong to programs, and those that belong to URLs. */
const ofPrograms: readonly string[] = ["args", "env", "cwd"];
const ofUrls: readonly string[] = ["headers", "auth", "oauth"];

/** Warns of fields that nobody knows, that nobody here heeds, and that do not belong to such a server. */
export function checkFieldNames(entry: Entry): void {
  const isProgram = entry.has("command");
  const strangers = isProgram ? ofUrls : ofPrograms;
  for (const field of Object.keys(entry.fields)) {
    const remedy = unsupported.get(field);
    if (remedy !== undefined && entry.has(field)) {
      entry.warn([field], () => `it is not heeded here: ${remedy}`, "unsupported");
    } else if (strangers.includes(field) && entry.has(field)) {
      entry.warn(
        [field],
        () => isProgram ? 'a program is sent no headers: use "env"' : "a server at a URL is not started: take it out",
        "unsupported",
      );
    } else if (!isKnown(field)) {
      entry.warn(
        [field],
        () => {
          const meant = meantBy(field, used);
          const hint = meant === undefined ? "" : ` (did you mean "${meant}"?)`;
          return `unknown field${hint}: correct its name or take it out`;
        },
        "unknown-field",
      );
    }
  }
}

/** ` (did you mean "command" where it says "comand"?)`, when a field looks like one of those that are missing. */
export function misspelled(entry: Entry, wanted: readonly string[]): string {
  for (const field of Object.keys(entry.fields).slice(0, 50)) {
    const found = isKnown(field) ? undefined : meantBy(field, wanted);
    if (found !== undefined) return ` (did you mean "${found}" where it says ${quoted(field)}?)`;
  }
  return "";
}

function meantBy(field: string, wanted: readonly string[]): string | undefined {
  const other = otherNames.get(field.slice(0, 30).toLowerCase().replace(/[-_ ]/g, ""));
  return other !== undefined && wanted.includes(other) ? other : nearest(field, wanted);
}

/** Comments are written as fields, too. */
function isKnown(field: string): boolean {
  return used.includes(field) || passedOver.includes(field) || unsupported.has(field) ||
    /^(\/\/|\$|#|_(?!_proto__$))/.test(field);
}
