import { describe, test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import worker from "../../workers/client.ts";
import { serverUrl } from "../support/server_url.ts";

const server = serverUrl();
const skip = server === undefined ? "there is no test server: run it with `bun run test`" : false;
const env = { MCP_URL: `${server}/modern@worker/mcp`, ACCESS_TOKEN: "a-token-for-tests" };
const headers = { Authorization: `Bearer ${env.ACCESS_TOKEN}` };

function call(path: string, body: string): Request {
  const length = String(new TextEncoder().encode(body).length);
  return new Request(`http://worker.test${path}`, {
    method: "POST",
    headers: { ...headers, "content-length": length },
    body,
  });
}

async function answer(response: Response | Promise<Response>): Promise<[status: number, body: string]> {
  const given = await response;
  return [given.status, await given.text()];
}

describe("the Worker that calls remote tools", { concurrency: false }, () => {
  test("lists the tools of its server", { skip }, async () => {
    const [status, body] = await answer(worker.fetch(new Request("http://worker.test/tools", { headers }), env));
    assertEquals(status, 200);
    assertStringIncludes(body, '"name":"echo"');
  });

  test("calls a tool", { skip }, async () => {
    const [status, body] = await answer(worker.fetch(call("/tools/add", '{"a":1,"b":2}'), env));
    assertEquals([status, JSON.parse(body).structuredContent], [200, { sum: 3 }]);
  });

  test("says what is wrong with a call: no such tool, no JSON, no object", { skip }, async () => {
    for (const [path, body] of [["/tools/nothing", "{}"], ["/tools/echo", "{"], ["/tools/echo", "[]"]] as const) {
      const [status, text] = await answer(worker.fetch(call(path, body), env));
      assertEquals([status, typeof JSON.parse(text).error.message], [400, "string"], path + body);
    }
  });

  test("a path that cannot be read is the caller's fault", async () => {
    const down = { ...env, MCP_URL: "http://127.0.0.1:9/mcp" };
    assertEquals((await answer(worker.fetch(call("/tools/%zz", "{}"), down)))[0], 400);
  });

  test("settings that cannot be used are no fault of the caller, who is not told them", async (context) => {
    const { error } = console;
    const told: unknown[] = [];
    console.error = (text: unknown) => void told.push(text);
    context.after(() => console.error = error);
    const wrong = { ...env, MCP_URL: "internal.example/mcp" };
    const [status, body] = await answer(worker.fetch(new Request("http://worker.test/tools", { headers }), wrong));
    assertEquals([status, body.includes("internal")], [500, false], body);
    assertStringIncludes(String(told[0]), "internal.example/mcp");
  });

  test("answers nobody without the token, also when none is set", async () => {
    const request = (): Request => new Request("http://worker.test/tools");
    assertEquals((await answer(worker.fetch(request(), env)))[0], 403);
    assertEquals((await answer(worker.fetch(request(), { MCP_URL: env.MCP_URL })))[0], 403);
    const wrong = new Request("http://worker.test/tools", { headers: { Authorization: "Bearer other" } });
    assertEquals((await answer(worker.fetch(wrong, env)))[0], 403);
  });

  test("names what it lacks: the server's address, a known path", async () => {
    const request = (path: string): Request => new Request(`http://worker.test${path}`, { headers });
    assertEquals((await answer(worker.fetch(request("/tools"), { ...env, MCP_URL: "" })))[0], 500);
    assertEquals((await answer(worker.fetch(request("/other"), env)))[0], 404);
  });

  test("a server that is down is a bad gateway, told without its address", async () => {
    const down = { ...env, MCP_URL: "http://127.0.0.1:9/mcp" };
    const [status, body] = await answer(worker.fetch(new Request("http://worker.test/tools", { headers }), down));
    assertEquals(status, 502);
    assertEquals(body.includes("127.0.0.1"), false);
  });
});
