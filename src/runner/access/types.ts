/**
 * Who may do what: what the parts of the runner tell each other about callers and decisions.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";

/** A caller that was verified. */
export interface Principal {
  /** Names the caller within its tenant. */
  readonly id: string;
  /** Whose caller it is: what it asks for is this tenant's unless it says otherwise, and the policy lets it. */
  readonly tenant: string;
  /** What its token allows, by name. */
  readonly scopes?: readonly string[] | undefined;
  /** The program that speaks for it. */
  readonly clientId?: string | undefined;
  /** When the proof of it ends, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
}

/**
 * What can be decided on.
 *
 * - `see`: that a server is there, and how it does (`tool` is empty).
 * - `call`: a tool, by its name at its server; listed is only what may be called.
 * - `read`: a resource by its URI, or a prompt by its name.
 * - `run`: an agent (`server` is empty, `tool` is the agent); and a tool that an agent calls in a run of this principal.
 * - `answer`: a question about a tool, and the approval of a call of it.
 * - `manage`: adding, removing and connecting a server (`tool` is empty); runs of others (`tool` is the agent).
 */
export type Action = "see" | "call" | "read" | "run" | "answer" | "manage";

/** All actions, in the order of {@linkcode Action}. */
export const actions: readonly Action[] = ["see", "call", "read", "run", "answer", "manage"];

/** What a decision is: yes, no, or yes when somebody who may `answer` has approved it. */
export type Effect = "allow" | "deny" | "ask";

/** One thing to decide on. */
export interface AccessQuestion {
  /** Who asks. */
  readonly principal: Principal;
  /** Whose servers, runs and tools they are. */
  readonly tenant: string;
  /** The server's name in its hub; empty where there is none. */
  readonly server: string;
  /** The name of the tool, prompt or agent, or the URI of the resource; empty where the server as a whole is meant. */
  readonly tool: string;
  /** What it is about. */
  readonly action: Action;
}

/**
 * What a principal is called in a tenant: by its id where it is its own; visitors have their tenant before theirs, so that no two are
 * called the same.
 */
export function nameIn({ id, tenant: own }: Principal, tenant: string): string {
  if (own !== tenant) return `@${own.length}:${own}/${id}`;
  return id.startsWith("@") ? `@${id}` : id;
}

/** Decides for one principal in one tenant. It needs nothing more, so it answers at once. */
export type Can = (server: string, tool: string, action: Action) => Effect;

/** Who may do what. It is opened once for each request: one request is judged by one state of its rules. */
export interface Policy {
  /** What a principal may do in a tenant. When it throws, nothing is done. */
  open(principal: Principal, tenant: string): Can | Promise<Can>;
}

/** What became of something that was decided on. */
export type AuditOutcome = Effect | "approved";

/** One decision, for the operator's records: never arguments, results or credentials. */
export interface AuditRow {
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The id of the request, where it came with one. */
  readonly requestId?: string | undefined;
  /** Who has asked. */
  readonly principal: string;
  /** The principal's own tenant. */
  readonly from: string;
  /** The tenant that it was about. */
  readonly tenant: string;
  /** The server; empty where there is none. */
  readonly server: string;
  /** The tool, prompt, agent or URI. */
  readonly tool: string;
  /** What it was about. */
  readonly action: Action;
  /** What was decided. */
  readonly outcome: AuditOutcome;
  /** SHA-256 of the arguments' canonical JSON, in hexadecimal digits, where there are some. */
  readonly argumentsHash?: string | undefined;
}

/** Keeps audit rows. When it cannot, what was decided on is not done. */
export interface AuditLog {
  /** Keeps one row. */
  write(row: AuditRow): void | Promise<void>;
}

/** What a decision is about beside the question. */
export interface DecisionOptions {
  /** What would be sent: its hash goes into the audit row. */
  readonly arguments?: JsonObject | undefined;
}
