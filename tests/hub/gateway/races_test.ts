import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { all, open } from "./support.ts";

describe("servers that come and go while a gateway looks at them", () => {
  test("one that took the place of another between two lists is listed too", async () => {
    const [first, second] = [all("first", "modern"), all("second", "modern")];
    await using scene = await open({ one: first.config }, {}, { lazy: true });
    const client = await scene.join("legacy");
    assertEquals((await client.listTools()).tools.length, 9);
    await scene.hub.remove("one");
    await scene.hub.add("one", second.config);
    assertEquals((await client.listTools()).tools.length, 9);
  });
});
