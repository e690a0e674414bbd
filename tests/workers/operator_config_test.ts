import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { readOperatorConfig } from "../../workers/operator/config.ts";

const read = (config: unknown, variables: Record<string, string> = {}) =>
  readOperatorConfig(typeof config === "string" ? config : JSON.stringify(config), variables);

describe("the operator's config", () => {
  it("is nothing where it says nothing: nobody comes in, and nothing is allowed", async () => {
    const config = read("{}");
    assertEquals(await config.keys.find("0".repeat(64)), undefined);
    const can = await config.policy.open({ id: "ada", tenant: "acme" }, "acme");
    assertEquals(can("", "helper", "run"), "deny");
    assertEquals(config.tenant("acme").servers, {});
    assertEquals([config.schedules, config.quotas("acme")], [[], {}]);
  });

  it("gives each tenant what is everybody's and its own", () => {
    const config = read({
      servers: { shared: { url: "https://shared.example/mcp" } },
      agents: { readOnly: ["*"] },
      quotas: { runs: 5, servers: 1 },
      tenants: {
        acme: {
          servers: { own: { url: "https://own.example/mcp", headers: { authorization: "Bearer ${TOKEN}" } } },
          agents: { approve: "deny" },
          quotas: { runs: 7 },
        },
      },
    }, { TOKEN: "t0k3n" });
    const { servers, agents } = config.tenant("acme");
    assertEquals(Object.keys(servers), ["shared", "own"]);
    assertEquals(servers.own?.headers, { authorization: "Bearer t0k3n" });
    assertEquals(agents, { readOnly: ["*"], approve: "deny" });
    assertEquals(config.quotas("acme"), { runs: 7, servers: 1 });
    assertEquals(Object.keys(config.tenant("other").servers), ["shared"]);
    assertEquals(config.tenant("acme").text === config.tenant("other").text, false);
    // A tenant is no property of objects.
    assertEquals(Object.keys(config.tenant("constructor").servers), ["shared"]);
  });

  it("names what is wrong, and no value", () => {
    const server = (more: object) => ({ servers: { one: { url: "https://one.example/mcp", ...more } } });
    const schedule = { name: "daily", cron: "0 0 * * *", tenant: "t", principal: "p", agent: "g", input: "i" };
    const others = [schedule, { ...schedule, tenant: "u" }, { ...schedule, principal: "q" }];
    assertEquals(read({ schedules: others }).schedules.length, 3);
    const wrong: [unknown, string][] = [
      ["{", "no JSON"],
      ["[]", "The config is no object"],
      [{ rule: [] }, '"rule"'],
      [{ keys: {} }, '"keys"'],
      [{ keys: [{ hash: "x", principal: "ada", tenant: "acme" }] }, '"hash"'],
      [{ rules: [{ effect: "maybe" }] }, '"effect"'],
      [{ quotas: { runs: "many" } }, '"quotas.runs"'],
      [{ quotas: { walks: 1 } }, '"walks"'],
      [{ agents: { approve: "yes" } }, '"agents.approve"'],
      [{ agents: { onUnknown: "retry" } }, '"agents.onUnknown"'],
      [{ agents: { readOnly: "all" } }, '"agents.readOnly"'],
      [{ tenants: { acme: { server: {} } } }, '"server"'],
      [{ tenants: { acme: { servers: { one: {} } } } }, '"tenants.acme.servers.one.url"'],
      [{ servers: { "a b": { url: "https://one.example" } } }, "a name of letters"],
      [{ servers: { one: { url: "file:///etc/passwd" } } }, '"servers.one.url"'],
      [{ servers: { one: { command: "sh" } } }, '"servers.one.command"'],
      [server({ headers: { authorization: "${SECRET}" } }), '"SECRET" to be a variable'],
      [server({ oauth: true }), '"servers.one.oauth"'],
      [server({ oauth: { clientId: 1 } }), '"servers.one.oauth.clientId"'],
      [server({ oauth: { clientId: "a", secret: "b" } }), '"servers.one.oauth.secret"'],
      [{ schedules: [{ name: "a" }] }, '"schedules[0].cron"'],
      [{ schedules: [schedule, { ...schedule, agent: "other" }] }, '"schedules[1].name"'],
      [
        { schedules: [{ name: "a b", cron: "c", tenant: "t", principal: "p", agent: "g", input: "i" }] },
        "schedules[0].name",
      ],
    ];
    for (const [config, named] of wrong) assertThrows(() => read(config), TypeError, named);
    const leaking = { servers: { one: { url: "https://one.example", headers: { a: "s3cr3t ${NONE}" } } } };
    const error = assertThrows(() => read(leaking), TypeError);
    assertEquals(String(error).includes("s3cr3t"), false);
  });
});
