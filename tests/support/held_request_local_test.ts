import { describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assert } from "@std/assert";
import { heldRequest } from "./held_request.ts";

const isNode = !("Bun" in globalThis) && !("Deno" in globalThis);

describe("a request of a test", () => {
  test("hears that its caller left after memory was tidied up", async () => {
    const caller = new AbortController();
    let heard = false;
    const { signal } = heldRequest("http://localhost/", { signal: caller.signal });
    signal.addEventListener("abort", () => heard = true);
    if (isNode) {
      setFlagsFromString("--expose-gc");
      for (let round = 0; round < 3; round++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        runInNewContext("gc")();
      }
    }
    caller.abort();
    assert(heard);
  });
});
