import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { createModernHandler } from "../../../src/server/http/mod.ts";
import { turns } from "../../client/support.ts";
import { modernPost } from "../http/support.ts";
import { standIn } from "../stand_in.ts";

test("a stream of changes that breaks by its acknowledgement leaves nothing behind", async () => {
  const server = standIn();
  // Fewer characters than may wait, and more bytes.
  const handler = createModernHandler(server, { limits: { outboxBytes: 1_000 } });
  const notifications = { toolsListChanged: true, resourceSubscriptions: [`x:${"ж".repeat(600)}`] };
  const response = await handler(modernPost("subscriptions/listen", { notifications }));
  await response.body?.cancel().catch(() => {});
  await turns(20);
  assertEquals(server.watchers, 0);
  handler.close();
});
