import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type { JsonObject, RequestId } from "../../../src/protocol/json_rpc.ts";
import { defaultLimits } from "../../../src/protocol/limits.ts";
import { type Asked, type Asking, Bench, info, own } from "./support.ts";

const everything = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

function listen(bench: Bench, notifications: JsonObject, asking: Asking = {}): Asked {
  return bench.ask("subscriptions/listen", { ...asking, params: { notifications } });
}

/** What was told since the acknowledgement: the method, and the resource. */
function told({ notices }: Asked): string[] {
  return notices.slice(1).map(({ method, params }) => [method, params?.uri ?? []].flat().join(" "));
}

describe("a stream of changes", () => {
  test("is acknowledged first, with what is honoured (S-054)", async () => {
    const bench = new Bench({}, { capabilities: { tools: {}, resources: {} } });
    const asked = listen(bench, {
      ...everything,
      resourcesListChanged: false,
      resourceSubscriptions: ["x:a", "x:b", "x:a"],
      taskIds: ["t"],
      other: true,
    }, { id: 7 });
    await bench.clock.settle();
    assertEquals(asked.notices, [{
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: {
        _meta: { [own + "subscriptionId"]: 7 },
        notifications: { toolsListChanged: true, resourceSubscriptions: ["x:a", "x:b"] },
      },
    }]);
    const none = listen(new Bench({}, { capabilities: {} }), { ...everything, resourceSubscriptions: ["x:a"] });
    await bench.clock.settle();
    assertEquals(none.notices[0]?.params?.notifications, {});
  });

  test("names itself on everything, with the id's type (S-056)", async () => {
    const bench = new Bench();
    const ids: RequestId[] = [1, "1", 0, ""];
    const asked = ids.map((id) => listen(bench, { toolsListChanged: true, resourceSubscriptions: ["x:a"] }, { id }));
    await bench.clock.settle();
    bench.change({ type: "tools" });
    bench.change({ type: "resource", uri: "x:a" });
    await bench.clock.settle();
    for (const [place, { notices }] of asked.entries()) {
      assertEquals(notices.slice(1), [
        {
          jsonrpc: "2.0",
          method: "notifications/tools/list_changed",
          params: { _meta: { [own + "subscriptionId"]: ids[place] as RequestId } },
        },
        {
          jsonrpc: "2.0",
          method: "notifications/resources/updated",
          params: { _meta: { [own + "subscriptionId"]: ids[place] as RequestId }, uri: "x:a" },
        },
      ]);
    }
  });

  test("tells what was asked for and nothing else (S-055 S-059)", async () => {
    const bench = new Bench();
    const streams = {
      tools: listen(bench, { toolsListChanged: true }),
      prompts: listen(bench, { promptsListChanged: true, toolsListChanged: false }),
      resources: listen(bench, { resourcesListChanged: true }),
      one: listen(bench, { resourceSubscriptions: ["x:a"] }),
      nothing: listen(bench, {}),
    };
    await bench.clock.settle();
    for (const type of ["tools", "prompts", "resources"] as const) bench.change({ type });
    for (const uri of ["x:a", "x:ab", "x:"]) bench.change({ type: "resource", uri });
    await bench.clock.settle();
    assertEquals(Object.fromEntries(Object.entries(streams).map(([name, stream]) => [name, told(stream)])), {
      tools: ["notifications/tools/list_changed"],
      prompts: ["notifications/prompts/list_changed"],
      resources: ["notifications/resources/list_changed"],
      one: ["notifications/resources/updated x:a"],
      nothing: [],
    });
  });

  test("tells of many changes of one moment once, and of later ones again", async () => {
    const bench = new Bench();
    const asked = listen(bench, { ...everything, resourceSubscriptions: ["x:a", "x:b"] });
    await bench.clock.settle();
    for (let count = 0; count < 100; count++) {
      bench.change({ type: "tools" });
      bench.change({ type: "resource", uri: count % 2 ? "x:a" : "x:b" });
    }
    await bench.clock.settle();
    assertEquals(told(asked), [
      "notifications/tools/list_changed",
      "notifications/resources/updated x:b",
      "notifications/resources/updated x:a",
    ]);
    bench.change({ type: "tools" });
    await bench.clock.settle();
    assertEquals(told(asked).length, 4);
  });

  test("tells nothing of what changed before it was open", async () => {
    const bench = new Bench();
    const first = listen(bench, everything);
    await bench.clock.settle();
    bench.change({ type: "tools" });
    const second = listen(bench, everything);
    await bench.clock.settle();
    assertEquals([told(first).length, told(second).length], [1, 0]);
  });

  test("carries no progress and no log messages (S-058)", async () => {
    const bench = new Bench();
    const asked = listen(bench, everything, { meta: { progressToken: 1, [own + "logLevel"]: "debug" } });
    await bench.clock.advance(60_000);
    assertEquals(asked.notices.length, 1);
  });

  test("ends with a result when the server closes, after what was still to tell (S-057)", async () => {
    const bench = new Bench();
    const asked = listen(bench, everything, { id: "s" });
    await bench.clock.settle();
    bench.change({ type: "tools" });
    bench.serving.close();
    assertEquals(await asked.answer, {
      response: {
        jsonrpc: "2.0",
        id: "s",
        result: { resultType: "complete", _meta: { [own + "subscriptionId"]: "s", [own + "serverInfo"]: info } },
      },
      status: 200,
    });
    assertEquals(told(asked), ["notifications/tools/list_changed"]);
    bench.change({ type: "tools" });
    await bench.clock.settle();
    assertEquals(told(asked).length, 1);
    const later = listen(bench, everything);
    assertEquals([(await later.answer)?.status, later.notices.length, bench.watchers.size], [200, 1, 0]);
  });

  test("ends silently with its caller, and others go on", async () => {
    const bench = new Bench();
    const controller = new AbortController();
    const gone = listen(bench, everything, { signal: controller.signal });
    const stays = listen(bench, everything);
    await bench.clock.settle();
    controller.abort();
    assertEquals(await gone.answer, undefined);
    bench.change({ type: "tools" });
    await bench.clock.settle();
    assertEquals([told(gone).length, told(stays).length], [0, 1]);
    const never = listen(bench, everything, { signal: AbortSignal.abort() });
    assertEquals([await never.answer, never.notices], [undefined, []]);
  });

  test("ends with the proof of who listens", async () => {
    const bench = new Bench();
    const expiresAt = bench.clock.now() + 60_000;
    const asked = listen(bench, everything, { auth: { principal: "ada", expiresAt } });
    await bench.clock.advance(59_999);
    bench.change({ type: "tools" });
    await bench.clock.settle();
    assertEquals(told(asked).length, 1);
    await bench.clock.advance(1);
    assertEquals((await asked.answer)?.response.result?.resultType, "complete");
    const brief = listen(bench, everything, { auth: { principal: "ada", expiresAt: expiresAt + 9 } });
    bench.serving.close();
    await brief.answer;
    assertEquals(bench.clock.waiting, 0);
  });

  test("that cannot be read is refused, and nothing is sent", async () => {
    const bench = new Bench();
    for (
      const params of [
        {},
        { notifications: null },
        { notifications: [] },
        { notifications: { toolsListChanged: "yes" } },
        { notifications: { resourceSubscriptions: "x:a" } },
        { notifications: { resourceSubscriptions: [5] } },
      ] as JsonObject[]
    ) {
      const asked = bench.ask("subscriptions/listen", { params });
      assertEquals((await asked.answer)?.response.error?.code, -32602);
      assertEquals(asked.notices, []);
    }
    assertEquals(bench.watchers.size, 0);
  });

  test("watches as many resources as the server's limits say", async () => {
    const bench = new Bench({}, { limits: { ...defaultLimits, items: 2 } });
    assertEquals(
      (await listen(bench, { resourceSubscriptions: ["x:a", "x:b", "x:c"] }).answer)?.response.error?.code,
      -32602,
    );
    const asked = listen(bench, { resourceSubscriptions: ["x:a", "x:b"] });
    await bench.clock.settle();
    assertEquals(asked.notices.length, 1);
  });

  test("of a thousand listeners is one watcher, which goes with the last of them", async () => {
    const bench = new Bench();
    const controllers = Array.from({ length: 1_000 }, () => new AbortController());
    const streams = controllers.map(({ signal }, id) => listen(bench, everything, { id, signal }));
    await bench.clock.settle();
    assertEquals([bench.watchers.size, bench.watched, bench.clock.waiting], [1, 1, 0]);
    bench.change({ type: "prompts" });
    await bench.clock.settle();
    assertEquals(
      new Set(streams.map((stream) => told(stream).join())),
      new Set(["notifications/prompts/list_changed"]),
    );
    for (const controller of controllers) controller.abort();
    await Promise.all(streams.map(({ answer }) => answer));
    assertEquals(bench.watchers.size, 0);
    listen(bench, everything);
    await bench.clock.settle();
    assertEquals([bench.watchers.size, bench.watched], [1, 2]);
  });

  test("that cannot be written to does not keep the others from hearing", async () => {
    const bench = new Bench();
    let open = false;
    const broken = bench.serving.answer({
      message: {
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: {
          notifications: { ...everything },
          _meta: { [own + "protocolVersion"]: "2026-07-28", [own + "clientCapabilities"]: {} },
        },
      },
      signal: new AbortController().signal,
      auth: undefined,
      notify() {
        if (open) throw new Error("broken pipe");
        open = true;
      },
    });
    const sound = listen(bench, everything);
    await bench.clock.settle();
    bench.change({ type: "tools" });
    assertEquals(await broken, undefined);
    assertEquals(told(sound), ["notifications/tools/list_changed"]);
  });
});
