/** Calls side by side that are refused: a person is not asked for one of them what another has just asked for. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { UnauthorizedError } from "../../../src/protocol/errors.ts";
import { deferred } from "../../servers/core/wire.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createParty } from "../sign_in/parties.ts";
import type { Fault } from "../world/faults.ts";
import { resourceUrl } from "../world/world.ts";

const refuse = (status: number, challenge: string): Response =>
  new Response("no entry", { status, headers: { "www-authenticate": challenge } });
const invalid = 'Bearer error="invalid_token"';

describe("who has just signed in", () => {
  async function opened() {
    const party = await createParty({}, { clock: new VirtualClock() });
    const client = await party.open();
    const { visits } = party.world.person;
    visits.length = 0;
    // "first" is forbidden once somebody has signed in, and "second" gets in with no token.
    const fault: Fault = ({ body }, go) => {
      if (body.includes("second")) return refuse(401, invalid);
      if (!body.includes("first")) return go();
      return visits.length ? refuse(403, "Bearer") : refuse(401, invalid);
    };
    party.world.fault(resourceUrl, fault, 99);
    const call = (text: string) => client.callTool("echo", { text });
    return { ...party, visits, call, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
  }

  test("for one call is not asked when the new token is refused to another", async () => {
    await using party = await opened();
    const { call, visits, world } = party;
    await assertRejects(() => call("first"), UnauthorizedError);
    await assertRejects(() => call("second"), UnauthorizedError);
    assertEquals(visits.length, 1);
    // Half a minute later the server may have come to itself.
    await world.clock.advance(30_000);
    await assertRejects(() => call("second"), UnauthorizedError);
    assertEquals(visits.length, 2);
  });

  test("is asked again when the new token was good, and is no more", async () => {
    await using party = await opened();
    const { call, visits } = party;
    await assertRejects(() => call("first"), UnauthorizedError);
    await call("other");
    await assertRejects(() => call("second"), UnauthorizedError);
    assertEquals(visits.length, 2);
  });
});

test("a call whose old token cannot be renewed is sent with the one that another has just got and not tried yet", async () => {
  const [renewing, signedIn, over] = [deferred<void>(), deferred<void>(), deferred<void>()];
  let second: Promise<number> | undefined;
  const { world, oauth } = await createParty({
    authorize: async ({ authorizationUrl }) => {
      if (world.person.visits.length) {
        second ??= send("second");
        await renewing.promise;
      }
      return await world.person.follow(authorizationUrl);
    },
  });
  await oauth.signIn(resourceUrl);
  world.fault("/token", async ({ form }, go) => {
    if (form.get("grant_type") !== "refresh_token") return await go();
    if (second) {
      renewing.resolve();
      await signedIn.promise;
    }
    return Response.json({ error: "invalid_request" }, { status: 400 });
  }, 99);
  world.fault(resourceUrl, async ({ body }) => {
    if (world.person.visits.length === 1) return refuse(401, invalid);
    signedIn.resolve();
    if (body.includes("first")) await over.promise;
    return new Response("done");
  }, 99);
  const fetch = oauth.wrap(world.fetch, resourceUrl);
  const send = async (body: string) => (await fetch(resourceUrl, { method: "POST", body })).status;
  const first = send("first");
  await renewing.promise;
  assertEquals(await second, 200);
  over.resolve();
  assertEquals([await first, world.person.visits.length], [200, 2]);
});

test("a stream that is refused for itself keeps nobody from being asked when the token of a call is good no more", async () => {
  const { world, oauth } = await createParty({}, { clock: new VirtualClock() });
  await oauth.signIn(resourceUrl);
  const { visits } = world.person;
  const fetch = oauth.wrap(world.fetch, resourceUrl);
  const send = async (init: RequestInit) => (await fetch(resourceUrl, init)).status;
  let listened: number | undefined;
  world.fault(resourceUrl, async ({ method, body }) => {
    if (method === "GET" || visits.length < (body.includes("first") ? 2 : 3)) return refuse(401, invalid);
    // It listens while the first call with the new token is under way.
    listened ??= await send({ method: "GET", headers: { "mcp-session-id": "1" } });
    return new Response("done");
  }, 99);
  assertEquals([await send({ method: "POST", body: "first" }), listened, visits.length], [200, 401, 2]);
  assertEquals([await send({ method: "POST", body: "second" }), visits.length], [200, 3]);
});

test("a call whose body takes its time is sent with the token that another has stepped up to meanwhile", async () => {
  const { world, oauth } = await createParty();
  await oauth.signIn(resourceUrl);
  const { visits } = world.person;
  visits.length = 0;
  const needsMore = 'Bearer error="insufficient_scope", scope="files:write"';
  world.fault(resourceUrl, () => visits.length ? new Response("done") : refuse(403, needsMore), 99);
  const fetch = oauth.wrap(world.fetch, resourceUrl);
  const text = JSON.stringify({ method: "tools/call", params: { name: "write" } });
  const send = async (body: BodyInit) => (await fetch(resourceUrl, { method: "POST", body })).status;
  let toRead = () => {};
  const isRead = new Promise<void>((resolve) => toRead = resolve);
  const others = isRead.then(() => send(text));
  // Whoever looks what it asks for waits until the other one has been through.
  const slow = new class extends Blob {
    override async text(): Promise<string> {
      toRead();
      await others;
      return text;
    }
  }([text]);
  assertEquals([await send(slow), await others], [200, 200]);
  assertEquals(visits.length, 1);
});
