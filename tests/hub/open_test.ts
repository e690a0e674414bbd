import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { AuthorizationRequiredError, ConnectError, TimeoutError } from "../../mod.ts";
import type { Authorizer, Catalog } from "../../mod.ts";
import { createOpenHub } from "../../src/hub/open_hub.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { asks, counted, healthy, urlOf } from "./faulty.ts";
import { createServer, inMemory, openHub, record, stateOf, textOf } from "./support.ts";

const hanging = () => new Promise<never>(() => {});

describe("opening", () => {
  test("answers within the time of the slowest server, with what works; the rest is told", async () => {
    const clock = new VirtualClock();
    const slow = counted("slow", clock, async (url, init) => {
      await new Promise<void>((resolve) => void clock.schedule(resolve, 900));
      return await healthy("slow")(url, init);
    }, { timeout: 3_000 });
    const hub = await clock.until(openHub({
      good: inMemory(createServer("good")).config,
      slow: slow.config,
      never: { url: urlOf("never"), fetch: hanging, timeout: 4_000 },
      nowhere: { url: "nonsense" },
    }, { clock }));
    assert(clock.monotonic() <= 4_100, `${clock.monotonic()} ms`);
    assertEquals(hub.status().map(({ name, state }) => `${name} ${state}`).slice(0, 2), [
      "good connected",
      "slow connected",
    ]);
    assertEquals([...hub.errors.keys()], ["never", "nowhere"]);
    assert(hub.errors.get("never") instanceof TimeoutError);
    assert(hub.errors.get("nowhere") instanceof TypeError);
    const { lastError } = hub.status()[2] ?? {};
    assertEquals([lastError?.name, lastError?.code], ["TimeoutError", "timeout"]);
    const unknown = await clock.until(hub.callTool("unheard-of.echo"));
    const { "dev.causeway/error": told } = unknown._meta ?? {};
    assertEquals([unknown.isError, (told as { delivery?: string }).delivery], [true, "not-sent"]);
    const down = await clock.until(hub.callTool("nowhere.echo"));
    assertEquals([down.isError, textOf(down).includes('"nowhere"')], [true, true]);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  test("a config that names its kind of transport beside the URL, as LangChain's do, is that of the URL", async () => {
    const clock = new VirtualClock();
    for (const transport of ["http", "streamable_http", "sse", "", null]) {
      const config = { url: urlOf("good"), command: null, transport, fetch: healthy("good") };
      const hub = await clock.until(openHub({ good: config as never }, { clock }));
      assertEquals(hub.status().map(({ state }) => state), ["connected"]);
      await clock.until(hub.close());
    }
  });

  test("a server of which nothing says where it is, is named", async () => {
    for (const config of [{ uri: urlOf("good") }, urlOf("good"), { url: undefined }, { url: null }, {}, null]) {
      await assertRejects(() => openHub({ good: config as never }), TypeError, '"good.url" is missing');
    }
  });

  test("a program is started whatever is null beside it, as in configs that name all fields", async () => {
    const started: unknown[] = [];
    const open = createOpenHub((target) => {
      started.push((target as { command?: string }).command);
      return Promise.reject(new ConnectError("no"));
    });
    for (const beside of [{ url: null }, { transport: null }, { url: null, transport: null, type: "stdio" }]) {
      await using _hub = await open({ one: { command: "npx", ...beside, maxRetries: 0 } as never });
    }
    assertEquals(started, ["npx", "npx", "npx"]);
  });

  test("a transport of one's own is what is connected by, whatever else stands beside it", async () => {
    const clock = new VirtualClock();
    for (
      const beside of [
        { url: urlOf("nowhere") },
        { url: undefined },
        { url: null },
        { command: "nothing-of-this-name" },
      ]
    ) {
      const config = { ...inMemory(createServer("own")).config, ...beside };
      const hub = await clock.until(openHub({ own: config as never }, { clock }));
      assertEquals(hub.status().map(({ state }) => state), ["connected"], JSON.stringify(beside));
      await clock.until(hub.close());
    }
  });

  test("where none may be connected or called at a time, one is", async () => {
    const clock = new VirtualClock();
    const servers = { one: inMemory(createServer("one")).config, two: inMemory(createServer("two")).config };
    for (const none of [0, NaN]) {
      const hub = await clock.until(openHub(servers, { clock, parallel: none, concurrency: none }));
      assertEquals(hub.status().map(({ state }) => state), ["connected", "connected"]);
      const calls = ["a", "b"].map((text) => hub.callTool("one.echo", { text }));
      assertEquals((await clock.until(Promise.all(calls))).map(textOf), ["one: a", "one: b"]);
      await clock.until(hub.close());
    }
  });

  test("numbers that are texts, as variables of the environment are, count as numbers", async () => {
    const clock = new VirtualClock();
    await clock.advance(1_000.5);
    const texts = { timeout: "3000", maxRetries: "1", retryDelay: "2000" };
    const slow = counted("slow", clock, async (url, init) => {
      await new Promise<void>((resolve) => void clock.schedule(resolve, 900));
      return await healthy("slow")(url, init);
    }, texts as never);
    const hub = await clock.until(openHub({ slow: slow.config }, { clock }));
    assertEquals(hub.status().map(({ state }) => state), ["connected"]);
    await clock.until(hub.close());
  });

  test("a list that never comes does not keep the others", async () => {
    const clock = new VirtualClock();
    const half = counted(
      "half",
      clock,
      (url, init) => asks(init, "prompts/list") ? hanging() : healthy("half")(url, init),
      { timeout: 2_000 },
    );
    const hub = await clock.until(openHub({ half: half.config }, { clock }));
    assert(clock.monotonic() <= 2_100, `${clock.monotonic()} ms`);
    const [status] = hub.status();
    assertEquals([status?.state, status?.tools, status?.prompts], ["connected", 2, 0]);
    assertEquals(status?.lastError?.code, "timeout");
    await clock.until(hub.close());
  });

  test("a signal gives it up, and nothing is left", async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const reason = { why: "enough" };
    const opening = openHub({ never: { url: urlOf("never"), fetch: hanging } }, { clock, signal: controller.signal })
      .catch((error) => error);
    await clock.advance(10);
    controller.abort(reason);
    assertEquals(await clock.until(opening), reason);
    assertEquals(clock.waiting, 0);
  });

  test("a server is added once, and to no hub that is closed", async () => {
    const one = inMemory(createServer("one"));
    await using hub = await openHub({ one: one.config });
    await assertRejects(() => hub.add("one", one.config), TypeError, 'the server "one": it is there already');
    await hub.close();
    await assertRejects(() => hub.add("two", one.config), TypeError, 'the server "two": the hub is closed');
    assertEquals(one.starts, 1);
  });

  test("a server that is disabled is named and not connected", async () => {
    const one = inMemory(createServer("one"), { disabled: true });
    await using hub = await openHub({ one: one.config });
    const result = await hub.callTool("one.echo", { text: "a" });
    assertEquals([one.starts, result.isError, textOf(result)], [
      0,
      true,
      'Cannot reach the server "one": it is disabled',
    ]);
  });

  test("lazy: each server is connected by its first call", async () => {
    const [one, two] = [inMemory(createServer("one")), inMemory(createServer("two"))];
    await using hub = await openHub({ one: one.config, two: two.config }, { lazy: true });
    assertEquals([one.starts, two.starts, hub.tools().length], [0, 0, 0]);
    assertEquals(textOf(await hub.callTool("two__echo", { text: "a" })), "two: a");
    assertEquals([one.starts, two.starts, stateOf(hub, "one")], [0, 1, "disconnected"]);
    assertEquals((await hub.getPrompt("one.greet", { who: "you" })).messages.length, 1);
    assertEquals([one.starts, two.starts], [1, 1]);
  });
});

describe("a stored catalog", () => {
  test("something else in its place is one clear error, and nothing is connected", async () => {
    const one = inMemory(createServer("one"));
    for (const catalog of [{}, [], { servers: [] }, { kind: "something else", servers: [] }]) {
      const opening = openHub({ one: one.config }, { catalog: catalog as unknown as Catalog });
      await assertRejects(() => opening, TypeError, 'Cannot use "catalog": expected one of readCatalog');
    }
    assertEquals(one.starts, 0);
  });

  test("lists without a request, and a call is one round trip", async () => {
    const clock = new VirtualClock();
    const first = counted("one", clock, healthy("one"));
    const hub = await openHub({ one: first.config });
    const catalog = JSON.parse(JSON.stringify(hub.catalog()));
    await hub.close();
    const second = counted("one", clock, healthy("one"));
    await using other = await openHub({ one: second.config }, { catalog, listen: false });
    assertEquals(other.tools(), hub.tools());
    assertEquals(second.requests.length, 0);
    assertEquals(textOf(await other.callTool("one__echo", { text: "a" })), "one: a");
    assertEquals(second.requests.length, 1);
    assertEquals(other.catalog().servers[0]?.tools, catalog.servers[0].tools);
  });

  test("shows no tool that is filtered away by now", async () => {
    const clock = new VirtualClock();
    await using hub = await openHub({ one: counted("one", clock, healthy("one")).config });
    const config = counted("one", clock, healthy("one"), { tools: { deny: ["echo"] } }).config;
    await using other = await openHub({ one: config }, { catalog: hub.catalog() });
    assertEquals(other.tools().map(({ name }) => name), ["fail"]);
    assertEquals((await other.callTool("one.echo", { text: "a" })).isError, true);
  });

  test("of another address is no reason to go there", async () => {
    const clock = new VirtualClock();
    await using hub = await openHub({ one: counted("one", clock, healthy("one")).config });
    const seen: string[] = [];
    await using other = await openHub({
      one: {
        url: urlOf("two"),
        fetch: (url, init) => {
          seen.push(new URL(url).host);
          return healthy("two")(url, init);
        },
      },
    }, { catalog: hub.catalog() });
    assertEquals(textOf(await other.callTool("one__echo", { text: "a" })), "two: a");
    assert(seen.length > 1);
    assertEquals(seen.filter((host) => host !== "two.test"), []);
  });
});

describe("signing in", () => {
  const authorizationUrl = "https://login.test/authorize?state=secret";
  const pending = { id: "1", server: urlOf("one"), issuer: "https://login.test", scopes: [], expiresAt: 0 };

  test("a server that waits for a person says where to go, and works once that is done", async () => {
    let isSignedIn = false;
    const auth: Authorizer = {
      wrap: (fetch) => (url, init) => {
        if (isSignedIn) return fetch(url, init);
        return Promise.reject(new AuthorizationRequiredError("Sign in first", { authorizationUrl, pending }));
      },
      redact: (text) => text,
    };
    const asked: string[] = [];
    const clock = new VirtualClock();
    const one = counted("one", clock, healthy("one"));
    await using hub = await openHub({ one: one.config, two: inMemory(createServer("two")).config }, {
      auth: (server) => (asked.push(server), auth),
    });
    const seen = record(hub);
    assertEquals(asked.filter((name) => name === "one").length > 0, true);
    const [status, other] = hub.status();
    assertEquals([status?.state, status?.authorizationUrl, other?.state], [
      "authorizing",
      authorizationUrl,
      "connected",
    ]);
    const result = await hub.callTool("one.echo", { text: "a" });
    assertEquals([result.isError, textOf(result).includes('"one"'), one.requests.length], [true, true, 0]);
    assert(!JSON.stringify(result).includes("secret"));
    await hub.retry("one");
    isSignedIn = true;
    await hub.retry("one");
    assertEquals([stateOf(hub, "one"), hub.status()[0]?.authorizationUrl], ["connected", undefined]);
    assertEquals(textOf(await hub.callTool("one.echo", { text: "a" })), "one: a");
    await Promise.resolve();
    assertEquals(seen.flatMap((event) => event.type === "authorization" ? [event.authorizationUrl] : []), [
      authorizationUrl,
    ]);
  });

  test("a person who signs in while it connects takes their time, and then it is connected", async () => {
    const clock = new VirtualClock();
    let signIn = () => {};
    const signingIn = new Promise<void>((resolve) => signIn = resolve);
    let isSignedIn = false;
    void signingIn.then(() => isSignedIn = true);
    const auth: Authorizer = {
      wrap: (fetch) => async (url, init) => {
        await signingIn;
        return await fetch(url, init);
      },
      redact: (text) => text,
      underWay: () => isSignedIn ? undefined : signingIn,
    };
    const one = counted("one", clock, healthy("one"), { auth, timeout: 5_000 });
    const hub = await clock.until(openHub({ one: one.config }, { clock }));
    assert(clock.monotonic() <= 5_100, `${clock.monotonic()} ms`);
    await clock.advance(120_000);
    assertEquals([stateOf(hub, "one"), one.requests.length], ["authorizing", 0]);
    signIn();
    await clock.advance(1);
    assertEquals(stateOf(hub, "one"), "connected");
    assertEquals(textOf(await clock.until(hub.callTool("one.echo", { text: "a" }))), "one: a");
    await clock.until(hub.close());
  });

  test("a server that refuses is failed, and its error says so", async () => {
    const refusing = { url: urlOf("one"), fetch: () => Promise.resolve(new Response("", { status: 401 })) };
    await using hub = await openHub({ one: refusing });
    assertEquals([stateOf(hub, "one"), hub.errors.get("one")?.name], ["failed", "UnauthorizedError"]);
    const error = await assertRejects(() => hub.callTool("one.echo", {}, { throws: true }), ConnectError);
    assertEquals([error.server, error.delivery], ["one", "not-sent"]);
  });
});
