/** Bad input on the wire of the one-line hosts. */
import { connect as connectSocket } from "node:net";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { serveHttp } from "../../src/entry/local.ts";
import { createHandler, McpServer } from "../../src/server/mod.ts";

/** Sends bytes and gives all that comes back until the other side ends, or until it has said what is waited for. */
function exchange(port: number, parts: readonly string[], awaited?: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connectSocket(port, "127.0.0.1", () => parts.forEach((part) => socket.write(part)));
    const timer = setTimeout(() => socket.destroy(), awaited === undefined ? 500 : 20_000);
    socket.on("data", (chunk) => {
      text += String(chunk);
      if (awaited !== undefined && text.includes(awaited)) socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}

describe("bad input at a one-line host", () => {
  const server = new McpServer({ name: "bounded", version: "1.0.0" });
  const post = (port: number, more: string) =>
    `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
    `accept: application/json, text/event-stream\r\n${more}\r\n`;

  test("a body that is said to be too long is refused before it has come", async () => {
    await using host = await serveHttp(createHandler(server, { limits: { messageBytes: 1_000 } }), { port: 0 });
    const parts = [post(host.port, "content-length: 2000\r\n"), "x"];
    assertStringIncludes(await exchange(host.port, parts, " 413 "), " 413 ");
  });

  test("a body without a length is read as far as the limit", async () => {
    await using host = await serveHttp(createHandler(server, { limits: { messageBytes: 1_000 } }), { port: 0 });
    const chunk = `7d0\r\n${"x".repeat(2_000)}\r\n`;
    const head = post(host.port, "transfer-encoding: chunked\r\n");
    assertStringIncludes(await exchange(host.port, [head, chunk, chunk], " 413 "), " 413 ");
  });

  test("what is no HTTP, or has no host, harms nobody", async () => {
    await using host = await serveHttp(createHandler(server), { port: 0 });
    for (
      const text of [
        "nonsense\r\n\r\n",
        "GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a b\r\n\r\n",
      ]
    ) {
      const reply = await exchange(host.port, [text]);
      assertEquals(/^$|^HTTP\/1.1 4/.test(reply), true, reply);
    }
    assertEquals((await fetch(`${host.url}/mcp`, { method: "OPTIONS" })).status, 204);
  });

  test("what names no host is answered by nobody: it could be meant for any name", async () => {
    const seen: string[] = [];
    await using host = await serveHttp((request) => {
      seen.push(request.url);
      return new Response("here");
    }, { port: 0 });
    for (const text of ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nhost:\r\n\r\n"]) {
      const reply = await exchange(host.port, [text]);
      assertEquals(/^HTTP\/1\.[01] 4\d\d /.test(reply) || reply === "", true, `${text}${reply}`);
    }
    assertEquals(seen, []);
    assertStringIncludes(await exchange(host.port, ["GET / HTTP/1.0\r\nhost: x\r\n\r\n"], "here"), "here");
  });
});

test("a Host that is more than a host is refused: no path and no user comes from it", async () => {
  const seen: string[] = [];
  await using host = await serveHttp(({ url }) => {
    seen.push(new URL(url).pathname);
    return new Response("here");
  }, { port: 0 });
  const ask = (name: string) => exchange(host.port, [`GET /mcp HTTP/1.1\r\nhost: ${name}\r\n\r\n`], "HTTP/1.1 ");
  const odd = ["localhost/admin?", "localhost/admin#", "localhost\\admin?", "localhost:80/admin?x=", "[::1]/admin?"];
  for (const name of [...odd, "ada@localhost", "localhost, other", "local%2fhost", "localhost:0x50", "a b"]) {
    assertStringIncludes(await ask(name), "HTTP/1.1 400 ", name);
  }
  assertEquals(seen, []);
  const fine = ["localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:8080", "my_host.example.com", "xn--bcher-kva.example"];
  for (const name of fine) assertStringIncludes(await ask(name), "HTTP/1.1 200 ", name);
  assertEquals(seen, fine.map(() => "/mcp"));
});

describe("a reply that cannot be sent, at a one-line host", () => {
  const read = async (): Promise<Response> => {
    const response = new Response("read");
    await response.text();
    return response;
  };
  const replies: Record<string, () => unknown> = {
    "nothing": () => undefined,
    "a text": () => "hello",
    "one that was read": read,
    "an error": () => Response.error(),
    // Node takes it for what it says.
    ...("Bun" in globalThis || "Deno" in globalThis
      ? { "one of another class": () => ({ status: 403, headers: new Headers(), body: null, bodyUsed: false }) }
      : {}),
    ...("Bun" in globalThis ? {} : {
      "one with a control character": () => new Response("x", { headers: { "x-name": "a\u0001b" } }),
    }),
  };
  for (const [name, reply] of Object.entries(replies)) {
    test(`${name} is a 500, and those that come later are answered`, async () => {
      const handler = (request: Request) => request.url.endsWith("/odd") ? reply() : new Response("fine");
      await using host = await serveHttp(handler as (request: Request) => Response, { port: 0 });
      const odd = await fetch(`${host.url}/odd`);
      assertEquals([odd.status, await odd.text()], [500, ""]);
      assertEquals(odd.headers.get("x-name"), null);
      assertEquals(await (await fetch(`${host.url}/`)).text(), "fine");
    });
  }
});

test("what is no handler is refused before anything listens", async () => {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  await assertRejects(() => serveHttp(server as never, { port: 0 }), TypeError, "such as createHandler(server)");
});

test("a header of a reply is sent byte by byte, with a body and without", async () => {
  const handler = ({ url }: Request) => {
    const headers = { "content-disposition": 'attachment; filename="f\u00fcr.txt"' };
    return new Response(url.endsWith("/empty") ? null : "text", { headers });
  };
  await using host = await serveHttp(handler, { port: 0 });
  for (const path of ["/", "/empty"]) {
    const { headers, body } = await fetch(`${host.url}${path}`);
    assertEquals(headers.get("content-disposition"), 'attachment; filename="f\u00fcr.txt"', path);
    await body?.cancel();
  }
});

describe("where a one-line host listens", () => {
  test("at the address that it was given alone", {
    skip: process.platform === "linux" ? false : "elsewhere this machine has one such address",
  }, async () => {
    await using host = await serveHttp(() => new Response("fine"), { port: 0 });
    await assertRejects(() => fetch(host.url.replace("127.0.0.1", "127.0.0.2")), Error);
  });

  test("an empty name is no name: this machine alone", async () => {
    await using host = await serveHttp(() => new Response("fine"), { port: 0, hostname: "" });
    assertEquals([host.hostname, host.url], ["127.0.0.1", `http://127.0.0.1:${host.port}`]);
    assertEquals(await (await fetch(host.url)).text(), "fine");
  });

  test("a port that is none is refused by its name, whatever the runtime makes of it", async () => {
    const serve = (options: object) => serveHttp(() => new Response("fine"), options);
    for (const port of ["tcp://10.0.0.1:80", "", " 80", "http", NaN, -1, 1.5, 65_536, {}]) {
      await assertRejects(
        () => serve({ port }),
        RangeError,
        `"port" is ${port}, expected a whole number from 0 to 65,535`,
      );
    }
    await assertRejects(() => serve({ port: 0, hostname: 5 }), TypeError, '"hostname" is 5, expected');
    await using host = await serve({ port: "0", hostname: null });
    assertEquals(host.hostname, "127.0.0.1");
    assert(host.port > 0);
  });

  test("an IPv6 address may stand in brackets, as in its URL", async () => {
    await using host = await serveHttp(() => new Response("fine"), { port: 0, hostname: "[::1]" });
    assertEquals([host.hostname, host.url], ["::1", `http://[::1]:${host.port}`]);
    assertEquals(await (await fetch(host.url)).text(), "fine");
  });
});
