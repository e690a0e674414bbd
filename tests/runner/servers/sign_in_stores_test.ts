/**
 * Signing in to a tenant's server while a store fails: what is answered is what was done.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { createOAuth } from "../../../src/auth/mod.ts";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import type { Store } from "../../../src/ports.ts";
import { SignIns } from "../../../src/runner/tenants/sign_ins.ts";
import { createWorld as createWeb, resourceUrl } from "../../auth/world/world.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createWorld, problemOf, type World } from "../support/world.ts";

/** A store whose next call that is meant fails. */
class FailingStore implements Required<Store> {
  readonly #inner = createMemoryStore();
  /** Which call fails, once. */
  fails: ((call: keyof Store, key: string) => boolean) | undefined;

  async get(key: string): Promise<string | undefined> {
    this.#meet("get", key);
    return await this.#inner.get(key);
  }

  async set(key: string, value: string): Promise<void> {
    this.#meet("set", key);
    await this.#inner.set(key, value);
  }

  async delete(key: string): Promise<void> {
    this.#meet("delete", key);
    await this.#inner.delete(key);
  }

  async compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean> {
    this.#meet("compareAndSet", key);
    return await this.#inner.compareAndSet(key, expected, value);
  }

  #meet(call: keyof Store, key: string): void {
    if (!this.fails?.(call, key)) return;
    this.fails = undefined;
    throw new Error("the disk is full");
  }
}

async function createSigned() {
  const web = await createWeb();
  const [records, tokens] = [new FailingStore(), new FailingStore()];
  const oauth = createOAuth({
    tenant: "acme",
    store: tokens,
    fetch: web.fetch,
    clock: web.clock,
    redirectUri: "http://localhost/oauth/callback",
    clientMetadata: { client_name: "runner" },
  });
  const world = await createWorld({
    clock: web.clock,
    egress: { fetch: web.fetch },
    stores: { records },
    oauth: () => oauth,
  });
  const follow = async (response: Response): Promise<string> => {
    const back = new URL(await web.person.follow((await response.json()).authorizationUrl));
    return back.pathname + back.search;
  };
  return { world, records, tokens, follow };
}

const add = (world: World): Promise<Response> => world.ask("/api/servers", { body: { name: "web", url: resourceUrl } });

async function stateOf(world: World): Promise<unknown> {
  const { servers } = await (await world.ask("/api/servers")).json() as { servers: { name: string; state: string }[] };
  return servers.find(({ name }) => name === "web")?.state;
}

describe("a server that wants a sign-in, and a store that fails", () => {
  it("is not added where its sign-in cannot be kept: 503 says that nothing was done", async () => {
    const { world, records } = await createSigned();
    await using _ = world;
    records.fails = (call, key) => call === "set" && key.startsWith("sign-in/");
    const refused = await add(world);
    assertEquals([refused.status, (await problemOf(refused)).code, await stateOf(world)], [
      503,
      "unavailable",
      undefined,
    ]);
    const added = await add(world);
    assertEquals([added.status, await stateOf(world)], [201, "authorizing"], await added.text());
  });

  it("is signed in to where only the list of sign-ins cannot be written: the person's code is good once", async () => {
    const { world, records, follow } = await createSigned();
    await using _ = world;
    const back = await follow(await add(world));
    records.fails = (call) => call === "compareAndSet";
    assertEquals((await world.ask(back, { as: undefined })).status, 200);
    assertEquals([records.fails, await stateOf(world)], [undefined, "connected"]);
  });

  it("says that the sign-in is to be begun again where its tokens cannot be kept", async () => {
    const { world, tokens, follow } = await createSigned();
    await using _ = world;
    const back = await follow(await add(world));
    tokens.fails = () => true;
    const refused = await world.ask(back, { as: undefined });
    const { code, detail } = await problemOf(refused);
    assertEquals([refused.status, code, detail], [503, "unavailable", "The sign-in could not be kept: begin it again"]);
    const again = await follow(await world.ask("/api/servers/web/connect", { method: "POST" }));
    assertEquals((await world.ask(again, { as: undefined })).status, 200);
    assertEquals(await stateOf(world), "connected");
  });
});

describe("sign-ins that wait", () => {
  const address = (state: string): string => `https://as.test/authorize?state=${state}`;
  const anybody = (): Promise<void> => Promise.resolve();

  it("are so many of a tenant, the oldest are forgotten, and nothing of one that is gone is left", async () => {
    const inner = createMemoryStore();
    const held = new Set<string>();
    const store: Required<Store> = {
      ...inner,
      set: (key, value) => (held.add(key), inner.set(key, value)),
      delete: (key) => (held.delete(key), inner.delete(key)),
    };
    const clock = new VirtualClock();
    const signIns = new SignIns({ store, clock, logger: undefined });
    const keep = (state: string, tenant = "acme"): Promise<void> =>
      signIns.keep(address(state), { tenant, server: "web" });
    for (let at = 0; at < 60; at++) await keep(`s${at}`);
    await keep("other", "globex");
    assertEquals(held.size, 51);
    assertEquals(
      [(await signIns.take("s9", anybody))?.server, (await signIns.take("s10", anybody))?.server, held.size],
      [undefined, "web", 50],
    );
    assertEquals(await signIns.take("s10", anybody), undefined, "it is good once");
    await signIns.clear("acme");
    assertEquals([held.size, (await signIns.take("other", anybody))?.tenant], [1, "globex"]);
    await keep("late");
    await clock.advance(600_000);
    assertEquals([await signIns.take("late", anybody), held.size], [undefined, 0]);
  });
});
