/**
 * Calls of tools that the Worker makes by itself: the way through the tenant's object costs more than the call. The object lends it a part of
 * the quotas and its list of tools for ten seconds; whatever needs more than that goes to the object.
 *
 * @module
 */
import type { Call, Can, Lease } from "../../src/runner/mod.ts";
import type { RunnerEnv } from "../env.ts";
import { logger } from "../operator/log.ts";
import type { OperatorConfig, TenantSettings } from "../operator/config.ts";
import type { Operator } from "../operator/operator.ts";
import { BorrowedTools } from "./borrowed_tools.ts";

/** What models know a tool by. */
const qualified = /^[\w-]{1,64}$/;
/** How many tenants are remembered before those that have nothing under way are forgotten. */
const mostTenants = 1_000;

/** The calls that an isolate makes by itself. Nothing that belongs to one request is kept for another. */
export class DirectCalls {
  readonly #env: RunnerEnv;
  readonly #operator: Operator;
  readonly #tenants = new Map<string, BorrowedTools>();

  constructor(env: RunnerEnv, operator: Operator) {
    this.#env = env;
    this.#operator = operator;
  }

  /** The hub for a call; undefined where the object has to answer. At once where nothing has to be read or borrowed. */
  lease(call: Call): Lease | undefined | Promise<Lease | undefined> {
    const { tenant, principal, params: { name = "" }, request } = call;
    // Who asks pays: quotas of another tenant are in another object. What was approved is written down in this one, and other names for a
    // tool are known to it alone.
    if (principal.tenant !== tenant || request.headers.has("causeway-approval") || !qualified.test(name)) {
      return undefined;
    }
    const config = this.#operator.config();
    const can = call.can();
    if (config instanceof Promise || can instanceof Promise) return this.#leaseLater(call, config, can);
    const settings = config.tenant(tenant);
    const borrowed = this.#of(tenant);
    if (borrowed.isDue(settings)) return this.#leaseLater(call, config, can);
    return take(call, { borrowed, settings, can });
  }

  async #leaseLater(
    call: Call,
    config: OperatorConfig | Promise<OperatorConfig>,
    can: Can | Promise<Can>,
  ): Promise<Lease | undefined> {
    const settings = (await config).tenant(call.tenant);
    const borrowed = this.#of(call.tenant);
    if (borrowed.isDue(settings)) await this.#borrow(borrowed, settings);
    return take(call, { borrowed, settings, can: await can });
  }

  async #borrow(borrowed: BorrowedTools, settings: TenantSettings): Promise<void> {
    try {
      await borrowed.borrow(this.#env, settings);
    } catch (error) {
      // The object is asked for the call itself, and its answer is what counts.
      logger({ level: "warning", message: "Nothing could be borrowed from a tenant's object", fields: { error } });
    }
  }

  #of(tenant: string): BorrowedTools {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    if (this.#tenants.size >= mostTenants) {
      for (const [name, { isIdle }] of this.#tenants) if (isIdle) this.#tenants.delete(name);
    }
    const made = new BorrowedTools(tenant);
    this.#tenants.set(tenant, made);
    return made;
  }
}

/** Takes one call, where the tool is lent and may be called. */
function take(
  call: Call,
  { borrowed, settings, can }: {
    readonly borrowed: BorrowedTools;
    readonly settings: TenantSettings;
    readonly can: Can;
  },
): Lease | undefined {
  const tool = borrowed.find(call.params.name ?? "", settings);
  if (!tool || can(tool.server, tool.name, "call") !== "allow") return undefined;
  return borrowed.take(() => call.bytes);
}
