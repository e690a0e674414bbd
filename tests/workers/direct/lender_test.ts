/** What an object lends: nothing of a server that only the object can sign in to. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import type { Loan } from "../../../workers/direct/loan.ts";
import type { TenantSettings } from "../../../workers/operator/config.ts";
import { Lender } from "../../../workers/tenant/lender.ts";
import type { LenderParts } from "../../../workers/tenant/lender.ts";

type Servers = TenantSettings["servers"];

/** The names of the servers that are lent. */
async function lentOf(servers: Servers, signedIn: readonly string[] = []): Promise<readonly string[]> {
  const known = Object.entries(servers).map(([name, { url: target }]) => {
    const snapshot = { kind: "causeway.snapshot", version: 1, target, verdict: { era: "modern" }, tools: [] };
    return { name, listedAt: 1, tools: [], resources: [], templates: [], prompts: [], snapshot };
  });
  const parts = {
    tenant: "acme",
    settings: { servers, agents: {}, text: JSON.stringify(servers) },
    hub: { catalog: () => ({ servers: known }), tools: () => [] },
    runner: { lend: () => ({ requests: 1, bytes: 1, concurrent: 1 }), takeBack: () => {} },
    results: {},
    auth: (name: string) => ({ status: () => Promise.resolve(signedIn.includes(name) ? { scopes: [] } : undefined) }),
  };
  const lender = new Lender(parts as unknown as LenderParts);
  const wanted = { requests: 1, bytes: 1, concurrent: 1 };
  const body = JSON.stringify({ ask: "lend", wanted, left: { requests: 0, bytes: 0 } });
  const loan: Loan = await (await lender.answer(new Request("http://tenant/direct", { method: "POST", body }))).json();
  return (loan.tools?.servers ?? []).map(({ name }) => name);
}

describe("an object", () => {
  test("lends servers that need no sign-in", async () => {
    const servers: Servers = {
      open: { url: "https://open.example/mcp" },
      keyed: { url: "https://keyed.example/mcp", headers: { authorization: "Bearer k" } },
      never: { url: "https://never.example/mcp", oauth: false },
      signed: { url: "https://signed.example/mcp" },
      client: { url: "https://client.example/mcp", oauth: { clientId: "us" } },
    };
    assertEquals(await lentOf(servers, ["signed"]), ["open", "keyed", "never"]);
    assertEquals(await lentOf({ client: servers.client! }), []);
  });
});
