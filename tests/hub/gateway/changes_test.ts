import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ConnectError, RpcError } from "../../../mod.ts";
import type { Middleware } from "../../../mod.ts";
import { createGateway } from "../../../src/hub/gateway/mod.ts";
import type { Hub } from "../../../src/hub/hub.ts";
import { HubLayer } from "../../../src/hub/layer.ts";
import { withFilter } from "../../../src/hub/mod.ts";
import type { CatalogTool, HubLike } from "../../../src/hub/seam.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { openHub } from "../support.ts";
import { all, open, pairs, textOf } from "./support.ts";

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let turn = 0; !holds(); turn++) {
    if (turn > 4_000) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

for (const [front, back] of pairs) {
  describe(`changes through the gateway, ${front} in front and ${back} behind`, () => {
    test("servers that come and go are told of", async () => {
      await using scene = await open({ one: all("one", back).config });
      const client = await scene.join(front);
      const changes: string[] = [];
      const subscription = client.listen({ tools: true });
      void (async () => {
        for await (const { type } of subscription) changes.push(type);
      })();
      await subscription.acknowledged;
      await scene.hub.add("two", all("two", back).config);
      await until(() => changes.includes("tools"), "the first change");
      assertEquals((await client.listTools()).tools.length, 18);
      changes.length = 0;
      await scene.hub.remove("two");
      await until(() => changes.includes("tools"), "the second change");
      assertEquals((await client.listTools()).tools.length, 9);
    });

    test("a server that a stored catalog knows is told of as it is added: it has its tools at once", async () => {
      const config = all("one", back).config;
      const before = await openHub({ one: config });
      const catalog = before.catalog();
      await before.close();
      await using scene = await open({}, {}, { catalog });
      const client = await scene.join(front);
      const changes = client.listen({ tools: true, prompts: true, resources: true });
      await changes.acknowledged;
      await scene.hub.add("one", config);
      const told: unknown[] = [];
      for await (const { type } of changes) if (told.push(type) === 3) break;
      assertEquals(told.sort(), ["prompts", "resources", "tools"]);
      assertEquals((await client.listTools()).tools.length, 9);
    });

    test("a tool that another one has brought is called at once, before its server would be listed anew", async () => {
      const one = all("one", back);
      one.server.tool("brings", {}, () => void one.server.tool("late", {}, () => "here"));
      await using scene = await open({ one: one.config }, { names: "own" });
      const client = await scene.join(front);
      await client.callTool("brings");
      const texts = await Promise.all(["one__late", "one.late", "late"].map((name) => client.callTool(name)));
      assertEquals(texts.map(textOf), ["here", "here", "here"]);
      await assertRejects(() => client.callTool("nothing"), RpcError, "Unknown tool: nothing");
    });

    test("an unknown tool is told to be that although another server takes long to list what it has brought", async () => {
      const [one, slow] = [all("one", back), all("slow", back)];
      let hangs = false;
      const middleware: Middleware = (next) => (request) =>
        hangs && request.method === "tools/list" ? new Promise(() => {}) : next(request);
      const clock = new VirtualClock();
      const options = { middleware: [middleware] };
      await using scene = await open({ one: one.config, slow: slow.config }, { clock }, options);
      const client = await scene.join(front);
      hangs = true;
      slow.server.tool("late", {}, () => "late");
      await client.callTool("slow__who");
      const call = assertRejects(() => client.callTool("one__nothing"), RpcError, "Unknown tool: one__nothing");
      while (!clock.waiting) await new Promise((resolve) => setTimeout(resolve, 5));
      await clock.advance(2_000);
      await call;
    });

    test("one that it has brought and that is hidden is not called", async () => {
      const one = all("one", back);
      let calls = 0;
      one.server.tool("brings", {}, () => void one.server.tool("late", {}, () => void calls++));
      const around = (hub: Hub) => withFilter(hub, { deny: ["*.late"] });
      await using scene = await open({ one: one.config }, {}, { around });
      const client = await scene.join(front);
      await client.callTool("one__brings");
      await assertRejects(() => client.callTool("one__late"), RpcError, "Unknown tool: one__late");
      assertEquals(calls, 0);
    });

    test("a resource that is watched in front is watched behind, as long as it is", async () => {
      const one = all("one", back);
      const two = all("two", back);
      await using scene = await open({ one: one.config, two: two.config });
      const client = await scene.join(front);
      const other = await scene.join(front);
      const seen: string[] = [];
      const watch = client.listen({ resourceUris: ["note://one/own", "hub://two/note://shared"] });
      const second = other.listen({ resourceUris: ["note://one/own"] });
      for (const subscription of [watch, second]) {
        void (async () => {
          for await (const change of subscription) if (change.type === "resource") seen.push(change.uri);
        })();
        await subscription.acknowledged;
      }
      // It is followed behind a moment later.
      for (let turn = 0; turn < 4_000 && new Set(seen).size < 2; turn++) {
        one.server.resourceUpdated("note://one/own");
        two.server.resourceUpdated("note://shared");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assertEquals([...new Set(seen)].sort(), ["hub://two/note://shared", "note://one/own"]);
      await until(() => seen.filter((uri) => uri === "note://one/own").length >= 2, "both who watch");
    });

    test("resources whose server comes later are watched there, though another one was taken to have some", async () => {
      await using scene = await open({ one: all("one", back).config });
      const client = await scene.join(front);
      // Listed, made by a template, and of a server that nobody knows yet.
      const uris = ["note://two/own", "day://two/mon", "hub://two/note://shared"];
      const seen = new Map(uris.map((uri) => [uri, 0]));
      const watch = client.listen({ resourceUris: uris });
      void (async () => {
        for await (const change of watch) {
          if (change.type === "resource") seen.set(change.uri, seen.get(change.uri)! + 1);
        }
      })();
      await watch.acknowledged;
      const two = all("two", back);
      await scene.hub.add("two", two.config);
      await until(() => uris.every((uri) => seen.get(uri)), "the word that they have come");
      const told = new Map(seen);
      for (let turn = 0; turn < 4_000 && uris.some((uri) => seen.get(uri) === told.get(uri)); turn++) {
        for (const uri of ["note://two/own", "day://two/mon", "note://shared"]) two.server.resourceUpdated(uri);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assertEquals(uris.filter((uri) => seen.get(uri) === told.get(uri)), []);
    });
  });
}

/** A hub that counts how often its tools are looked at. */
class CountedHub extends HubLayer {
  looks = 0;
  #from: readonly CatalogTool[] = [];
  #tools: readonly CatalogTool[] = [];

  constructor(hub: HubLike) {
    super(hub);
  }

  override tools(): readonly CatalogTool[] {
    const from = this.hub.tools();
    if (this.#from !== from) {
      const look = (): void => void this.looks++;
      this.#from = from;
      this.#tools = from.map((entry) => ({
        ...entry,
        get tool() {
          look();
          return entry.tool;
        },
      }));
    }
    return this.#tools;
  }
}

describe("the gateway", () => {
  test("lists in pages, whatever comes and goes in between", async () => {
    await using scene = await open({ one: all("one", "modern").config, two: all("two", "modern").config }, {
      pageSize: 4,
    });
    const client = await scene.join("modern");
    const names: string[] = [];
    let cursor: string | null | undefined = null;
    for (let page = 0; cursor !== undefined; page++) {
      const listed: { tools: { name: string }[]; nextCursor?: string } = await client.listTools({ cursor });
      names.push(...listed.tools.map(({ name }) => name));
      cursor = listed.nextCursor;
      if (page === 2) await scene.hub.add("zero", all("zero", "modern").config);
    }
    assertEquals(names.length, 27);
    assertEquals(new Set(names).size, 27);
    for (const wrong of ["x", btoa("[]"), btoa('["prompts","one","greet"]'), "ä"]) {
      await assertRejects(() => client.listTools({ cursor: wrong }), Error, '"cursor" is none of this list');
    }
  });

  test("what is listed is made ready once, and not for each of its pages", async () => {
    let counted: CountedHub | undefined;
    await using scene = await open({ one: all("one", "modern").config }, { pageSize: 1 }, {
      around: (hub) => counted = new CountedHub(hub),
    });
    const client = await scene.join("modern");
    const { tools } = await client.listTools();
    assert(tools.length > 5);
    const looks = counted?.looks ?? 0;
    assert(looks >= tools.length && looks <= 3 * tools.length, `${looks} looks at ${tools.length} tools`);
    await scene.hub.add("two", all("two", "modern").config);
    assertEquals((await client.listTools()).tools.length, 2 * tools.length);
  });

  test("a server that is down is a result that names it; the others go on", async () => {
    const one = all("one", "modern");
    let isUp = true;
    const transport = () => {
      const made = typeof one.config.transport === "function" ? one.config.transport() : one.config.transport;
      const restart = made.restart?.bind(made);
      made.restart = () => isUp ? restart?.() ?? Promise.resolve() : Promise.reject(new ConnectError("no way there"));
      return made;
    };
    await using scene = await open({ one: { transport, maxRetries: 0 }, two: all("two", "modern").config });
    const client = await scene.join("modern");
    isUp = false;
    one.kill();
    await until(() => scene.hub.status()[0]?.state !== "connected", "the end of the connection");
    const result = await client.callTool("one__sum", { a: 1, b: 2 });
    assertEquals(result.isError, true);
    assert(textOf(result).includes('"one"'), textOf(result));
    await assertRejects(() => client.readResource("note://one/own"), RpcError, '"one"');
    assertEquals((await client.callTool("two__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    await scene.hub.remove("one");
    await assertRejects(() => client.callTool("one__sum", { a: 1, b: 2 }), RpcError, "one__sum");
  });

  test("a server that dies under a call is a result that names it", async () => {
    const one = all("one", "modern");
    await using scene = await open({ one: one.config, two: all("two", "modern").config });
    const client = await scene.join("modern");
    const hanging = client.callTool("one__hangs");
    await until(() => scene.hub.status()[0]?.active === 1, "the call");
    one.kill();
    const result = await hanging;
    assertEquals(result.isError, true);
    assert(textOf(result).includes('"one"'), textOf(result));
    assertEquals((await client.callTool("two__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
  });

  test("nothing crosses callers: two that ask the same at once get their own answers", async () => {
    for (const [front, back] of pairs) {
      await using scene = await open({ one: all("one", back).config }, { caller: () => undefined });
      const clients = await Promise.all(
        [1, 2, 3].map((number) =>
          scene.join(front, {
            handlers: { elicitation: () => ({ action: "accept", content: { name: `caller ${number}` } }) },
          })
        ),
      );
      const results = await Promise.all(clients.map((client) => client.callTool("one__asks")));
      results.forEach((result, at) => {
        const text = textOf(result);
        // A legacy pipe does not say whose call a question belongs to: then nobody is asked.
        const isOwn = text === `caller ${at + 1}, caller ${at + 1}`;
        assert(isOwn || (back === "legacy" && result.isError === true), `${front} ${back}: ${text}`);
        if (back === "modern") assert(isOwn, text);
      });
    }
  });

  test("a call at a legacy server waits for its caller only so long", async () => {
    const one = all("one", "legacy");
    await using scene = await open({ one: one.config }, { answerTime: 30 });
    const client = await scene.join("modern", { capabilities: { elicitation: { form: {} } } });
    const { pending } = await client.callTool("one__asks").then(() => ({ pending: undefined }), (error) => error);
    assert(pending, "it asks");
    await until(() => scene.hub.status()[0]?.active === 0, "the end of the call");
    const late = await client.resume(pending, { [Object.keys(pending.inputRequests)[0] ?? ""]: { action: "decline" } });
    assertEquals(late.isError, true);
    assert(textOf(late).includes("Cannot go on"), textOf(late));
    assertEquals(one.runs.count, 1);
  });

  test("own names stand where one server has them", async () => {
    const config = { one: all("one", "modern").config, two: all("two", "modern").config };
    await using scene = await open(config, { names: "own" });
    const client = await scene.join("modern");
    assertEquals((await client.listTools()).tools[0]?.name, "one__asks");
    await scene.hub.remove("two");
    assertEquals((await client.listTools()).tools[0]?.name, "asks");
    assertEquals((await client.callTool("sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    assertEquals((await client.callTool("one__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    assertEquals((await client.getPrompt("greet", { who: "you" })).messages.length, 1);
  });

  test("what makes no sense is refused", async () => {
    await using hub = await openHub();
    for (const wrong of [undefined, null, {}, { one: { url: "http://localhost/mcp" } }]) {
      assertThrows(() => createGateway(wrong as never), TypeError, "expected a hub");
    }
    for (const option of ["pageSize", "answerTime"]) {
      for (const value of [0, -1, NaN, Infinity]) {
        try {
          createGateway(hub, { [option]: value });
          throw new Error("it was taken");
        } catch (error) {
          assert(error instanceof RangeError && error.message.includes(`"${option}"`), String(error));
        }
      }
    }
  });
});
