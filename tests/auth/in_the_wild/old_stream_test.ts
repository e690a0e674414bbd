/** Servers of HTTP+SSE whose stream alone asks for a token, since nothing takes a POST where it is: those of the official SDKs. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { bearerAuth, createOAuth, type OAuthOptions } from "../../../src/auth/mod.ts";
import { createConnect } from "../../../src/entry/connect.ts";
import type { ConnectOptions } from "../../../src/entry/targets.ts";
import type { Fetch } from "../../../src/ports.ts";
import { AuthorizationRequiredError, UnauthorizedError } from "../../../src/protocol/errors.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createSse2024Server, type Sse2024Server } from "../../servers/sse_2024.ts";
import { ended } from "../attacks/attack.ts";
import { refusal } from "../world/faults.ts";
import { createWorld, redirectUri, type World } from "../world/world.ts";

const url = "https://mcp.example.com/old/sse";
const connect = createConnect(() => ({}), () => Promise.resolve(["93.184.216.34"]));

interface Old {
  readonly world: World;
  readonly server: Sse2024Server;
  readonly fetch: Fetch;
  oauth(options?: OAuthOptions): ReturnType<typeof createOAuth>;
  open(options: ConnectOptions): ReturnType<typeof connect>;
}

async function createOld(postStatus: number): Promise<Old> {
  const server = createSse2024Server({ postStatus });
  const inner = memoryFetch(server);
  const world = await createWorld({ url, handler: () => new Response() });
  const fetch: Fetch = async (target, init) => {
    const { origin, pathname, searchParams } = new URL(target);
    if (origin !== new URL(url).origin || pathname.startsWith("/.well-known/")) return await world.fetch(target, init);
    // A POST there reaches no route, and so nobody who asks for a token.
    if (init.method === "POST" && !searchParams.has("sessionId")) return await inner(target, init);
    const headers = new Headers(init.headers);
    const token = headers.get("authorization")?.slice("Bearer ".length) ?? "";
    if (world.server.find(token)) return await inner(target, init);
    return new Response("no entry", { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } });
  };
  const usual = { redirectUri, fetch, clock: world.clock };
  return {
    world,
    server,
    fetch,
    oauth: (options) => createOAuth({ ...usual, ...options }),
    open: (options) => connect(url, { fetch, clock: world.clock, cache: false, ...options }),
  };
}

describe("a server of HTTP+SSE whose stream alone asks for a token", () => {
  for (const status of [400, 404, 405]) {
    test(`is signed in to (a POST there is answered with ${status})`, async () => {
      const { world, oauth, open } = await createOld(status);
      await using client = await open({ auth: oauth({ authorize: world.person.authorize }) });
      assertEquals((await client.callTool("echo", { text: "hi" })).content, [{ type: "text", text: "hi" }]);
      assertEquals([world.person.visits.length, world.log.tokens().length], [1, 1]);
    });
  }

  test("says where to sign in, where nobody is there", async () => {
    const { oauth, open } = await createOld(404);
    const error = await assertRejects(() => open({ auth: oauth() }), AuthorizationRequiredError);
    assertEquals(new URL(error.authorizationUrl).host, "auth.example.com");
  });

  test("says that it wants a token, where nobody signs in", async () => {
    const { open } = await createOld(404);
    for (const options of [{}, { auth: bearerAuth("an-old-token") }]) {
      const error = await assertRejects(() => open(options), UnauthorizedError);
      assertEquals([error.status, error.challenge], [401, 'Bearer error="invalid_token"']);
    }
  });

  test("waits for a person who takes four minutes", async () => {
    const { world, oauth, open } = await createOld(405);
    const auth = oauth({
      authorize: async (request) => {
        for (let seconds = 0; seconds < 240; seconds += 5) await world.clock.advance(5_000);
        return await world.person.authorize(request);
      },
    });
    await using client = await open({ auth });
    assertEquals([(await client.listTools()).tools.length > 0, world.person.visits.length], [true, 1]);
  });

  test("asks again when its stream ends and the tokens are over", async () => {
    const { world, server, oauth, open } = await createOld(404);
    await using client = await open({ auth: oauth({ authorize: world.person.authorize }) });
    await client.listTools();
    await world.clock.advance(3_600_000);
    world.fault(({ form }) => form.get("grant_type") === "refresh_token", refusal("invalid_grant"));
    server.dropStreams();
    await ended(world, client.listTools());
    assertEquals(world.person.visits.length, 2);
  });

  test("is not there where its stream is refused for another reason: what the POST was answered counts", async () => {
    const { open, fetch } = await createOld(404);
    const closed: Fetch = async (target, init) =>
      init.method === "GET" ? new Response("denied", { status: 403 }) : await fetch(target, init);
    await assertRejects(() => open({ fetch: closed }), Error, "answered 404");
  });
});
