/**
 * The operator's config as it is now: read from KV every few seconds, in each isolate.
 *
 * @module
 */
import type { Logger } from "../../src/ports.ts";
import { createKeyStore } from "../../src/runner/access/keys.ts";
import type { KeyStore, Policy, TenantQuotas } from "../../src/runner/mod.ts";
import { ask } from "../../src/runner/rest/problem.ts";
import { createKvStore } from "../../src/runtime/stores/kv_store.ts";
import type { RunnerEnv } from "../env.ts";
import { readOperatorConfig } from "./config.ts";
import type { OperatorConfig } from "./config.ts";

/** How long what was read is good, in milliseconds: KV itself may take a minute. */
const fresh = 5_000;
/** Under this name it is in KV. */
const name = "config";

/** Who decides here. Whatever cannot be read is 503: nothing is done by an old config for longer than its time. */
export class Operator {
  /** Keys of the config, and those that are in KV under `causeway:key/<hash>`. */
  readonly keys: KeyStore;
  /** The rules of the config, as they are when it is opened. */
  readonly policy: Policy;
  readonly #env: RunnerEnv;
  readonly #logger: Logger | undefined;
  #kept: {
    readonly at: number;
    readonly turn: number;
    readonly text: string;
    readonly config: OperatorConfig;
  } | undefined;
  /** Counts what was begun to be read. */
  #turn = 0;

  constructor(env: RunnerEnv, logger?: Logger) {
    this.#env = env;
    this.#logger = logger;
    const stored = createKeyStore(createKvStore(env.CONFIG));
    this.keys = {
      find: (hash) =>
        this.#by(({ keys }) => {
          const known = keys.find(hash);
          return known instanceof Promise
            ? known.then((record) => record ?? stored.find(hash))
            : known ?? stored.find(hash);
        }),
    };
    this.policy = { open: (principal, tenant) => this.#by(({ policy }) => policy.open(principal, tenant)) };
  }

  /** The config. @throws {Refusal} 503 when it cannot be read, or makes no sense. */
  config(): OperatorConfig | Promise<OperatorConfig> {
    const kept = this.#kept;
    const age = kept ? Date.now() - kept.at : fresh;
    // A clock that was turned back makes nothing fresh.
    if (kept && age >= 0 && age < fresh) return kept.config;
    return ask("The config", () => this.#read(), this.#logger);
  }

  /** By the config, at once where it was read a moment ago. */
  #by<Value>(use: (config: OperatorConfig) => Value | Promise<Value>): Value | Promise<Value> {
    const config = this.config();
    return config instanceof Promise ? config.then(use) : use(config);
  }

  /** The quotas of a tenant, by what was read last. */
  quotas(tenant: string): Partial<TenantQuotas> {
    return this.#kept?.config.quotas(tenant) ?? {};
  }

  async #read(): Promise<OperatorConfig> {
    const { CONFIG, CONFIG_JSON, RUNNER_SECRET: _, ...rest } = this.#env;
    const turn = ++this.#turn;
    const text = await CONFIG.get(name) ?? (CONFIG_JSON || "{}");
    const kept = this.#kept;
    // Who began later has read what is newer.
    if (kept && kept.turn > turn) return kept.config;
    const variables = Object.fromEntries(
      Object.entries(rest).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
    const config = kept?.text === text ? kept.config : readOperatorConfig(text, variables);
    this.#kept = { at: Date.now(), turn, text, config };
    return config;
  }
}
