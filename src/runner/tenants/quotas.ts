/**
 * How much each tenant may use. What one has used up is no business of the others.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import { fillIn } from "../../protocol/limits.ts";
import { checkAmount } from "../amount.ts";
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
const defaultQuotas: TenantQuotas = {
  runs: 100,
  requestsPerMinute: 1_200,
  bytesPerMinute: 268_435_456,
  concurrent: 200,
  servers: 50,
  storedBytes: 67_108_864,
};

/** A part of what a tenant may use, for another isolate to use. */
export interface Allowance {
  /** Requests. */
  readonly requests: number;
  /** Bytes of bodies that come and go. */
  readonly bytes: number;
  /** Requests under way. */
  readonly concurrent: number;
}

/** The quotas of all tenants, or of each. */
export type QuotaOptions = Partial<TenantQuotas> | ((tenant: string) => Partial<TenantQuotas> | undefined);

/** How many tenants are remembered at least before those that use nothing are forgotten. */
const mostRemembered = 10_000;

/** How long what was read of the quotas is good, in milliseconds. */
const freshFor = 1_000;

/** What is counted before something is added. */
export type Counted = "runs" | "servers";

interface Use {
  quotas: TenantQuotas;
  /** When they were read. */
  readAt: number;
  requests: number;
  bytes: number;
  underWay: number;
  /** Places that others have, until a time. */
  lent: readonly { readonly until: number; readonly places: number }[];
  at: number;
  /** The last change of its runs, and of its servers: each comes after the one before it. */
  readonly turns: Record<Counted, Promise<unknown>>;
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
        checkAmount(name, value, 0);
      }
      return quotas;
    };
    const shared = typeof options === "function" ? undefined : read(options);
    this.#of = (tenant) => shared ?? read(typeof options === "function" ? options(tenant) : options);
  }

  /** What a tenant may use. */
  of(tenant: string): TenantQuotas {
    return this.#read(tenant).quotas;
  }

  /**
   * Takes one request.
   *
   * @returns Called when it is over.
   * @throws {Refusal} 429 when there are too many.
   */
  enter(tenant: string): () => void {
    const use = this.#read(tenant);
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
    (this.#used.get(tenant) ?? this.#use(tenant)).bytes -= bytes;
  }

  /**
   * Lets another isolate use a part of what is left: it counts as used from now on.
   *
   * @param wanted So much at most, and never more than half of what is left.
   * @param milliseconds How long the places are held for it.
   */
  lend(tenant: string, wanted: Allowance, milliseconds: number): Allowance {
    const use = this.#read(tenant);
    const half = (left: number, most: number): number => Math.max(0, Math.floor(Math.min(left / 2, most)));
    const lent: Allowance = {
      requests: half(use.requests, wanted.requests),
      bytes: half(use.bytes, wanted.bytes),
      concurrent: half(use.quotas.concurrent - use.underWay, wanted.concurrent),
    };
    use.requests -= lent.requests;
    use.bytes -= lent.bytes;
    use.underWay += lent.concurrent;
    use.lent = [...use.lent, { until: use.at + milliseconds, places: lent.concurrent }];
    return lent;
  }

  /** Takes back what was lent and not used; its places come back by themselves. */
  takeBack(tenant: string, { requests, bytes }: Pick<Allowance, "requests" | "bytes">): void {
    const use = this.#use(tenant);
    use.requests += requests;
    use.bytes += bytes;
  }

  /**
   * Does one thing after the other for a tenant, so that what was counted still holds when something is added. A server that is slow to
   * answer holds up no run.
   */
  inTurn<Value>(tenant: string, counted: Counted, work: () => Promise<Value>): Promise<Value> {
    const { turns } = this.#use(tenant);
    const done = turns[counted].then(work, work);
    turns[counted] = done.catch(() => {});
    return done;
  }

  /** As they are now: who changes them need not wait until the tenant is forgotten. */
  #read(tenant: string): Use {
    const use = this.#use(tenant);
    if (use.at - use.readAt >= freshFor) {
      use.quotas = this.#of(tenant);
      use.readAt = use.at;
    }
    return use;
  }

  #use(tenant: string): Use {
    const now = this.#clock.monotonic();
    let use = this.#used.get(tenant);
    if (!use) {
      if (this.#used.size >= mostRemembered) this.#forget();
      const quotas = this.#of(tenant);
      const { requestsPerMinute: requests, bytesPerMinute: bytes } = quotas;
      const turns = { runs: Promise.resolve(), servers: Promise.resolve() };
      use = { quotas, readAt: now, requests, bytes, underWay: 0, lent: [], at: now, turns };
      this.#used.set(tenant, use);
    }
    const minutes = (now - use.at) / 60_000;
    const { requestsPerMinute, bytesPerMinute } = use.quotas;
    // Of no time nothing comes, also where there is no end of it.
    const gained = (aMinute: number): number => minutes && minutes * aMinute;
    // Of less than one a minute one has to come together.
    const most = requestsPerMinute && Math.max(1, requestsPerMinute);
    use.requests = Math.min(most, use.requests + gained(requestsPerMinute));
    use.bytes = Math.min(bytesPerMinute, use.bytes + gained(bytesPerMinute));
    use.at = now;
    if (use.lent.length) returnPlaces(use);
    return use;
  }

  /** Those that have nothing under way and have rested for a minute have a full quota anyway. */
  #forget(): void {
    const before = this.#clock.monotonic() - 60_000;
    for (const [tenant, use] of this.#used) {
      returnPlaces(use, this.#clock.monotonic());
      if (use.underWay === 0 && use.at <= before) this.#used.delete(tenant);
    }
  }
}

/** Places whose time is over are free again. */
function returnPlaces(use: Use, now: number = use.at): void {
  const held = use.lent.filter(({ until }) => until > now);
  if (held.length === use.lent.length) return;
  for (const { until, places } of use.lent) if (until <= now) use.underWay -= places;
  use.lent = held;
}
