/** A call waits, and the hub hears of another tool meanwhile: what was looked at before is looked at again. */
import { describe, test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { CallToolResult, ToolAnnotations } from "../../../mod.ts";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { type ApprovalRequest, withApproval } from "../../../src/hub/pins/approval.ts";
import { withPins } from "../../../src/hub/pins/mod.ts";
import { createDiscoveryTools } from "../../../src/hub/search/discovery.ts";
import type { HubOptions } from "../../../src/hub/options.ts";
import type { HubLike, RemoteServer } from "../../../src/hub/seam.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { asks, urlOf } from "../faulty.ts";
import { inMemory, openHub, textOf } from "../support.ts";
import { refusalOf } from "./support.ts";

const identities = { shop: { command: "shop" } };
const input = { type: "object" };

/** A shop with one place, a tool that changes, and one that keeps the place until it is let go. */
function createShop(era: "modern" | "legacy", annotations?: ToolAnnotations) {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const clock = new VirtualClock();
  const sold: unknown[] = [];
  const offer = (description: string, annotations?: ToolAnnotations) =>
    server.tool(
      "buy",
      { description, input, ...(annotations && { annotations }) },
      (args) => (sold.push(args), "sold"),
    );
  let withdraw = offer("Buys one", annotations);
  let letGo = (): void => {};
  server.tool("hold", {}, () => new Promise<string>((resolve) => letGo = () => resolve("held")));
  const { config } = inMemory(server, { eras: [era], concurrency: 1 });
  const change = (description: string, annotations?: ToolAnnotations): void => {
    withdraw();
    withdraw = offer(description, annotations);
  };
  return {
    clock,
    sold,
    change,
    open: (options: HubOptions = {}) => clock.until(openHub({ shop: config }, { clock, ...options })),
    /** Calls it, while something happens before there is a place. */
    async buy(hub: HubLike, work: () => void): Promise<CallToolResult> {
      const holding = hub.callTool("shop__hold");
      await clock.settle();
      const buying = hub.callTool("shop__buy");
      await clock.settle();
      assertEquals(hub.status()[0]?.queued, 1);
      work();
      // The server is listed again.
      await clock.advance(10_000);
      letGo();
      await holding;
      return await clock.until(buying);
    },
    withdraw: () => withdraw(),
  };
}

for (const era of ["modern", "legacy"] as const) {
  describe(`a tool that changes while its call waits (${era})`, () => {
    test("is not called where it is not what was pinned", async () => {
      const { clock, sold, open, change, buy } = createShop(era);
      const hub = await open();
      const pinned = await withPins(hub, { store: createMemoryStore(), identities, onFirstSight: "trust" });
      const refused = await buy(pinned, () => change("Buys all"));
      assertStringIncludes(refusalOf(refused), "is not what was approved any more (description). It was not called");
      assertEquals(refused._meta?.["dev.causeway/error"], {
        server: "shop",
        code: "blocked",
        delivery: "not-sent",
        retryable: false,
      });
      assertEquals(sold, []);
      change("Buys one");
      await clock.advance(60_000);
      assertEquals(textOf(await buy(pinned, () => {})), "sold", "it is what it was");
      await clock.until(hub.close());
    });

    test("is not called by the first call after a stored catalog", async () => {
      const { clock, sold, open, change } = createShop(era);
      const before = await open();
      const catalog = before.catalog();
      const store = createMemoryStore();
      await withPins(before, { store, identities, onFirstSight: "trust" });
      await clock.until(before.close());
      change("Buys all");
      const hub = await open({ catalog });
      const pinned = await withPins(hub, { store, identities, onFirstSight: "trust" });
      assertEquals(pinned.tools().length, 2, "as far as anybody knows");
      assertStringIncludes(refusalOf(await clock.until(pinned.callTool("shop__buy"))), "is blocked");
      assertEquals([sold, pinned.tools().map(({ name }) => name)], [[], ["hold"]]);
      const [report] = await pinned.report();
      await pinned.approve("shop__buy", report?.fingerprint ?? "");
      assertEquals(textOf(await clock.until(pinned.callTool("shop__buy"))), "sold");
      await clock.until(hub.close());
    });

    test("is not called where it is gone", async () => {
      const { clock, sold, open, withdraw, buy } = createShop(era);
      const hub = await open();
      const pinned = await withPins(hub, { store: createMemoryStore(), identities, onFirstSight: "trust" });
      const refused = await buy(pinned, withdraw);
      assertStringIncludes(refusalOf(refused), 'The tool "buy" of the server "shop" is not listed');
      assertEquals(sold, []);
      await clock.until(hub.close());
    });

    test("is not called by the yes to another one; who calls again is asked about what it is now", async () => {
      const { clock, sold, open, change } = createShop(era);
      const hub = await open();
      const asked: (string | undefined)[] = [];
      let work = (): void => change("Buys all");
      const approve = async ({ tool }: ApprovalRequest): Promise<boolean> => {
        asked.push(tool?.tool.description);
        work();
        await clock.advance(10_000);
        return true;
      };
      const careful = withApproval(hub, approve);
      assertEquals(
        refusalOf(await clock.until(careful.callTool("shop__buy"))),
        'The tool "shop__buy" has changed since it was looked at. It was not called; try it again',
      );
      assertEquals(sold, []);
      work = () => {};
      assertEquals(textOf(await clock.until(careful.callTool("shop__buy", { n: 2 }))), "sold");
      assertEquals([asked, sold], [["Buys one", "Buys all"], [{ n: 2 }]]);
      // Pins go around approval: what they have looked at may change while a person thinks.
      const pinned = await withPins(careful, { store: createMemoryStore(), identities, onFirstSight: "trust" });
      work = () => change("Buys some");
      assertStringIncludes(refusalOf(await clock.until(pinned.callTool("shop__buy"))), "is blocked");
      assertEquals(sold.length, 1);
      await clock.until(hub.close());
    });

    test("is not called without a question where its server does not say any more that it only reads", async () => {
      const { clock, sold, open, change, buy } = createShop(era, { readOnlyHint: true });
      const hub = await open();
      const trusting = withApproval(hub, ({ name }) => name === "hold", { trustHintsOf: ["shop"] });
      assertEquals(textOf(await buy(trusting, () => change("Buys two", { readOnlyHint: true }))), "sold");
      await clock.advance(60_000);
      assertStringIncludes(refusalOf(await buy(trusting, () => change("Buys three"))), "has changed");
      assertStringIncludes(refusalOf(await clock.until(trusting.callTool("shop__buy"))), "was denied");
      assertEquals(sold.length, 1);
      await clock.until(hub.close());
    });
  });
}

test("a call_tool that waits for a place is made though another server comes meanwhile: it is the tool that was approved", async () => {
  const { clock, sold, open, buy } = createShop("modern");
  const hub = await open();
  const careful = withApproval(createDiscoveryTools(hub, { threshold: 0 }), () => true);
  const other = new McpServer({ name: "other", version: "1.0.0" });
  other.tool("look", {}, () => "seen");
  const waiting: HubLike = Object.assign(Object.create(hub), {
    status: () => hub.status(),
    callTool: (name: string) =>
      name === "shop__hold" ? hub.callTool(name) : careful.callTool("call_tool", { name: "shop__buy" }),
  });
  const bought = await buy(waiting, () => void hub.add("other", inMemory(other).config));
  assertEquals([textOf(bought), sold.length, hub.status().length], ["sold", 1, 2]);
  await clock.until(hub.close());
});

test("a tool that changes while its call waits to be sent again is not called", async () => {
  const clock = new VirtualClock();
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const sold: unknown[] = [];
  const offer = (description: string) =>
    server.tool("buy", { description, input }, (args) => (sold.push(args), "sold"));
  const withdraw = offer("Buys one");
  const fetch = memoryFetch({ fetch: createHandler(server, { allowedHosts: ["shop.test"] }) });
  let [isBusy, calls] = [true, 0];
  const config: RemoteServer = {
    url: urlOf("shop"),
    fetch: (url, init) => {
      if (!isBusy || !asks(init, "tools/call")) return fetch(url, init);
      calls++;
      return Promise.resolve(new Response("busy", { status: 429, headers: { "retry-after": "20" } }));
    },
  };
  const hub = await clock.until(openHub({ shop: config }, { clock }));
  const pinned = await withPins(hub, { store: createMemoryStore(), identities, onFirstSight: "trust" });
  const careful = withApproval(hub, () => true);
  const calling = [pinned.callTool("shop__buy"), careful.callTool("shop__buy")];
  while (calls < 2) await clock.settle();
  withdraw();
  offer("Buys all");
  await clock.advance(10_000);
  assertEquals([hub.findTool("shop__buy")?.tool.description, calls], ["Buys all", 2]);
  isBusy = false;
  const [blocked, changed] = (await clock.until(Promise.all(calling))).map(refusalOf);
  assertStringIncludes(String(blocked), "is not what was approved any more");
  assertStringIncludes(String(changed), "has changed since it was looked at");
  assertEquals(sold, []);
  assertEquals(textOf(await clock.until(careful.callTool("shop__buy"))), "sold");
  await clock.until(hub.close());
});

test("a tool that changes while a person answers its question does not get the answer", async () => {
  const clock = new VirtualClock();
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const sold: unknown[] = [];
  const offer = (description: string) =>
    server.tool("buy", { description, input }, async (_args, context) => {
      sold.push(await context.elicit({ message: "Sure?", requestedSchema: { type: "object", properties: {} } }));
      return "sold";
    });
  let change = (): void => {};
  const elicitation = async () => {
    change();
    await clock.advance(10_000);
    return { action: "accept" as const, content: {} };
  };
  const { config } = inMemory(server, { eras: ["modern"] });
  const withdraw = offer("Buys one");
  const hub = await clock.until(openHub({ shop: config }, { clock, handlers: { elicitation } }));
  const pinned = await withPins(hub, { store: createMemoryStore(), identities, onFirstSight: "trust" });
  assertEquals([textOf(await clock.until(pinned.callTool("shop__buy"))), sold.length], ["sold", 1]);
  change = () => {
    withdraw();
    offer("Buys all");
  };
  assertStringIncludes(refusalOf(await clock.until(pinned.callTool("shop__buy"))), "is blocked");
  assertEquals(sold.length, 1);
  await clock.until(hub.close());
});
