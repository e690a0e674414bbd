/**
 * Policies: rules as data, or a function.
 *
 * @module
 */
import { createMatcher } from "../../hub/pins/glob.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { actions } from "./types.ts";
import type { AccessQuestion, Action, Can, Effect, Policy, Principal } from "./types.ts";

/** One rule. What it does not name, it holds for, except tenants: there it is the principal's own. In each list `*` stands for any characters. */
export interface AccessRule {
  /** Ids of principals (all). */
  readonly principals?: readonly string[] | undefined;
  /** Tenants (the principal's own). `["*"]` is every tenant. */
  readonly tenants?: readonly string[] | undefined;
  /** Names of servers (all, and what has no server). */
  readonly servers?: readonly string[] | undefined;
  /** Names of tools, prompts and agents, URIs of resources (all, and the server as a whole). */
  readonly tools?: readonly string[] | undefined;
  /** What it is about (all). */
  readonly actions?: readonly Action[] | undefined;
  /** A scope that the principal's token has to have (none). */
  readonly scope?: string | undefined;
  /** What holds then. Of several rules `deny` comes first, then `ask`, then `allow`. */
  readonly effect: Effect;
}

const lists = ["principals", "tenants", "servers", "tools", "actions"] as const;
const effects: readonly unknown[] = ["allow", "deny", "ask"];

type Matcher = ReturnType<typeof createMatcher>;

interface ReadRule {
  readonly principals: Matcher | undefined;
  readonly tenants: Matcher | undefined;
  readonly servers: Matcher | undefined;
  readonly tools: Matcher | undefined;
  readonly actions: readonly Action[];
  readonly scope: string | undefined;
  readonly effect: Effect;
}

/** Allows nothing. A policy that gives this very function for a tenant says that the principal has no business there: nothing of it is opened. */
export function denyAll(): Effect {
  return "deny";
}

/**
 * Makes a policy of rules or of a function. What no rule speaks of is denied; so is what a function gives that is no effect. A
 * function is asked about other tenants than the principal's own too: whether it may go there is for the function to say.
 *
 * @throws {TypeError} When a rule has a field or value that is not known.
 *
 * @example Reading is free, and deleting wants somebody's yes
 * ```ts
 * import { createPolicy } from "@causeway/mcp/runner";
 *
 * const policy = createPolicy([
 *   { actions: ["see", "read", "call"], effect: "allow" },
 *   { servers: ["github"], tools: ["delete_*"], actions: ["call"], effect: "ask" },
 * ]);
 * const can = await policy.open({ id: "ada", tenant: "acme" }, "acme");
 * console.assert(can("github", "delete_branch", "call") === "ask");
 * console.assert(can("github", "list_issues", "manage") === "deny");
 * ```
 */
export function createPolicy(
  given: readonly AccessRule[] | ((question: AccessQuestion) => Effect),
): Policy {
  if (typeof given === "function") {
    return {
      open: (principal, tenant) => (server, tool, action) =>
        checked(given({ principal, tenant, server, tool, action })),
    };
  }
  if (!Array.isArray(given)) throw new TypeError("Cannot make a policy: expected a list of rules, or a function");
  const rules = given.map(readRule);
  return {
    open(principal, tenant) {
      const own = rules.filter((rule) => isAbout(rule, principal, tenant));
      return own.some(({ effect }) => effect !== "deny") ? canOf(own) : denyAll;
    },
  };
}

function checked(effect: unknown): Effect {
  return effect === "allow" || effect === "ask" ? effect : "deny";
}

function canOf(rules: readonly ReadRule[]): Can {
  // A request asks for the same more than once.
  let last:
    | { readonly server: string; readonly tool: string; readonly action: Action; readonly effect: Effect }
    | undefined;
  // A list has the tools of one server side by side.
  let near: { readonly server: string; readonly action: Action; readonly rules: readonly ReadRule[] } | undefined;
  return (server, tool, action) => {
    if (last?.server === server && last.tool === tool && last.action === action) return last.effect;
    if (near?.server !== server || near.action !== action) {
      near = { server, action, rules: rules.filter((rule) => speaksOf(rule, server, action)) };
    }
    const effect = strictest(near.rules.filter(({ tools }) => tools?.([tool]) ?? true));
    last = { server, tool, action, effect };
    return effect;
  };
}

function speaksOf({ actions, servers }: ReadRule, server: string, action: Action): boolean {
  return actions.includes(action) && (servers?.([server]) ?? true);
}

/** The strictest of what some rules say. */
function strictest(rules: readonly ReadRule[]): Effect {
  let found: Effect = "deny";
  for (const { effect } of rules) {
    if (effect === "deny") return "deny";
    if (found !== "ask") found = effect;
  }
  return found;
}

function isAbout(rule: ReadRule, principal: Principal, tenant: string): boolean {
  if (rule.scope !== undefined && !principal.scopes?.includes(rule.scope)) return false;
  if (!(rule.tenants?.([tenant]) ?? principal.tenant === tenant)) return false;
  return rule.principals?.([principal.id]) ?? true;
}

function readRule(given: unknown, at: number): ReadRule {
  const fail = (what: string) => new TypeError(`Cannot use the rule ${at}: ${what}`);
  if (!isObject(given)) throw fail("expected an object");
  const { effect, scope, actions: wanted = actions } = given;
  if (!effects.includes(effect)) {
    throw fail(`"effect" is ${JSON.stringify(effect)}, expected "allow", "deny" or "ask"`);
  }
  for (const field of Object.keys(given)) {
    if (field !== "effect" && field !== "scope" && !lists.some((list) => list === field)) {
      throw fail(`"${field}" is not known, expected ${lists.join(", ")}, scope or effect`);
    }
  }
  if (scope !== undefined && (typeof scope !== "string" || !scope)) throw fail('"scope" is no text');
  const patterns = (field: (typeof lists)[number]): Matcher | undefined => {
    const list = given[field];
    if (list === undefined) return undefined;
    try {
      return createMatcher(list as readonly string[]);
    } catch (error) {
      throw fail(`"${field}": ${error instanceof Error ? error.message : ""}`);
    }
  };
  const wrong = Array.isArray(wanted) ? wanted.find((name) => !actions.includes(name)) : wanted;
  if (!Array.isArray(wanted) || wrong !== undefined) {
    throw fail(`"actions" holds ${JSON.stringify(wrong)}, expected some of ${actions.join(", ")}`);
  }
  return {
    principals: patterns("principals"),
    tenants: patterns("tenants"),
    servers: patterns("servers"),
    tools: patterns("tools"),
    actions: wanted as readonly Action[],
    scope: scope as string | undefined,
    effect: effect as Effect,
  };
}
