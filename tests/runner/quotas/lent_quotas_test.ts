/** Quotas, and what of them is lent. */
import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { Refusal } from "../../../src/runner/mod.ts";
import { Quotas } from "../../../src/runner/tenants/quotas.ts";
import type { TenantQuotas } from "../../../src/runner/tenants/quotas.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const some = { requestsPerMinute: 60, bytesPerMinute: 6_000, concurrent: 8 };
const much = { requests: 1_000, bytes: 1e9, concurrent: 1_000 };

describe("places of requests", () => {
  it("are given back once, however often it is said", () => {
    const quotas = new Quotas({ ...some, concurrent: 2 }, new VirtualClock());
    const [one] = [quotas.enter("acme"), quotas.enter("acme")];
    one();
    one();
    quotas.enter("acme");
    assertThrows(() => quotas.enter("acme"), Refusal, "2 requests under way");
  });

  it("are remembered while they are taken, of however many tenants", async () => {
    const clock = new VirtualClock();
    const quotas = new Quotas({ ...some, concurrent: 2 }, clock);
    const leave = [quotas.enter("acme"), quotas.enter("acme")];
    quotas.lend("other", much, 120_000);
    quotas.enter("other");
    await clock.advance(61_000);
    for (let count = 0; count < 10_002; count++) quotas.enter(`tenant ${count}`)();
    for (const tenant of ["acme", "other"]) assertThrows(() => quotas.enter(tenant), Refusal, "2 requests under way");
    for (const left of leave) left();
    quotas.enter("acme");
  });
});

describe("quotas that are lent", () => {
  it("are half of what is left, and count as used", () => {
    const quotas = new Quotas(some, new VirtualClock());
    assertEquals(quotas.lend("acme", much, 1_000), { requests: 30, bytes: 3_000, concurrent: 4 });
    assertEquals(quotas.lend("acme", much, 1_000), { requests: 15, bytes: 1_500, concurrent: 2 });
    assertEquals(quotas.lend("other", { requests: 3, bytes: 10, concurrent: 1 }, 1_000), {
      ...{ requests: 3, bytes: 10, concurrent: 1 },
    });
    for (let at = 0; at < 2; at++) quotas.enter("acme");
    assertThrows(() => quotas.enter("acme"), Refusal, "8 requests under way");
    assertEquals(quotas.lend("acme", much, 1_000).concurrent, 0);
  });

  it("give their places back when their time is over, and the rest when it is returned", async () => {
    const clock = new VirtualClock();
    const quotas = new Quotas(some, clock);
    quotas.lend("acme", much, 1_000);
    quotas.lend("acme", { requests: 0, bytes: 0, concurrent: 1 }, 5_000);
    const leave = Array.from({ length: 3 }, () => quotas.enter("acme"));
    assertThrows(() => quotas.enter("acme"), Refusal);
    await clock.advance(1_000);
    leave.push(...Array.from({ length: 4 }, () => quotas.enter("acme")));
    assertThrows(() => quotas.enter("acme"), Refusal);
    for (const left of leave) left();
    // A second gives one request back: 60 - 30 - 7 + 1.
    assertEquals(quotas.lend("acme", much, 1).requests, 12);
    quotas.takeBack("acme", { requests: 42, bytes: 0 });
    assertEquals(quotas.lend("acme", much, 1).requests, 27);
    quotas.takeBack("acme", { requests: 1e9, bytes: 1e9 });
    assertEquals(quotas.lend("acme", much, 1), { requests: 30, bytes: 3_000, concurrent: 1 });
  });

  it("are paid for when more was used than was lent", () => {
    const quotas = new Quotas(some, new VirtualClock());
    quotas.lend("acme", { ...much, bytes: 100 }, 1_000);
    quotas.takeBack("acme", { requests: 0, bytes: -6_000 });
    assertThrows(() => quotas.enter("acme"), Refusal, "6000 bytes a minute");
    assertEquals(quotas.lend("acme", much, 1_000).bytes, 0);
  });

  it("are what they are now: who changes them need not wait until the tenant is forgotten", async () => {
    const clock = new VirtualClock();
    let now: Partial<TenantQuotas> = { requestsPerMinute: 10, concurrent: 5 };
    const quotas = new Quotas(() => now, clock);
    const wanted = { requests: 1_000, bytes: 10, concurrent: 100 };
    assertEquals(quotas.lend("acme", wanted, 10_000).requests, 5);
    now = { requestsPerMinute: 600, concurrent: 50, runs: 3 };
    await clock.advance(10_000);
    assertEquals(quotas.of("acme").runs, 3);
    await clock.advance(10_000);
    const { requests, concurrent } = quotas.lend("acme", wanted, 10_000);
    assertEquals([requests > 40, concurrent], [true, 25]);
    now = { requestsPerMinute: 600, concurrent: 0 };
    await clock.advance(1_000);
    assertThrows(() => quotas.enter("acme"), Refusal, "0 requests under way");
    now = { requestsPerMinute: -1 };
    await clock.advance(1_000);
    quotas.count("acme", 1);
    assertThrows(() => quotas.enter("acme"), RangeError, '"requestsPerMinute"');
  });

  it("are numbers where there is no end of them, also twice in one moment", () => {
    const quotas = new Quotas({ requestsPerMinute: Infinity, bytesPerMinute: Infinity }, new VirtualClock());
    quotas.enter("acme")();
    assertEquals(quotas.lend("acme", { requests: 10, bytes: 20, concurrent: 3 }, 1_000), {
      ...{ requests: 10, bytes: 20, concurrent: 3 },
    });
  });
});
