/**
 * One server of a config: from what stands there to what a hub can use.
 *
 * @module
 */
import { isLoopbackHost } from "../../../egress/address.ts";
import { urlWithoutQuery } from "../../../egress/redact.ts";
import { isObject, isTexts } from "../../../protocol/json_rpc.ts";
import type { LocalServer } from "../../seam.ts";
import { Entry } from "./entry.ts";
import type { EntryContext } from "./entry.ts";
import { checkFieldNames, misspelled } from "./fields.ts";
import { isCredentialName, isHeaderName, isHeaderValue, isReservedHeader } from "./headers.ts";
import { didYouMean } from "../nearest.ts";
import { kindOf, quoted } from "../problems.ts";
import { readSettings } from "./settings.ts";
import { readSignIn } from "./sign_in.ts";
import type { ReadServer } from "../types.ts";
import { readUrl } from "../../../egress/url.ts";

type Kind = "stdio" | "http" | "ws";

/** The kinds of servers, by what editors call them without dashes and case. */
const kinds: ReadonlyMap<string, Kind> = new Map([
  ["stdio", "stdio"],
  ["local", "stdio"],
  ["http", "http"],
  ["streamablehttp", "http"],
  ["remote", "http"],
  ["sse", "http"],
  ["ws", "ws"],
  ["websocket", "ws"],
]);
const urlFields = ["httpUrl", "serverUrl", "url", "baseUrl"] as const;
const schemes: Readonly<Record<Kind, readonly string[]>> = {
  stdio: [],
  http: ["https:", "http:"],
  ws: ["wss:", "ws:"],
};
const anyScheme = "https:, http:, wss: or ws:";

/**
 * Reads one server.
 *
 * @returns Undefined when it cannot be used: why is among the problems.
 */
export function readServer(name: string, value: unknown, context: EntryContext): ReadServer | undefined {
  const fields = isObject(value) ? flattened(value) : {};
  const entry = new Entry(name, fields, context, fields.disabled === true || fields.enabled === false);
  if (!isObject(value)) {
    entry.error([], () => `expected { "command": … } or { "url": … }, found ${kindOf(value)}`);
    return undefined;
  }
  const disabled = isDisabled(entry);
  checkFieldNames(entry);
  const kind = readKind(entry);
  const reached = entry.has("command") ? readProgram(entry, kind) : readAddress(entry, kind);
  const settings = readSettings(entry);
  if (entry.failed || !reached) return undefined;
  return { ...reached, ...settings, ...(disabled && { disabled }), secrets: [...entry.secrets] };
}

/** Zed once had `command: { path, args, env }`. */
function flattened(fields: Record<string, unknown>): Record<string, unknown> {
  const { command } = fields;
  if (!isObject(command)) return fields;
  const { path, args, env, ...others } = command;
  return {
    ...others,
    ...fields,
    command: path,
    ...(args !== undefined && { args }),
    ...(env !== undefined && { env }),
  };
}

function isDisabled(entry: Entry): boolean {
  const disabled = entry.flag("disabled");
  const enabled = entry.flag("enabled");
  if (disabled !== undefined && disabled === enabled) {
    entry.error(["enabled"], () => `it is ${enabled}, and so is "disabled": keep one of the two`);
  }
  return disabled ?? enabled === false;
}

function readKind(entry: Entry): Kind | undefined {
  const field = entry.has("type") ? "type" : "transport";
  const value = entry.value(field);
  if (value === undefined) return undefined;
  const kind = typeof value === "string" ? kinds.get(value.toLowerCase().replace(/[-_ ]/g, "")) : undefined;
  if (kind === undefined) {
    entry.error([field], () => {
      if (typeof value !== "string") return `expected "stdio", "http", "sse" or "ws", found ${kindOf(value)}`;
      const near = didYouMean(value, ["stdio", "http", "sse", "ws"]);
      return `${quoted(value)} is no type of server${near}: expected "stdio", "http", "sse" or "ws"`;
    });
  }
  return kind;
}

function readProgram(entry: Entry, kind: Kind | undefined): LocalServer | undefined {
  const url = urlFields.find((field) => entry.has(field));
  if (url !== undefined) entry.error([url], () => 'it stands beside "command": keep one of the two');
  else if (kind === "http" || kind === "ws") {
    entry.error(["type"], () => 'it does not fit to "command": expected "stdio"');
  }
  const command = entry.text(["command"], entry.value("command"));
  const args = readArguments(entry);
  const env = entry.record("env", checkVariable, isCredentialName);
  const cwd = entry.has("cwd") ? entry.text(["cwd"], entry.value("cwd")) : undefined;
  if (command === undefined) return undefined;
  if (/^[^\\/]*\s/.test(command.trim())) {
    entry.warn(["command"], () => 'it holds spaces, and no shell splits it: put what follows the program into "args"');
  }
  return { command, args, env, ...(cwd !== undefined && { cwd: absolute(cwd, entry.variables.folder) }) };
}

function readArguments(entry: Entry): string[] {
  const given = entry.value("args") ?? [];
  if (!Array.isArray(given)) {
    const remedy = typeof given === "string" ? ': write it in brackets, as in ["…"]' : "";
    entry.error(["args"], () => `expected a list of texts, found ${kindOf(given)}${remedy}`);
    return [];
  }
  const args = given.map((item: unknown, index) => entry.fill(["args", String(index)], item));
  return isTexts(args) ? args : [];
}

function checkVariable(name: string): string | undefined {
  return name === "" || /[=\0]/.test(name) ? 'this is no name of a variable: expected one without "="' : undefined;
}

/** A relative folder is meant from that of the workspace. */
function absolute(path: string, folder: string | undefined): string {
  if (folder === undefined || /^([\\/]|[A-Za-z]:[\\/])/.test(path)) return path;
  const separator = folder.includes("\\") ? "\\" : "/";
  return folder.replace(/[\\/]$/, "") + separator + path;
}

function readAddress(entry: Entry, kind: Kind | undefined): ReadServer | undefined {
  const [field, other] = urlFields.filter((name) => entry.has(name));
  if (field === undefined || kind === "stdio") {
    whyNowhere(entry, kind, field);
    return undefined;
  }
  if (other !== undefined) entry.error([other], () => `it stands beside "${field}": keep one of the two`);
  const template = entry.value(field);
  const filled = entry.text([field], template);
  const url = filled === undefined ? undefined : checkUrl(entry, { field, kind, filled, template: String(template) });
  const headers = readHeaders(entry);
  const { signIn, token } = readSignIn(entry);
  if (token !== undefined) {
    if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) {
      entry.error(["auth"], () => 'it stands beside the header "Authorization": keep one of the two');
    }
    headers.Authorization = `Bearer ${token}`;
  }
  if (url === undefined) return undefined;
  return { url, ...(Object.keys(headers).length > 0 && { headers }), ...(signIn && { signIn }), secrets: [] };
}

function whyNowhere(entry: Entry, kind: Kind | undefined, field: string | undefined): void {
  if (entry.value("source") === "extension") {
    entry.error([], () => "an extension of Zed brings it along: it cannot be used from here", "unsupported");
  } else if (kind === "stdio") {
    const hint = field === undefined ? "" : `; for a "${field}" the type is "http"`;
    const near = misspelled(entry, ["command"]);
    entry.error([], () => `"command" is missing${near}: a server of type "stdio" is started by one${hint}`);
  } else if (kind !== undefined) {
    entry.error([], () => `"url" is missing${misspelled(entry, urlFields)}: a server of this type is at a URL`);
  } else {
    const near = misspelled(entry, ["command", ...urlFields]);
    entry.error([], () => `it has neither a "command" nor a "url"${near}: write one of them`);
  }
}

function checkUrl(
  entry: Entry,
  { field, kind, filled, template }: { field: string; kind: Kind | undefined; filled: string; template: string },
): string | undefined {
  const shown = quoted(urlWithoutQuery(template));
  const wrong = (say: () => string): undefined => {
    entry.error([field], say);
    return undefined;
  };
  if (/[\s\p{Cc}]/u.test(filled)) return wrong(() => `${shown} holds white space or control characters: take them out`);
  const url = readUrl(filled);
  const allowed = kind === undefined ? [...schemes.http, ...schemes.ws] : schemes[kind];
  if (!url || !allowed.includes(url.protocol) || url.hostname === "") {
    return wrong(() => {
      if (!/^[a-z][\w+.-]*:\/\//i.test(template) && /^[\w-]+(\.[\w-]+)*(:\d+)?(\/|$)/.test(template)) {
        const scheme = /^(localhost|127\.)/.test(template) ? "http" : "https";
        return `${shown} has no scheme: write ${quoted(`${scheme}://${urlWithoutQuery(template)}`)}`;
      }
      const wanted = kind === undefined ? anyScheme : `${allowed.join(" or ")} for its type`;
      return `${shown} is no URL that can be connected to: expected ${wanted}`;
    });
  }
  if (url.username !== "" || url.password !== "") {
    return wrong(() => `${shown} carries a user name or a password: send them in "headers" instead`);
  }
  if (/^(http|ws):$/.test(url.protocol) && !isLoopbackHost(url.hostname)) {
    const secure = url.protocol.replace(":", "s:");
    entry.warn([field], () => `${shown} is reached without encryption: use ${secure} if it can`, "plain-text");
  }
  return filled;
}

function readHeaders(entry: Entry): Record<string, string> {
  const seen = new Map<string, string>();
  const headers = entry.record("headers", (name, value) => {
    const other = seen.get(name.toLowerCase());
    seen.set(name.toLowerCase(), name);
    // A value may be a secret: it is never shown.
    if (!isHeaderName(name)) return "this is no name of a header: expected letters, digits and dashes";
    if (other !== undefined) return `it is the same header as ${quoted(other)}: keep one of the two`;
    if (!isHeaderValue(value)) {
      return "its value holds characters that cannot be sent: expected visible ones of Latin-1, spaces and tabs";
    }
    return undefined;
  }, isCredentialName);
  // Many write Accept or Content-Type, as the examples of servers do: that is harmless, and not theirs to say.
  for (const name of Object.keys(headers).filter(isReservedHeader)) {
    entry.warn(["headers", name], () => "the protocol writes this header itself, so it is left out: take it out");
    delete headers[name];
  }
  return headers;
}
