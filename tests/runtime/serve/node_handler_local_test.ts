/** A handler among those of a server of `node:http`: plain, behind what reads bodies, and below a router. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect as connect2, constants, createSecureServer, createServer as createServer2 } from "node:http2";
import { createServer as createServerTls, request as requestTls } from "node:https";
import type { AddressInfo } from "node:net";
import { Buffer } from "node:buffer";
import { describe, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { connect, type NodeRequest, toNodeHandler } from "../../../src/entry/node.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { certificate, key } from "../../faults/support/certificate.ts";
import { deferred } from "../../servers/core/wire.ts";

/** A request as frameworks change it on its way. */
type Passing = IncomingMessage & NodeRequest & { url?: string | undefined };
type Front = (
  request: Passing,
  answer: (body?: unknown) => Promise<void>,
  response: ServerResponse,
) => Promise<unknown>;

/** Serves on a free port with what a framework would do before. */
async function serving(
  handler: Parameters<typeof toNodeHandler>[0],
  front: Front,
  run: (url: string) => Promise<void>,
): Promise<void> {
  const listener = toNodeHandler(handler);
  const server: Server = createServer((request, response) =>
    void front(request, (body) => listener(request, response, body), response)
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** What a client of HTTP/2 says that wants no more of a reply. */
const calledOff = constants.NGHTTP2_CANCEL;

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Asks over https, and gives the body. */
async function askTls(url: string): Promise<string> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    requestTls(url, { ca: certificate, agent: false }, resolve).on("error", reject).end();
  });
  return new TextDecoder().decode(await bytesOf(response));
}

/** The same over HTTP/2. */
async function ask2(url: string): Promise<string> {
  const { origin, pathname, search } = new URL(url);
  const client = connect2(origin, { ca: certificate });
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of client.request({ ":path": pathname + search })) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } finally {
    client.close();
  }
}

async function bytesOf(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function createGreeter(): ReturnType<typeof createHandler> {
  const server = new McpServer({ name: "greeter", version: "1.0.0" });
  const input = { type: "object", properties: { name: { type: "string" } } } as const;
  server.tool("greet", { input }, ({ name }, { progress }) => {
    progress({ progress: 1, total: 2, message: "half way" });
    return `hello ${name}`;
  });
  return createHandler(server);
}

/** Calls the tool in both eras, and gives what came, with its progress. */
async function greetings(url: string): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const era of ["modern", "legacy"] as const) {
    await using client = await connect(url, { verdict: { era } });
    const onProgress = ({ message }: { message?: string | undefined }): void => void seen.push(message);
    const { content } = await client.callTool("greet", { name: "Zoë" }, { onProgress });
    seen.push(...content);
  }
  return seen;
}

const hello = ["half way", { type: "text", text: "hello Zoë" }];
const fronts: Record<string, Front> = {
  "by itself": (_, answer) => answer(),
  "behind what has parsed the body, below a router that cuts the path": async (request, answer) => {
    const bytes = await bytesOf(request);
    if (bytes.length) request.body = JSON.parse(new TextDecoder().decode(bytes));
    request.originalUrl = request.url;
    request.url = "/";
    await answer(() => "the next handler");
  },
  "given the body, parsed": async (request, answer) => {
    const bytes = await bytesOf(request);
    await answer(bytes.length ? JSON.parse(new TextDecoder().decode(bytes)) : undefined);
  },
  "given the body as bytes": async (request, answer) => answer(await bytesOf(request)),
  "given the body as a text": async (request, answer) => answer(new TextDecoder().decode(await bytesOf(request))),
  "behind what says an empty body and reads none": (request, answer) => {
    request.body = {};
    return answer();
  },
  "where both are made of a cloud's event: the headers are gathered alone, with some that have no value, and writing says nothing of room":
    (
      request,
      answer,
      response,
    ) => {
      // Bun gathers them when they are asked for.
      const headers = { ...request.headers, origin: undefined };
      Object.defineProperties(request, { headers: { value: headers }, rawHeaders: { value: [] } });
      const write = response.write.bind(response) as (chunk: Uint8Array) => boolean;
      response.write = ((chunk: Uint8Array) => void write(chunk)) as unknown as typeof response.write;
      return answer();
    },
  "behind what keeps a session before a reply ends: it takes what it is given for the rest of the reply": (
    _,
    answer,
    response,
  ) => {
    const end = response.end.bind(response);
    response.end = ((chunk?: string | Uint8Array) => {
      if (chunk != null) response.write(chunk);
      setTimeout(() => end());
      return response;
    }) as typeof response.end;
    return answer();
  },
};

describe("a handler in a server of node:http", () => {
  for (const [name, front] of Object.entries(fronts)) {
    test(
      name,
      () => serving(createGreeter(), front, async (url) => assertEquals(await greetings(url), [...hello, ...hello])),
    );
  }

  // Bun's own responses take a "close" for their end.
  const skip = "Bun" in globalThis ? "Bun cannot stand in for it" : false;
  test("where a response says as soon as its head goes out that it is closed, as in a Worker", { skip }, () => {
    const front: Front = (_, answer, response) => {
      const flush = response.flushHeaders.bind(response);
      response.flushHeaders = () => {
        flush();
        response.emit("close");
      };
      return answer();
    };
    return serving(createGreeter(), front, async (url) => assertEquals(await greetings(url), [...hello, ...hello]));
  });

  test("hears the path as it was asked for, and of a body that was unpacked no length of before", () =>
    serving(
      async (request) => {
        const { headers, url } = request;
        const about = ["content-length", "content-encoding"].map((key) => headers.get(key));
        return Response.json([new URL(url).pathname, about, await request.text()]);
      },
      async (request, answer) => {
        request.body = JSON.parse(gunzipSync(await bytesOf(request)).toString());
        request.originalUrl = request.url;
        request.url = "/cut";
        await answer();
      },
      async (url) => {
        const headers = { "content-type": "application/json", "content-encoding": "gzip" };
        const body = gzipSync(JSON.stringify({ long: "x".repeat(1_000) }));
        const response = await fetch(url, { method: "POST", headers, body });
        assertEquals(await response.json(), ["/mcp", [null, null], JSON.stringify({ long: "x".repeat(1_000) })]);
      },
    ));

  test("has an empty body where somebody has read it and nobody gives it: the client is not left waiting", () =>
    serving(
      createGreeter(),
      async (request, answer) => {
        await bytesOf(request);
        await answer();
      },
      async (url) => {
        const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
        const response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(20_000) });
        assertEquals([response.status, (await response.json()).error.code], [400, -32700]);
      },
    ));

  test("that throws, or gives nothing, is a 500, and the next request is answered", () => {
    const answers = [
      () => Promise.reject(new Error("no")),
      () => undefined as unknown as Response,
      () => new Response("yes"),
    ];
    return serving(() => answers.shift()!(), fronts["by itself"]!, async (url) => {
      const seen: unknown[] = [];
      for (let count = 0; count < 3; count++) {
        const response = await fetch(url);
        seen.push([response.status, await response.text()]);
      }
      assertEquals(seen, [[500, ""], [500, ""], [200, "yes"]]);
    });
  });

  test("hears that its client has left", async () => {
    const left = deferred<void>();
    const here = deferred<void>();
    const handler = ({ signal }: Request): Promise<Response> => {
      signal.addEventListener("abort", () => left.resolve());
      here.resolve();
      return new Promise(() => {});
    };
    await serving(handler, fronts["by itself"]!, async (url) => {
      const controller = new AbortController();
      const asked = fetch(url, { signal: controller.signal });
      await here.promise;
      controller.abort();
      await assertRejects(() => asked);
      await left.promise;
    });
  });

  for (const isGiven of [true, false]) {
    test(`hears of one that has left before it was asked, ${isGiven ? "with" : "without"} the body`, async () => {
      const [came, done] = [deferred<void>(), deferred<void>()];
      const seen: unknown[] = [];
      await serving(
        async (request) => {
          seen.push(request.signal.aborted, await request.text().catch(() => "lost"));
          return new Response(new ReadableStream({ cancel: () => void seen.push("let go") }));
        },
        async (request, answer, response) => {
          const left = new Promise((resolve) => response.once("close", resolve));
          if (isGiven) request.body = (await bytesOf(request)).toString();
          came.resolve();
          await left;
          await answer();
          done.resolve();
        },
        async (url) => {
          const stop = new AbortController();
          const asked = fetch(url, { method: "POST", body: "hello", signal: stop.signal });
          await came.promise;
          stop.abort();
          await assertRejects(() => asked);
          await done.promise;
        },
      );
      assertEquals(seen, [true, isGiven ? "hello" : "lost", "let go"]);
    });
  }

  test("answers over HTTP/2, too: what stands in its first line is no header", async () => {
    const listener = toNodeHandler(async (request) => {
      const names = [...request.headers.keys()].sort();
      const body = { method: request.method, url: request.url, names, text: await request.text() };
      return Response.json(body, { headers: { "set-cookie": "a=b" } });
    });
    const server = createServer2((request, response) => void listener(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = connect2(origin);
    try {
      const stream = client.request({ ":path": "/mcp?a=1", ":method": "POST", "x-key": "k3y" });
      const status = new Promise<unknown[]>((resolve) => {
        stream.on("response", (headers) => resolve([headers[":status"], headers["set-cookie"]]));
      });
      stream.end("hello");
      const chunks: Uint8Array[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      assertEquals(await status, [200, ["a=b"]]);
      assertEquals(JSON.parse(Buffer.concat(chunks).toString()), {
        method: "POST",
        url: `${origin}/mcp?a=1`,
        names: ["host", "x-key"],
        text: "hello",
      });
    } finally {
      client.close();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test("hears over HTTP/2, too, that its client has left: before a reply, and in the middle of one", async () => {
    const left = { before: deferred<void>(), within: deferred<void>(), reading: deferred<void>() };
    const here = deferred<void>();
    const listener = toNodeHandler(({ url, signal }) => {
      const isLate = url.endsWith("within");
      signal.addEventListener("abort", () => (isLate ? left.within : left.before).resolve());
      here.resolve();
      const cancel = (): void => left.reading.resolve();
      const start = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1));
      return isLate ? new Response(new ReadableStream({ start, cancel })) : new Promise(() => {});
    });
    const server = createServer2((request, response) => void listener(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = connect2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const before = client.request({ ":path": "/before" });
      await here.promise;
      before.close(calledOff);
      await left.before.promise;
      const within = client.request({ ":path": "/within" });
      await new Promise((resolve) => within.once("data", resolve));
      within.close(calledOff);
      await Promise.all([left.within.promise, left.reading.promise]);
    } finally {
      client.close();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test("hears over HTTP/2, too, of one that has left before it was asked", async () => {
    const [came, done] = [deferred<void>(), deferred<void>()];
    const seen: unknown[] = [];
    const listener = toNodeHandler(({ signal }) => {
      seen.push(signal.aborted);
      return new Response(new ReadableStream({ cancel: () => void seen.push("let go") }));
    });
    const server = createServer2(async (request, response) => {
      const left = new Promise((resolve) => response.once("close", resolve));
      came.resolve();
      await left;
      await listener(request as never, response as never);
      done.resolve();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = connect2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const stream = client.request({ ":method": "POST" });
      stream.on("error", () => {}).write("hello");
      await came.promise;
      stream.close(calledOff);
      await done.promise;
      assertEquals(seen, [true, "let go"]);
    } finally {
      client.close();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  for (
    const [name, make] of Object.entries({
      "https": (listener: Listener) => createServerTls({ key, cert: certificate }, listener),
      "HTTP/2": (listener: Listener) => createSecureServer({ key, cert: certificate }, listener as never),
    })
  ) {
    test(`says https where its server is one: ${name}`, async () => {
      const heard = toNodeHandler(({ url }) => new Response(url));
      const server = make((request, response) => void heard(request, response));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
      const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
      const ask = name === "https" ? askTls : ask2;
      try {
        assertEquals(await ask(`${origin}/mcp?a=1`), `${origin}/mcp?a=1`);
      } finally {
        await new Promise((resolve) => server.close(resolve));
      }
    });
  }

  test("has to be a function", () => {
    assertThrows(() => toNodeHandler({} as never), TypeError, "expected a function from Request to Response");
  });
});
