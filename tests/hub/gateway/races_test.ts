import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type { Hub } from "../../../src/hub/hub.ts";
import { turns, until } from "../../support/clients.ts";
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

  for (const front of ["modern", "legacy"] as const) {
    test(`a resource that is watched before anything was listed is followed, ${front} in front`, async () => {
      const one = all("one", "modern");
      await using scene = await open({ one: one.config }, {}, { lazy: true });
      const client = await scene.join(front);
      const seen: string[] = [];
      const watch = client.listen({ resourceUris: ["note://one/own"] });
      void (async () => {
        for await (const change of watch) if (change.type === "resource") seen.push(change.uri);
      })();
      await watch.acknowledged;
      // It is followed behind a moment later.
      for (let turn = 0; turn < 400 && !seen.length; turn++) {
        one.server.resourceUpdated("note://one/own");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assertEquals(seen[0], "note://one/own");
    });
  }

  test("what is watched no more before it was found is not followed", async () => {
    const one = all("one", "modern");
    let reached = 0;
    const around = (hub: Hub): Hub =>
      new Proxy(hub, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key, target);
          if (key === "client") reached++;
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    await using scene = await open({ one: one.config }, {}, { lazy: true, around });
    reached = 0;
    const [watched, others] = [scene.gateway.methods.watched!(), scene.gateway.methods.watched!()];
    watched.add("note://one/own");
    others.add("note://one/own");
    watched.clear();
    scene.gateway.close();
    await until(() => scene.hub.status()[0]?.state === "connected");
    await turns(20);
    assertEquals(reached, 0);
  });
});
