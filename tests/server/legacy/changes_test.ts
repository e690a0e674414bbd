import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { defaultLimits } from "../../../src/protocol/limits.ts";
import { standIn } from "../stand_in.ts";
import { type Bench, bench, hello, opened } from "./support.ts";

const changed = (type: string) => ({ jsonrpc: "2.0" as const, method: `notifications/${type}/list_changed` });
const updated = (uri: string) => ({
  jsonrpc: "2.0" as const,
  method: "notifications/resources/updated",
  params: { uri },
});

async function told({ sent }: Bench): Promise<unknown[]> {
  await Promise.resolve();
  return sent.splice(0).map(({ message, about }) => about === undefined ? message : "on a request's stream");
}

describe("changes", () => {
  test("of lists are told on the session's own stream, several at once only once", async () => {
    const server = standIn();
    const session = await opened(server);
    for (const type of ["tools", "tools", "prompts", "resources", "tools"] as const) server.change({ type });
    assertEquals(await told(session), [changed("tools"), changed("prompts"), changed("resources")]);
    server.change({ type: "tools" });
    assertEquals(await told(session), [changed("tools")]);
  });

  test("of what was not declared are not told", async () => {
    const server = standIn({}, { tools: {} });
    const session = await opened(server);
    server.change({ type: "prompts" });
    server.change({ type: "resource", uri: "a:b" });
    assertEquals(await told(session), []);
    assertEquals(await session.failure("resources/subscribe", { uri: "a:b" }), [-32601]);
  });

  test("of resources are told where they are watched", async () => {
    const server = standIn();
    const session = await opened(server);
    server.change({ type: "resource", uri: "a:b" });
    assertEquals(await told(session), []);
    assertEquals(await session.result("resources/subscribe", { uri: "a:b" }), {});
    server.change({ type: "resource", uri: "a:b" });
    server.change({ type: "resource", uri: "a:c" });
    assertEquals(await told(session), [updated("a:b")]);
    assertEquals(await session.result("resources/unsubscribe", { uri: "a:b" }), {});
    assertEquals(await session.result("resources/unsubscribe", { uri: "never" }), {});
    server.change({ type: "resource", uri: "a:b" });
    assertEquals(await told(session), []);
    for (const params of [undefined, { uri: 1 }, { uri: "" }, { uri: "a:" + "b".repeat(9_000) }]) {
      assertEquals(await session.failure("resources/subscribe", params), [-32602]);
    }
  });

  test("of no more resources can be watched than the limits say; one that is watched can be again", async () => {
    const limits = { ...defaultLimits, items: 2 };
    const session = await opened(standIn(), "2025-11-25", {}, { limits });
    const watch = (uri: string) => session.request("resources/subscribe", { uri });
    const codes = async (...uris: string[]) => {
      const answers = await Promise.all(uris.map(watch));
      return answers.map((answer) => answer?.response.error?.code);
    };
    assertEquals(await codes("a:a", "a:b", "a:c", "a:a"), [undefined, undefined, -32602, undefined]);
    await session.result("resources/unsubscribe", { uri: "a:a" });
    assertEquals(await codes("a:c"), [undefined]);
  });

  test("wait for the client to be ready", async () => {
    const server = standIn();
    const session = bench(server);
    server.change({ type: "tools" });
    await session.result("initialize", hello());
    server.change({ type: "prompts" });
    assertEquals(await told(session), []);
    session.notify("notifications/initialized");
    assertEquals(await told(session), [changed("prompts")]);
    session.notify("notifications/initialized");
    assertEquals(await told(session), []);
  });

  test("nobody listens any more when the session has ended", async () => {
    const server = standIn();
    const session = await opened(server);
    assertEquals(server.watchers, 1);
    server.change({ type: "tools" });
    session.session.close();
    assertEquals([server.watchers, await told(session)], [0, []]);
  });
});
