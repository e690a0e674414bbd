/** One object as everything at once: MCP, a model and plain HTTP, behind the same guards. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { connect } from "../../mod.ts";
import { createAgentHandler, createBridgeHandler, McpAgent, ModelError } from "../../src/agent/mod.ts";
import type { AgentHandlerOptions, McpAgentShape, McpToolDefinition } from "../../src/agent/mod.ts";
import type { LogRecord } from "../../src/ports.ts";
import { InvalidParamsError } from "../../src/protocol/errors.ts";
import { watchStrays } from "../faults/support/harness.ts";
import { textOf, until } from "../support/clients.ts";
import { BothAgent, chat, errorOf, get, PlainAgent, post, RichAgent } from "./support.ts";
import { heldRequest } from "../support/held_request.ts";

/** Every route, with a request that it answers. */
const routes: readonly (() => Request)[] = [
  () => post("/mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params: {} }),
  () => get("/mcp"),
  () => post("/v1/chat/completions", chat()),
  () => get("/v1/models"),
  () => get("/v1/models/causeway-both"),
  () => get("/health"),
  () => get("/tools"),
  () => post("/tools/first", {}),
  () => post("/chat", { query: "hi" }),
  () => get("/nothing"),
];

const strays = watchStrays();

/** An agent whose tool is named in a way that is warned of. */
class Named extends McpAgent {
  getMcpToolDefinitions(): McpToolDefinition[] {
    return [{ name: "Odd_Name" }];
  }

  executeMcpTool(): string {
    return "";
  }
}

function serve(agent: McpAgentShape = new BothAgent(), options: AgentHandlerOptions = {}) {
  return createAgentHandler(agent, options);
}

describe("one agent, served", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`our client calls its tools at /mcp (${era})`, async () => {
      const handler = serve(new BothAgent(), { eras: [era] });
      await using client = await connect("http://localhost/mcp", {
        fetch: (url, init) => handler(heldRequest(url, init)),
      });
      assertEquals((await client.listTools()).tools.length, 6);
      assertEquals(textOf(await client.callTool("add", { a: 1, b: 2 })), "3");
    });
  }

  test("the same object is a model and answers plain HTTP", async () => {
    const handler = serve();
    const { choices } = await (await handler(post("/v1/chat/completions", chat()))).json();
    assertEquals(choices[0].message.content, "hello");
    assertEquals((await (await handler(get("/v1/models"))).json()).data[0].id, "causeway-both");
    assertEquals((await (await handler(get("/tools"))).json()).tools.length, 6);
  });

  test("an agent without respond is no model: its routes are not there", async () => {
    const handler = serve(new PlainAgent());
    for (const request of [post("/v1/chat/completions", chat()), get("/v1/models"), post("/chat", { query: "x" })]) {
      assertEquals((await errorOf(await handler(request))).status, 404);
    }
    assertEquals((await handler(get("/health"))).status, 200);
  });

  test("MCP can be elsewhere, but not nowhere", async () => {
    const handler = serve(new BothAgent(), { mcpPath: "/agents/both" });
    await using client = await connect("http://localhost/agents/both", {
      fetch: (url, init) => handler(heldRequest(url, init)),
    });
    await client.ping();
    assertEquals((await handler(get("/mcp"))).status, 404);
    assertThrows(() => serve(new BothAgent(), { mcpPath: "mcp" }), TypeError, '"mcp"');
  });

  test("after close every route is closed", async () => {
    const handler = serve();
    handler.close();
    for (const request of routes) assertEquals((await handler(request())).status, 503);
  });
});

describe("guards on every route", () => {
  test("a foreign Origin, a foreign Host and null are 403", async () => {
    const handler = serve();
    for (const make of routes) {
      for (const origin of ["https://evil.example", "null", "http://localhost.evil.example"]) {
        const request = new Request(make(), { headers: { ...Object.fromEntries(make().headers), origin } });
        const response = await handler(request);
        assertEquals([response.status, response.headers.get("access-control-allow-origin")], [403, null], request.url);
      }
      const made = make();
      const body = made.method === "POST" ? await made.text() : null;
      const foreign = new Request(made.url.replace("localhost", "evil.example"), {
        method: made.method,
        headers: made.headers,
        body,
      });
      assertEquals((await handler(foreign)).status, 403, foreign.url);
    }
  });

  test("an allowed page may read the reply, and ask before", async () => {
    const handler = serve(new BothAgent(), { allowedOrigins: ["https://app.example.com"] });
    const headers = { origin: "https://app.example.com" };
    const response = await handler(get("/v1/models", headers));
    assertEquals(response.headers.get("access-control-allow-origin"), "https://app.example.com");
    // Programs of OpenAI's library look at it before they ask again.
    assertMatch(response.headers.get("access-control-expose-headers") ?? "", /\bX-Should-Retry\b/);
    const asks = new Request("http://localhost/v1/chat/completions", {
      method: "OPTIONS",
      headers: { ...headers, "access-control-request-headers": "authorization, x-stainless-os, x-evil" },
    });
    const allowed = (await handler(asks)).headers.get("access-control-allow-headers")?.toLowerCase() ?? "";
    assertEquals(["authorization", "x-stainless-os", "x-evil"].map((name) => allowed.includes(name)), [
      true,
      true,
      false,
    ]);
  });

  test("callers are verified on every route but /health, and the agent hears who it is", async () => {
    const seen: unknown[] = [];
    const agent = new BothAgent((_messages, { auth }) => {
      seen.push(auth?.principal);
      return "hello";
    });
    const handler = serve(agent, {
      auth: ({ headers }) =>
        headers.get("authorization") === "Bearer good" ? { principal: "ada" } : new Response(null, { status: 401 }),
    });
    for (const make of routes.filter((make) => !["/health", "/nothing"].includes(new URL(make().url).pathname))) {
      assertEquals((await handler(make())).status, 401, make().url);
    }
    assertEquals((await handler(get("/health"))).status, 200);
    const headers = { authorization: "Bearer good" };
    assertEquals((await handler(post("/v1/chat/completions", chat(), { headers }))).status, 200);
    assertEquals((await handler(post("/chat", { query: "x" }, { headers }))).status, 200);
    assertEquals(seen, ["ada", "ada"]);
  });

  test("a logger that throws, or rejects, changes no answer and ends no process", async () => {
    const failing = () => {
      throw new Error("the disk is full");
    };
    const broken = new BothAgent(failing);
    for (const logger of [failing, () => Promise.reject(new Error("the disk is full")) as unknown as void]) {
      const handler = serve(broken, { logger });
      assertEquals((await errorOf(await handler(post("/chat", { query: "x" })))).status, 500);
      const streamed = await handler(post("/v1/chat/completions", chat({ stream: true })));
      assertEquals((await errorOf(streamed)).status, 500);
      assertEquals((await serve(new Named(), { logger })(get("/health"))).status, 200);
    }
    await strays.none();
  });

  test("an auth whose reply cannot be sent is a 500, also for a page", async () => {
    const spent = new Response("read already");
    await spent.text();
    const log: LogRecord[] = [];
    const handler = serve(new BothAgent(), { auth: () => spent, logger: (record) => log.push(record) });
    const response = await handler(get("/tools", { origin: "http://localhost" }));
    assertEquals([(await errorOf(response)).status, log.length], [500, 1]);
  });
});

describe("the bridge", () => {
  const bridge = (agent: McpAgentShape = new BothAgent()) => createBridgeHandler(agent);
  const json = async (response: Promise<Response>) => (await response).json();

  test("monitors may ask for the head of its health alone", async () => {
    const handler = bridge(new RichAgent());
    const { length } = await (await handler(get("/health"))).text();
    const head = await handler(new Request("http://localhost/health", { method: "HEAD" }));
    const { status, headers } = head;
    assertEquals([status, headers.get("content-type"), headers.get("content-length")], [
      200,
      "application/json",
      String(length),
    ]);
    assertEquals(await head.text(), "");
    for (const [path, allowed] of [["health", "GET, HEAD"], ["tools", "GET"], ["tools/x", "POST"]]) {
      const refused = await handler(
        new Request(`http://localhost/${path}`, { method: path === "tools" ? "HEAD" : "PUT" }),
      );
      assertEquals([refused.status, refused.headers.get("allow")], [405, allowed]);
    }
  });

  test("health and tools", async () => {
    assertEquals(await json(bridge(new RichAgent())(get("/health"))), {
      status: "healthy",
      service: "Rich",
      version: "7.0.0",
      tools: 6,
    });
    const { tools } = await json(bridge()(get("/tools")));
    assertEquals(tools[0], { name: "first", description: "Says so", inputSchema: { type: "object" } });
  });

  test("more tools than a page holds are all there", async () => {
    const names = Array.from({ length: 250 }, (_, at) => `tool-${at}`);
    const agent = { getMcpToolDefinitions: () => names.map((name) => ({ name })), executeMcpTool: () => 1 };
    assertEquals((await json(bridge(agent)(get("/tools")))).tools.length, 250);
    assertEquals((await json(bridge(agent)(get("/health")))).tools, 250);
  });

  test("a tool is called as by MCP: its result, its failure, its checks", async () => {
    const handler = bridge();
    const call = (name: string, args: unknown) => json(handler(post(`/tools/${name}`, args)));
    assertEquals(await call("add", { a: 1, b: 2 }), { content: [{ type: "text", text: "3" }], structuredContent: 3 });
    assertEquals(await call("fail", {}), { content: [{ type: "text", text: "it is broken" }], isError: true });
    assertEquals((await call("add", { a: "one" })).isError, true);
    const unknown = await errorOf(await handler(post("/tools/no%20thing", {})));
    assertEquals([unknown.status, unknown.message], [404, "Unknown tool: no thing"]);
    assertEquals((await errorOf(await handler(post("/tools/add", "[]")))).status, 400);
    assertEquals((await handler(get("/tools/add"))).status, 405);
    assertEquals((await handler(get("/chat"))).status, 405);
  });

  test("what another server refused is the tool's failure, and what is too long to send is a 500", async () => {
    const handler = createBridgeHandler({
      getMcpToolDefinitions: () => [{ name: "upstream" }, { name: "long" }],
      executeMcpTool(name: string) {
        if (name === "long") return "x".repeat(2_000);
        throw new InvalidParamsError("no such row", { rpcCode: -32602, server: "upstream" });
      },
    }, { limits: { messageBytes: 1_000 } });
    assertEquals(await json(handler(post("/tools/upstream", {}))), {
      content: [{ type: "text", text: "no such row" }],
      isError: true,
    });
    assertEquals((await errorOf(await handler(post("/tools/long", {})))).status, 500);
  });

  test("a tool that asks its caller is told that this one cannot be asked", async () => {
    const handler = bridge({
      getMcpToolDefinitions: () => [{ name: "ask" }],
      executeMcpTool: async (_name, _args, { can, elicit }) => {
        assertEquals(can("elicit"), false);
        await elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
      },
    });
    const { status, code } = await errorOf(await handler(post("/tools/ask", {})));
    assertEquals([status, code], [400, "missing_capability"]);
  });

  test("a chat: a question or a whole conversation", async () => {
    const handler = bridge(new BothAgent((messages) => `${messages.length} of ${messages.at(-1)?.content}`));
    assertEquals(await json(handler(post("/chat", { query: "hi" }))), {
      result: "1 of hi",
      finishReason: "stop",
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    });
    const messages = [{ role: "system", content: "a" }, { role: "user", content: "b" }];
    assertEquals((await json(handler(post("/chat", { messages })))).result, "2 of b");
    for (const body of [{}, { query: "" }, { query: 1 }, { messages: [] }]) {
      assertEquals((await handler(post("/chat", body))).status, 400);
    }
  });

  test("what fails is told without its inside", async () => {
    const log: LogRecord[] = [];
    const broken = new BothAgent(() => {
      throw new Error("secret");
    });
    const handler = createBridgeHandler(broken, { logger: (record) => log.push(record) });
    const error = await errorOf(await handler(post("/chat", { query: "x" })));
    assertEquals([error.status, error.message], [500, "The agent could not answer"]);
    assertEquals(log.length, 1);
    const busy = bridge(new BothAgent(() => Promise.reject(new ModelError("Later", { status: 503 }))));
    assertEquals((await errorOf(await busy(post("/chat", { query: "x" })))).message, "Later");
  });

  test("its logger hears of its tools too, where the server has no logger of its own", async () => {
    const agent = {
      getMcpToolDefinitions: () => [{ name: "Odd_Name", inputSchema: {} }],
      executeMcpTool: () => {
        throw new Error("no disk");
      },
    };
    for (const isOwn of [false, true]) {
      const heard: string[] = [];
      const logger = ({ message }: LogRecord): void => void heard.push(message);
      const handler = createBridgeHandler(agent, isOwn ? { serverOptions: { logger } } : { logger });
      assertEquals((await json(handler(post("/tools/Odd_Name", {})))).isError, true);
      assertEquals(heard, ["The name of a tool is no lower-case words with dashes", "A tool failed"]);
    }
  });

  test("a caller that leaves stops the model, also one that does not look at the signal", async () => {
    let pieces = 0;
    let ended = false;
    const handler = bridge(
      new BothAgent(async function* () {
        try {
          for (;; pieces++) {
            yield "more ";
            await new Promise((resolve) => setTimeout(resolve, 0));
          }
        } finally {
          ended = true;
        }
      }),
    );
    const controller = new AbortController();
    const answer = handler(post("/chat", { query: "x" }, { signal: controller.signal }));
    await until(() => pieces > 1);
    controller.abort();
    assertEquals((await answer).status, 499);
    await until(() => ended);
  });

  test("a caller that leaves stops the tool", async () => {
    let signal: AbortSignal | undefined;
    const handler = bridge({
      getMcpToolDefinitions: () => [{ name: "wait" }],
      executeMcpTool: (_name, _args, context) => {
        signal = context.signal;
        return new Promise<string>(() => {});
      },
    });
    const controller = new AbortController();
    const answer = handler(post("/tools/wait", {}, { signal: controller.signal }));
    await until(() => signal !== undefined);
    controller.abort();
    assertEquals((await answer).status, 499);
    assert(signal?.aborted);
  });
});
