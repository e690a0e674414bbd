/**
 * Sign-ins to servers that are under way: whose they are is found by the state that the person comes back with.
 *
 * @module
 */
import type { Clock, Logger, Store } from "../../ports.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { ask } from "../rest/problem.ts";
import { TenantList } from "./tenant_list.ts";
import { readUrl } from "../../egress/url.ts";

const patience = 600_000;
/** How many of a tenant wait at most: the oldest are forgotten. */
const most = 50;

/** A sign-in that waits for its person. */
export interface WaitingSignIn {
  readonly tenant: string;
  readonly server: string;
  /** The hash of what the browser holds that began it, where one did: another one may not finish it. */
  readonly browser?: string | undefined;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

interface Known {
  readonly key: string;
  readonly expiresAt: number;
}

/** Sign-ins that wait. */
export class SignIns {
  readonly #parts: { readonly store: Store; readonly clock: Clock; readonly logger: Logger | undefined };
  readonly #list: TenantList<Known>;

  constructor(parts: { readonly store: Store; readonly clock: Clock; readonly logger: Logger | undefined }) {
    this.#parts = parts;
    this.#list = new TenantList({ ...parts, name: "sign-ins", isSound: ({ key }) => typeof key === "string" });
  }

  /** Keeps whose sign-in an address is for. */
  async keep(authorizationUrl: string, signIn: Omit<WaitingSignIn, "expiresAt">): Promise<void> {
    const state = readUrl(authorizationUrl)?.searchParams.get("state");
    if (!state) return;
    const { store, clock, logger } = this.#parts;
    const expiresAt = clock.now() + patience;
    const key = await keyOf(state);
    let over: readonly Known[] = [];
    await this.#list.change(signIn.tenant, (known) => {
      const now = clock.now();
      const alive = known.filter((other) => other.expiresAt > now && other.key !== key);
      const kept = [...alive, { key, expiresAt }].slice(-most);
      over = known.filter((other) => !kept.some((one) => one.key === other.key));
      return kept;
    });
    await ask("The store of sign-ins", async () => {
      for (const { key } of over) await store.delete(key);
      await store.set(key, JSON.stringify({ ...signIn, expiresAt } satisfies WaitingSignIn));
    }, logger);
  }

  /** Forgets all sign-ins of a tenant. */
  async clear(tenant: string): Promise<void> {
    const { store, logger } = this.#parts;
    const known = await this.#list.read(tenant);
    await ask("The store of sign-ins", async () => {
      for (const { key } of known) await store.delete(key);
    }, logger);
    await this.#list.clear(tenant);
  }

  /**
   * Finds a sign-in, once; undefined when none waits for this state.
   *
   * @param judge Throws where somebody else has to finish it: then it waits on.
   */
  async take(state: string, judge: (signIn: WaitingSignIn) => Promise<void>): Promise<WaitingSignIn | undefined> {
    const { store, clock, logger } = this.#parts;
    const key = await keyOf(state);
    return await ask("The store of sign-ins", async () => {
      // Many a store says null.
      const text = await store.get(key) ?? undefined;
      if (text === undefined) return undefined;
      const found = JSON.parse(text) as WaitingSignIn;
      const isAlive = found.expiresAt > clock.now();
      if (isAlive) await judge(found);
      await store.delete(key);
      // It is good once, so nothing more may fail now: what stays in the list goes when its time is over.
      await this.#list.change(found.tenant, (known) => known.filter((other) => other.key !== key)).catch(() => {});
      return isAlive ? found : undefined;
    }, logger);
  }
}

async function keyOf(state: string): Promise<string> {
  return `sign-in/${await sha256(state)}`;
}
