/** A room that is replaced by one of another config: who has begun in it ends in it. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { AgentRun } from "../../../src/agent/mod.ts";
import { systemClock } from "../../../src/ports.ts";
import { serveHttp } from "../../../src/entry/local.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import type { RunnerEnv } from "../../../workers/env.ts";
import type { Operator } from "../../../workers/operator/operator.ts";
import { TenantRoom } from "../../../workers/tenant/room.ts";
import { MemoryRuns } from "../../runner/support/memory_runs.ts";
import { gate } from "../../server/http/support.ts";

describe("a room", () => {
  test("that is replaced while a run looks at what it may do is there until that run ends", async () => {
    const server = new McpServer({ name: "data", version: "1.0.0" });
    server.tool("read", {}, () => "it is there");
    await using host = await serveHttp(createHandler(server), { port: 0 });
    const asked = gate<void>();
    const opened = gate<void>();
    const policy: Operator["policy"] = {
      async open() {
        asked.open();
        await opened.promise;
        return () => "allow";
      },
    };
    const rows = new Map<string, unknown>();
    const storage = {
      sql: { databaseSize: 0 },
      get: (key: string) => Promise.resolve(rows.get(key)),
      put: (key: string, value: unknown) => Promise.resolve(void rows.set(key, value)),
      delete: (key: string) => Promise.resolve(rows.delete(key)),
    };
    const servers = { data: { url: `http://127.0.0.1:${host.port}/mcp` } };
    const settings = { servers, agents: { readOnly: ["*"] }, text: JSON.stringify(servers) };
    const env = { RUNNER_SECRET: "a secret of 32 characters or more" } as unknown as RunnerEnv;
    const operator = { policy, quotas: () => ({}) } as unknown as Operator;
    const runs = new MemoryRuns(systemClock);
    const room = await TenantRoom.open({
      env,
      operator,
      tenant: "acme",
      settings,
      storage,
      runs,
      forget: async () => {},
    });
    const beginning = room.begin("helper", { id: "ada", tenant: "acme" });
    await asked.promise;
    await room.retire();
    opened.open();
    const { agent, release } = await beginning;
    const run = new AgentRun(agent!, { input: "call data.read" }, { id: "run-1", clock: systemClock });
    const [, outcome] = [await run.end, run.observations[0]?.outcome];
    assertEquals(outcome, "ok");
    release();
    const after = new AgentRun(agent!, { input: "call data.read" }, { id: "run-2", clock: systemClock });
    await after.end;
    assertEquals(after.observations[0]?.outcome === "ok", false);
  });
});
