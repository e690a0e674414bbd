import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { createSealedSessions } from "../../../src/runner/mod.ts";
import type { Principal } from "../../../src/runner/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const secret = "a secret of this test alone";
const ada: Principal = { id: "ada", tenant: "acme", scopes: ["read"] };

describe("sessions that are sealed", () => {
  it("are known in each isolate, with what their principal may", async () => {
    const clock = new VirtualClock();
    const [here, there] = [createSealedSessions({ secret, clock }), createSealedSessions({ secret, clock })];
    const session = await there.begin(await here.invite(ada));
    const { id, tenant, scopes, expiresAt } = await here.find(session?.id ?? "") ?? {};
    assertEquals([id, tenant, scopes], ["ada", "acme", ["read"]]);
    assertEquals(expiresAt, clock.now() + 3_600_000);
    assertEquals(/^[\w-]{1,4000}$/.test(session?.id ?? ""), true, "it fits into a cookie");
  });

  it("end, and so do tokens; one is not the other", async () => {
    const clock = new VirtualClock();
    const sessions = createSealedSessions({ secret, clock });
    const token = await sessions.invite(ada);
    const session = await sessions.begin(token);
    assertEquals(await sessions.find(token), undefined);
    assertEquals(await sessions.begin(session?.id ?? ""), undefined);
    await clock.advance(60_000);
    assertEquals(await sessions.begin(token), undefined);
    await clock.advance(3_540_000);
    assertEquals(await sessions.find(session?.id ?? ""), undefined);
  });

  it("last no longer than what they were begun with", async () => {
    const clock = new VirtualClock();
    const sessions = createSealedSessions({ secret, clock });
    const short = { ...ada, expiresAt: clock.now() + 120_000 };
    const session = await sessions.begin(await sessions.invite(short));
    assertEquals(session?.expiresAt, short.expiresAt);
    await clock.advance(119_999);
    assertEquals((await sessions.find(session?.id ?? ""))?.expiresAt, short.expiresAt);
    await clock.advance(1);
    assertEquals(await sessions.find(session?.id ?? ""), undefined);
  });

  it("are nobody's when they were made elsewhere, changed, or tell nothing", async () => {
    const sessions = createSealedSessions({ secret });
    const other = createSealedSessions({ secret: "a secret of somebody else" });
    const { id = "" } = await sessions.begin(await sessions.invite(ada)) ?? {};
    const foreign = await other.begin(await other.invite(ada));
    const changed = id.slice(0, -2) + (id.endsWith("AA") ? "BB" : "AA");
    for (const text of [foreign?.id ?? "", changed, "", "x", "a.b"]) assertEquals(await sessions.find(text), undefined);
    assertEquals(id.includes("ada") || atob(id.replaceAll("-", "+").replaceAll("_", "/")).includes("ada"), false);
    assertThrows(() => createSealedSessions({ secret: "short" }), RangeError, "5 bytes");
  });
});
