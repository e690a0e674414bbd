/**
 * Which servers are pinned, and what goes through pins as it is.
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { withPins } from "../../../src/hub/pins/mod.ts";
import type { PinnedHub, PinOptions, ServerIdentity } from "../../../src/hub/pins/mod.ts";
import { canonicalJson } from "../../../src/hub/pins/canonical.ts";
import { sha256 } from "../../../src/protocol/web_crypto.ts";
import type { RequestOptions } from "../../../src/client/session/request.ts";
import type { HubEvent, QualifiedName, ServerStatus } from "../../../src/hub/seam.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { CallToolResult } from "../../../src/protocol/types.ts";
import { TestStore } from "../../support/test_store.ts";
import { PlayedHub, refusalOf, send } from "./support.ts";

const identities = (server: string) => ({ url: `https://${server}.test/mcp` });
const servers = (server: string): boolean => server !== "own";

/** A hub that remembers what its calls were given, and knows its servers by name. */
class ToldHub extends PlayedHub {
  readonly given: (readonly [JsonObject | undefined, RequestOptions | undefined])[] = [];
  readonly names = ["shop", "own"];

  override callTool(name: QualifiedName, args?: JsonObject, options?: RequestOptions): Promise<CallToolResult> {
    this.given.push([args, options]);
    return super.callTool(name);
  }

  override status(): [] {
    return this.names.map((name): Partial<ServerStatus> => ({ name })) as [];
  }
}

function guard(hub: PlayedHub, options: Partial<PinOptions> = {}): Promise<PinnedHub> {
  return withPins(hub, { store: createMemoryStore(), identities, onFirstSight: "ask", ...options });
}

async function assertBlocked(pinned: PinnedHub): Promise<void> {
  assertEquals(pinned.findTool("shop__send"), undefined);
  assertStringIncludes(refusalOf(await pinned.callTool("shop__send")), "is blocked");
}

describe("servers that are not pinned", () => {
  test("are shown and called as they are, and nobody looks at their tools", async () => {
    const hub = new ToldHub([send]);
    hub.list([send], "own");
    const store = new TestStore();
    const pinned = await guard(hub, { servers, store });
    assertEquals(pinned.tools().map(({ server }) => server), ["own"]);
    assertEquals([pinned.findTool("own__send")?.server, pinned.findTool("shop__send")], ["own", undefined]);
    assertEquals((await pinned.report()).map(({ server }) => server), ["shop"]);
    assertEquals(store.reads, 1, "that of the other one");
    const options = { timeout: 5 };
    assertEquals((await pinned.callTool("own__send", { to: "ada" }, options)).isError, undefined);
    assertEquals(hub.given, [[{ to: "ada" }, options]]);
  });

  test("are asked for what they do not list; those that are pinned are not", async () => {
    const hub = new ToldHub([send]);
    const pinned = await guard(hub, { servers });
    const options = { timeout: 5 };
    for (const name of ["own__new", "own.new", { server: "own", name: "new" }]) {
      assertEquals((await pinned.callTool(name, { a: 1 }, options)).isError, undefined, JSON.stringify(name));
    }
    assertEquals(hub.given, Array(3).fill([{ a: 1 }, options]));
    for (const name of ["shop__new", "shop.new", { server: "shop", name: "new" }, "new", "gone__new"]) {
      assertStringIncludes(refusalOf(await pinned.callTool(name)), "is not listed", JSON.stringify(name));
    }
    assertEquals(hub.calls.length, 3);
    // It begins with the name of a server that is not pinned, too.
    hub.names.push("own.shop");
    refusalOf(await pinned.callTool("own.shop.new"));
    assertEquals(hub.calls.length, 3);
  });

  test("are not looked at when their tools change, and neither is what else changes", async () => {
    const hub = new PlayedHub();
    const store = new TestStore();
    const pinned = await guard(hub, { servers, store, onFirstSight: "trust" });
    hub.list([send]);
    hub.list([{ ...send, name: "elsewhere" }], "other");
    const catalog = (server: string, changed: ("tools" | "prompts")[]): HubEvent => ({
      type: "catalog",
      server,
      changed,
    });
    hub.queue = [catalog("own", ["tools"]), catalog("shop", ["prompts"]), catalog("shop", ["tools"])];
    const seen: unknown[] = [];
    for await (const _ of pinned.events()) seen.push([store.reads, pinned.tools().length]);
    assertEquals(seen, [[0, 0], [0, 0], [1, 1]], "the tools of the one server, once");
    assertEquals([...store.texts.keys()], ["pins/shop"]);
    assert(!store.texts.get("pins/shop")?.includes("elsewhere"), "and no other's");
  });
});

describe("what is pinned", () => {
  test("is found once it is approved, and called with all that the caller gave", async () => {
    const hub = new ToldHub([send]);
    const store = new TestStore();
    const pinned = await guard(hub, { store, prefix: "ours/" });
    assertEquals(pinned.findTool("shop__send"), undefined);
    const [report] = await pinned.report();
    assertEquals(report?.digest, await sha256(canonicalJson(send)));
    await pinned.approve("shop__send", report?.fingerprint ?? "");
    assertEquals(pinned.findTool("shop__send"), hub.findTool("shop__send"));
    assertEquals(pinned.findTool("shop__none"), undefined);
    const options = { timeout: 5 };
    const { reads } = store;
    await pinned.callTool("shop__send", { to: "ada" }, options);
    const [[args, given] = []] = hub.given;
    assertEquals([hub.given.length, args, given?.timeout], [1, { to: "ada" }, 5]);
    assertEquals([store.reads, ...store.texts.keys()], [reads, "ours/shop"], "for a call nothing is read");
  });

  test("is called no more where its place changes in place, or nobody says it any more", async () => {
    const args = ["serve", "--root=/a"];
    let place: ServerIdentity | undefined = { command: "files", args };
    const pinned = await guard(new PlayedHub([send]), { identities: () => place, onFirstSight: "trust" });
    assertEquals(pinned.tools().length, 1);
    args[1] = "--root=/";
    await assertBlocked(pinned);
    args[1] = "--root=/a";
    assertEquals((await pinned.callTool("shop__send")).isError, undefined);
    place = undefined;
    await assertBlocked(pinned);
  });

  test("is a new tool as well, where the others were trusted at the same place", async () => {
    const hub = new PlayedHub([send]);
    const pinned = await guard(hub, { onFirstSight: "trust" });
    hub.list([send, { ...send, name: "receive" }]);
    await pinned.check();
    assertEquals(pinned.tools().length, 2);
  });

  test("is not called where it goes away while a person thinks", async () => {
    const hub = new PlayedHub([send]);
    let isGone = false;
    const pinned = await guard(hub, {
      approve: () => {
        if (isGone) hub.list([]);
        return isGone;
      },
    });
    hub.list([{ ...send, title: "Mail" }]);
    isGone = true;
    assertStringIncludes(refusalOf(await pinned.callTool("shop__send")), "is not listed");
    assertEquals(hub.calls, []);
  });

  test("is asked for again where its pin is gone: a yes is good for one pin", async () => {
    const store = createMemoryStore();
    let asked = 0;
    const pinned = await guard(new PlayedHub([send]), { store, approve: () => ++asked === 1 });
    assertEquals(pinned.tools().length, 1);
    await store.delete("pins/shop");
    await pinned.check();
    assertEquals([pinned.tools().length, asked], [0, 2]);
  });

  test("stays good while the store fails", async () => {
    const store = new TestStore();
    const hub = new PlayedHub([send, { ...send, name: "other" }]);
    const pinned = await guard(hub, { store, onFirstSight: "trust" });
    store.mood = "fails";
    hub.list([send, { ...send, name: "other", title: "Another" }]);
    assertStringIncludes(refusalOf(await pinned.callTool("shop__other")), "the disk is on fire");
    assertEquals(pinned.tools().map(({ name }) => name), ["send"]);
    assertEquals((await pinned.callTool("shop__send")).isError, undefined);
  });

  test("is not looked at for who has left already, and no question is left behind", async () => {
    const gone = AbortSignal.abort(new Error("enough"));
    const hub = new PlayedHub([send]);
    const signals: AbortSignal[] = [];
    const controller = new AbortController();
    let isLate = false;
    const pinned = await guard(hub, {
      approve: (_tool, { signal }) => {
        if (!isLate) return false;
        if (signal) signals.push(signal);
        controller.abort(new Error("enough"));
        return new Promise(() => {});
      },
    });
    isLate = true;
    hub.list([{ ...send, title: "Mail" }]);
    await assertRejects(() => pinned.callTool("shop__send", {}, { signal: gone }), Error, "enough");
    await assertRejects(() => pinned.check({ signal: gone }), Error, "enough");
    assertEquals(signals, []);
    hub.queue = [{ type: "catalog", server: "shop", changed: ["tools"] }];
    const seen: string[] = [];
    for await (const { type } of pinned.events({ signal: controller.signal })) seen.push(type);
    assertEquals([seen, signals.map(({ aborted }) => aborted)], [["catalog"], [true]]);
  });

  test("cannot be approved by hand where others write there all the time", async () => {
    const inner = createMemoryStore();
    let attempts = 0;
    const store = { ...inner, compareAndSet: () => Promise.resolve(++attempts > 100) };
    const pinned = await guard(new PlayedHub([send]), { store });
    const [report] = await pinned.report();
    await assertRejects(
      () => pinned.approve("shop__send", report?.fingerprint ?? ""),
      Error,
      "its pins are written by others all the time",
    );
    assertEquals(attempts, 10);
    assert(pinned.tools().length === 0);
  });
});
