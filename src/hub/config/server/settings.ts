/**
 * How a server of a config is used: its times, its tools, what needs approval.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import { defaultTimeouts } from "../../../protocol/limits.ts";
import type { ServerSettings, ToolFilter } from "../../seam.ts";
import type { Entry } from "./entry.ts";
import { didYouMean } from "../nearest.ts";
import { kindOf, quoted } from "../problems.ts";
import type { ServerNotes } from "../types.ts";

const longest = 2 ** 31 - 1;
const milliseconds = { least: 1, most: longest, what: "milliseconds", whole: false };
const pause = { least: 0, most: longest, what: "milliseconds", whole: false };
const retries = { least: 0, most: 1_000, what: "a whole number", whole: true };
const calls = { least: 1, most: 10_000, what: "a whole number", whole: true };

/** Reads what is the same for programs and URLs. */
export function readSettings(entry: Entry): ServerSettings & Omit<ServerNotes, "secrets"> {
  const timeout = readTimeout(entry);
  const maxRetries = entry.number("maxRetries", retries);
  const retryDelay = entry.number("retryDelay", pause);
  const concurrency = entry.number("concurrency", calls);
  const tools = readTools(entry);
  const approved = readApproved(entry);
  const idempotent = entry.has("idempotent") ? entry.names(["idempotent"], entry.value("idempotent")) : undefined;
  const pins = readPins(entry);
  const era = readEra(entry);
  return {
    ...(timeout !== undefined && { timeout, timeouts: callTimes(timeout) }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(retryDelay !== undefined && { retryDelay }),
    ...(concurrency !== undefined && { concurrency }),
    ...(tools && { tools }),
    ...(approved !== undefined && { approved }),
    ...(idempotent && { idempotent }),
    ...(pins && { pins }),
    ...(era && { verdict: { era } }),
  };
}

/** Milliseconds. Cline and Roo Code write seconds (60 by themselves), which would be no time for any server. */
function readTimeout(entry: Entry): number | undefined {
  const given = entry.number("timeout", milliseconds);
  if (given === undefined || given >= 1_000) return given;
  entry.warn(["timeout"], () => `${given} is taken for seconds: milliseconds would be ${given * 1_000}`);
  return given * 1_000;
}

/**
 * Editors mean calls: each sign of life begins the time anew, so a longer time only raises the bound of the whole. Over HTTP the
 * first sign may be the whole answer.
 */
function callTimes(timeout: number): { headers: number; idle: number; total: number } {
  return { headers: timeout, idle: timeout, total: Math.max(timeout, defaultTimeouts.total) };
}

/** Our `tools`, the list of Copilot, and the fields of Gemini, Windsurf and others. */
function readTools(entry: Entry): ToolFilter | undefined {
  const allow: string[] = [];
  const deny: string[] = [];
  const add = (target: string[], field: readonly string[], value: unknown): boolean =>
    value !== undefined && target.push(...entry.names(field, value) ?? []) >= 0;
  const given = entry.value("tools");
  let isLimited = false;
  if (Array.isArray(given)) isLimited = add(allow, ["tools"], given);
  else if (isObject(given)) {
    isLimited = add(allow, ["tools", "allow"], given.allow ?? undefined);
    add(deny, ["tools", "deny"], given.deny ?? undefined);
    for (const field of Object.keys(given).filter((name) => name !== "allow" && name !== "deny")) {
      const say = () => `unknown field${didYouMean(field, ["allow", "deny"])}: expected "allow" or "deny"`;
      entry.warn(["tools", field], say, "unknown-field");
    }
  } else if (given !== undefined) {
    entry.error(["tools"], () => `expected a list of names, or { "allow": […], "deny": […] }, found ${kindOf(given)}`);
  }
  for (const field of ["includeTools", "allowedTools"]) {
    isLimited = add(allow, [field], entry.value(field)) || isLimited;
  }
  for (const field of ["excludeTools", "blockedTools", "disabledTools"]) add(deny, [field], entry.value(field));
  if (!isLimited && deny.length === 0) return undefined;
  return { ...(isLimited && { allow }), ...(deny.length > 0 && { deny }) };
}

/** `trust` of Gemini, and lists of tools that need no approval. */
function readApproved(entry: Entry): true | readonly string[] | undefined {
  let approved: string[] | undefined;
  for (const field of ["autoApprove", "alwaysAllow"]) {
    if (entry.has(field)) approved = [...approved ?? [], ...entry.names([field], entry.value(field)) ?? []];
  }
  return entry.flag("trust") || approved?.includes("*") ? true : approved;
}

/** A server of the older era that waits, or ends, at a question from before it is greeted: it is not asked what it speaks. */
function readEra(entry: Entry): "legacy" | undefined {
  const era = entry.value("era");
  if (era === undefined || era === "legacy") return era;
  const found = typeof era === "string" ? quoted(era) : kindOf(era);
  entry.error(["era"], () => `expected "legacy" (up to 2025-11-25), found ${found}: leave it out for all others`);
  return undefined;
}

function readPins(entry: Entry): Record<string, string> | undefined {
  const value = entry.value("pins");
  if (value === undefined) return undefined;
  if (!isObject(value)) {
    entry.error(["pins"], () => `expected { "tool": "sha256:…" }, found ${kindOf(value)}`);
    return undefined;
  }
  const pins: [string, string][] = [];
  for (const [tool, digest] of Object.entries(value)) {
    if (typeof digest === "string" && /^(sha256[:-])?[\da-f]{64}$/i.test(digest)) pins.push([tool, digest]);
    else entry.error(["pins", tool], () => "this is no SHA-256: expected 64 hexadecimal digits");
  }
  return Object.fromEntries(pins);
}
