import { assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { ParkedCalls } from "../../../src/hub/gateway/calls/parked.ts";
import { Passage } from "../../../src/hub/gateway/calls/passage.ts";
import type { RequestContext } from "../../../src/server/definitions.ts";

/** Parks calls of somebody, and tells whose were given up. */
function stage() {
  const calls = new ParkedCalls();
  const expired: string[] = [];
  const park = (id: string, caller: string | undefined, owner: object = calls): void => {
    const passage = new Passage({ server: "one" }, caller, { meta: {}, era: "modern" } as Partial<
      RequestContext
    > as RequestContext);
    const expire = (): void => {
      calls.delete(id);
      expired.push(id);
    };
    calls.add(id, { passage, owner, stop: () => {}, expire });
  };
  return { calls, expired, park };
}

describe("calls that wait for answers", () => {
  it("are found by who has made them, at their server, and once", () => {
    const { calls, park } = stage();
    park("1", "ada");
    assertEquals(calls.take("1", { server: "one", caller: "ben" }), undefined);
    assertEquals(calls.take("1", { server: "two", caller: "ada" }), undefined);
    assertEquals(calls.take("1", { server: "one", caller: "ada" })?.passage.caller, "ada");
    assertEquals(calls.take("1", { server: "one", caller: "ada" }), undefined);
  });

  it("make room for others of the same caller, and for nobody else's", () => {
    const { calls, expired, park } = stage();
    park("ada", "ada");
    for (let at = 0; at <= 1_001; at++) park(`mallory ${at}`, "mallory");
    assertEquals(expired, ["mallory 0", "mallory 1"]);
    assertEquals(calls.take("ada", { server: "one", caller: "ada" }) !== undefined, true);
  });

  it("end with what has begun them", () => {
    const { calls, expired, park } = stage();
    const [first, second] = [{}, {}];
    park("1", "ada", first);
    park("2", "ada", second);
    calls.expire(first);
    assertEquals(expired, ["1"]);
  });
});
