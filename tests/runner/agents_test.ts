/** Agents of tenants, which the runner gives the hub of their run: scoped, judged, and held open while they work. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { Agent, AgentRun, directiveModel } from "../../src/agent/mod.ts";
import { createKeyList, createPolicy, createRunner, nameIn, Refusal } from "../../src/runner/mod.ts";
import type { AccessRule, AgentParts, OfferedAgent, Policy } from "../../src/runner/mod.ts";
import type { RunWorld } from "../../src/agent/loop/seam.ts";
import { patiently } from "../../src/runner/tenants/agents.ts";
import { gather } from "../agent/loop/support/scene.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { createWorld } from "./support/world.ts";
import type { World, WorldOptions } from "./support/world.ts";

interface Scene extends AsyncDisposable {
  readonly world: World;
  /** What each agent was made of. */
  readonly made: AgentParts[];
  /** Runs the agent for somebody; every question waits. */
  run(tenant: string, principal: string, input: string, name?: string): Promise<AgentRun>;
}

async function openScene(options: WorldOptions = {}): Promise<Scene> {
  const made: AgentParts[] = [];
  const clerk: OfferedAgent = {
    name: "clerk",
    create(parts) {
      made.push(parts);
      return new Agent({ hub: parts.hub, model: directiveModel(), readOnly: ["alpha.echo"] });
    },
  };
  const world = await createWorld({ clock: new VirtualClock(), agents: [clerk, { name: "elsewhere" }], ...options });
  return {
    world,
    made,
    async run(tenant, principal, input, name = "clerk") {
      const agent = await world.runner.agentsOf(tenant)(name, { id: `run-${made.length}`, principal });
      assert(agent, `there is no agent "${name}"`);
      return new AgentRun(agent, { input }, { id: `run-${made.length}`, clock: world.clock, questions: "wait" });
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

async function textOf(run: AgentRun): Promise<string> {
  return (await run.result).text;
}

describe("an agent of a tenant", () => {
  it("has its tenant's servers and no other's, however many run at once", async () => {
    await using scene = await openScene();
    const tenants = ["acme", "globex", "initech"];
    const runs = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        const tenant = tenants[at % 3]!;
        const run = await scene.run(tenant, "ada", `call alpha.echo canary=${tenant}-${at}`);
        return { tenant, at, text: await textOf(run) };
      }),
    );
    for (const { tenant, at, text } of runs) {
      assert(text.includes(`${tenant}/alpha/echo`) && text.includes(`${tenant}-${at}`), text);
      for (const other of tenants) if (other !== tenant) assert(!text.includes(other), text);
    }
    assertEquals(scene.world.ledger.filter(({ tenant, given }) => !String(given.canary).startsWith(tenant)), []);
    assertEquals([...scene.world.opened()].sort(), tenants, "one hub for each");
    for (const { tenant, principal, run, relay } of scene.made) {
      assertEquals([principal, relay], [{ id: "ada", tenant }, undefined]);
      assert(run.startsWith("run-"));
    }
  });

  it("sees what the policy lets its principal run, and each call is written down", async () => {
    const policy: AccessRule[] = [
      { principals: ["ada"], actions: ["run"], effect: "allow" },
      { principals: ["bob"], actions: ["run"], tools: ["clerk", "echo"], effect: "allow" },
      { tools: ["drop"], effect: "deny" },
    ];
    await using scene = await openScene({ policy, tools: ["echo", "send", "drop"] });
    await textOf(await scene.run("acme", "ada", "call alpha.echo a=1"));
    await textOf(await scene.run("acme", "bob", "call alpha.echo b=1"));
    assertEquals(scene.made.map(({ hub }) => hub.tools().map(({ name }) => name)), [["echo", "send"], ["echo"]]);
    const [first] = scene.world.audit;
    assertEquals([first?.principal, first?.tool, first?.action, first?.outcome], ["ada", "echo", "run", "allow"]);
    const denied = await textOf(await scene.run("acme", "ada", "call alpha.drop"));
    assert(/no tool|not/i.test(denied), denied);
    assertEquals(scene.world.ledger.map(({ tool }) => tool), ["echo", "echo"]);
  });

  it("is a visitor's by the visitor's own rules", async () => {
    const policy: AccessRule[] = [
      { principals: ["ada"], effect: "allow" },
      { principals: ["eve"], tenants: ["acme"], actions: ["run"], tools: ["clerk", "echo"], effect: "allow" },
    ];
    await using scene = await openScene({ policy });
    const eve = { id: "eve", tenant: "other" };
    await textOf(await scene.run("acme", nameIn(eve, "acme"), "call alpha.echo"));
    assertEquals(scene.made[0]?.principal, eve);
    assertEquals(scene.made[0]?.hub.tools().map(({ name }) => name), ["echo"]);
    const other = await scene.run("acme", nameIn({ id: "mallory", tenant: "other" }, "acme"), "call alpha.echo");
    const end = await other.end;
    assertEquals([end.type === "failed" && end.error.code, scene.made.length], ["forbidden", 1]);
  });

  it("fails as forbidden when its principal may not run it any more, and nothing is made or opened", async () => {
    await using scene = await openScene({ policy: [{ actions: ["call"], effect: "allow" }] });
    const run = await scene.run("acme", "ada", "call alpha.echo");
    const events = await gather(run);
    const end = await run.end;
    assertEquals(events, [end]);
    assertEquals(end.type === "failed" && end.error, {
      code: "forbidden",
      message: 'Whose run it is may not run the agent "clerk" any more',
    });
    assertEquals([scene.made.length, scene.world.opened().length], [0, 0]);
  });

  it("goes by the policy as it is at each call", async () => {
    let isAllowed = true;
    const policy: Policy = {
      open: () => {
        const now = isAllowed;
        return Promise.resolve((_server, tool) => now || tool === "clerk" ? "allow" : "deny");
      },
    };
    await using scene = await openScene({ policy });
    const run = await scene.run("acme", "ada", "call alpha.echo\nthen\ncall alpha.send text=x");
    while (!run.questions.length) await new Promise((resolve) => setTimeout(resolve, 1));
    isAllowed = false;
    run.answer(run.questions[0]!.id, { action: "accept" });
    await run.end;
    assertEquals(scene.world.ledger.map(({ tool }) => tool), ["echo"]);
    assertEquals(scene.world.audit.at(-1)?.outcome, "deny");
  });

  it("holds its hub open while it works, and lets go of it then", async () => {
    const clock = new VirtualClock();
    await using scene = await openScene({ clock, pool: { idle: 1_000, most: 1 } });
    const run = await scene.run("acme", "ada", "call alpha.send text=x");
    while (!run.questions.length) await new Promise((resolve) => setTimeout(resolve, 1));
    await clock.advance(5_000);
    // The one place of the pool is taken.
    const response = await scene.world.ask("/api/tools", { headers: { "causeway-tenant": "acme" } });
    assertEquals(response.status, 200);
    const hub = await scene.world.hub("acme");
    assertEquals(hub.status().map(({ state }) => state), ["connected"]);
    run.answer(run.questions[0]!.id, { action: "accept" });
    await run.result;
    await clock.advance(5_000);
    assertEquals(hub.status().map(({ state }) => state), ["disconnected"]);
  });

  it("waits while the policy, the hub, or what makes it is down", async () => {
    const clock = new VirtualClock();
    let broken = 3;
    const policy: Policy = {
      open: () => broken-- > 0 ? Promise.reject(new Error("the store is down")) : Promise.resolve(() => "allow"),
    };
    let tried = 0;
    const clerk: OfferedAgent = {
      name: "clerk",
      create: ({ hub }) => {
        if (tried++ < 2) throw new Refusal(503, "unavailable", "The config cannot be read now");
        return new Agent({ hub, model: directiveModel(), readOnly: ["*"] });
      },
    };
    await using scene = await openScene({ clock, policy, agents: [clerk], logger: () => {} });
    const run = await scene.run("acme", "ada", "call alpha.echo");
    let isOver = false;
    void run.end.then(() => isOver = true);
    for (let turn = 0; turn < 40 && !isOver; turn++) await clock.advance(1_000);
    assert((await textOf(run)).includes("acme/alpha/echo"));
    assertEquals(tried, 3);
    assertEquals((await scene.world.ask("/healthz")).status, 200);
  });

  it("leaves nothing behind on its signal, however long it waits", async () => {
    const clock = new VirtualClock();
    let tried = 0;
    let listening = 0;
    const { signal } = new AbortController();
    const counted = new Proxy(signal, {
      get(target, key) {
        if (key === "addEventListener") listening++;
        if (key === "removeEventListener") listening--;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const world = { clock, signal: counted } as unknown as RunWorld;
    const work = () => tried++ < 50 ? Promise.reject(new Refusal(503, "unavailable", "no")) : Promise.resolve("begun");
    let begun: string | undefined;
    void patiently(world, work).then((value) => begun = value);
    for (let turn = 0; turn < 100 && !begun; turn++) await clock.advance(10_000);
    assertEquals([begun, tried, listening, clock.waiting], ["begun", 51, 0, 0]);
  });

  it("is cancelled while it waits", async () => {
    const clock = new VirtualClock();
    const policy: Policy = { open: () => Promise.reject(new Error("the store is down")) };
    await using scene = await openScene({ clock, policy, logger: () => {} });
    const run = await scene.run("acme", "ada", "call alpha.echo");
    await clock.advance(1_000);
    run.cancel("enough");
    const end = await run.end;
    assertEquals([end.type, end.type === "cancelled" && end.reason], ["cancelled", "enough"]);
    assertEquals(clock.waiting, 0);
  });

  it("that cannot be made fails its run, and the hub is let go of", async () => {
    const clock = new VirtualClock();
    const clerk: OfferedAgent = {
      name: "clerk",
      create: () => Promise.reject(new TypeError("no model")),
    };
    await using scene = await openScene({ clock, agents: [clerk], pool: { idle: 1_000 } });
    const end = await (await scene.run("acme", "ada", "go")).end;
    assertEquals(end.type === "failed" && end.error, { code: "internal", message: "no model" });
    const hub = await scene.world.hub("acme");
    await clock.advance(5_000);
    assertEquals(hub.status().map(({ state }) => state), ["disconnected"]);
  });

  it("is not found without create, and not where calls are forwarded", async () => {
    await using scene = await openScene();
    const find = scene.world.runner.agentsOf("acme");
    assertEquals(await find("elsewhere", { id: "1", principal: "ada" }), undefined);
    assertEquals(await find("nobody", { id: "1", principal: "ada" }), undefined);
    const access = { keys: createKeyList([]), policy: createPolicy([]) };
    await using front = createRunner({ access, forward: () => Promise.resolve(new Response()) });
    assertThrows(() => front.agentsOf("acme"), TypeError, "forwards");
    const agents = [{ name: "clerk", create: "yes" as unknown as () => undefined }];
    assertThrows(
      () => createRunner({ access, hubs: () => Promise.reject(new Error("none")), agents }),
      TypeError,
      'Cannot offer the agent "clerk": "create" is no function',
    );
  });
});
