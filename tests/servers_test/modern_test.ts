import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { createModernServer } from "../servers/modern.ts";
import { callModern, codeOf, modernMeta, modernRequest, resultOf, textOf, until } from "./support.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { isJsonObject, type JsonObject, objectAt } from "../servers/core/wire.ts";

const elicits = modernMeta({ elicitation: { form: {}, url: {} } });

describe("the modern server: envelope and headers", () => {
  test("a correct call is executed once and answered in full", async () => {
    const server = createModernServer();
    const reply = await callModern(server, "tools/call", { name: "echo", arguments: { text: "hi" } }, { id: "a" });
    assertEquals(reply.status, 200);
    assertEquals(reply.messages[0]?.id, "a");
    const result = resultOf(reply);
    assertEquals(textOf(result), "hi");
    assertEquals(result.resultType, "complete");
    assertEquals(result.ttlMs, undefined);
    assertEquals(objectAt(objectAt(result, "_meta"), "io.modelcontextprotocol/serverInfo").name, "fake");
    assertEquals(server.calls("echo"), 1);
    assertEquals(server.violations, []);
  });

  const wrong: [string, Parameters<typeof modernRequest>[2], number, number][] = [
    ["no version header", { headers: { "mcp-protocol-version": null } }, 400, -32020],
    ["another version in the header", { headers: { "mcp-protocol-version": "2025-11-25" } }, 400, -32020],
    ["no method header", { headers: { "mcp-method": null } }, 400, -32020],
    ["another method", { headers: { "mcp-method": "tools/list" } }, 400, -32020],
    ["the method in other case", { headers: { "mcp-method": "Tools/call" } }, 400, -32020],
    ["no name", { headers: { "mcp-name": null } }, 400, -32020],
    ["another name", { headers: { "mcp-name": "add" } }, 400, -32020],
    ["a name in broken base64", { headers: { "mcp-name": "=?base64?ZW*obw==?=" } }, 400, -32020],
    ["a name in base64 without padding", { headers: { "mcp-name": "=?base64?ZWNobw?=" } }, 400, -32020],
    ["no _meta", { meta: {} }, 400, -32602],
    ["no capabilities", { meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }, 400, -32602],
    [
      "another version",
      { meta: { ...modernMeta(), "io.modelcontextprotocol/protocolVersion": "2099-01-01" } },
      400,
      -32022,
    ],
  ];
  for (const [what, options, status, code] of wrong) {
    test(`refuses ${what} and runs nothing`, async () => {
      const server = createModernServer();
      const reply = await callModern(server, "tools/call", { name: "echo", arguments: { text: "hi" } }, options);
      assertEquals([reply.status, codeOf(reply)], [status, code]);
      assertEquals(server.calls("echo"), 0);
    });
  }

  test("takes a name in base64", async () => {
    const server = createModernServer();
    const encoded = await callModern(server, "tools/call", { name: "echo", arguments: { text: "x" } }, {
      headers: { "mcp-name": "=?base64?ZWNobw==?=", "mcp-method": "tools/call" },
    });
    assertEquals(encoded.status, 200);
    assertEquals(server.calls("echo"), 1);
  });

  test("names the versions that it supports, also to an initialize", async () => {
    const server = createModernServer({ supportedVersions: ["2027-01-01"] });
    const reply = await callModern(server, "server/discover");
    assertEquals(objectAt(reply.messages[0] ?? {}, "error").data, {
      supported: ["2027-01-01"],
      requested: "2026-07-28",
    });
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const response = await server.fetch(
      new Request("http://fake.test/mcp", { method: "POST", headers, body: JSON.stringify(body) }),
    );
    assertEquals(response.status, 400);
    assertEquals(objectAt(await response.json(), "error").code, -32022);
  });

  test("unknown methods are 404 with -32601; GET and DELETE are 405; a foreign Origin is 403", async () => {
    const server = createModernServer();
    const reply = await callModern(server, "ping");
    assertEquals([reply.status, codeOf(reply)], [404, -32601]);
    for (const method of ["GET", "DELETE"]) {
      assertEquals((await server.fetch(new Request("http://fake.test/mcp", { method }))).status, 405);
    }
    const foreign = await callModern(server, "tools/list", {}, { headers: { origin: "https://evil.example" } });
    assertEquals(foreign.status, 403);
  });

  test("writes down what belongs to the past", async () => {
    const server = createModernServer();
    await callModern(server, "tools/list", {}, { headers: { "mcp-session-id": "x", "last-event-id": "1" } });
    assertEquals(server.violations.length, 2);
  });
});

describe("the modern server: mirrored arguments", () => {
  const args: JsonObject = { region: "Zürich", count: 7, dry: false, tenant: { id: "" }, note: "free" };
  const right = {
    "mcp-param-region": "=?base64?WsO8cmljaA==?=",
    "mcp-param-count": "7",
    "mcp-param-dry": "false",
    "mcp-param-tenant-id": "",
  };
  const call = (headers: Record<string, string | null>, given: JsonObject = args) => {
    const server = createModernServer();
    return callModern(server, "tools/call", { name: "header_tool", arguments: given }, { headers });
  };

  test("takes what agrees, integers by their value", async () => {
    assertEquals((await call(right)).status, 200);
    assertEquals((await call({ ...right, "mcp-param-count": "7.0" })).status, 200);
    assertEquals((await call({}, { region: null, note: "only" })).status, 200);
  });

  for (
    const [name, value] of [
      ["mcp-param-region", "Zurich"],
      ["mcp-param-region", null],
      ["mcp-param-count", "8"],
      ["mcp-param-count", "0x7"],
      ["mcp-param-dry", "False"],
      ["mcp-param-tenant-id", "other"],
      ["mcp-param-tenant-id", null],
    ] as const
  ) {
    test(`refuses ${name} = ${value}`, async () => {
      const reply = await call({ ...right, [name]: value });
      assertEquals([reply.status, codeOf(reply)], [400, -32020]);
    });
  }

  test("refuses a header for an argument that is not there", async () => {
    assertEquals(codeOf(await call({ "mcp-param-region": "eu" }, { region: null })), -32020);
  });
});

describe("the modern server: lists, resources, prompts", () => {
  test("pages hold all items once, and an unknown cursor is refused", async () => {
    const server = createModernServer({ pageSize: 7, cache: { ttlMs: 1_000, cacheScope: "public" } });
    const names: unknown[] = [];
    let cursor: JsonObject = {};
    for (;;) {
      const result = resultOf(await callModern(server, "tools/list", cursor));
      assertEquals([result.ttlMs, result.cacheScope], [1_000, "public"]);
      const tools = Array.isArray(result.tools) ? result.tools : [];
      names.push(...tools.filter(isJsonObject).map((tool) => tool.name));
      if (result.nextCursor === undefined) break;
      cursor = { cursor: result.nextCursor };
    }
    assertEquals(new Set(names).size, names.length);
    assert(names.includes("echo") && names.includes("job_required"));
    assertEquals(codeOf(await callModern(server, "tools/list", { cursor: "" })), -32602);
  });

  test("reads, and says -32602 for what is not there", async () => {
    const server = createModernServer();
    const read = resultOf(await callModern(server, "resources/read", { uri: "test://item/42" }));
    assertEquals(read.contents, [{ uri: "test://item/42", mimeType: "application/json", text: '{"id":"42"}' }]);
    assertEquals(read.cacheScope, "private");
    assertEquals(codeOf(await callModern(server, "resources/read", { uri: "test://nothing" })), -32602);
    assertEquals(codeOf(await callModern(server, "prompts/get", { name: "greet" })), -32602);
    const params = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "A" } };
    const { completion } = resultOf(await callModern(server, "completion/complete", params));
    assertEquals(objectAt({ completion }, "completion").values, ["Ada", "Alan"]);
  });

  test("a tool that fails is a result, an unknown tool is an error, a wrong argument is a result", async () => {
    const server = createModernServer();
    assertEquals(resultOf(await callModern(server, "tools/call", { name: "fail" })).isError, true);
    assertEquals(codeOf(await callModern(server, "tools/call", { name: "nothing" })), -32602);
    assertEquals(resultOf(await callModern(server, "tools/call", { name: "echo", arguments: {} })).isError, true);
  });
});

describe("the modern server: streams", () => {
  test("progress comes before the answer, only with a token", async () => {
    const server = createModernServer();
    const params = { name: "progress", arguments: { count: 3 } };
    const meta = modernMeta({}, { progressToken: "p" });
    const reply = await callModern(server, "tools/call", params, { meta });
    assertEquals(reply.headers.get("content-type"), "text/event-stream");
    const steps = reply.messages.slice(0, -1).map((message) => objectAt(message, "params"));
    assertEquals(steps.map((step) => [step.progressToken, step.progress]), [["p", 1], ["p", 2], ["p", 3]]);
    assertEquals(textOf(resultOf(reply)), "progressed 3");
    const silent = await callModern(server, "tools/call", params);
    assertEquals([silent.messages.length, silent.headers.get("content-type")], [1, "application/json"]);
  });

  test("log messages need a level and respect it", async () => {
    const server = createModernServer({ reply: "sse" });
    const params = { name: "log", arguments: { count: 2, level: "info" } };
    const counts = [];
    for (const level of [undefined, "error", "debug"]) {
      const meta = modernMeta({}, { "io.modelcontextprotocol/logLevel": level });
      counts.push((await callModern(server, "tools/call", params, { meta })).messages.length);
    }
    assertEquals(counts, [1, 1, 3]);
  });

  test("an abort reaches the tool and is written down", async () => {
    const server = createModernServer();
    const controller = new AbortController();
    const request = modernRequest("tools/call", { name: "slow" }, { id: 9, signal: controller.signal });
    const body = await request.text();
    const call = memoryFetch(server)("http://fake.test/mcp", {
      method: "POST",
      headers: request.headers,
      body,
      signal: controller.signal,
    });
    await until(() => server.calls("slow") === 1);
    controller.abort(new Error("enough"));
    assertEquals(await call.then(() => "answered", (error: Error) => error.message), "enough");
    await until(() => server.cancellations.length === 1);
    assertEquals(server.cancellations[0]?.id, 9);
    assertEquals(server.release(), 0);
  });

  test("release lets slow calls go on", async () => {
    const server = createModernServer();
    const call = callModern(server, "tools/call", { name: "slow" });
    await until(() => server.release() === 1);
    assertEquals(textOf(resultOf(await call)), "done");
    assertEquals(server.cancellations, []);
  });
});

describe("the modern server: rounds of input", () => {
  const params = { name: "ask", arguments: { rounds: 2 } };
  const accept = (name: string): JsonObject => ({ action: "accept", content: { name } });

  test("asks, takes the answers of each round alone, and counts one execution", async () => {
    const server = createModernServer();
    const first = resultOf(await callModern(server, "tools/call", params, { id: 1, meta: elicits }));
    assertEquals(first.resultType, "input_required");
    assertEquals(Object.keys(objectAt(first, "inputRequests")), ["name_1"]);
    const { requestState } = first;
    const more = { ...params, requestState, inputResponses: { name_1: accept("Ada") } };
    const second = resultOf(await callModern(server, "tools/call", more, { id: 2, meta: elicits }));
    assertEquals(Object.keys(objectAt(second, "inputRequests")), ["name_2"]);
    const last = { ...params, requestState: second.requestState, inputResponses: { name_2: accept("Bob") } };
    const result = resultOf(await callModern(server, "tools/call", last, { id: 3, meta: elicits }));
    assertEquals(textOf(result), '["Ada","Bob"]');
    assertEquals(server.calls("ask"), 1);
    assertEquals(server.violations, []);
  });

  test("finds out an altered state, a state of another call, and a used id", async () => {
    const server = createModernServer();
    const first = resultOf(await callModern(server, "tools/call", params, { id: 1, meta: elicits }));
    const state = String(first.requestState);
    const inputResponses = { name_1: accept("Ada") };
    const send = (change: JsonObject, id: number) =>
      callModern(server, "tools/call", { ...params, inputResponses, requestState: state, ...change }, {
        id,
        meta: elicits,
      });
    assertEquals(codeOf(await send({ requestState: state.trim() }, 2)), -32602);
    assertEquals(codeOf(await send({ requestState: state.normalize("NFC") }, 2)), -32602);
    assertEquals(codeOf(await send({ arguments: { rounds: 3 } }, 2)), -32602);
    assertEquals(codeOf(await send({}, 1)), -32600);
    assertEquals(server.violations, []);
    await send({ inputResponses: { ...inputResponses, other: accept("x") } }, 2);
    assertEquals(server.violations.length, 1);
  });

  test("without a state it takes none back", async () => {
    const server = createModernServer();
    const stateless = { name: "ask", arguments: { state: false } };
    const first = resultOf(await callModern(server, "tools/call", stateless, { id: 1, meta: elicits }));
    assertEquals(first.requestState, undefined);
    const inputResponses = { name_1: accept("Ada") };
    const bad = await callModern(server, "tools/call", { ...stateless, inputResponses, requestState: "" }, {
      meta: elicits,
    });
    assertEquals(codeOf(bad), -32602);
    const good = await callModern(server, "tools/call", { ...stateless, inputResponses }, { id: 2, meta: elicits });
    assertEquals(textOf(resultOf(good)), '["Ada"]');
  });

  test("asks only for what was declared on this request", async () => {
    const server = createModernServer();
    for (
      const [name, capability] of [["ask", "elicitation"], ["sample", "sampling"], ["list_roots", "roots"]] as const
    ) {
      const reply = await callModern(server, "tools/call", { name });
      assertEquals([reply.status, codeOf(reply)], [400, -32021]);
      const data = objectAt(objectAt(reply.messages[0] ?? {}, "error"), "data");
      assert(capability in objectAt(data, "requiredCapabilities"));
    }
    const url = { name: "ask", arguments: { mode: "url" } };
    assertEquals(
      codeOf(await callModern(server, "tools/call", url, { meta: modernMeta({ elicitation: {} }) })),
      -32021,
    );
  });

  test("a state alone sends the client away and lets it come back", async () => {
    const server = createModernServer();
    const later = { name: "later", arguments: { rounds: 1 } };
    const first = resultOf(await callModern(server, "tools/call", later, { id: 1 }));
    assertEquals([first.resultType, first.inputRequests], ["input_required", undefined]);
    const again = { ...later, requestState: first.requestState };
    assertEquals(textOf(resultOf(await callModern(server, "tools/call", again, { id: 2 }))), "here you are");
  });
});
