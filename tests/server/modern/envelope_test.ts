import { describe, test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { at, Bench, info, own, text } from "./support.ts";

const legacyRevisions = ["2025-11-25", "2025-06-18"] as const;

describe("what every request says of itself", () => {
  const bench = new Bench({ "tools/call": () => text("ran") }, { legacyRevisions });

  for (const key of ["protocolVersion", "clientCapabilities"]) {
    for (const value of [undefined, null, 7, ["2026-07-28"]]) {
      test(`${key} is ${JSON.stringify(value)}: -32602, 400 (S-009)`, async () => {
        const { code, status, message } = await bench.failure("tools/call", { meta: { [own + key]: value } });
        assertEquals([code, status], [-32602, 400]);
        assertStringIncludes(message, key);
      });
    }
  }

  for (const params of [undefined, {}, { _meta: null }, { _meta: [] }, { _meta: "x" }]) {
    test(`params are ${JSON.stringify(params)}: -32602, 400 (S-009)`, async () => {
      const answer = await bench.serving.answer({
        message: { jsonrpc: "2.0", id: "a", method: "tools/call", ...(params && { params: params as never }) },
        signal: new AbortController().signal,
        auth: undefined,
        notify() {},
      });
      assertEquals([answer?.status, answer?.response.id, answer?.response.error?.code], [400, "a", -32602]);
    });
  }

  test("another revision: -32022, 400, with what is spoken and what was asked for (S-008)", async () => {
    for (const requested of ["2027-01-01", "2025-11-25", "", "DRAFT"]) {
      const { code, status, data } = await bench.failure("tools/call", {
        meta: { [own + "protocolVersion"]: requested },
      });
      assertEquals([code, status], [-32022, 400]);
      assertEquals(data, { supported: ["2026-07-28", ...legacyRevisions], requested });
    }
  });

  test("the order of checks: what is missing, the revision, the method, the rest", async () => {
    const order: [Record<string, string | undefined>, number][] = [
      [{ protocolVersion: "1999", clientCapabilities: undefined, logLevel: "loud" }, -32602],
      [{ protocolVersion: "1999", logLevel: "loud" }, -32022],
    ];
    for (const [keys, expected] of order) {
      const meta = Object.fromEntries(Object.entries(keys).map(([key, value]) => [own + key, value]));
      assertEquals((await bench.failure("nothing/like/it", { meta })).code, expected);
    }
    const { code } = await bench.failure("ping", { meta: { [own + "logLevel"]: "loud" } });
    assertEquals(code, -32601);
  });

  test("an unknown level of logging: -32602 (S-064)", async () => {
    for (const level of ["loud", "INFO", 3, null]) {
      const { code, message } = await bench.failure("tools/call", { meta: { [own + "logLevel"]: level } });
      assertEquals(code, -32602);
      assertStringIncludes(message, "emergency");
    }
  });

  test("a token for progress that is none: -32602", async () => {
    for (const progressToken of [null, {}, true, 1.5]) {
      assertEquals((await bench.failure("tools/call", { meta: { progressToken } })).code, -32602);
    }
  });

  test("who the client is may be left out, and decides nothing (S-011)", async () => {
    const seen: unknown[] = [];
    const looking = new Bench({
      "tools/call": ({ client }) => {
        seen.push(client);
        return text("ran");
      },
    });
    for (const clientInfo of [undefined, null, "hand", { name: "hand" }, { name: 1, version: "0" }]) {
      await looking.result("tools/call", { meta: { [own + "clientInfo"]: clientInfo } });
    }
    assertEquals(seen, [undefined, undefined, undefined, undefined, undefined]);
    await looking.result("tools/call");
    assertEquals(seen[5], { name: "hand", version: "0" });
  });
});

describe("methods", () => {
  const bench = new Bench({ ping: () => ({}), "tools/list": () => ({ tools: [] }) }, { legacyRevisions });

  for (
    const method of [
      "initialize",
      "ping",
      "logging/setLevel",
      "resources/subscribe",
      "resources/unsubscribe",
      "tasks/get",
      "unknown/method",
      "tools/call",
      "constructor",
      "__proto__",
      "",
    ]
  ) {
    test(`"${method}" is not known: -32601, 404 (S-027)`, async () => {
      const { code, status } = await bench.failure(method);
      assertEquals([code, status], [-32601, 404]);
    });
  }

  test("a handshake is told what is spoken here (S-013)", async () => {
    const supported = ["2026-07-28", ...legacyRevisions];
    assertEquals((await bench.failure("initialize")).data, { supported });
    const bare = await bench.failure("initialize", { meta: { [own + "protocolVersion"]: undefined } });
    assertEquals([bare.code, bare.status, bare.data], [-32602, 400, { supported }]);
  });
});

describe("server/discover", () => {
  test("says what there is (S-007)", async () => {
    const bench = new Bench({}, {
      legacyRevisions,
      instructions: "Ask politely",
      cache: { ttlMs: 5_000, cacheScope: "public" },
      capabilities: { tools: {}, resources: {}, completions: {}, tasks: { list: {} } },
    });
    assertEquals(await bench.result("server/discover"), {
      resultType: "complete",
      supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18"],
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      instructions: "Ask politely",
      ttlMs: 5_000,
      cacheScope: "public",
      _meta: { [own + "serverInfo"]: info },
    });
  });

  test("of a server with nothing: one revision, no instructions, and nothing to keep", async () => {
    assertEquals(await new Bench({}, { capabilities: {} }).result("server/discover"), {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { logging: {} },
      ttlMs: 0,
      cacheScope: "private",
      _meta: { [own + "serverInfo"]: info },
    });
  });
});

describe("every result", () => {
  const cached = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
  const others = ["tools/call", "prompts/get", "completion/complete"];

  test("is complete and says who gives it; the author's own notes stay (S-003 S-005)", async () => {
    const given = { _meta: { "example.com/note": 1, [own + "serverInfo"]: "forged" }, resultType: "task" };
    const bench = new Bench(Object.fromEntries([...cached, ...others].map((method) => [method, () => ({ ...given })])));
    for (const method of [...cached, ...others]) {
      const result = await bench.result(method);
      assertEquals(result.resultType, "complete");
      assertEquals(result._meta, { "example.com/note": 1, [own + "serverInfo"]: info });
    }
    assertEquals(given.resultType, "task", "what the author gave is not touched");
  });

  test("of a list says how long it is good; others say nothing (S-084)", async () => {
    const runs = Object.fromEntries([...cached, ...others].map((method) => [method, () => ({})]));
    const bench = new Bench(runs, { cache: { ttlMs: 1_500.5, cacheScope: "public" } });
    for (const method of cached) {
      const { ttlMs, cacheScope } = await bench.result(method);
      assertEquals([ttlMs, cacheScope], [1_500, "public"]);
    }
    for (const method of others) {
      const result = await bench.result(method);
      assertEquals(["ttlMs" in result, "cacheScope" in result], [false, false]);
    }
  });

  test("of a resource is as good as its author says, else not at all (S-084)", async () => {
    const bench = new Bench({
      "resources/read": (_, { uri }) => uri === "x:kept" ? { ttlMs: 9, cacheScope: "public" } : { contents: [] },
    }, { cache: { ttlMs: 1_000, cacheScope: "public" } });
    const kept = await bench.result("resources/read", { params: { uri: "x:kept" } });
    assertEquals([kept.ttlMs, kept.cacheScope], [9, "public"]);
    const other = await bench.result("resources/read", { params: { uri: "x:other" } });
    assertEquals([other.ttlMs, other.cacheScope], [0, "private"]);
  });

  test("no time that is none goes out", async () => {
    for (const ttlMs of [-1, NaN, Infinity, "7"]) {
      const bench = new Bench({ "tools/list": () => ({ tools: [], ttlMs, cacheScope: "all" }) });
      const result = await bench.result("tools/list");
      assertEquals(result.cacheScope, "private");
      assertEquals(Number.isSafeInteger(result.ttlMs) && Number(result.ttlMs) >= 0, true);
    }
  });

  test("the id comes back with its type", async () => {
    const bench = new Bench({ "tools/list": () => ({ tools: [] }) });
    for (const id of [0, 1, "1", ""]) {
      assertEquals((await bench.ask("tools/list", { id }).answer)?.response.id, id);
    }
    assertEquals(at(await bench.result("tools/list"), "_meta")[own + "serverInfo"], info);
  });
});
