/**
 * What the operator of a runner decides: keys, rules, servers and schedules, as one JSON object.
 *
 * @module
 */
import { isObject, isTexts } from "../../src/protocol/json_rpc.ts";
import { createKeyList } from "../../src/runner/access/keys.ts";
import { createPolicy } from "../../src/runner/access/policy.ts";
import type { AccessRule, ApiKeyRecord, KeyStore, Policy, TenantQuotas } from "../../src/runner/mod.ts";
import type { AgentSettings } from "../agents.ts";
import { readServer } from "./servers.ts";
import type { ConfiguredServer, Variables } from "./servers.ts";

/** A run that is started by the clock. */
export interface Schedule {
  /** Names it: letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** When: one of the `crons` of `wrangler.toml`, letter by letter. */
  readonly cron: string;
  readonly tenant: string;
  /** Whose run it is: the policy has to let them run the agent. */
  readonly principal: string;
  readonly agent: string;
  readonly input: string;
}

/** What holds for one tenant. */
export interface TenantSettings {
  /** Its servers. */
  readonly servers: Readonly<Record<string, ConfiguredServer>>;
  readonly agents: AgentSettings;
  /** What it was made of: another text is another setting. Secret. */
  readonly text: string;
}

/** A config that was read. */
export interface OperatorConfig {
  readonly keys: KeyStore;
  readonly policy: Policy;
  readonly schedules: readonly Schedule[];
  quotas(tenant: string): Partial<TenantQuotas>;
  tenant(name: string): TenantSettings;
}

const fields: readonly string[] = ["keys", "rules", "servers", "agents", "quotas", "tenants", "schedules"];
const tenantFields: readonly string[] = ["servers", "agents", "quotas"];
const agentFields: readonly string[] = [
  "readOnly",
  "trustHintsOf",
  "idempotent",
  "approve",
  "onUnknown",
  "instructions",
];
const quotaFields: readonly string[] = [
  "runs",
  "requestsPerMinute",
  "bytesPerMinute",
  "concurrent",
  "servers",
  "storedBytes",
];

/**
 * Reads a config. What it does not say is nothing: no keys, nothing allowed, no servers.
 *
 * @param text JSON: `{ keys, rules, servers, agents, quotas, tenants: { name: { servers, agents, quotas } }, schedules }`. In
 * `servers` variables (`${TOKEN}`) are the Worker's own.
 * @param variables Those.
 * @throws {TypeError} When it is no JSON, or a field is wrong: it is named.
 */
export function readOperatorConfig(text: string, variables: Variables): OperatorConfig {
  const config = objectOf(parse(text), "The config", fields);
  const { keys = [], rules = [], schedules = [] } = config;
  if (!Array.isArray(keys)) throw wrong("keys", "a list of { hash, principal, tenant }");
  if (!Array.isArray(schedules)) throw wrong("schedules", "a list");
  const shared = readPart(config, "", variables);
  const given = objectOf(config.tenants ?? {}, '"tenants"');
  const tenants = new Map(
    Object.entries(given).map(([name, part]) => {
      const at = `tenants.${name}`;
      return [name, readPart(objectOf(part, `"${at}"`, tenantFields), `${at}.`, variables)];
    }),
  );
  const common = settingsOf(shared);
  const settings = new Map<Part, TenantSettings>();
  return {
    keys: createKeyList(keys as (ApiKeyRecord & { hash: string })[]),
    // It looks at each rule.
    policy: createPolicy(rules as AccessRule[]),
    schedules: readSchedules(schedules),
    quotas: (tenant) => ({ ...shared.quotas, ...tenants.get(tenant)?.quotas }),
    tenant(name) {
      const own = tenants.get(name);
      if (!own) return common;
      const made = settings.get(own) ?? settingsOf(shared, own);
      settings.set(own, made);
      return made;
    },
  };
}

interface Part {
  readonly servers: Readonly<Record<string, ConfiguredServer>>;
  readonly agents: AgentSettings;
  readonly quotas: Partial<TenantQuotas>;
}

function settingsOf(shared: Part, own?: Part): TenantSettings {
  const agents = { ...shared.agents, ...own?.agents };
  const servers = { ...shared.servers, ...own?.servers };
  return { servers, agents, text: JSON.stringify([servers, agents]) };
}

function readPart(given: Record<string, unknown>, at: string, variables: Variables): Part {
  const quotas = objectOf(given.quotas ?? {}, `"${at}quotas"`, quotaFields);
  for (const [name, value] of Object.entries(quotas)) {
    if (typeof value !== "number" || !(value >= 0)) throw wrong(`${at}quotas.${name}`, "a number from 0 on");
  }
  const agents = objectOf(given.agents ?? {}, `"${at}agents"`, agentFields);
  const { approve, onUnknown, instructions, ...lists } = agents;
  if (approve !== undefined && approve !== "ask" && approve !== "deny" && approve !== "allow") {
    throw wrong(`${at}agents.approve`, '"ask", "deny" or "allow"');
  }
  if (onUnknown !== undefined && onUnknown !== "ask" && onUnknown !== "tell" && onUnknown !== "fail") {
    throw wrong(`${at}agents.onUnknown`, '"ask", "tell" or "fail"');
  }
  if (instructions !== undefined && typeof instructions !== "string") throw wrong(`${at}agents.instructions`, "a text");
  for (const [name, value] of Object.entries(lists)) {
    if (!isTexts(value)) throw wrong(`${at}agents.${name}`, "a list of texts");
  }
  const servers = Object.entries(objectOf(given.servers ?? {}, `"${at}servers"`)).map(([name, server]) => {
    if (!/^[\w.-]{1,64}$/.test(name)) throw wrong(`${at}servers.${name}`, 'a name of letters, digits, ".", "_", "-"');
    return [name, readServer(server, `${at}servers.${name}`, variables)];
  });
  return { servers: Object.fromEntries(servers), agents, quotas };
}

/** The key of a start has the name in it: two of one name would be the same start. */
function readSchedules(given: readonly unknown[]): readonly Schedule[] {
  const schedules = given.map(readSchedule);
  const names = schedules.map(({ name, tenant, principal }) => JSON.stringify([name, tenant, principal]));
  const again = names.findIndex((name, at) => names.indexOf(name) < at);
  if (again >= 0) throw wrong(`schedules[${again}].name`, "another one than those before it");
  return schedules;
}

function readSchedule(given: unknown, at: number): Schedule {
  const schedule = objectOf(given, `"schedules[${at}]"`);
  const { name, cron, tenant, principal, agent, input, ...rest } = schedule;
  for (const [field, value] of Object.entries({ name, cron, tenant, principal, agent, input })) {
    if (typeof value !== "string" || value === "") throw wrong(`schedules[${at}].${field}`, "a text");
  }
  if (!/^[\w.-]{1,64}$/.test(String(name))) throw wrong(`schedules[${at}].name`, 'letters, digits, ".", "_", "-"');
  for (const field of Object.keys(rest)) throw new TypeError(`"schedules[${at}].${field}" is not known`);
  return given as Schedule;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TypeError("The config is no JSON", { cause });
  }
}

function objectOf(value: unknown, what: string, known?: readonly string[]): Record<string, unknown> {
  if (!isObject(value)) throw new TypeError(`${what} is no object`);
  const strange = known && Object.keys(value).find((field) => !known.includes(field));
  if (strange !== undefined) throw new TypeError(`${what} has "${strange}", expected ${known?.join(", ")}`);
  return value;
}

function wrong(field: string, expected: string): TypeError {
  return new TypeError(`"${field}" of the config is wrong, expected ${expected}`);
}
