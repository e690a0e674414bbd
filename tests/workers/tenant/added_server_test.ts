/** Servers that a tenant has added, and those of the config: whose tokens they use. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { systemClock } from "../../../src/ports.ts";
import { createPolicy, handOver } from "../../../src/runner/mod.ts";
import type { RunnerEnv } from "../../../workers/env.ts";
import type { Operator } from "../../../workers/operator/operator.ts";
import { TenantRoom } from "../../../workers/tenant/room.ts";
import { createWorld, resourceUrl } from "../../auth/world/world.ts";
import { MemoryRuns } from "../../runner/support/memory_runs.ts";
import { memoryStorage } from "./memory_storage.ts";

const secret = "a secret of 32 characters or more";
const tenant = "acme";

describe("a server that a tenant has added", () => {
  test("is not signed in to by who signed in to one of the config at the same address", async () => {
    const world = await createWorld();
    const storage = memoryStorage();
    const servers = { crm: { url: resourceUrl } };
    const settings = { servers, agents: {}, text: JSON.stringify(servers) };
    const env = { RUNNER_SECRET: secret, PUBLIC_URL: "https://runner.example" } as unknown as RunnerEnv;
    const policy = createPolicy([
      { principals: ["ada"], effect: "allow" },
      { principals: ["bob"], servers: ["bob-*"], effect: "allow" },
    ]);
    const operator = { policy, quotas: () => ({}) } as unknown as Operator;
    const own = globalThis.fetch;
    globalThis.fetch = Object.assign((url: string | URL | Request, init?: RequestInit) => {
      return world.fetch(String(url), init ?? {});
    }, own);
    try {
      const runs = new MemoryRuns(systemClock);
      const room = await TenantRoom.open({ env, operator, tenant, settings, storage, runs, forget: async () => {} });
      const ask = async (id: string, path: string, body?: object) => {
        const init = { headers: { "content-type": "application/json" }, ...(body && { body: JSON.stringify(body) }) };
        const request = new Request(`https://runner.example${path}`, { method: body ? "POST" : "GET", ...init });
        const handed = await handOver({ request, principal: { id, tenant }, tenant }, { secret });
        const response = await room.fetch(handed);
        const text = await response.text();
        return { status: response.status, ...(text.startsWith("{") && JSON.parse(text)) };
      };
      const { authorizationUrl } = await ask("ada", "/api/servers/crm/connect", {});
      const callback = new URL(await world.person.authorize({ authorizationUrl }));
      assertEquals((await ask("ada", callback.pathname + callback.search)).status, 200);
      assertEquals((await ask("ada", "/api/servers/crm/connect", {})).state, "connected");
      const added = await ask("bob", "/api/servers", { name: "bob-crm", url: resourceUrl });
      assertEquals(added.state, "authorizing");
      await room.close();
    } finally {
      globalThis.fetch = own;
    }
  });
});
