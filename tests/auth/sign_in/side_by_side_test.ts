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

/** Calls a tool of a server; gives the status. */
async function callTool({ oauth, world }: Pick<Party, "oauth" | "world">, url: string, name: string): Promise<number> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
  return (await oauth.wrap(world.fetch, url)(url, { method: "POST", body })).status;
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
    const call = (name: string) => callTool({ oauth, world }, resourceUrl, name);
    assertEquals(await Promise.all(scopes.map(call)), [200, 200, 200, 200]);
    const { length } = world.person.visits;
    assertEquals([await Promise.all(scopes.map(call)), world.person.visits.length - length], [[200, 200, 200, 200], 0]);
  });
});

describe("two servers that are one resource", () => {
  test("share tokens that are asked for with the scopes of both", async () => {
    const { oauth, world } = await createParty();
    const resource = "https://tools.example.com/";
    const urls = ["files:read", "files:write"].map((scope) => {
      const url = `${resource}${scope.slice(6)}`;
      const knobs = { resource, scope, needs: () => [scope] };
      world.addResource({ url, servers: [world.server], handler: () => new Response("{}"), knobs });
      return url;
    });
    const statuses: number[] = [];
    for (const hours of [0, 2, 4]) {
      await world.clock.advance(hours * 3_600_000);
      for (const url of urls) statuses.push(await callTool({ oauth, world }, url, "echo"));
    }
    assertEquals([statuses, world.person.visits.length], [[200, 200, 200, 200, 200, 200], 2]);
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
