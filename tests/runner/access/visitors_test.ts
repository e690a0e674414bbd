import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { describe, it } from "node:test";
import { createPolicy, denyAll, nameIn } from "../../../src/runner/mod.ts";
import { createWorld, problemOf } from "../support/world.ts";

const principals = {
  ada: { principal: "ada", tenant: "acme" },
  twin: { principal: "ada", tenant: "other" },
};
const visitors = [
  { effect: "allow" as const },
  { principals: ["ada"], tenants: ["acme"], effect: "allow" as const },
  { tools: ["send"], tenants: ["acme"], actions: ["call" as const], effect: "ask" as const },
];
const headers = { "causeway-tenant": "acme" };

describe("principals of other tenants", () => {
  it("are called what nobody else is called", () => {
    const names = [
      nameIn({ id: "ada", tenant: "acme" }, "acme"),
      nameIn({ id: "ada", tenant: "other" }, "acme"),
      nameIn({ id: "other/ada", tenant: "acme" }, "acme"),
      nameIn({ id: "@5:other/ada", tenant: "acme" }, "acme"),
      nameIn({ id: "b/c", tenant: "a" }, "acme"),
      nameIn({ id: "c", tenant: "a/b" }, "acme"),
    ];
    assertEquals(new Set(names).size, names.length);
    assertEquals(names[0], "ada");
  });

  it("have runs and approvals of their own, whoever has their name there", async () => {
    await using world = await createWorld({ principals, policy: visitors });
    const body = { agent: "helper", input: "hello" };
    const run = async (as: string) => await (await world.ask("/api/runs", { as, body, headers })).json();
    const [own, other] = [await run("ada"), await run("twin")];
    assertNotEquals(own.principal, other.principal);
    const proposed = await problemOf(await world.ask("/api/tools/alpha__send", { as: "twin", body: {}, headers }));
    const { id } = proposed.approval as { id: string };
    await world.ask(`/api/approvals/${id}`, { body: { action: "accept" }, headers });
    const call = (as: string) =>
      world.ask("/api/tools/alpha__send", { as, body: {}, headers: { ...headers, "causeway-approval": id } });
    assertEquals((await call("ada")).status, 403);
    assertEquals((await call("twin")).status, 200);
  });

  it("have nothing opened for them where they have no business", async () => {
    await using world = await createWorld({ principals, policy: [{ effect: "allow" }] });
    const foreign = { "causeway-tenant": "nobody-at-all" };
    for (const path of ["/api/tools", "/api/servers", "/api/resources", "/api/prompts"]) {
      const listed = await (await world.ask(path, { headers: foreign })).json();
      assertEquals(Object.values(listed).flat(), [], path);
    }
    const call = await problemOf(await world.ask("/api/tools/alpha__echo", { body: {}, headers: foreign }));
    assertEquals([call.status, call.detail], [404, 'There is no tool "alpha__echo"']);
    const add = { name: "web", url: "https://tools.example.com/mcp" };
    assertEquals((await world.ask("/api/servers", { body: add, headers: foreign })).status, 403);
    const upgrade = { upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp" };
    const authorization = `Bearer ${world.key("ada")}`;
    const socket = await world.runner.webSocket.admit(
      new Request("http://localhost/mcp", { headers: { ...foreign, ...upgrade, authorization } }),
    );
    assert(socket instanceof Response && socket.status === 404);
    assertEquals(world.opened(), []);
    await world.ask("/api/tools");
    assertEquals(world.opened(), ["acme"]);
  });

  it("are told so by the policy: one that denies everything is the one that is known", async () => {
    const policy = createPolicy([{ effect: "allow" }, { tenants: ["*"], effect: "deny", tools: ["x"] }]);
    assertEquals(await policy.open({ id: "ada", tenant: "acme" }, "other"), denyAll);
    assertNotEquals(await policy.open({ id: "ada", tenant: "acme" }, "acme"), denyAll);
  });
});
