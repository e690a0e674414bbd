/**
 * What is kept of servers that come and go behind a gateway.
 */
import { test } from "node:test";
import { assert } from "@std/assert";
import { Fronts } from "../../../../src/hub/gateway/calls/fronts.ts";
import { countAlive } from "../../../support/memory/garbage.ts";

test("who called a server last is not kept for each server that ever was", async () => {
  const fronts = new Fronts();
  const callers: WeakRef<object>[] = [];
  for (let count = 0; count < 3_000; count++) {
    const client = { name: "desk", version: "1" };
    callers.push(new WeakRef(client));
    fronts.called(`server ${count}`, client);
  }
  const alive = await countAlive(callers);
  assert(alive <= 1_100, `${alive} of ${callers.length} are still held`);
  // It is the one that holds them.
  fronts.called("server 0", undefined);
});
