/** A room that cannot be made. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import type { RunnerEnv } from "../../../workers/env.ts";
import { readOperatorConfig } from "../../../workers/operator/config.ts";
import { Operator } from "../../../workers/operator/operator.ts";
import { TenantRoom } from "../../../workers/tenant/room.ts";
import type { RoomParts } from "../../../workers/tenant/room.ts";
import { Hub } from "../../../src/hub/hub.ts";
import { Refusal } from "../../../src/runner/mod.ts";

describe("a tenant's room", () => {
  test("that cannot be made leaves no servers behind that are still connected to", async () => {
    const text = JSON.stringify({ servers: { slow: { url: "https://slow.example/mcp" } } });
    const env = {
      RUNNER_SECRET: "a secret of the tests, long enough for it",
      CONFIG: { get: () => Promise.resolve(text) },
    } as unknown as RunnerEnv;
    const storage = {
      // What was added cannot be read.
      get: (key: string) => key.startsWith("servers/") ? Promise.reject(new Error("the disk")) : Promise.resolve(),
      put: () => Promise.resolve(),
      delete: () => Promise.resolve(),
      sql: { databaseSize: 0 },
    };
    const settings = readOperatorConfig(text, {}).tenant("acme");
    const parts = { env, operator: new Operator(env), tenant: "acme", settings, storage, runs: {}, forget: () => {} };
    const { fetch } = globalThis;
    const { close } = Hub.prototype;
    let closed = 0;
    Hub.prototype.close = function () {
      closed++;
      return close.call(this);
    };
    globalThis.fetch = Object.assign(() => Promise.reject(new TypeError("nobody is there")), fetch);
    try {
      await assertRejects(() => TenantRoom.open(parts as unknown as RoomParts), Refusal, "servers");
      assertEquals(closed, 1);
    } finally {
      globalThis.fetch = fetch;
      Hub.prototype.close = close;
    }
  });
});
