import { connect } from "node:net";
import type { Socket } from "node:net";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { listenForCallback } from "../../../src/entry/sign_in/callback.ts";
import type { CallbackOptions, CallbackServer } from "../../../src/entry/sign_in/callback.ts";
import { createFinisher } from "../../../src/cli/auth/finish.ts";
import type { OAuth, SignInStatus } from "../../../src/cli/auth/oauth.ts";
import { McpError } from "../../../src/protocol/errors.ts";
import { freePort } from "../../support/free_port.ts";

/** A server that writes down what arrived. */
async function serve(options?: CallbackOptions): Promise<{ server: CallbackServer; port: number; seen: string[] }> {
  const seen: string[] = [];
  const server = await listenForCallback((url) => seen.push(url), options);
  return { server, port: Number(new URL(server.redirectUri).port), seen };
}

/** Sends these bytes, and gives all that comes back until the connection ends. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let got = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setEncoding("utf8").on("data", (part: string) => got += part).on("error", () => {});
    socket.on("close", () => resolve(got));
  });
}

const get = (port: number, target: string, host = `127.0.0.1:${port}`): Promise<string> =>
  exchange(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
const statusOf = (reply: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? 0);
/** The reply without its date. */
const timeless = (reply: string): string => reply.replace(/^date:.*\r\n/im, "");

/** Connections that say a little and then nothing. */
async function silent(
  port: number,
  count: number,
): Promise<{ sockets: Socket[]; closed: () => number; ended: Promise<unknown> }> {
  let closed = 0;
  const ends: Promise<void>[] = [];
  const sockets = await Promise.all(Array.from({ length: count }, () =>
    new Promise<Socket>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write("GET /callback?state=s HTTP/1.1\r\nHo");
        resolve(socket);
      });
      ends.push(
        new Promise((ended) => {
          socket.on("error", () => {}).on("close", () => {
            closed++;
            ended();
          });
        }),
      );
      socket.resume();
    })));
  return { sockets, closed: () => closed, ended: Promise.all(ends) };
}

/** 200 texts that a page must not contain as they are. */
const hostile: readonly string[] = [
  ...["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'-alert(1)-'", "</title><svg/onload=alert(1)>"],
  ...["javascript:alert(1)", "{{7*7}}", "${7*7}", "<!--", "]]>", "\u0000<b>", "\r\nSet-Cookie: a=b", "\u2028alert(1)"],
  ...[
    "<iframe srcdoc=x>",
    "<meta http-equiv=refresh content=0>",
    "<base href=//evil>",
    "&lt;script&gt;",
    "%3Cscript%3E",
  ],
  ...["\ufeff<script>", "<ſcript>", "＜script＞"],
].flatMap((text) => Array.from({ length: 10 }, (_, index) => text.repeat(1 + index % 5) + "<" + index));

describe("the callback server", () => {
  test("its page has a language, a title, a main part and a heading, follows the theme, and is no wider than its screen", async () => {
    const { server, port } = await serve();
    const page = await get(port, "/callback?code=1");
    for (
      const part of [
        ...['<html lang="en">', "<title>Signing in</title>", "<main>\n<h1>The answer has arrived</h1>"],
        ...['name="color-scheme" content="light dark"', 'name="viewport" content="width=device-width'],
      ]
    ) assert(page.includes(part), part);
    await server.close();
  });

  test("shows one page to whoever comes back, with headers that allow nothing", async () => {
    const { server, port, seen } = await serve();
    const reply = await get(port, "/callback?code=c&state=s");
    assertEquals(statusOf(reply), 200);
    const headers = Object.fromEntries(
      reply.split("\r\n\r\n")[0]?.split("\r\n").slice(1).map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }) ?? [],
    );
    const { date: _, "content-length": length, ...rest } = headers;
    assertEquals(rest, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "connection": "close",
    });
    assert(Number(length) > 100);
    assertEquals(seen, [`http://127.0.0.1:${port}/callback?code=c&state=s`]);
    assertEquals(statusOf(await get(port, "/callback?x=1", `LOCALHOST:${port}`)), 200);
    await server.close();
  });

  test("is the same to the byte for 200 hostile texts in every parameter", async () => {
    const { server, port, seen } = await serve();
    const usual = timeless(await get(port, "/callback?code=c&state=s"));
    assertEquals(hostile.length, 200);
    for (const text of hostile) {
      const query = ["code", "state", "error", "error_description", "error_uri", "iss", "scope"]
        .map((name) => `${name}=${encodeURIComponent(text)}`).join("&");
      assertEquals(timeless(await get(port, `/callback?${query}`)), usual, text);
      const raw = text.replace(/[\0\r\n\s]/g, "").replace(/[^\x21-\x7e]/g, "");
      assertEquals(timeless(await get(port, `/callback?error=${raw}&${raw}=1`)), usual, raw);
    }
    assertEquals(seen.length, 401);
    await server.close();
  });

  test("answers nothing else: other hosts, paths and methods, and what is no HTTP", async () => {
    const { server, port, seen } = await serve();
    const hosts = [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1",
      "127.0.0.1:1",
      `127.0.0.1:${port}.evil.example`,
    ];
    for (const host of [...hosts, `[::1]:${port}`, `127.0.0.1:${port}@evil`, ""]) {
      assertEquals([host, statusOf(await get(port, "/callback?state=s", host))], [host, 421]);
    }
    const paths = [
      "/",
      "/callback/",
      "/callback/..",
      "//callback?a=1",
      "/CALLBACK?a=1",
      "/favicon.ico",
      "/callbackx?a=1",
    ];
    const foreign = [
      "//evil.example/callback?a=1",
      "http://evil.example/callback?a=1",
      "/%63allback?a=1",
      "/../callback?a",
    ];
    for (const path of [...paths, ...foreign, `http://127.0.0.1:${port}/callback?a=1`]) {
      assertEquals([path, statusOf(await get(port, path))], [path, 404]);
    }
    for (const method of ["POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
      const head = `${method} /callback?state=s HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
      assertEquals([method, statusOf(await exchange(port, `${head}Content-Length: 0\r\n\r\n`))], [method, 405]);
    }
    const large = `POST /callback HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 100000000\r\n\r\nabc`;
    assertEquals(statusOf(await exchange(port, large)), 405);
    for (
      const bytes of [
        "nonsense\r\n\r\n",
        "\u0016\u0003\u0001\u0002\u0000\r\n\r\n",
        `GET /${"a".repeat(40_000)} HTTP/1.1\r\n\r\n`,
      ]
    ) {
      assert(statusOf(await exchange(port, bytes)) !== 200);
    }
    assertEquals(seen, []);
    await server.close();
  });

  test("50 requests at once are all answered", async () => {
    const { server, port, seen } = await serve();
    const replies = await Promise.all(Array.from({ length: 50 }, (_, index) => get(port, `/callback?n=${index}`)));
    assertEquals(new Set(replies.map(timeless)).size, 1);
    assertEquals([statusOf(replies[0] ?? ""), seen.length, new Set(seen).size], [200, 50, 50]);
    await server.close();
  });

  test("silent connections keep nobody out: with more than 64 the oldest are ended", async () => {
    const { server, port, seen } = await serve({ connectionTime: 600_000 });
    const many = await silent(port, 200);
    assertEquals(statusOf(await get(port, "/callback?a=1")), 200);
    const end = performance.now() + 20_000;
    while (many.closed() < 137 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    assertEquals([many.closed(), seen.length], [137, 1]);
    await server.close();
    await many.ended;
    await assertRejects(() => fetch(`${server.redirectUri}?a=1`));
  });

  test("a connection that says little is ended in time", async () => {
    const { server, port, seen } = await serve({ connectionTime: 200 });
    const slow = await silent(port, 3);
    const drip = setInterval(() => slow.sockets.forEach((socket) => socket.writable && socket.write("s")), 20);
    await slow.ended;
    clearInterval(drip);
    assertEquals(seen, []);
    await server.close();
  });

  test("listens on this machine alone, and says when a port is taken", async () => {
    const { server, port } = await serve({ port: await freePort() });
    await assertRejects(() => serve({ port }), McpError, `Cannot listen on port ${port} of 127.0.0.1: it is taken`);
    await server.close();
    const again = await serve({ port });
    assertEquals(again.port, port);
    await again.server.close();
    await again.server.close();
  });
});

test("a page that is loaded anew while its answer is looked at does not undo the sign-in", async () => {
  const given: string[] = [];
  let settle = (_: SignInStatus): void => {};
  const finishAuth = (url: string): Promise<SignInStatus> => {
    given.push(url);
    // The code is good once.
    return given.length > 1 ? Promise.reject(new Error("used")) : new Promise((resolve) => settle = resolve);
  };
  const oauth = { finishAuth } as Partial<OAuth> as OAuth;
  const finisher = createFinisher(oauth, "https://as.test/authorize?state=s1", new AbortController().signal);
  const url = "http://127.0.0.1:1/callback?state=s1&code=c";
  assertEquals([finisher.take(url.replace("s1", "s2")), finisher.take(url), finisher.take(url)], [false, true, true]);
  const status = { server: "https://mcp.test/" } as SignInStatus;
  settle(status);
  assertEquals([await finisher.done, given], [status, [url]]);
});
