/** Sign-ins and sign-outs that come while something else is under way. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { Shared } from "../../../src/auth/flow/shared.ts";
import { requestClock } from "../../support/clocks/request_clock.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { resourceUrl } from "../world/world.ts";
import { createParty, type Party } from "./parties.ts";

/** Somebody who waits until they may go on. */
function createGate(): { readonly come: () => Promise<void>; readonly there: Promise<void>; open(): void } {
  let open = (): void => {};
  let arrive = (): void => {};
  const gate = new Promise<void>((resolve) => open = resolve);
  const there = new Promise<void>((resolve) => arrive = resolve);
  return { come: () => (arrive(), gate), there, open: () => open() };
}

/** A party whose person lets one wait at first. */
async function createPatient(gate: ReturnType<typeof createGate>): Promise<Party> {
  const party: Party = await createParty({
    authorize: async (request) => {
      await gate.come();
      return await party.world.person.authorize(request);
    },
  });
  return party;
}

describe("while a sign-in is under way", () => {
  test("another one that asks for more is not taken for the same", async () => {
    const gate = createGate();
    const { oauth, world } = await createPatient(gate);
    const plain = oauth.signIn(resourceUrl);
    await gate.there;
    const more = oauth.signIn(resourceUrl, { scopes: ["files:write"] });
    const same = oauth.signIn(resourceUrl, { scopes: ["files:write"] });
    await world.clock.settle();
    gate.open();
    const scopes = (await Promise.all([plain, more, same])).map(({ scopes }) => scopes.includes("files:write"));
    assertEquals([scopes, world.person.visits.length], [[false, true, true], 2]);
  });
});

describe("calls side by side that want different scopes", () => {
  test("each ask for their own, though they wait for the sign-ins of the others", async () => {
    const scopes = ["files:read", "files:write", "mcp:use", "mcp:admin"];
    const needs = ({ name }: { name: string }) => name === "" ? [] : [name];
    const handler = () => new Response("{}");
    const { oauth, world } = await createParty({}, {
      handler,
      server: { scopes },
      resource: { scope: "mcp:use", needs },
    });
    const send = oauth.wrap(world.fetch, resourceUrl);
    const call = async (name: string) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
      return (await send(resourceUrl, { method: "POST", body })).status;
    };
    assertEquals(await Promise.all(scopes.map(call)), [200, 200, 200, 200]);
    const { length } = world.person.visits;
    assertEquals([await Promise.all(scopes.map(call)), world.person.visits.length - length], [[200, 200, 200, 200], 0]);
  });
});

describe("work of a request that a Worker has ended", () => {
  test("is not waited for without end", async () => {
    const virtual = new VirtualClock();
    const clock = requestClock(virtual);
    const shared = new Shared<string>(clock, 45_000);
    void shared.join(() => new Promise<never>(() => {}), undefined);
    clock.isDead = false;
    await virtual.until(shared.settle());
    assertEquals(virtual.monotonic(), 45_000);
    assertEquals(await shared.join(() => Promise.resolve("anew"), undefined), "anew");
  });
});
