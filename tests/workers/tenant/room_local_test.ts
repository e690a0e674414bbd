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
import { handOver } from "../../../src/runner/mod.ts";
import { gate } from "../../server/http/support.ts";
import { memoryStorage } from "./memory_storage.ts";

const secret = "a secret of 32 characters or more";

/** A room with one server behind it, whose policy waits; it is retired by the test. */
async function withRoom(
  run: (room: TenantRoom, policy: { readonly asked: Promise<void>; go(): void }) => Promise<void>,
): Promise<void> {
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
  const storage = memoryStorage();
  const servers = { data: { url: `http://127.0.0.1:${host.port}/mcp` } };
  const settings = { servers, agents: { readOnly: ["*"] }, text: JSON.stringify(servers) };
  const env = { RUNNER_SECRET: secret } as unknown as RunnerEnv;
  const operator = { policy, quotas: () => ({}) } as unknown as Operator;
  const runs = new MemoryRuns(systemClock);
  const forget = async () => {};
  const room = await TenantRoom.open({ env, operator, tenant: "acme", settings, storage, runs, forget });
  await run(room, { asked: asked.promise, go: () => opened.open() });
}

describe("a room", () => {
  test("that is replaced while a run looks at what it may do is there until that run ends", () =>
    withRoom(async (room, policy) => {
      const beginning = room.begin("helper", { id: "ada", tenant: "acme" });
      await policy.asked;
      await room.retire();
      policy.go();
      const { agent, release } = await beginning;
      const run = new AgentRun(agent!, { input: "call data.read" }, { id: "run-1", clock: systemClock });
      const [, outcome] = [await run.end, run.observations[0]?.outcome];
      assertEquals(outcome, "ok");
      release();
      const after = new AgentRun(agent!, { input: "call data.read" }, { id: "run-2", clock: systemClock });
      await after.end;
      assertEquals(after.observations[0]?.outcome === "ok", false);
    }));

  test("that is replaced while it judges a call answers that call", () =>
    withRoom(async (room, policy) => {
      const request = new Request("http://localhost/api/tools/data__read", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      const principal = { id: "ada", tenant: "acme" };
      const answering = room.fetch(await handOver({ request, principal, tenant: "acme" }, { secret }));
      await policy.asked;
      const retired = room.retire();
      // It has nothing to wait for but that call.
      await new Promise((resolve) => setTimeout(resolve, 50));
      policy.go();
      const response = await answering;
      assertEquals([response.status, (await response.text()).includes("it is there")], [200, true]);
      await retired;
    }));
});
