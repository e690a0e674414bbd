import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ConnectError } from "../../src/protocol/errors.ts";
import { createNodeFetch } from "../../src/runtime/node.ts";
import { until } from "../suites/spawn.ts";

const megabyte = "0123456789abcdef".repeat(2 ** 16);

const huge = new Uint8Array(8 * 2 ** 20).map((_, at) => (at * 7 + (at >> 13)) % 251);
const isNode = !("Bun" in globalThis || "Deno" in globalThis);

/** What the server does for a path. */
const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  "/echo": (request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { method, headers } = request;
      const body = new TextDecoder().decode(new Uint8Array(chunks.flatMap((chunk) => [...chunk])));
      response.setHeader("content-type", "application/json").setHeader("set-cookie", ["a=1", "b=2"]);
      response.end(JSON.stringify({ method, headers, body }));
    });
  },
  "/big": (_, response) => response.setHeader("content-length", megabyte.length).end(megabyte),
  "/huge": (_, response) => response.setHeader("content-length", huge.length).end(huge),
  "/gzip": (_, response) => response.setHeader("content-encoding", "gzip").end(gzipSync(megabyte)),
  "/br": (_, response) => response.setHeader("content-encoding", "br").end(brotliCompressSync(megabyte)),
  "/deflate": (_, response) => response.setHeader("content-encoding", "deflate").end(deflateSync(megabyte)),
  "/two": (_, response) => response.setHeader("content-encoding", "deflate, gzip").end(gzipSync(deflateSync(megabyte))),
  "/odd": (_, response) => response.setHeader("content-encoding", "x-unknown").end("as it is"),
  "/inherited": (_, response) => response.setHeader("content-encoding", "constructor").end("as it is"),
  "/cut-gzip": (_, response) => response.setHeader("content-encoding", "gzip").end(gzipSync(megabyte).subarray(0, 500)),
  "/redirect": (_, response) => response.writeHead(307, { location: "/echo" }).end("elsewhere"),
  "/empty": (_, response) => response.writeHead(204).end(),
  "/hang": () => {},
  "/kept": ({ url = "" }, response) => {
    answers.push(() => void response.setHeader("keep-alive", `timeout=${url.slice(-2)}`).end());
  },
  "/half": (_, response) => void response.writeHead(200, { "content-length": "100" }).write("half"),
  "/reset": (request) => void request.socket.destroy(),
  "/cut": (_, response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setTimeout(() => response.destroy(), 20);
  },
};

/** Answers that wait for a test. */
const answers: (() => void)[] = [];
let server: Server;
let origin: string;
let steps: (() => void)[] = [];
const sockets = new Set<Socket>();
const client = createNodeFetch();

before(async () => {
  routes["/events"] = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    steps = [1, 2, 3].map((n) => () => void response.write(`data: ${n}\n\n`));
    steps.push(() => void response.end());
  };
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://localhost");
    routes[pathname]?.(request, response);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const get = (path: string, init: RequestInit = {}) => client.fetch(origin + path, init);
const codeOf = (error: unknown) => (error as { code?: unknown }).code;

describe("createNodeFetch: replies", () => {
  test("method, headers and body go out as given; a real Response comes back", async () => {
    const headers = { "Content-Type": "application/json", "Mcp-Method": "ping", "x-y": "1" };
    const response = await get("/echo?a=1", { method: "POST", headers, body: '{"é":1}', redirect: "manual" });
    assert(response instanceof Response);
    assertEquals([response.status, response.ok, response.url], [200, true, origin + "/echo?a=1"]);
    assertEquals(response.headers.getSetCookie(), ["a=1", "b=2"]);
    const seen = await response.json();
    assertEquals([seen.method, seen.body], ["POST", '{"é":1}']);
    assertEquals([seen.headers["content-length"], seen.headers["mcp-method"], seen.headers["x-y"]], ["8", "ping", "1"]);
    assertEquals(seen.headers["content-type"], "application/json");
  });

  test("every kind of body that fetch takes", async () => {
    const stream = () =>
      new ReadableStream({
        start(controller) {
          for (const part of ["a", "b", "c"]) controller.enqueue(new TextEncoder().encode(part));
          controller.close();
        },
      });
    const bodies: [RequestInit["body"], string, string | undefined][] = [
      ["text", "text", "text/plain;charset=UTF-8"],
      [new URLSearchParams({ a: "1 2" }), "a=1+2", "application/x-www-form-urlencoded;charset=UTF-8"],
      [new TextEncoder().encode("bytes"), "bytes", undefined],
      [new TextEncoder().encode("buffer").buffer, "buffer", undefined],
      [stream(), "abc", undefined],
      [null, "", undefined],
    ];
    for (const [body, text, type] of bodies) {
      const seen = await (await get("/echo", { method: "POST", body: body ?? null })).json();
      assertEquals(seen.body, text);
      assertEquals(seen.headers["content-type"]?.toLowerCase(), type?.toLowerCase());
    }
  });

  test("a megabyte, as it is and packed", async () => {
    for (const path of ["/big", "/gzip", "/br", "/deflate", "/two"]) {
      assert(await (await get(path)).text() === megabyte, path);
    }
    for (const path of ["/odd", "/inherited"]) assertEquals(await (await get(path)).text(), "as it is", path);
  });

  test("many bytes are intact, in memory once, and leave nothing behind on their connection", async () => {
    const warned: string[] = [];
    const warn = (warning: Error): void => void warned.push(warning.message);
    process.on("warning", warn);
    for (let turn = 0; turn < 14; turn++) {
      const before = process.memoryUsage().arrayBuffers;
      const bytes = await (await get("/huge")).arrayBuffer();
      const grown = process.memoryUsage().arrayBuffers - before;
      assert(new Uint8Array(bytes).every((byte, at) => byte === huge[at]), `turn ${turn}`);
      // The others do not count them, or count what the server holds.
      if (isNode) {
        assert(grown < bytes.byteLength + 3 * 2 ** 20, `turn ${turn}: ${grown} bytes for ${bytes.byteLength}`);
      }
      // Who has used them up gives them back.
      (bytes as ArrayBuffer & { transfer?: (length: number) => ArrayBuffer }).transfer?.(0);
      if (isNode) assertEquals(bytes.byteLength, 0);
    }
    // Much is said a turn later.
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off("warning", warn);
    assertEquals(warned, []);
  });

  test("all bytes in one piece: early, late, and only once", async () => {
    const decoder = new TextDecoder();
    const whole = await get("/big");
    assert(decoder.decode(await whole.arrayBuffer()) === megabyte);
    await assertRejects(() => whole.arrayBuffer(), TypeError);
    const late = await get("/echo", { method: "POST", body: "x" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assertEquals(JSON.parse(decoder.decode(await late.arrayBuffer())).body, "x");
    assert(decoder.decode(await (await get("/gzip")).arrayBuffer()) === megabyte, "unpacked, so of another length");
    const begun = await get("/big");
    const [one, two] = begun.body?.tee() ?? [];
    await assertRejects(() => begun.arrayBuffer(), TypeError);
    await Promise.all([one?.cancel(), two?.cancel()]);
  });

  test("a body that has come whole is handed on, or given up, later", async () => {
    const read = await get("/echo", { method: "POST", body: "x" });
    const given = await get("/echo", { method: "POST", body: "y" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assertEquals((await read.json()).body, "x");
    await given.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assertEquals(given.bodyUsed, true);
  });

  test("a redirect is an answer, not an order; an empty reply has no body", async () => {
    const response = await get("/redirect", { redirect: "manual" });
    assertEquals([response.status, response.headers.get("location")], [307, "/echo"]);
    assertEquals(await response.text(), "elsewhere");
    assertEquals([(await get("/empty")).body, (await get("/big", { method: "HEAD" })).body], [null, null]);
  });

  test("events come one by one, as they are sent", async () => {
    const response = await get("/events");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (const [i, step] of steps.entries()) {
      step();
      const next = await reader?.read();
      assertEquals([next?.done, next?.value], i < 3 ? [false, `data: ${i + 1}\n\n`] : [true, undefined]);
    }
  });

  test("a connection is used again", async () => {
    await (await get("/big")).text();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const before = [...sockets];
    await (await get("/big")).text();
    assert([...sockets].every((socket) => before.includes(socket)), "no new connection");
  });

  test("one that its server has ended while this program was at work is not used again", async () => {
    const own = createNodeFetch({ keepAlive: 50 });
    const post = async () => (await (await own.fetch(`${origin}/echo`, { method: "POST", body: "x" })).json()).body;
    const before = new Set(sockets);
    assertEquals(await post(), "x");
    await new Promise((resolve) => setImmediate(resolve));
    for (const socket of sockets) if (!before.has(socket)) socket.destroy();
    // Nothing else runs meanwhile, neither timers nor what the system has to tell.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    assertEquals(await post(), "x");
    own.close();
  });

  test("one that is too old is not taken where another one is kept for longer", async () => {
    const own = createNodeFetch({ keepAlive: 20_000 });
    const get = async (path: string) => await (await own.fetch(origin + path, {})).text();
    const { now } = performance;
    const both = ["/kept?60", "/kept?03"].map(get);
    await until(() => answers.length === 2, "both requests");
    for (const answer of answers.splice(0)) answer();
    await Promise.all(both);
    await new Promise((resolve) => setTimeout(resolve, 5));
    performance.now = () => now.call(performance) + 10_000;
    const next = get("/odd").finally(() => own.close());
    performance.now = now;
    assertEquals(await next, "as it is");
  });

  test("a slow reader holds the server back", async () => {
    const total = 64 * 2 ** 20;
    let sent = 0;
    routes["/flood"] = (_, response) => {
      const more = () => {
        while (sent < total && !response.destroyed) {
          sent += megabyte.length;
          if (!response.write(megabyte)) return void response.once("drain", more);
        }
        response.end();
      };
      more();
    };
    const response = await get("/flood");
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert(sent < total / 2, `${sent} bytes were taken from the server`);
    const taken = sent;
    const reader = response.body?.getReader();
    await until(() => (void reader?.read(), sent > taken), "more, once it is read");
    await reader?.cancel();
  });
});

describe("createNodeFetch: failures", () => {
  const nothingOpen = () => until(() => sockets.size === 0, "the sockets' end");

  test("refused and unknown hosts keep their code", async () => {
    const refused = await assertRejects(() => client.fetch("http://127.0.0.1:1/", {}), TypeError, "ECONNREFUSED");
    assertEquals([codeOf(refused), codeOf(refused.cause)], ["ECONNREFUSED", "ECONNREFUSED"]);
    // It tells what had not begun from what broke.
    const calls = [refused, refused.cause].map((error) => (error as { syscall?: unknown }).syscall);
    assertEquals(calls[0], calls[1]);
    const other = createNodeFetch({
      lookup: (_host, _options, callback) => {
        callback(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }), "", 4);
      },
    });
    const unknown = await assertRejects(() => other.fetch("http://nowhere.test/", {}), TypeError);
    assertEquals(codeOf(unknown), "ENOTFOUND");
  });

  test("what the process has no permission for was not sent", async () => {
    const denied = createNodeFetch({
      lookup: (_host, _options, callback) => {
        callback(Object.assign(new Error("getaddrinfo ERR_ACCESS_DENIED"), { code: "ERR_ACCESS_DENIED" }), "", 4);
      },
    });
    const asked = () => denied.fetch("http://a.example/?key=s3cret", { method: "POST", body: "{}" });
    const { message, retryable } = await assertRejects(asked, ConnectError, "--allow-net");
    assertEquals([retryable, message.includes("s3cret")], [false, false]);
  });

  // Bun and Deno do not tell of their sockets how far they are.
  test("what was to be encrypted and met no TLS was not sent", { skip: !isNode && "Node's own sockets" }, async () => {
    const secure = origin.replace("http:", "https:");
    const asked = () => client.fetch(`${secure}/?key=s3cret`, { method: "POST", body: "{}" });
    const { message, delivery, retryable } = await assertRejects(asked, ConnectError, "speaks https:");
    assertEquals([delivery, retryable, message.includes("s3cret")], ["not-sent", true, false]);
    const silent = createTcpServer((socket) => void socket.on("error", () => {}).once("data", () => socket.destroy()));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = silent.address() as AddressInfo;
      await assertRejects(() => client.fetch(`https://127.0.0.1:${port}/`, {}), ConnectError, "ECONNRESET");
    } finally {
      silent.close();
    }
    const refused = await assertRejects(() => client.fetch("https://127.0.0.1:1/", {}), TypeError, "ECONNREFUSED");
    assertEquals(codeOf(refused), "ECONNREFUSED");
    const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
    const several = createNodeFetch({ lookup: (_host, _options, callback) => callback(null, addresses) });
    await assertRejects(() => several.fetch("https://gone.test:1/", {}), TypeError, "ECONNREFUSED");
  });

  test("lookup pins the address", async () => {
    const pinned = createNodeFetch({
      lookup: (_host, options, callback) =>
        options.all ? callback(null, [{ address: "127.0.0.1", family: 4 }]) : callback(null, "127.0.0.1", 4),
    });
    const { port } = server.address() as AddressInfo;
    const seen = await (await pinned.fetch(`http://pinned.test:${port}/echo`, {})).json();
    assertEquals(seen.headers.host, `pinned.test:${port}`);
    pinned.close();
  });

  test("a reset before the reply, and one inside of it", async () => {
    assertEquals(codeOf(await assertRejects(() => get("/reset"), TypeError)), "ECONNRESET");
    const response = await get("/cut");
    assertEquals(codeOf(await assertRejects(() => response.text(), TypeError)), "ECONNRESET");
    const whole = await get("/cut");
    assertEquals(codeOf(await assertRejects(() => whole.arrayBuffer(), TypeError)), "ECONNRESET");
    const packed = await get("/cut-gzip");
    await assertRejects(() => packed.text(), TypeError);
    client.close();
    await nothingOpen();
  });

  test("an abort before, while waiting, in the headers and in the body: its own reason, and no socket left", async () => {
    client.close();
    await nothingOpen();
    const reason = new Error("enough");
    await assertRejects(() => get("/echo", { signal: AbortSignal.abort(reason) }), Error, "enough");
    const waiting = new AbortController();
    const hanging = get("/hang", { signal: waiting.signal });
    await until(() => sockets.size > 0, "the connection");
    waiting.abort(reason);
    assertEquals(await assertRejects(() => hanging), reason);
    await nothingOpen();
    const reading = new AbortController();
    const response = await get("/half", { signal: reading.signal });
    const text = response.text();
    reading.abort(reason);
    assertEquals(await assertRejects(() => text), reason);
    await nothingOpen();
    const gathering = new AbortController();
    const whole = (await get("/half", { signal: gathering.signal })).arrayBuffer();
    gathering.abort(reason);
    assertEquals(await assertRejects(() => whole), reason);
    await nothingOpen();
  });

  test("cancelling the body closes the socket; an abort after the end is nothing", async () => {
    const half = await get("/half");
    await half.body?.cancel();
    await nothingOpen();
    const controller = new AbortController();
    const whole = await get("/big", { signal: controller.signal });
    assert(await whole.text() === megabyte);
    controller.abort();
    await new Promise((resolve) => setTimeout(resolve, 5));
    assertEquals(sockets.size, 1, "the connection is kept");
    client.close();
    await nothingOpen();
  });

  test("what is no request is refused at once", async () => {
    for (const url of ["ftp://x/", "http://user:secret@127.0.0.1/", "nonsense"]) {
      const error = await assertRejects(() => client.fetch(url, {}), TypeError);
      assert(!error.message.includes("secret"));
    }
    const error = await assertRejects(() => get("/echo", { headers: { "x-a": "secret\r\nx-b: 2" } }), TypeError, "x-a");
    assert(!/secret|x-b/.test(`${error.message}${String(error.cause)}`), error.message);
  });
});

describe("createNodeFetch: the process", () => {
  test("an idle connection does not keep it alive", async () => {
    // A process of its own: it sends one request, reads the reply, and has nothing more to do.
    const source = `
      const http = await import("node:http");
      const { createNodeFetch } = await import(${
      JSON.stringify(import.meta.resolve("../../src/runtime/node_fetch.ts"))
    });
      const { fetch } = createNodeFetch({ keepAlive: 60000 });
      await (await fetch("${origin}/big", {})).text();
      console.log("read");`;
    const flags = "Deno" in globalThis
      ? ["eval", "--no-check", source]
      : [...process.execArgv, "--input-type=module", "-e", source];
    const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (chunk) => said += chunk);
    const code = await new Promise((resolve) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), 25_000);
      child.on("exit", (code) => (clearTimeout(timer), resolve(code)));
    });
    assertEquals([code, said.trim()], [0, "read"]);
  });
});
