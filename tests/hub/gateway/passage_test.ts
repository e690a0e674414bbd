import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import { Passage } from "../../../src/hub/gateway/calls/passage.ts";
import type { RequestContext } from "../../../src/server/definitions.ts";

const request = { method: "roots/list" } as const;

/** A call of a caller that can be asked between two of its requests alone. */
function begin(): Passage {
  const context: Partial<RequestContext> = { meta: {}, era: "modern", rounds: { carried: undefined } };
  return new Passage({ server: "one" }, "ada", context as RequestContext);
}

describe("a call that goes through a gateway", () => {
  it("answers no question once it was called off", async () => {
    const passage = begin();
    const { signal } = new AbortController();
    const early = passage.ask(request, signal);
    passage.abort(new Error("nobody waits"));
    await assertRejects(() => early, Error, "nobody waits");
    await assertRejects(() => passage.ask(request, signal), Error, "nobody waits");
  });

  it("answers no question that the server has taken back", async () => {
    const reason = new Error("taken back");
    await assertRejects(() => begin().ask(request, AbortSignal.abort(reason)), Error, "taken back");
  });

  it("calls off what a caller of a session is asked when the server has taken it back", async () => {
    const asked: unknown[] = [];
    const context = {
      meta: {},
      era: "legacy",
      roots: ({ signal }: { signal?: AbortSignal } = {}) => {
        asked.push(signal);
        return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      },
    };
    const passage = new Passage({ server: "one" }, "ada", context as unknown as RequestContext);
    const controller = new AbortController();
    const answer = passage.ask(request, controller.signal);
    assertEquals(asked, [controller.signal]);
    controller.abort(new Error("taken back"));
    await assertRejects(() => answer, Error, "taken back");
  });

  it("lets go of the signal of a question that is over", async () => {
    let listeners = 0;
    const { signal } = new AbortController();
    const watched = Object.assign(signal, {
      addEventListener: () => void listeners++,
      removeEventListener: () => void listeners--,
    });
    const passage = begin();
    const asked = passage.ask(request, watched);
    passage.abort(new Error("nobody waits"));
    await assertRejects(() => asked, Error, "nobody waits");
    assertEquals(listeners, 0);
  });
});
