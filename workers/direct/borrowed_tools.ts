/**
 * What an isolate has borrowed from the object of one tenant.
 *
 * @module
 */
import type { CatalogTool } from "../../src/hub/seam.ts";
import { sha256 } from "../../src/protocol/web_crypto.ts";
import type { Lease } from "../../src/runner/mod.ts";
import type { RunnerEnv } from "../env.ts";
import type { TenantSettings } from "../operator/config.ts";
import type { DirectTenantHub } from "./direct_hub.ts";
import { askTenant, loanTime } from "./loan.ts";
import type { Loan } from "./loan.ts";

/** Requests that are asked for at first, and at most; and bytes for each of them. */
const first = 16;
const most = 4_096;
const bytesOfOne = 65_536;
/** Calls under way that are asked for. */
const places = 64;
/** How long others wait for one who borrows, in milliseconds: its request may have ended in the middle. */
const patience = 5_000;

/** The tools of a tenant that may be called here, and how often. */
export class BorrowedTools {
  readonly #tenant: string;
  #hub: DirectTenantHub | undefined;
  /** The settings and the tools that `#hub` was made of. */
  #settings: string | undefined;
  #version: string | undefined;
  #requests = 0;
  #bytes = 0;
  #places = 0;
  #until = 0;
  /** Requests that were asked for last; 0: nothing was to be had. */
  #wanted: number = first;
  #underWay = 0;
  #busyUntil = 0;
  /** Counts what was asked. */
  #turn = 0;

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  /** Whether nothing is under way, and nothing of a loan is left. */
  get isIdle(): boolean {
    return this.#underWay === 0 && !this.#isNow;
  }

  /** Whether it is time to borrow. What was refused is not asked for again before its time. */
  isDue({ text }: TenantSettings): boolean {
    const now = Date.now();
    if (this.#busyUntil > now && this.#busyUntil <= now + patience) return false;
    return this.#settings !== text || !this.#isNow || (this.#requests <= 0 && this.#wanted > 0);
  }

  /** A tool that may be called here, by the name that it has among all tools of the tenant. */
  find(name: string, { text }: TenantSettings): CatalogTool | undefined {
    const isGood = this.#settings === text && this.#isNow;
    return isGood && this.#isLeft ? this.#hub?.find(name) : undefined;
  }

  /** Whether a loan is good. A clock that was turned back makes none longer. */
  get #isNow(): boolean {
    const left = this.#until - Date.now();
    return left > 0 && left <= loanTime;
  }

  get #isLeft(): boolean {
    return this.#requests > 0 && this.#bytes > 0 && this.#underWay < this.#places;
  }

  /**
   * Takes one call; undefined when others were faster.
   *
   * @param bytesOf Its bytes, when it is over.
   */
  take(bytesOf: () => number): Lease | undefined {
    const hub = this.#hub;
    if (!hub || !this.#isLeft) return undefined;
    this.#requests--;
    this.#underWay++;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#underWay--;
      this.#bytes -= bytesOf();
    };
    return { hub, release, part: (_key, make) => make() };
  }

  /**
   * Borrows anew: four times as much when all was used before its time, little when little was.
   *
   * @throws {Error} When the object cannot be asked. It is not asked again for ten seconds then.
   */
  async borrow(env: RunnerEnv, settings: TenantSettings): Promise<void> {
    const begun = Date.now();
    const isUsedUp = this.#wanted > 0 && this.#isNow && this.#requests <= 0;
    const isTooMuch = this.#wanted === 0 || this.#requests * 2 > this.#wanted;
    const wanted = isUsedUp ? Math.min(most, this.#wanted * 4) : isTooMuch ? first : this.#wanted;
    const left = { requests: Math.max(0, this.#requests), bytes: this.#bytes };
    const isKnown = this.#settings === settings.text;
    const turn = ++this.#turn;
    this.#busyUntil = begun + patience;
    this.#requests =
      this.#bytes =
      this.#places =
      this.#wanted =
        0;
    // What calls by other settings must not be left over where nothing can be borrowed.
    if (!isKnown) this.#hub = this.#version = undefined;
    this.#settings = settings.text;
    this.#until = begun + loanTime;
    try {
      const loan = await askTenant(env, this.#tenant, {
        ask: "lend",
        wanted: { requests: wanted, bytes: wanted * bytesOfOne, concurrent: places },
        left,
        known: isKnown ? this.#version : undefined,
      }) as Loan;
      const { requests, bytes, concurrent } = loan.allowance;
      const isTaken = await this.#accept(loan, turn, { env, settings });
      // Also what cannot be used was lent: it is given back with the next question.
      this.#requests += requests;
      this.#bytes += bytes;
      if (!isTaken) return;
      this.#places = concurrent;
      if (requests > 0) this.#wanted = wanted;
    } finally {
      if (turn === this.#turn) this.#busyUntil = 0;
    }
  }

  /** Whether there is a hub of what was lent now: the last question alone counts. */
  async #accept(
    { settings: lentBy, tools, version }: Loan,
    turn: number,
    { env, settings }: { readonly env: RunnerEnv; readonly settings: TenantSettings },
  ): Promise<boolean> {
    // Where the two have read different configs, the object answers.
    const isSame = lentBy === await sha256(settings.text);
    let hub: DirectTenantHub | undefined;
    if (isSame && tools) {
      // It is wanted now, and not when the isolate starts.
      const { createDirectHub } = await import("./direct_hub.ts");
      hub = await createDirectHub(tools, { env, tenant: this.#tenant, servers: settings.servers });
    }
    if (turn !== this.#turn) return false;
    if (!isSame) this.#hub = this.#version = undefined;
    else if (hub) {
      this.#hub = hub;
      this.#version = version;
    }
    this.#hub?.trust();
    return this.#hub !== undefined;
  }
}
