import { test } from "node:test";
import { assert, assertRejects } from "@std/assert";
import { ConnectError, resolve } from "../../src/entry/local.ts";

test("the resolver of the local entry asks the system", async () => {
  const addresses = await resolve("localhost");
  assert(addresses.length > 0 && addresses.every((address) => address === "127.0.0.1" || address === "::1"));
  await assertRejects(() => resolve("no-such-name.invalid"), ConnectError);
});
