import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { createAccessCheck, createPolicy, createSealedSessions, createSessions } from "../../../src/runner/mod.ts";
import type { Principal } from "../../../src/runner/mod.ts";
import { deriveSealingKey, sealText } from "../../../src/protocol/web_crypto.ts";
import { createWorld, problemOf } from "../support/world.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const secret = "a secret of this test alone";
const ada: Principal = { id: "ada", tenant: "acme", scopes: ["read"] };

describe("sessions that are sealed", () => {
  it("are known in each isolate, with what their principal may", async () => {
    const clock = new VirtualClock();
    const [here, there] = [createSealedSessions({ secret, clock }), createSealedSessions({ secret, clock })];
    const session = await there.open(ada);
    const { id, tenant, scopes, expiresAt } = await here.find(session?.id ?? "") ?? {};
    assertEquals([id, tenant, scopes], ["ada", "acme", ["read"]]);
    assertEquals(expiresAt, clock.now() + 3_600_000);
    assertEquals(/^[\w-]{1,4000}$/.test(session?.id ?? ""), true, "it fits into a cookie");
  });

  it("end with their time", async () => {
    const clock = new VirtualClock();
    const sessions = createSealedSessions({ secret, clock });
    const { id = "" } = await sessions.open(ada) ?? {};
    await clock.advance(3_599_999);
    assertEquals((await sessions.find(id))?.id, "ada");
    await clock.advance(1);
    assertEquals(await sessions.find(id), undefined);
  });

  it("begin with an API key alone: there are no tokens, which nobody would remember to be used", async () => {
    const sessions = createSealedSessions({ secret });
    assertEquals(["invite" in sessions, sessions.begin], [false, undefined]);
    await using world = await createWorld({ access: { sessions } });
    const begin = async (token: string) => {
      const headers = { origin: "http://localhost", "sec-fetch-site": "same-origin" };
      return await world.ask("/api/session", { as: undefined, body: { token }, headers });
    };
    const { id = "" } = await sessions.open({ id: "a", tenant: "b" }) ?? {};
    // What earlier versions took for a minute.
    const key = await deriveSealingKey(new TextEncoder().encode(secret), "causeway browser sessions 1");
    const until = Date.now() + 60_000;
    const old = await sealText(key, new Uint8Array(12), JSON.stringify(["a", "b", null, null, until]), "token");
    for (const token of [id, old, "0".repeat(64)]) {
      const reply = await begin(token);
      assertEquals([reply.status, (await problemOf(reply)).code], [401, "not_signed_in"]);
    }
    const begun = await begin(world.key("ada"));
    const [cookie = ""] = (begun.headers.get("set-cookie") ?? "").split(";");
    const who = await world.ask("/api/session", { as: undefined, headers: { cookie } });
    assertEquals([begun.status, (await who.json()).principal], [204, "ada"]);
  });

  it("last no longer than what they were begun with", async () => {
    const clock = new VirtualClock();
    const sessions = createSealedSessions({ secret, clock });
    const short = { ...ada, expiresAt: clock.now() + 120_000 };
    const session = await sessions.open(short);
    assertEquals(session?.expiresAt, short.expiresAt);
    await clock.advance(119_999);
    assertEquals((await sessions.find(session?.id ?? ""))?.expiresAt, short.expiresAt);
    await clock.advance(1);
    assertEquals(await sessions.find(session?.id ?? ""), undefined);
    assertEquals(await sessions.open(short), undefined);
  });

  it("are nobody's when they were made elsewhere, changed, or tell nothing", async () => {
    const sessions = createSealedSessions({ secret });
    const other = createSealedSessions({ secret: "a secret of somebody else" });
    const { id = "" } = await sessions.open(ada) ?? {};
    const foreign = await other.open(ada);
    const changed = id.slice(0, -2) + (id.endsWith("AA") ? "BB" : "AA");
    for (const text of [foreign?.id ?? "", changed, "", "x", "a.b"]) assertEquals(await sessions.find(text), undefined);
    // A short name may stand in random letters by chance.
    const { id: named = "" } = await sessions.open({ ...ada, id: "ada-of-the-tests", tenant: "acme-of-the-tests" }) ??
      {};
    const told = named + atob(named.replaceAll("-", "+").replaceAll("_", "/"));
    assertEquals(["ada-of", "acme-of", "of-the-tests"].filter((word) => told.includes(word)), []);
    assertThrows(() => createSealedSessions({ secret: "short" }), RangeError, "5 bytes");
    // "[object Promise]" would be long enough, and is known to anybody.
    for (const wrong of [Promise.resolve(secret), crypto.subtle, () => secret, new Date(0), null]) {
      assertThrows(() => createSealedSessions({ secret: wrong as never }), RangeError, "0 bytes");
    }
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    const ofBytes = await createSealedSessions({ secret: bytes as never }).open(ada);
    assertEquals((await createSealedSessions({ secret: bytes as never }).find(ofBytes?.id ?? ""))?.id, "ada");
  });

  for (const lifetime of [Infinity, 1e300, Number.MAX_SAFE_INTEGER]) {
    it(`last without an end, for as long as a browser keeps them (${lifetime})`, async () => {
      for (const sessions of [createSealedSessions({ secret, lifetime }), createSessions({ lifetime })]) {
        await using world = await createWorld({ access: { sessions } });
        const headers = { origin: "http://localhost", "sec-fetch-site": "same-origin" };
        const begun = await world.ask("/api/session", { as: undefined, body: { token: world.key("ada") }, headers });
        const [cookie = "", , age] = (begun.headers.get("set-cookie") ?? "").split("; ");
        const who = await world.ask("/api/session", { as: undefined, headers: { cookie } });
        assertEquals([begun.status, age, (await who.json()).principal], [204, "Max-Age=34560000", "ada"]);
      }
    });
  }

  it("and who holds one without an end may do the same where it is decided again, also from JSON", async () => {
    const policy = createPolicy([{ actions: ["call"], effect: "allow" }]);
    const check = createAccessCheck({ policy });
    const question = { tenant: "acme", server: "one", tool: "echo", action: "call" } as const;
    for (
      const sessions of [createSealedSessions({ secret, lifetime: Infinity }), createSessions({ lifetime: Infinity })]
    ) {
      const session = await sessions.open({ id: "ada", tenant: "acme" });
      const principal = await sessions.find(session?.id ?? "");
      const envelope = { principal, tenant: "acme" };
      const effects = [await check(envelope, question), await check(JSON.parse(JSON.stringify(envelope)), question)];
      assertEquals(effects, ["allow", "allow"]);
    }
  });

  // As it comes from a variable of the environment: it would be appended to the time, and nobody would ever be signed out.
  for (const lifetime of ["3600000", 0, NaN] as never[]) {
    it(`a lifetime of ${JSON.stringify(lifetime)} is refused`, () => {
      const secret = "sixteen bytes or more";
      assertThrows(() => createSealedSessions({ secret, lifetime }), RangeError, '"lifetime"');
      assertThrows(() => createSessions({ lifetime }), RangeError, '"lifetime"');
      assertThrows(() => createSessions({ tokenLifetime: lifetime }), RangeError, '"tokenLifetime"');
      assertThrows(() => createSessions({ most: lifetime }), RangeError, '"most"');
    });
  }
});
