import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type { JsonRpcNotification } from "../../../src/protocol/json_rpc.ts";
import { EventReader, gate, initialize, modernPost, send, world } from "./support.ts";

const note = (text: string): JsonRpcNotification => ({
  jsonrpc: "2.0",
  method: "notifications/message",
  params: { data: text },
});

describe("a client that leaves in the middle of something", () => {
  test("what waits for the session's stream is not lost on one whose reader has left already", async () => {
    const verifying = gate();
    let isSlow = false;
    const all = world({
      auth: async () => {
        if (isSlow) await verifying.promise;
        return { principal: "ada" };
      },
    });
    const session = await initialize(all);
    all.sessions[0]!.outlet.send(note("kept"), undefined);
    isSlow = true;
    const controller = new AbortController();
    const left = all.handler(send("GET", session, { signal: controller.signal }));
    await all.clock.settle();
    controller.abort();
    verifying.open();
    await left;
    const reader = new EventReader(await all.handler(send("GET", session)));
    all.sessions[0]!.outlet.send(note("new"), undefined);
    const told = [await reader.message(), await reader.message()] as JsonRpcNotification[];
    assertEquals(told.map(({ params }) => params?.data), ["kept", "new"]);
    await reader.cancel();
  });

  test("a stream ends for who reads it when its request is aborted: one that broke would be a failure of its host", async () => {
    for (const era of ["modern", "legacy"] as const) {
      const all = world({ eras: era, modern: () => new Promise(() => {}) });
      const controller = new AbortController();
      const session = era === "legacy" ? await initialize(all) : {};
      const request = era === "legacy"
        ? send("GET", session, { signal: controller.signal })
        : modernPost("tools/call", { name: "a" }, {}, { signal: controller.signal });
      const replying = all.handler(request);
      await all.clock.settle();
      if (era === "modern") all.seen[0]!.notify(note("begun"));
      else all.sessions[0]!.outlet.send(note("begun"), undefined);
      const response = await replying;
      const reader = response.body!.getReader();
      await reader.read();
      let end = "none";
      const readRest = async (): Promise<void> => {
        while (!(await reader.read()).done);
      };
      readRest().then(() => end = "ended", () => end = "broke");
      controller.abort();
      await all.clock.settle();
      assertEquals(end, "ended", era);
    }
  });
});
