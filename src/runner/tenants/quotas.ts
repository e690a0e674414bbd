/**
 * How much each tenant may use. What one has used up is no business of the others.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import { fillIn } from "../../protocol/limits.ts";
import { tooMuch } from "../rest/problem.ts";

/** What a tenant may use. */
export interface TenantQuotas {
  /** Runs that have not ended (100). */
  readonly runs: number;
  /** Requests a minute; as many may come at once (1,200). */
  readonly requestsPerMinute: number;
  /** Bytes of bodies that come and go, a minute (268,435,456). */
  readonly bytesPerMinute: number;
  /** Requests and streams under way (200). */
  readonly concurrent: number;
  /** Servers that it has added (50). */
  readonly servers: number;
  /** Bytes that are kept for it (67,108,864). */
  readonly storedBytes: number;
}

/** What holds for a tenant that nothing is said of. */
export const defaultQuotas: TenantQuotas = {
  runs: 100,
  requestsPerMinute: 1_200,
  bytesPerMinute: 268_435_456,
  concurrent: 200,
  servers: 50,
  storedBytes: 67_108_864,
};

/** The quotas of all tenants, or of each. */
export type QuotaOptions = Partial<TenantQuotas> | ((tenant: string) => Partial<TenantQuotas> | undefined);

/** How many tenants are remembered at least before those that use nothing are forgotten. */
const mostRemembered = 10_000;

interface Use {
  readonly quotas: TenantQuotas;
  requests: number;
  bytes: number;
  underWay: number;
  at: number;
  /** The last change of its runs and servers: they come one after the other. */
  turn: Promise<unknown>;
}

/** What tenants have used. */
export class Quotas {
  readonly #of: (tenant: string) => TenantQuotas;
  readonly #clock: Clock;
  readonly #used = new Map<string, Use>();

  /** @throws {RangeError} When a quota is no number from 0 on. */
  constructor(options: QuotaOptions | undefined, clock: Clock) {
    this.#clock = clock;
    const read = (given: Partial<TenantQuotas> | undefined): TenantQuotas => {
      const quotas = fillIn(defaultQuotas, given);
      for (const [name, value] of Object.entries(quotas)) {
        if (!(value >= 0)) throw new RangeError(`Cannot use the quota "${name}": it is ${value}, expected 0 or more`);
      }
      return quotas;
    };
    const shared = typeof options === "function" ? undefined : read(options);
    this.#of = (tenant) => shared ?? read(typeof options === "function" ? options(tenant) : options);
  }

  /** What a tenant may use. */
  of(tenant: string): TenantQuotas {
    return this.#use(tenant).quotas;
  }

  /**
   * Takes one request.
   *
   * @returns Called when it is over.
   * @throws {Refusal} 429 when there are too many.
   */
  enter(tenant: string): () => void {
    const use = this.#use(tenant);
    const { requestsPerMinute, bytesPerMinute, concurrent } = use.quotas;
    if (use.underWay >= concurrent) {
      throw tooMuch("too_many_at_once", `This tenant has ${concurrent} requests under way, and may have no more`, 1);
    }
    if (use.requests < 1) {
      const seconds = 60 * (1 - use.requests) / requestsPerMinute;
      throw tooMuch("too_many_requests", `This tenant may send ${requestsPerMinute} requests a minute`, seconds);
    }
    if (use.bytes <= 0) {
      const seconds = 60 * (1 - use.bytes) / bytesPerMinute;
      throw tooMuch("too_many_bytes", `This tenant may move ${bytesPerMinute} bytes a minute`, seconds);
    }
    use.requests--;
    use.underWay++;
    let isOver = false;
    return () => {
      if (!isOver) use.underWay--;
      isOver = true;
    };
  }

  /** Counts bytes that came or went: what is over the quota holds up the next request. */
  count(tenant: string, bytes: number): void {
    this.#use(tenant).bytes -= bytes;
  }

  /** Does one thing after the other for a tenant, so that what was counted still holds when something is added. */
  inTurn<Value>(tenant: string, work: () => Promise<Value>): Promise<Value> {
    const use = this.#use(tenant);
    const done = use.turn.then(work, work);
    use.turn = done.catch(() => {});
    return done;
  }

  #use(tenant: string): Use {
    const now = this.#clock.monotonic();
    let use = this.#used.get(tenant);
    if (!use) {
      if (this.#used.size >= mostRemembered) this.#forget();
      const quotas = this.#of(tenant);
      const { requestsPerMinute: requests, bytesPerMinute: bytes } = quotas;
      use = { quotas, requests, bytes, underWay: 0, at: now, turn: Promise.resolve() };
      this.#used.set(tenant, use);
    }
    const minutes = (now - use.at) / 60_000;
    const { requestsPerMinute, bytesPerMinute } = use.quotas;
    use.requests = Math.min(requestsPerMinute, use.requests + minutes * requestsPerMinute);
    use.bytes = Math.min(bytesPerMinute, use.bytes + minutes * bytesPerMinute);
    use.at = now;
    return use;
  }

  /** Those that have nothing under way and have rested for a minute have a full quota anyway. */
  #forget(): void {
    const before = this.#clock.monotonic() - 60_000;
    for (const [tenant, { underWay, at }] of this.#used) {
      if (underWay === 0 && at <= before) this.#used.delete(tenant);
    }
  }
}
