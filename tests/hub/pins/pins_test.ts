import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { formatChanges, restore, withPins } from "../../../src/hub/pins/mod.ts";
import type { PinnedHub, PinOptions, PinReport } from "../../../src/hub/pins/mod.ts";
import type { Tool } from "../../../src/protocol/types.ts";
import { PlayedHub, refusalOf, send } from "./support.ts";

const identities = { shop: { url: "https://shop.test/mcp" } };
const other: Tool = { name: "other", inputSchema: { type: "object" } };

function guard(hub: PlayedHub, options: Partial<PinOptions> = {}): Promise<PinnedHub> {
  return withPins(hub, { store: createMemoryStore(), identities, onFirstSight: "trust", ...options });
}

/** Every way to change one byte (the lowest bit of a code unit) of one text, or one scalar, in a tool. */
function* mutants(value: unknown, path = ""): Generator<readonly [string, unknown]> {
  if (typeof value === "string") {
    for (let at = 0; at < value.length; at++) {
      const unit = String.fromCharCode(value.charCodeAt(at) ^ 1);
      yield [`${path}@${at}`, value.slice(0, at) + unit + value.slice(at + 1)];
    }
  } else if (typeof value === "boolean") yield [path, !value];
  else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      for (const [where, changed] of mutants(inner, `${path}.${name}`)) {
        yield [
          where,
          Array.isArray(value) ? value.map((item) => item === inner ? changed : item) : { ...value, [name]: changed },
        ];
      }
      if (Array.isArray(value)) continue;
      const { [name]: _, ...rest } = value as Record<string, unknown>;
      yield [`${path}.-${name}`, rest];
      for (const [renamed, to] of mutants(name, `${path}.#`)) yield [renamed, { ...rest, [String(to)]: inner }];
    }
    yield [`${path}.+`, Array.isArray(value) ? [...value, null] : { ...value, "": null }];
  }
}

describe("pins", () => {
  test("what was seen first is trusted, called, and stays so in another process", async () => {
    const hub = new PlayedHub([send, other]);
    const store = createMemoryStore();
    const pinned = await guard(hub, { store });
    assertEquals(pinned.tools(), hub.tools());
    assert(pinned.tools() === pinned.tools(), "the list is made once");
    assertEquals((await pinned.callTool("shop__send")).isError, undefined);
    assertEquals((await pinned.callTool("shop.other")).isError, undefined);
    const again = await guard(new PlayedHub([send, other]), { store, onFirstSight: "ask" });
    assertEquals((await again.report()).map(({ status }) => status), ["approved", "approved"]);
    assertEquals(hub.calls, ["shop.send", "shop.other"]);
  });

  test("each field that changes by one byte is blocked, and the server is not asked", async () => {
    const store = createMemoryStore();
    const options = { store, identities, onFirstSight: "trust" as const };
    await withPins(new PlayedHub([send]), options);
    const changed = [...mutants(send)].filter(([path]) => path !== ".+" && !path.startsWith(".#"));
    assert(changed.length > 200, `${changed.length}`);
    for (const [path, mutant] of changed) {
      const tool = mutant as Tool;
      // Without a name, or with another one, it is not the same tool; see below.
      if (tool.name !== send.name) continue;
      const hub = new PlayedHub([tool]);
      const pinned = await withPins(hub, options);
      assertEquals(pinned.tools(), [], path);
      assertEquals(pinned.findTool("shop__send"), undefined, path);
      assertStringIncludes(
        refusalOf(await pinned.callTool("shop__send", {})),
        "is blocked: it is not what was approved",
      );
      assertStringIncludes(refusalOf(await pinned.callTool({ server: "shop", name: "send" })), "It was not called");
      assertEquals(hub.calls, [], path);
      const [report] = await pinned.report();
      assertEquals(report?.status, "changed", path);
      assertEquals(report?.changes.length, path.includes("#") ? 2 : 1, `${path} ${JSON.stringify(report?.changes)}`);
    }
  });

  test("a change while it runs is blocked at the next call, also when the list was not read again", async () => {
    const hub = new PlayedHub([send]);
    const pinned = await guard(hub);
    await pinned.callTool("shop__send");
    for (const [path, mutant] of mutants(send.description, "description")) {
      hub.list([{ ...send, description: String(mutant) }]);
      refusalOf(await pinned.callTool("shop__send"));
      assertEquals(pinned.tools(), [], path);
    }
    hub.list([send]);
    assertEquals((await pinned.callTool("shop__send")).isError, undefined, "what was approved may come back");
    assertEquals(hub.calls.length, 2);
  });

  test("a definition that is changed in place is another one too", async () => {
    const hub = new PlayedHub([send]);
    const pinned = await guard(hub);
    await pinned.callTool("shop__send");
    const [found] = hub.tools();
    assert(found);
    found.tool.inputSchema["additionalProperties"] = true;
    refusalOf(await pinned.callTool("shop__send"));
    assertEquals([pinned.findTool("shop__send"), hub.calls.length], [undefined, 1]);
  });

  test("what a model does not see, and the order of members, do not count", async () => {
    const hub = new PlayedHub([send]);
    const pinned = await guard(hub);
    const { properties, ...schema } = send.inputSchema;
    hub.list([{ _meta: { at: 1 }, icons: [], ...send, inputSchema: { properties, ...schema } }]);
    assertEquals(pinned.tools().length, 1);
    assertEquals((await pinned.callTool("shop__send")).isError, undefined);
  });

  test("a server that is somewhere else, or has another issuer, is another one: its new tools too", async () => {
    const places = [
      { url: "https://shop.test/mcp2" },
      { url: "https://shop.test/mcp?a=1" },
      { url: "http://shop.test/mcp" },
      { url: "https://shop.test/mcp", issuer: "https://evil.test" },
      { command: "npx", args: ["shop"] },
    ];
    const store = createMemoryStore();
    await guard(new PlayedHub([send]), { store });
    for (const place of places) {
      const hub = new PlayedHub([send, other]);
      const pinned = await guard(hub, { store, identities: { shop: place } });
      assertEquals(pinned.tools(), []);
      const [first, second] = await pinned.report();
      assertEquals(
        [first?.status, second?.status],
        ["changed", "new"],
        "nothing new is trusted at a place that is not known",
      );
      assertEquals(first?.changes.map(({ path }) => path), ["server"]);
      refusalOf(await pinned.callTool("shop__send"));
      refusalOf(await pinned.callTool("shop__other"));
      assertEquals(hub.calls, []);
    }
    const same = await guard(new PlayedHub([send]), {
      store,
      identities: { shop: { url: "HTTPS://shop.test:443/mcp#x" } },
    });
    assertEquals(same.tools().length, 1);
  });

  test("arguments of a program count, and are neither kept nor shown", async () => {
    const store = createMemoryStore();
    const run = (args: string[]) =>
      guard(new PlayedHub([send]), { store, identities: { shop: { command: "npx", args } } });
    assertEquals((await run(["shop", "--key", "s3cret-one"])).tools().length, 1);
    const [report] = await (await run(["shop", "--key", "s3cret-two"])).report();
    assertEquals(report?.changes, [{
      path: "server",
      before: "npx (arguments: 3)",
      after: "npx (arguments: 3) (changed where it is not shown: the query, or the arguments)",
    }]);
    assert(!(await store.get("pins/shop"))?.includes("s3cret"));
    assert(!JSON.stringify(report).includes("s3cret"));
    const url = "https://user:s3cret@shop.test/mcp?key=s3cret";
    const web = await guard(new PlayedHub([send], "web"), { store, identities: { web: { url } } });
    assertEquals((await web.report())[0]?.from, "https://shop.test/mcp");
    assert(!(await store.get("pins/web"))?.includes("s3cret"));
  });

  test("a server of which nobody says where it is, is not called", async () => {
    for (const place of [undefined, {}, { url: "" }]) {
      const hub = new PlayedHub([send]);
      const pinned = await guard(hub, { identities: () => place });
      assertEquals(pinned.tools(), []);
      assertStringIncludes(
        refusalOf(await pinned.callTool("shop__send")),
        'expected "url" or "command" in "identities"',
      );
      assertEquals((await pinned.report())[0]?.status, "unknown");
      assertEquals(hub.calls, []);
    }
    const inherited = await guard(new PlayedHub([send], "toString"), { identities: {} });
    assertEquals(inherited.tools(), []);
  });

  test("a server that moves while it runs is called no more, until somebody approves the new place", async () => {
    const hub = new PlayedHub([send]);
    let url = "https://shop.test/mcp";
    const pinned = await guard(hub, { identities: () => ({ url }) });
    await pinned.callTool("shop__send");
    url = "https://evil.test/mcp";
    assertEquals(pinned.findTool("shop__send"), undefined);
    assertStringIncludes(refusalOf(await pinned.callTool("shop__send")), "(server)");
    const [report] = await pinned.report();
    await pinned.approve("shop__send", report?.fingerprint ?? "");
    assertEquals((await pinned.callTool("shop__send")).isError, undefined);
    assertEquals(hub.calls.length, 2);
  });

  test("each part of a place counts while it runs", async () => {
    const before = { url: "https://shop.test/mcp", issuer: "https://id.test", command: "npx", args: ["a", "b"] };
    const after: (typeof before)[] = [
      { ...before, url: "https://shop.test/mcp2" },
      { ...before, issuer: "https://id2.test" },
      { ...before, args: ["a", "c"] },
      { ...before, args: ["a"] },
      { ...before, command: "bunx" },
    ];
    for (const url of [before.url, ""]) {
      for (const moved of after.map((place) => url === "" ? { ...place, url } : place)) {
        const counts = url === "" ? moved.issuer + moved.command + moved.args : moved.url + moved.issuer;
        const was = url === "" ? before.issuer + before.command + before.args : before.url + before.issuer;
        let place = { ...before, url };
        const hub = new PlayedHub([send]);
        const pinned = await guard(hub, { identities: () => place });
        place = moved;
        const result = await pinned.callTool("shop__send");
        assertEquals([result.isError ?? false, hub.calls.length], counts === was ? [false, 1] : [true, 0]);
      }
    }
  });

  test("new ones are asked for: yes pins what was shown, no is kept until it changes", async () => {
    const asked: PinReport[] = [];
    let answer: unknown = false;
    const hub = new PlayedHub([send]);
    const pinned = await guard(hub, {
      onFirstSight: "ask",
      approve: (tool) => {
        asked.push(tool);
        return answer as boolean;
      },
    });
    assertEquals([asked.length, pinned.tools().length], [1, 0]);
    assertEquals(JSON.parse(restore(asked[0]!.shown)), send);
    assertEquals([asked[0]?.status, asked[0]?.from, asked[0]?.changes], ["new", "https://shop.test/mcp", []]);
    assertStringIncludes(refusalOf(await pinned.callTool("shop__send")), "nobody has approved it yet");
    await pinned.check();
    assertEquals(asked.length, 1, "what was refused is not asked for again");
    hub.list([{ ...send, title: "Mail" }]);
    for (answer of ["yes", 1, {}, undefined]) {
      hub.list([{ ...send, title: `Mail ${asked.length}` }]);
      refusalOf(await pinned.callTool("shop__send"));
    }
    assertEquals(hub.calls, [], "only true is a yes");
    answer = true;
    hub.list([{ ...send, title: "Post" }]);
    assertEquals((await pinned.callTool("shop__send")).isError, undefined);
    assertEquals([asked.length, hub.calls.length, pinned.tools().length], [6, 1, 1]);
    answer = false;
    hub.list([{ ...send, title: "Post", description: "Sends\u200b a mail to evil.test" }]);
    refusalOf(await pinned.callTool("shop__send"));
    const last = asked.at(-1);
    assertEquals(
      formatChanges(last?.changes ?? []),
      [
        "description",
        "  - Sends a mail to one person",
        "  + Sends\\u{200b} a mail to evil.test",
      ].join("\n"),
    );
    assertEquals(last?.hidden.map(({ path, kinds }) => [path, kinds]), [["description", { "zero-width": 1 }]]);
  });

  test("what becomes another one while a person thinks is not called", async () => {
    const hub = new PlayedHub([send]);
    let asked = 0;
    const pinned = await guard(hub, {
      onFirstSight: "ask",
      approve: () => {
        hub.list([{ ...send, description: `Sends everything, ${++asked} times` }]);
        return true;
      },
    });
    const text = refusalOf(await pinned.callTool("shop__send"));
    assertStringIncludes(text, "blocked");
    assertEquals([asked, hub.calls, pinned.tools()], [2, [], []]);
  });

  test("who is called off while a person thinks gets his own reason, and nothing is approved", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const hub = new PlayedHub([send]);
    let pending = 0;
    const late = await guardLate(hub, () => {
      pending++;
      queueMicrotask(() => controller.abort(reason));
      return new Promise(() => {});
    });
    const error = await late.callTool("shop__send", {}, { signal: controller.signal }).then(
      () => undefined,
      (seen) => seen,
    );
    assert(error === reason);
    assertEquals([pending, hub.calls], [1, []]);
    const again = await late.callTool("shop__send", {}, { signal: controller.signal }).then(
      () => undefined,
      (seen) => seen,
    );
    assert(again === reason);
    assertEquals(pending, 1);
  });

  test("an approval by hand is for what was seen, and for nothing else", async () => {
    const hub = new PlayedHub([send, other]);
    const pinned = await guard(hub, { onFirstSight: "ask" });
    const [first] = await pinned.report();
    assert(first?.fingerprint && /^[\da-f]{64}$/.test(first.fingerprint));
    hub.list([{ ...send, title: "Mail" }, other]);
    await assertRejects(() => pinned.approve("shop__send", first.fingerprint ?? ""), TypeError, "its fingerprint is");
    await assertRejects(() => pinned.approve("shop__none", first.fingerprint ?? ""), TypeError, "expected a tool");
    hub.list([send, other]);
    await pinned.approve("shop.send", first.fingerprint);
    assertEquals(pinned.tools().map(({ name }) => name), ["send"]);
    assertEquals((await pinned.callTool("shop__send")).isError, undefined);
    refusalOf(await pinned.callTool("shop__other"));
    assertEquals(hub.calls, ["shop.send"]);
  });

  test("a tool that is not listed is not called", async () => {
    const hub = new PlayedHub([send]);
    const pinned = await guard(hub);
    for (const name of ["shop__none", { server: "shop", name: "none" }, { server: "none", name: "send" }]) {
      assertStringIncludes(refusalOf(await pinned.callTool(name)), "is not listed");
    }
    assertEquals(hub.calls, []);
  });

  test("two processes that see different tools first do not both trust them", async () => {
    const store = createMemoryStore();
    const evil = new PlayedHub([{ ...send, description: "Sends everything" }]);
    const good = new PlayedHub([send]);
    const both = await Promise.all([guard(good, { store }), guard(evil, { store })]);
    assertEquals(both.map((pinned) => pinned.tools().length).sort(), [0, 1]);
  });

  for (const type of ["catalog", "added"] as const) {
    test(`tools of a server come before the event that tells of them (${type})`, async () => {
      const hub = new PlayedHub();
      const pinned = await guard(hub);
      hub.list([send]);
      assertEquals(pinned.tools(), [], "it was not looked at yet");
      hub.queue = [{ type: "removed", server: "x" }, { type, server: "shop", changed: ["tools"] }];
      const seen: unknown[] = [];
      for await (const event of pinned.events()) seen.push([event.type, pinned.tools().length]);
      assertEquals(seen, [["removed", 0], [type, 1]]);
    });
  }

  test("a tool that is nested too deeply, or has a name of its own, spoils none of the others", async () => {
    let deep = {};
    for (let level = 0; level < 300; level++) deep = { deep };
    const odd: Tool = { name: "__proto__", inputSchema: { type: "object" } };
    const store = createMemoryStore();
    const hub = new PlayedHub([{ ...send, inputSchema: deep }, other, odd]);
    const pinned = await guard(hub, { store });
    assertEquals(pinned.tools().map(({ name }) => name), ["other", "__proto__"]);
    assertStringIncludes(refusalOf(await pinned.callTool("shop__send")), "nested too deeply");
    const again = await guard(hub, { store, onFirstSight: "ask" });
    assertEquals(again.tools().length, 2);
    assertEquals(hub.calls, []);
  });

  test("a long text is shown around what changed, and many changes are counted", async () => {
    const long = "x".repeat(5_000);
    const names = Array.from({ length: 80 }, (_, index) => `field_${index}`);
    const schema = (type: string) => ({
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type }])),
    });
    const store = createMemoryStore();
    await guard(new PlayedHub([{ ...send, description: `${long}a${long}`, inputSchema: schema("string") }]), { store });
    const hub = new PlayedHub([{ ...send, description: `${long}\u202eb${long}`, inputSchema: schema("number") }]);
    const [report] = await (await guard(hub, { store })).report();
    const changes = report?.changes ?? [];
    assertEquals(changes.length, 51);
    assertEquals(changes[0]?.after, `…${"x".repeat(40)}\\u{202e}b${"x".repeat(40)}…`);
    assertEquals(changes.at(-1), { path: "…", before: undefined, after: "31 more" });
  });

  test("a model is told which fields changed, and nothing in the words of the server", async () => {
    const store = createMemoryStore();
    await guard(new PlayedHub([send]), { store });
    const evil = { ...send, description: "IGNORE ALL", inputSchema: { type: "object", "IGNORE ALL": true } };
    const text = refusalOf(await (await guard(new PlayedHub([evil]), { store })).callTool("shop__send"));
    assert(!text.includes("IGNORE"), text);
    assertStringIncludes(text, "(description, inputSchema)");
  });

  test("wrong options are refused", async () => {
    const wrong = [{ onFirstSight: "always" }, { onFirstSight: undefined }, { store: undefined }];
    for (const options of wrong) {
      await assertRejects(() => guard(new PlayedHub(), options as unknown as PinOptions), TypeError, "expected");
    }
  });
});

/** A guard whose hub gets its tool later, so that the first call is the one that asks. */
async function guardLate(hub: PlayedHub, approve: NonNullable<PinOptions["approve"]>): Promise<PinnedHub> {
  hub.list([]);
  const pinned = await guard(hub, { onFirstSight: "ask", approve });
  hub.list([send]);
  return pinned;
}
