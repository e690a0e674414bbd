/**
 * What a person approves of a tool: what a model sees of it, and where it comes from.
 *
 * @module
 */
import { urlWithoutQuery } from "../../protocol/excerpt.ts";
import { isObject, type JsonObject } from "../../protocol/json_rpc.ts";
import type { Tool } from "../../protocol/types.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { canonicalJson } from "./canonical.ts";
import { findHidden, type Hidden, visible } from "./hidden.ts";
import { readUrl } from "../../egress/url.ts";

/** Where a server is: an entry of a config will do. Other fields do not count. */
export interface ServerIdentity {
  /** Its URL. The fragment does not count. */
  readonly url?: string | undefined;
  /** Who issues the tokens for it. */
  readonly issuer?: string | undefined;
  /** The program that is started. */
  readonly command?: string | undefined;
  /** What it is started with. */
  readonly args?: readonly string[] | undefined;
}

/** An identity as it may be kept and shown: queries and arguments may hold secrets, so only a digest stands for them. */
export interface KnownIdentity {
  /** The SHA-256 of the whole, in hexadecimal digits. */
  readonly digest: string;
  /** What of it may be shown. */
  readonly shown: string;
}

/** Where something hidden is in a tool. */
export interface HiddenIn extends Hidden {
  /** Which text: `description`, `inputSchema.properties.a`. */
  readonly path: string;
}

/** The text that stands for a server; undefined when it says neither where it is nor what is started. */
export function identityText({ url, issuer, command, args = [] }: ServerIdentity): string | undefined {
  if (typeof url === "string" && url !== "") {
    return canonicalJson({ url: readUrl(url)?.href.replace(/#.*$/s, "") ?? url, issuer });
  }
  return typeof command === "string" && command !== ""
    ? canonicalJson({ command, args: [...args], issuer })
    : undefined;
}

/** What is kept of an identity. */
export async function knownIdentity(identity: ServerIdentity, text: string): Promise<KnownIdentity> {
  const { url, issuer, command = "", args = [] } = identity;
  const at = url ? urlWithoutQuery(url) : `${command}${args.length > 0 ? ` (arguments: ${args.length})` : ""}`;
  return { digest: await sha256(text), shown: visible(issuer ? `${at}, issuer ${urlWithoutQuery(issuer)}` : at) };
}

/** What a model sees of a tool, `x-mcp-header` included: it stands in the schema. */
export function definitionOf(
  { name, title, description, inputSchema, outputSchema, annotations }: Tool,
): JsonObject {
  return { name, title, description, inputSchema, outputSchema, annotations: annotations as JsonObject | undefined };
}

/** The SHA-256 of what is approved, in hexadecimal digits. */
export function fingerprintOf(identityDigest: string, definition: string): Promise<string> {
  return sha256(`${identityDigest}\n${definition}`);
}

/** What a person has to see to approve a tool: JSON with all its characters. `restore` gives back exactly what the model sees. */
export function showDefinition(tool: Tool): string {
  return visible(JSON.stringify(definitionOf(tool), undefined, 2));
}

/** The texts of a tool, names of members too, that hold something that no screen shows. */
export function hiddenIn(tool: Tool): HiddenIn[] {
  const found: HiddenIn[] = [];
  const look = (path: string, text: string): void => {
    const hidden = findHidden(text);
    if (hidden.count > 0) found.push({ path, ...hidden });
  };
  walk(definitionOf(tool), "", look);
  return found;
}

function walk(value: unknown, path: string, look: (path: string, text: string) => void): void {
  if (typeof value === "string") return look(path, value);
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    const step = stepTo(path, Array.isArray(value) ? Number(name) : name);
    if (isObject(value)) look(step, name);
    walk(inner, step, look);
  }
}

/** A path with one step more, all of it visible. */
export function stepTo(path: string, step: string | number): string {
  if (typeof step === "number") return `${path}[${step}]`;
  if (/^[\w$-]+$/.test(step)) return path === "" ? step : `${path}.${step}`;
  return `${path}[${visible(JSON.stringify(step))}]`;
}
