import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect } from "../../mod.ts";
import type { ConnectOptions } from "../../mod.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { url } from "../support/clients.ts";

/** As programs without types may pass them. */
const wrong: [string, object][] = [
  ['"auth" is a string: expected an object', { auth: "hunter2" }],
  ['"retry" is a number: expected an object', { retry: 3 }],
  ['"timeout" is a number: expected a time in "timeouts"', { timeout: 5_000 }],
];

describe("options of connect that are none", () => {
  for (const [told, options] of wrong) {
    test(`are a TypeError: ${told}`, async () => {
      const server = createModernServer();
      const given: ConnectOptions = { fetch: memoryFetch(server), ...options };
      const error = await assertRejects(() => connect(url, given), TypeError);
      assertEquals([error.message, server.log.length], [`Cannot connect: ${told}`, 0]);
    });
  }

  test("are fine where they are undefined", async () => {
    const none: object = { auth: undefined, retry: undefined, timeout: undefined };
    await using client = await connect(url, { fetch: memoryFetch(createModernServer()), ...none });
    assertEquals(client.era, "modern");
  });
});
