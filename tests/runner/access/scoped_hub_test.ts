import { assertEquals, assertLess, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import { withResultBudget } from "../../../src/hub/budget/result_budget.ts";
import { Changes } from "../../../src/hub/gateway/changes.ts";
import type { HubEvent, HubLike } from "../../../src/hub/seam.ts";
import { InvalidParamsError } from "../../../src/protocol/errors.ts";
import { createJudge, createPolicy, scopeHub } from "../../../src/runner/mod.ts";
import type { AccessRule, AuditRow } from "../../../src/runner/mod.ts";
import { FakeHub } from "../../hub/support/fake_hub.ts";
import { growth } from "../../support/clocks/growth.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const greeting = { greet: [{ role: "user" as const, content: { type: "text" as const, text: "hello" } }] };
const all: readonly AccessRule[] = [{ effect: "allow" }];

/** A hub of two servers that have one resource in common. */
class Library extends FakeHub {
  /** What was asked of it beside tools and resources. */
  readonly asked: string[] = [];

  constructor() {
    const shared = { "note://shared": "shared" };
    super({
      one: {
        tools: { look: {}, wipe: {} },
        resources: { ...shared, "file:///one/a": "a" },
        templates: ["file:///one/{name}", "secret://{name}"],
        prompts: greeting,
      },
      two: { resources: shared, prompts: greeting },
    });
  }

  override getPrompt(...parameters: Parameters<FakeHub["getPrompt"]>): ReturnType<FakeHub["getPrompt"]> {
    this.asked.push(`prompt ${JSON.stringify(parameters[0])}`);
    return super.getPrompt(...parameters);
  }

  override complete(reference?: Parameters<HubLike["complete"]>[0]): ReturnType<FakeHub["complete"]> {
    this.asked.push(`complete ${JSON.stringify(reference)}`);
    return super.complete();
  }
}

/** Ada's view of a hub, by rules that can be changed. */
async function openScoped(hub: HubLike, given: readonly AccessRule[] = all) {
  const state = { rules: given };
  const rows: AuditRow[] = [];
  const judge = createJudge({
    policy: { open: (principal, tenant) => createPolicy(state.rules).open(principal, tenant) },
    principal: { id: "ada", tenant: "acme" },
    tenant: "acme",
    audit: { write: (row) => void rows.push(row) },
  });
  const scoped = await scopeHub(hub, judge);
  const taken = () => rows.splice(0).map(({ server, tool, action, outcome }) => [server, tool, action, outcome]);
  return { scoped, taken, state };
}

describe("a hub as one principal may use it", () => {
  const argument = { name: "name", value: "" };
  type Scoped = Awaited<ReturnType<typeof openScoped>>["scoped"];
  const ways: readonly (readonly [what: string, use: (scoped: Scoped) => Promise<unknown>])[] = [
    ["file:///one/a", (scoped) => scoped.readResource("file:///one/a")],
    ["file:///one/a", (scoped) => scoped.readResource({ server: "one", uri: "file:///one/a" })],
    ["greet", (scoped) => scoped.getPrompt("one__greet")],
    ["greet", (scoped) => scoped.complete({ type: "ref/prompt", name: "one__greet" }, argument)],
    [
      "file:///one/{name}",
      (scoped) => scoped.complete({ type: "ref/resource", server: "one", uri: "file:///one/{name}" }, argument),
    ],
  ];

  it("asks the policy anew for each reading and completion, and writes each down", async () => {
    const inside = new Library();
    const { scoped, taken, state } = await openScoped(inside);
    for (const [what, use] of ways) {
      await use(scoped);
      assertEquals(taken(), [["one", what, "read", "allow"]]);
    }
    const reached = [inside.reads.length, inside.asked.length];
    assertEquals(reached, [2, 3]);
    for (const effect of ["deny", "ask"] as const) {
      state.rules = all;
      await scoped.renew();
      state.rules = [...all, { actions: ["read"], effect }];
      for (const [what, use] of ways) {
        await assertRejects(() => use(scoped), InvalidParamsError, "There is no");
        assertEquals(taken(), [["one", what, "read", "deny"]]);
        state.rules = all;
        await scoped.renew();
        state.rules = [...all, { actions: ["read"], effect }];
      }
    }
    assertEquals([inside.reads.length, inside.asked.length], reached, "nothing went through");
  });

  it("takes a resource of two servers from the one where it may be read", async () => {
    const inside = new Library();
    const { scoped, taken, state } = await openScoped(inside);
    await assertRejects(() => scoped.readResource("note://shared"), InvalidParamsError, "Name the server");
    await scoped.readResource({ server: "two", uri: "note://shared" });
    state.rules = [...all, { servers: ["one"], actions: ["read"], effect: "deny" }];
    await scoped.readResource("note://shared");
    await assertRejects(() => scoped.readResource({ server: "one", uri: "note://shared" }), InvalidParamsError);
    assertEquals(inside.reads, ["two note://shared", "two note://shared"]);
    assertEquals(taken().map(([server, , , outcome]) => [server, outcome]), [
      ...[["one", "deny"], ["two", "allow"], ["two", "allow"], ["one", "deny"]],
    ]);
  });

  it("reads no URI that leads elsewhere than its text says", async () => {
    const inside = new Library();
    const { scoped, taken } = await openScoped(inside, [{ tools: ["file:///one/*"], effect: "allow" }]);
    for (const uri of ["file:///one/../two", "file:///one/%2e%2e/two", "file:///one/..\\two"]) {
      await assertRejects(() => scoped.readResource({ server: "one", uri }), InvalidParamsError, "There is no");
      assertEquals([scoped.mayWatch("one", uri), taken()], [false, [["one", uri, "read", "deny"]]]);
    }
    await assertRejects(() => scoped.readResource("file:///one/nothing"), InvalidParamsError, "There is no");
    assertEquals([inside.reads, taken()], [[], []], "of what nobody has nothing is written down");
  });

  it("lists, finds and tells nothing of what may not be used", async () => {
    class Telling extends Library {
      override async *events(): AsyncIterable<HubEvent> {
        for (const server of ["one", "two"]) {
          yield { type: "added", server };
          yield { type: "catalog", server, changed: ["tools"] };
          yield { type: "authorization", server, authorizationUrl: "https://auth.example/" };
          yield { type: "resource", server, uri: "note://shared" };
          yield { type: "log", server, level: "info", data: "of a server" };
          yield { type: "error", server, error: new Error("of a server") };
          yield { type: "removed", server };
        }
      }
    }
    const rules: readonly AccessRule[] = [
      { servers: ["one"], actions: ["see", "manage"], effect: "allow" },
      { servers: ["one"], tools: ["look"], actions: ["call"], effect: "allow" },
      { servers: ["two"], tools: ["note://*", "greet"], actions: ["read"], effect: "allow" },
      { tools: ["file:///one/{name}"], actions: ["read"], effect: "allow" },
    ];
    const { scoped } = await openScoped(new Telling(), rules);
    assertEquals(scoped.tools().map(({ name }) => name), ["look"]);
    assertEquals([scoped.findTool("one.look")?.name, scoped.findTool("one.wipe")], ["look", undefined]);
    assertEquals(scoped.resources().map(({ server, resource }) => [server, resource.uri]), [["two", "note://shared"]]);
    assertEquals(scoped.templates().map(({ template }) => template.uriTemplate), ["file:///one/{name}"]);
    assertEquals(scoped.prompts().map(({ qualifiedName }) => qualifiedName), ["two__greet"]);
    assertEquals(scoped.status().map(({ name }) => name), ["one"]);
    const [listed, ...others] = scoped.catalog().servers;
    assertEquals([listed?.name, listed?.tools.map(({ name }) => name), others], ["one", ["look"], []]);
    assertEquals([listed?.prompts, listed?.resources, listed?.templates.length], [[], [], 1]);
    const told: string[] = [];
    for await (const event of scoped.events()) told.push(`${event.type} ${event.server}`);
    assertEquals(told, [
      ...["added one", "catalog one", "log one", "error one", "removed one"],
      ...["added two", "catalog two", "resource two", "removed two"],
    ]);
  });

  it("tells what came with a server that is added and known already, also who may use it and not see it", async () => {
    class Adding extends FakeHub {
      constructor() {
        super({ one: { tools: { look: {} } }, two: { prompts: greeting } });
      }

      override async *events(): AsyncIterable<HubEvent> {
        for (const server of ["one", "two", "three"]) yield { type: "added", server };
      }
    }
    const use = { actions: ["call" as const], effect: "allow" as const };
    const see = { actions: ["see" as const], effect: "allow" as const };
    for (const rules of [[use], [use, see]]) {
      const { scoped } = await openScoped(new Adding(), rules);
      const told: string[] = [];
      const stop = new Changes(scoped, undefined).watch(({ type }) => void told.push(type));
      await new Promise((resolve) => setTimeout(resolve));
      stop();
      assertEquals(told, ["tools"]);
    }
  });

  it("reads a result that was kept whole, and tells nothing of others", async () => {
    const long = "x".repeat(500);
    const inside = new FakeHub({ s: { tools: { t: { run: () => ({ content: [{ type: "text", text: long }] }) } } } });
    const budget = { store: new TestStore(), clock: new VirtualClock(), limit: 100, mediaLimit: 0 };
    const { scoped, taken, state } = await openScoped(withResultBudget(inside, budget));
    const cut = JSON.stringify(await scoped.callTool("s__t"));
    const [uri = ""] = /causeway:\/\/results\/\w+/.exec(cut) ?? [];
    taken();
    state.rules = [{ actions: ["call"], effect: "allow" }];
    const { contents } = await scoped.readResource(uri);
    assertEquals(JSON.stringify(contents).includes(long), true);
    assertEquals(taken(), [["", uri, "read", "allow"]]);
    const other = uri.replace(/\w{4}$/, "0000");
    await assertRejects(() => scoped.readResource(other), InvalidParamsError, `There is no resource "${other}"`);
  });

  it("reads what a server calls like a kept result by the policy alone", async () => {
    const uri = `causeway://results/${"0".repeat(32)}`;
    const one = { resources: { [uri]: "of the server" }, templates: ["causeway://results/{id}"] };
    const inside = new FakeHub({ one });
    const rules: readonly AccessRule[] = [{ actions: ["call"], effect: "allow" }];
    const { scoped, taken, state } = await openScoped(inside, rules);
    for (const name of [uri, { server: "one", uri }]) {
      await assertRejects(() => scoped.readResource(name), InvalidParamsError, `There is no resource "${uri}"`);
      assertEquals([inside.reads, taken()], [[], [["one", uri, "read", "deny"]]]);
    }
    state.rules = all;
    for (const name of [uri, { server: "one", uri }]) {
      await scoped.readResource(name);
      assertEquals([inside.reads.splice(0), taken()], [[`one ${uri}`], [["one", uri, "read", "allow"]]]);
    }
    state.rules = rules;
    const other = `${uri.slice(0, -1)}1`;
    /** Takes every URI for what its template makes. */
    class Making extends FakeHub {
      override readResource(...[name]: Parameters<FakeHub["readResource"]>): ReturnType<FakeHub["readResource"]> {
        return super.readResource(typeof name === "string" ? { server: "one", uri } : name);
      }
    }
    const made = new Making({ one });
    const { scoped: ofTemplate } = await openScoped(made, rules);
    for (const name of [other, { server: "one", uri: other }]) {
      await assertRejects(() => ofTemplate.readResource(name), InvalidParamsError, `There is no resource "${other}"`);
    }
    assertEquals(made.reads, []);
  });
});

it("a list of many servers is judged without a look at the rules of all others for each tool", async () => {
  const names = Array.from({ length: 300 }, (_, count) => `server${count}`);
  const policy = createPolicy(
    names.map((name): AccessRule => ({ servers: [name], tools: ["t1*"], actions: ["call"], effect: "allow" })),
  );
  const open = () => policy.open({ id: "ada", tenant: "acme" }, "acme");
  const judging = await growth(20, async (tools) => {
    const can = await open();
    return () => {
      let allowed = 0;
      for (const name of names) {
        for (let tool = 0; tool < tools; tool++) if (can(name, `t${tool}`, "call") === "allow") allowed++;
      }
      assertEquals(allowed, 11 * names.length);
    };
  }, 2.5);
  // Four times as long where each rule is looked at for each of the tools, and not once for each server.
  assertLess(judging, 3);
  const can = await open();
  assertEquals([can("server1", "t1", "call"), can("server1", "t1", "see"), can("other", "t1", "call")], [
    "allow",
    "deny",
    "deny",
  ]);
});
