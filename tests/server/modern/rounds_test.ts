import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { InvalidParamsError } from "../../../src/protocol/errors.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { RequestContext } from "../../../src/server/definitions.ts";
import { InputNeeded } from "../../../src/server/modern/mod.ts";
import {
  all,
  type Asking,
  at,
  Bench,
  form,
  info,
  named,
  own,
  question,
  type Run,
  text,
  textOf,
  tool,
} from "./support.ts";

const sampled: JsonObject = { role: "assistant", model: "m", content: { type: "text", text: "Paris" } };

/** What asks, and what brings the answers: the state of `before` and the given ones. */
function next(before: JsonObject, inputResponses: JsonObject, asking: Asking = {}): Asking {
  return { can: all, ...asking, params: { ...asking.params, inputResponses, requestState: before.requestState } };
}

const twice = () =>
  tool(async ({ elicit }) => {
    const first = await elicit(form("First?"));
    const second = await elicit(form("Second?"));
    return [first.content?.name, second.content?.name];
  });

describe("a question to the client", () => {
  test("is a result that asks, and its answer is the handler's in the next round (S-087 S-088)", async () => {
    const bench = twice();
    const first = await bench.result("tools/call", { can: all });
    assertEquals(Object.keys(first).sort(), ["_meta", "inputRequests", "requestState", "resultType"]);
    assertEquals([first.resultType, first._meta], ["input_required", { [own + "serverInfo"]: info }]);
    assertEquals(first.inputRequests, { elicit_1: { method: "elicitation/create", params: form("First?") } });
    assert(typeof first.requestState === "string");
    const second = await bench.result("tools/call", next(first, { elicit_1: named("Ada") }));
    assertEquals(second.inputRequests, { elicit_2: { method: "elicitation/create", params: form("Second?") } });
    const last = await bench.result("tools/call", next(second, { elicit_2: named("Bob") }));
    assertEquals([last.resultType, textOf(last)], ["complete", '["Ada","Bob"]']);
  });

  test("may be answered by another instance with the same secret (S-093)", async () => {
    const run: Run = async ({ elicit }) => text((await elicit(form("?"))).content?.name);
    const [one, other] = [1, 2].map(() => new Bench({ "tools/call": run }, { secret: "one secret for them all" }));
    const first = await (one as Bench).result("tools/call", { can: all });
    assertEquals(textOf(await (other as Bench).result("tools/call", next(first, { elicit_1: named("Ada") }))), "Ada");
  });

  test("goes out with those that are asked together, of every kind", async () => {
    const bench = tool(async ({ elicit, sample, roots }) => {
      const [user, model, places, page] = await Promise.all([
        elicit(form("Who?")),
        sample(question, { key: "capital" }),
        roots(),
        elicit({ mode: "url", message: "Sign in", url: "https://a.test/", elicitationId: "old" }),
      ]);
      return [user.content?.name, model.model, places.length, page.action];
    });
    const first = await bench.result("tools/call", { can: all });
    assertEquals(first.inputRequests, {
      elicit_1: { method: "elicitation/create", params: form("Who?") },
      capital: { method: "sampling/createMessage", params: question },
      roots_1: { method: "roots/list" },
      elicit_2: { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://a.test/" } },
    });
    const answers = {
      elicit_1: named("Ada"),
      capital: sampled,
      roots_1: { roots: [{ uri: "file:///a" }] },
      elicit_2: { action: "accept" },
    };
    assertEquals(textOf(await bench.result("tools/call", next(first, answers))), '["Ada","m",1,"accept"]');
    // Answers may come one by one: what is missing is asked again, and only that (S-091).
    const half = await bench.result("tools/call", next(first, { capital: sampled, elicit_2: { action: "accept" } }));
    assertEquals(Object.keys(at(half, "inputRequests")).sort(), ["elicit_1", "roots_1"]);
    const rest = { elicit_1: named("Ada"), roots_1: { roots: [] } };
    assertEquals(textOf(await bench.result("tools/call", next(half, rest))), '["Ada","m",0,"accept"]');
  });

  test("goes out together also when one is asked a few steps later than the other", async () => {
    const bench = tool(async ({ elicit }) => {
      const late = async () => {
        for (let step = 0; step < 3; step++) await undefined;
        return await elicit(form("Late?"), { key: "late" });
      };
      await Promise.all([elicit(form("Soon?"), { key: "soon" }), late()]);
    });
    const first = await bench.result("tools/call", { can: all });
    assertEquals(Object.keys(at(first, "inputRequests")), ["soon", "late"]);
  });

  test("that a handler left behind ends no process, and that it swallowed is asked all the same", async () => {
    let caught: unknown;
    const bench = tool(async ({ elicit }) => {
      void elicit(form("Left behind?"));
      await elicit(form("Swallowed?")).catch((reason) => {
        caught = reason;
      });
      return "went on";
    });
    const first = await bench.result("tools/call", { can: all });
    assertEquals(first.resultType, "input_required");
    assertEquals(Object.keys(at(first, "inputRequests")), ["elicit_1", "elicit_2"]);
    assert(caught instanceof InputNeeded && !((caught as unknown) instanceof Error));
    assertMatch(String(caught), /elicit_2/);
    const last = await bench.result("tools/call", next(first, { elicit_1: named("a"), elicit_2: named("b") }));
    assertEquals(textOf(last), "went on");
  });

  test("is asked also when the handler wraps what it catches", async () => {
    const bench = tool(async ({ elicit }) => {
      try {
        await elicit(form("?"));
      } catch (reason) {
        throw new Error("wrapped", { cause: reason });
      }
    });
    assertEquals((await bench.result("tools/call", { can: all })).resultType, "input_required");
  });

  test("is refused where two have the same key", async () => {
    let reasons: unknown[] = [];
    const bench = tool(async ({ elicit }) => {
      const asked = ["same", "elicit_1", "same", undefined].map((key) => elicit(form("?"), { key }));
      reasons = await Promise.all(asked.map((question) => question.catch((reason) => reason)));
    });
    const first = await bench.result("tools/call", { can: all });
    assertEquals(Object.keys(at(first, "inputRequests")), ["same", "elicit_1"]);
    assertEquals(reasons.map((reason) => reason instanceof TypeError), [false, false, true, true]);
  });

  test("of prompts and resources goes out too; of others it cannot (S-087)", async () => {
    const run: Run = async ({ elicit, can }) => {
      const { content } = await elicit(form("?"));
      return { can: can("elicit"), name: content?.name, ttlMs: 9, cacheScope: "public" };
    };
    const methods = ["prompts/get", "resources/read", "tools/list", "completion/complete"];
    const bench = new Bench(Object.fromEntries(methods.map((method) => [method, run])), {
      cache: { ttlMs: 9, cacheScope: "public" },
    });
    for (const method of methods.slice(0, 2)) {
      const first = await bench.result(method, { can: all });
      assertEquals([first.resultType, "ttlMs" in first, "cacheScope" in first], ["input_required", false, false]);
      const last = await bench.result(method, next(first, { elicit_1: named("Ada") }));
      assertEquals([last.name, last.can], ["Ada", true]);
      // What took answers is nobody else's.
      if (method === "resources/read") assertEquals([last.ttlMs, last.cacheScope], [0, "private"]);
    }
    for (const method of methods.slice(2)) assertEquals((await bench.failure(method, { can: all })).code, -32603);
  });

  test("is over with its request", async () => {
    let kept: RequestContext | undefined;
    const bench = tool((context) => {
      kept = context;
      return Promise.resolve("done");
    });
    await bench.result("tools/call", { can: all });
    const reason = await kept?.elicit(form("?")).catch((reason) => reason);
    assert(reason instanceof Error && /over/.test(reason.message));
  });
});

describe("answers", () => {
  test("that nobody asked for are ignored, and one that comes unasked counts (S-091)", async () => {
    const bench = twice();
    const inputResponses = { elicit_1: named("Ada"), elicit_2: named("Bob"), other: 1, ["__proto__"]: { x: 1 } };
    assertEquals(textOf(await bench.result("tools/call", { can: all, params: { inputResponses } })), '["Ada","Bob"]');
  });

  test("of which an earlier round has one already do not change it", async () => {
    const bench = twice();
    const first = await bench.result("tools/call", { can: all });
    const second = await bench.result("tools/call", next(first, { elicit_1: named("Ada") }));
    const last = await bench.result("tools/call", next(second, { elicit_1: named("Eve"), elicit_2: named("Bob") }));
    assertEquals(textOf(last), '["Ada","Bob"]');
  });

  test("are kept from the round that asked, though this one ends before their question comes up", async () => {
    let round = 0;
    const bench = tool(async ({ elicit }) => {
      const ask = async (key: string) => (await elicit(form(key), { key })).content?.name;
      if (++round === 1) return await Promise.all([ask("a"), ask("b")]);
      return [await ask("a"), await ask("c"), await ask("b")];
    });
    const first = await bench.result("tools/call", { can: all });
    const second = await bench.result("tools/call", next(first, { a: named("Ada"), b: named("Bob") }));
    assertEquals(Object.keys(at(second, "inputRequests")), ["c"]);
    assertEquals(textOf(await bench.result("tools/call", next(second, { c: named("Cy") }))), '["Ada","Cy","Bob"]');
  });

  const wrong: unknown[] = [
    null,
    12345,
    "yes",
    [],
    {},
    { action: "maybe" },
    { action: "accept" },
    { action: "accept", content: [] },
    { action: "accept", content: { name: 5 } },
    { action: "accept", content: { other: "x" } },
  ];
  test("of the wrong shape are asked for again (S-091)", async () => {
    const bench = twice();
    const first = await bench.result("tools/call", { can: all });
    for (const answer of wrong) {
      const again = await bench.result("tools/call", next(first, { elicit_1: answer as JsonObject }));
      assertEquals(again.inputRequests, first.inputRequests, JSON.stringify(answer));
      // And the wrong one is not remembered.
      const second = await bench.result("tools/call", next(again, { elicit_1: named("Ada") }));
      assertEquals(Object.keys(at(second, "inputRequests")), ["elicit_2"]);
    }
    for (const inputResponses of [null, 5, "x", []]) {
      const params = { inputResponses, requestState: first.requestState };
      assertEquals((await bench.result("tools/call", { can: all, params })).inputRequests, first.inputRequests);
    }
  });

  test("of the wrong shape are asked for again: models and roots (S-091)", async () => {
    const model = tool(async ({ sample }) => (await sample(question)).model);
    const places = tool(async ({ roots }) => (await roots()).length);
    const shapes: JsonObject[] = [{}, { role: "robot", model: "m", content: [] }, { roots: {} }, { roots: [5] }];
    for (const [bench, key] of [[model, "sample_1"], [places, "roots_1"]] as const) {
      for (const shape of [...shapes, { role: "assistant", content: { type: "text", text: "" } }]) {
        const result = await bench.result("tools/call", { can: all, params: { inputResponses: { [key]: shape } } });
        assertEquals(result.resultType, "input_required", JSON.stringify(shape));
      }
    }
  });

  test("that say no are answers", async () => {
    const bench = tool(async ({ elicit }) => (await elicit(form("?"))).action);
    for (const action of ["decline", "cancel"]) {
      const params = { inputResponses: { elicit_1: { action, content: { name: "left over" } } } };
      assertEquals(textOf(await bench.result("tools/call", { can: all, params })), action);
    }
  });

  test("to a question whose words have changed since count only under a key", async () => {
    for (const key of [undefined, "sure"]) {
      let files = 2;
      const bench = tool(async ({ elicit }) => {
        const message = `Delete ${++files} files?`;
        return [message, (await elicit({ message }, { key })).action];
      });
      const first = await bench.result("tools/call", { can: all });
      const second = await bench.result("tools/call", next(first, { [key ?? "elicit_1"]: { action: "accept" } }));
      if (key) assertEquals(textOf(second), '["Delete 4 files?","accept"]');
      else assertMatch(JSON.stringify(second.inputRequests), /Delete 4 files/);
    }
  });

  test("and the state are not among the handler's parameters", async () => {
    let seen: JsonObject = {};
    const bench = tool(async ({ elicit }, params) => {
      seen = params;
      return (await elicit(form("?"))).action;
    });
    const params = { name: "x", arguments: { a: 1 } };
    const first = await bench.result("tools/call", { can: all, params });
    await bench.result("tools/call", next(first, { elicit_1: named("Ada") }, { params }));
    assertEquals(Object.keys(seen).sort(), ["_meta", "arguments", "name"]);
  });
});

describe("a state", () => {
  const params = { name: "x", arguments: { a: [1, { b: 2, c: 3 }], d: "e" } };
  const auth = { principal: "ada" };

  /** The first round of a call, and what a second one with the same state is answered. */
  async function stolen(second: Asking, method = "tools/call", wait = 0): Promise<number | string> {
    const run: Run = async ({ elicit }) => text((await elicit(form("?"))).action);
    const bench = new Bench({ "tools/call": run, "prompts/get": run });
    const first = await bench.result("tools/call", { can: all, params, auth });
    await bench.clock.advance(wait);
    const answers = { inputResponses: { elicit_1: named("Eve") }, requestState: first.requestState };
    const asking = { can: all, auth, ...second, params: { ...answers, ...(second.params ?? params) } };
    const { response } = await bench.ask(method, asking).answer ?? {};
    return response?.error?.code ?? textOf(response?.result ?? {});
  }

  test("is good for its caller, its method and its parameters alone (S-089 S-090)", async () => {
    assertEquals(await stolen({}), "accept");
    const reordered = { arguments: { d: "e", a: [1, { c: 3, b: 2 }] }, name: "x" };
    assertEquals(await stolen({ params: reordered, meta: { traceparent: "other" }, id: 9 }), "accept");
    assertEquals(await stolen({ auth: { principal: "eve" } }), -32602);
    assertEquals(await stolen({ auth: undefined } as unknown as Asking), -32602);
    assertEquals(await stolen({ params: { ...params, arguments: { ...params.arguments, d: "f" } } }), -32602);
    assertEquals(await stolen({ params: { ...params, name: "y" } }), -32602);
    assertEquals(await stolen({}, "prompts/get"), -32602);
  });

  test("is good for ten minutes (S-090)", async () => {
    assertEquals(await stolen({}, "tools/call", 599_000), "accept");
    assertEquals(await stolen({}, "tools/call", 600_000), -32602);
  });

  test("that is not ours is refused (S-089)", async () => {
    const bench = twice();
    const first = await bench.result("tools/call", { can: all });
    for (const state of ["", "x", first.requestState + "-TAMPERED", null, 5, {}, ["x"]]) {
      const { code } = await bench.failure("tools/call", { can: all, params: { requestState: state as string } });
      assertEquals(code, -32602, JSON.stringify(state));
    }
    const other = await twice().result("tools/call", { can: all });
    assertEquals((await bench.failure("tools/call", next(other, {}))).code, -32602);
  });
});

test("an error that a handler throws without a question is its answer, also after answers", async () => {
  const bench = tool(async ({ elicit }) => {
    await elicit(form("?"));
    throw new InvalidParamsError("no", { rpcCode: -32602 });
  });
  const first = await bench.result("tools/call", { can: all });
  assertEquals((await bench.failure("tools/call", next(first, { elicit_1: named("Ada") }))).code, -32602);
});
