import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Uris } from "../../../../src/hub/gateway/lists/uris.ts";

test("templates of a server that has too many are not gone through for each resource or link that is named beside", () => {
  let looks = 0;
  const template = { name: "a", uriTemplate: "x://{a}/end" };
  const one = {
    server: "one",
    get template() {
      looks++;
      return template;
    },
  };
  const templates = Array.from({ length: 10_000 }, () => one);
  const uris = new Uris({
    resources: () => [],
    templates: () => templates,
    servers: () => ["one", "two"],
    withResources: () => ["two"],
  });
  const link = uris.linker("two");
  for (let at = 0; at < 100; at++) {
    assertEquals(uris.find(`x://${at}`).server, "two");
    const linked = link(`x://${at}`);
    // Where it is not known whether another one has it, it is called by its own.
    if (at > 10) assertEquals(linked, `hub://two/x://${at}`);
  }
  assertEquals([link("y://1"), uris.find("y://1").server], ["y://1", "two"]);
  assert(looks < 60_000, `${looks} looks`);
});
