/**
 * What is kept of servers that come and go.
 */
import { test } from "node:test";
import { assert } from "@std/assert";
import { createOAuth } from "../../src/auth/mod.ts";
import { bytesInUse } from "../support/memory/garbage.ts";

test("servers that were asked for once are not remembered for ever", async () => {
  const oauth = createOAuth({ redirectUri: "https://app.test/callback" });
  const use = async (from: number, to: number): Promise<number> => {
    for (let at = from; at < to; at++) oauth.wrap(() => Promise.reject(new Error("away")), `https://${at}.test/mcp`);
    return await bytesInUse();
  };
  const count = 10_000;
  const before = await use(0, 2_000);
  const bytes = (await use(2_000, 2_000 + count) - before) / count;
  assert(bytes < 100, `${Math.round(bytes)} bytes are kept of each server`);
  oauth.redact("");
});
