/**
 * A session of the handshake eras that the server has forgotten is opened anew: what happens to calls meanwhile.
 */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, connect, McpError, SessionLostError, TimeoutError } from "../../../mod.ts";
import { createLegacyServer, type LegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { errorReply, type Front, front, type Options, type Seen, textOf, url } from "../support.ts";

/** A client, and its server behind something that can hold a method back. */
interface Stage {
  readonly clock: VirtualClock;
  readonly legacy: LegacyServer;
  readonly server: Front;
  readonly client: Client;
  /** Holds back whatever is sent of this method from now on, until it is let go. */
  hold(method: string): () => void;
  /** Answers this method in the server's place from now on, or lets it through. */
  answer(method: string, reply?: (seen: Seen) => Response | undefined): void;
}

async function setUp(options: Options = {}): Promise<Stage> {
  const clock = new VirtualClock();
  const legacy = createLegacyServer({ clock });
  const held = new Map<string, Promise<void>>();
  const replies = new Map<string, (seen: Seen) => Response | undefined>();
  const server = front(legacy, async (seen) => {
    await held.get(seen.method);
    return replies.get(seen.method)?.(seen);
  });
  const random = { bytes: (count: number) => new Uint8Array(count), fraction: () => 0.5 };
  const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, random, ...options }));
  return {
    clock,
    legacy,
    server,
    client,
    hold(method) {
      let release = () => {};
      held.set(method, new Promise<void>((resolve) => release = resolve));
      return () => {
        held.delete(method);
        release();
      };
    },
    answer: (method, reply) => void (reply ? replies.set(method, reply) : replies.delete(method)),
  };
}

/** What went out after the session was opened first, and carried no session id though it should. */
function withoutId({ seen }: Front): string[] {
  return seen.filter(({ headers, method }) => method !== "initialize" && headers["mcp-session-id"] === undefined)
    .map(({ method }) => method).filter((method) => method !== "server/discover");
}

describe("while a session is opened anew", () => {
  for (const held of ["initialize", "notifications/initialized"]) {
    test(`calls that begin wait for it (${held} is under way)`, async () => {
      const { clock, legacy, server, client, hold } = await setUp();
      const release = hold(held);
      legacy.forgetSessions();
      const first = client.callTool("echo", { text: "first" });
      await clock.settle();
      assertEquals(server.methods.at(-1), held);
      const count = server.seen.length;
      const texts = Array.from({ length: 18 }, (_, index) => `text ${index}`);
      const later = texts.map((text) => client.callTool("echo", { text }));
      const listed = client.listTools();
      await clock.settle();
      assertEquals(server.methods.slice(count), []);
      release();
      assertEquals((await clock.until(Promise.all([first, ...later]))).map(textOf), ["first", ...texts]);
      assert((await clock.until(listed)).tools.length > 0);
      assertEquals([legacy.count("initialize"), legacy.calls("echo")], [2, 19]);
      assertEquals([withoutId(server), legacy.violations], [[], []]);
      await clock.until(client.close());
      assertEquals(clock.waiting, 0);
    });
  }

  test("a call waits no longer than it may, and its caller can give it up: nothing of it is sent", async () => {
    const { clock, legacy, server, client, hold } = await setUp();
    const release = hold("initialize");
    legacy.forgetSessions();
    const first = client.callTool("echo", { text: "first" });
    await clock.settle();
    const startedAt = clock.monotonic();
    const controller = new AbortController();
    const given = client.callTool("echo", { text: "given up" }, { signal: controller.signal });
    const late = client.callTool("echo", { text: "late" }, { timeout: 1_000 });
    const reason = new Error("not wanted any more");
    controller.abort(reason);
    assertEquals(await assertRejects(() => given), reason);
    await assertRejects(() => clock.until(late), TimeoutError);
    assertEquals(clock.monotonic(), startedAt + 1_000);
    release();
    assertEquals(textOf(await clock.until(first)), "first");
    assertEquals([legacy.calls("echo"), withoutId(server)], [1, []]);
    await clock.until(client.close());
    assertEquals(clock.waiting, 0);
  });

  test("closing ends what waits", async () => {
    const { clock, legacy, client, hold } = await setUp();
    const release = hold("initialize");
    legacy.forgetSessions();
    const calls = ["first", "second"].map((text) => client.callTool("echo", { text }));
    await clock.settle();
    calls.push(client.callTool("echo", { text: "third" }));
    const rejected = calls.map((call) => assertRejects(() => call, McpError));
    await clock.until(client.close());
    await clock.until(Promise.all(rejected));
    release();
    await clock.settle();
    assertEquals([legacy.calls("echo"), clock.waiting], [0, 0]);
  });

  test("a call is sent once all the same when opening fails at first: nothing of it was run", async () => {
    const { clock, legacy, client, answer } = await setUp();
    let broken = 0;
    answer("initialize", () => {
      if (++broken > 2) return undefined;
      throw new TypeError("the connection was reset");
    });
    legacy.forgetSessions();
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "hi" }))), "hi");
    assertEquals([broken, legacy.calls("echo")], [3, 1]);
    await clock.until(client.close());
    assertEquals(clock.waiting, 0);
  });

  test("a notification that is sent meanwhile fails as one that was not sent", async () => {
    const { clock, legacy, server, client, hold } = await setUp();
    const release = hold("initialize");
    legacy.forgetSessions();
    const first = client.callTool("echo", { text: "first" });
    await clock.settle();
    const error = await assertRejects(() => client.notify("notifications/roots/list_changed"), SessionLostError);
    assertEquals(error.delivery, "not-sent");
    release();
    assertEquals(textOf(await clock.until(first)), "first");
    assertEquals(withoutId(server), []);
    await clock.until(client.close());
  });

  test("a log level that the new session does not know holds nobody up", async () => {
    const { clock, legacy, client, answer } = await setUp();
    await clock.until(client.setLogLevel("warning"));
    answer("logging/setLevel", () => new Response("Session not found", { status: 404 }));
    legacy.forgetSessions();
    const startedAt = clock.monotonic();
    const texts = ["one", "two", "three"];
    const results = await clock.until(Promise.all(texts.map((text) => client.callTool("echo", { text }))));
    assertEquals([results.map(textOf), clock.monotonic() - startedAt < 5_000], [texts, true]);
    assertEquals([legacy.calls("echo"), legacy.count("initialize") <= 4], [3, true]);
    await clock.until(client.close());
  });

  test("a subscription that the new session refuses is not what a call fails of", async () => {
    const { clock, legacy, client, answer } = await setUp();
    const uris = ["test://text", "test://blob"];
    const [refused, kept] = uris.map((uri) => client.listen({ tools: true, resourceUris: [uri] }));
    assert(refused && kept);
    await clock.until(Promise.all([refused.acknowledged, kept.acknowledged]));
    answer("resources/subscribe", (seen) => {
      const { uri } = seen.message?.params as { uri?: unknown };
      return uri === uris[0] ? errorReply(seen, -32002, { text: "Resource not found" }) : undefined;
    });
    legacy.forgetSessions();
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "hi" }))), "hi");
    assertEquals(legacy.calls("echo"), 1);
    // Only who watches that one hears of it.
    await assertRejects(
      async () => {
        for await (const _ of refused);
      },
      McpError,
      "Resource not found",
    );
    await clock.settle();
    legacy.emit({ type: "resource", uri: String(uris[1]) });
    const seen: string[] = [];
    for await (const { type, ...change } of kept) {
      seen.push(type);
      if (type === "resource" && !("missed" in change)) break;
    }
    assertEquals([seen.at(-1), [...legacy.session()?.watched ?? []]], ["resource", [uris[1]]]);
    answer("resources/subscribe");
    const again = client.listen({ resourceUris: uris });
    await clock.until(again.acknowledged);
    assertEquals([...legacy.session()?.watched ?? []].sort(), uris.toSorted());
    await clock.until(client.close());
  });
});

describe("a session that could not be opened anew", () => {
  test("is opened with the next call, once the server is back", async () => {
    const { clock, legacy, server, client, answer } = await setUp({ retry: { attempts: 1 } });
    answer("initialize", () => new Response("", { status: 503 }));
    legacy.forgetSessions();
    await assertRejects(() => clock.until(client.callTool("echo", { text: "gone" })), SessionLostError);
    await assertRejects(() => clock.until(client.callTool("echo", { text: "still gone" })), SessionLostError);
    answer("initialize");
    const texts = ["one", "two", "three"];
    const results = await clock.until(Promise.all(texts.map((text) => client.callTool("echo", { text }))));
    assertEquals([results.map(textOf), legacy.calls("echo"), withoutId(server)], [texts, 3, []]);
    await clock.until(client.close());
    assertEquals(clock.waiting, 0);
  });
});
