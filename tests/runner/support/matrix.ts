/**
 * The matrix of who may do what: 3 principals, 3 tenants, 4 servers, 5 tools, 6 actions, each cell looked up in a table that is
 * written without the policy's own words.
 *
 * @module
 */
import { actions } from "../../../src/runner/access/types.ts";
import type { Action, Effect } from "../../../src/runner/access/types.ts";
import type { AccessRule, ApiKeyRecord } from "../../../src/runner/mod.ts";

export const principals: Readonly<Record<string, ApiKeyRecord>> = {
  /** Looks after her own tenant, and may read in another one. */
  ada: { principal: "ada", tenant: "red" },
  /** Works in his own tenant, with some things left out. */
  bob: { principal: "bob", tenant: "green" },
  /** A visitor. */
  eve: { principal: "eve", tenant: "blue" },
};
export const tenants: readonly string[] = ["red", "green", "blue"];
export const servers: readonly string[] = ["files", "mail", "bank", "web"];
export const tools: readonly string[] = ["list", "send", "drop", "pay", "find"];

/** The rules. */
export const rules: readonly AccessRule[] = [
  { principals: ["ada"], effect: "allow" },
  { principals: ["ada"], servers: ["bank"], tools: ["pay"], actions: ["call", "run"], effect: "ask" },
  { principals: ["ada"], tenants: ["green"], servers: ["files"], actions: ["see", "read"], effect: "allow" },
  { principals: ["bob"], servers: ["files", "mail", "web"], actions: ["see", "call", "run"], effect: "allow" },
  { principals: ["bob"], tools: ["d*p"], actions: ["call", "run"], effect: "deny" },
  { principals: ["bob"], servers: ["mail"], tools: ["send"], actions: ["call", "answer"], effect: "ask" },
  { principals: ["bob"], servers: ["files"], actions: ["read"], effect: "allow" },
  { principals: ["eve"], servers: ["w*"], actions: ["see"], effect: "allow" },
  { principals: ["eve"], servers: ["w*"], tools: ["find"], actions: ["call"], effect: "allow" },
];

/** One cell. */
export interface Cell {
  readonly principal: string;
  readonly tenant: string;
  readonly server: string;
  readonly tool: string;
  readonly action: Action;
}

/** All 1,080 of them. */
export function cells(): Cell[] {
  return Object.keys(principals).flatMap((principal) =>
    tenants.flatMap((tenant) =>
      servers.flatMap((server) =>
        tools.flatMap((tool) => actions.map((action) => ({ principal, tenant, server, tool, action })))
      )
    )
  );
}

/**
 * What the table says: rows of a principal in a tenant, columns of servers; in each field letters of what is allowed (`s` see,
 * `c` call, `r` read, `u` run, `a` answer, `m` manage), a capital where it wants an approval, for the tools in their order.
 */
const table: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "ada red": {
    files: ["scruam", "scruam", "scruam", "scruam", "scruam"],
    mail: ["scruam", "scruam", "scruam", "scruam", "scruam"],
    bank: ["scruam", "scruam", "scruam", "sCrUam", "scruam"],
    web: ["scruam", "scruam", "scruam", "scruam", "scruam"],
  },
  "ada green": { files: ["sr", "sr", "sr", "sr", "sr"] },
  "bob green": {
    files: ["scru", "scru", "sr", "scru", "scru"],
    mail: ["scu", "sCuA", "s", "scu", "scu"],
    web: ["scu", "scu", "s", "scu", "scu"],
  },
  "eve blue": { web: ["s", "s", "s", "s", "sc"] },
};
const letters: Readonly<Record<Action, string>> = {
  ...{ see: "s", call: "c", read: "r", run: "u", answer: "a", manage: "m" },
};

/** What holds for a cell. Seeing a server is about the server as a whole: the tool changes nothing. */
export function expected({ principal, tenant, server, tool, action }: Cell): Effect {
  const field = table[`${principal} ${tenant}`]?.[server]?.[tools.indexOf(tool)] ?? "";
  const letter = letters[action];
  return field.includes(letter) ? "allow" : field.includes(letter.toUpperCase()) ? "ask" : "deny";
}
