import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  ChannelTransport,
  connect,
  createLegacySseChannel,
  createMemoryPair,
  createWebSocketChannel,
  HttpTransport,
} from "../../mod.ts";
import { ConnectError, isSnapshot, McpError, UnauthorizedError } from "../../mod.ts";
import type { OpenWebSocket } from "../../mod.ts";
import { connect as connectSmall } from "../../src/client/mod.ts";
import type { Authorizer } from "../../src/ports.ts";
import { openWebSocketPlain } from "../../src/runtime/sockets/web_socket.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { type FetchTarget, memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { createSse2024Server } from "../servers/sse_2024.ts";
import { textOf, url } from "./support.ts";

const secret = "s3cret-token-of-the-test";
const operators = "operators-own-value";

/** An authorizer that shows what it was asked. */
function played(): Authorizer & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    wrap(fetch, server) {
      asked.push(`wrap ${server}`);
      return (target, init) => {
        const headers = new Headers(init.headers);
        headers.set("Authorization", `Bearer ${secret}`);
        return fetch(target, { ...init, headers });
      };
    },
    redact: (text) => text.replaceAll(secret, "[played]"),
    headers(server) {
      asked.push(`headers ${server}`);
      return Promise.resolve({ Authorization: `Bearer ${secret}` });
    },
  };
}

/** A server behind a door that lets in who has the token; it notes each request. */
function guarded(inner: FetchTarget): FetchTarget & { readonly seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    fetch(request) {
      const isKnown = request.headers.get("authorization") === `Bearer ${secret}`;
      seen.push(`${request.method} ${isKnown}`);
      return isKnown ? inner.fetch(request) : Promise.resolve(new Response("who?", { status: 401 }));
    },
  };
}

/** A server that lets nobody in, and says again what it was sent. */
const echoing: FetchTarget = {
  fetch: ({ headers }) => {
    const words = `${headers.get("authorization")} and ${headers.get("x-key")}`;
    return Promise.resolve(new Response(words, { status: 401, headers: { "WWW-Authenticate": words } }));
  },
};

describe("the option auth of connect", () => {
  for (const [name, create] of Object.entries({ modern: createModernServer, legacy: createLegacyServer })) {
    test(`HTTP, ${name}: every request carries the credentials, for the address that was given`, async () => {
      for (const open of [connect, connectSmall]) {
        const server = guarded(create());
        const auth = played();
        await using client = await open(`${url}?tenant=a#part`, { auth, fetch: memoryFetch(server) });
        assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
        await client.close();
        assertEquals(auth.asked, [`wrap ${url}?tenant=a`]);
        assert(server.seen.length >= 2 && server.seen.every((line) => line.endsWith("true")), server.seen.join());
      }
    });
  }

  test("HTTP+SSE: found by its answer, or known from before", async () => {
    const known = { era: "legacy", binding: "http+sse" } as const;
    for (const verdict of [undefined, known]) {
      const server = guarded(createSse2024Server());
      await using client = await connect(url, { auth: played(), fetch: memoryFetch(server), verdict });
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assert(
        server.seen.includes("GET true") && server.seen.every((line) => line.endsWith("true")),
        server.seen.join(),
      );
    }
  });

  test("a snapshot has no credentials; whoever goes on with it brings their own", async () => {
    const server = guarded(createLegacyServer());
    const options = { auth: played(), fetch: memoryFetch(server) };
    const first = await connect(url, options);
    const text = JSON.stringify(first.snapshot());
    assert(!text.includes(secret), text);
    const snapshot: unknown = JSON.parse(text);
    assert(isSnapshot(snapshot));
    await using second = await connect(snapshot, options);
    assertEquals(textOf(await second.callTool("echo", { text: "on" })), "on");
    await using third = await connect(snapshot, { fetch: memoryFetch(server) });
    await assertRejects(() => third.callTool("echo", { text: "on" }), UnauthorizedError);
  });

  test("errors hold neither its secrets nor the operator's own headers, over HTTP and HTTP+SSE", async () => {
    const redact = (text: string) => text.replace("and", "&");
    for (const verdict of [undefined, { era: "legacy", binding: "http+sse" } as const]) {
      for (const [more, expected] of [[{}, "Bearer [played] and [redacted]"], [{ redact }, ""]] as const) {
        const headers = { "X-Key": operators };
        const options = { auth: played(), fetch: memoryFetch(echoing), headers, verdict, ...more };
        const error = await assertRejects(() => connect(url, options), UnauthorizedError);
        if (expected) assertEquals(error.challenge, expected);
        const shown = `${error.stack} ${JSON.stringify(error)}`;
        assert(!shown.includes(secret) && !(expected && shown.includes(operators)), shown);
      }
    }
  });

  test("WebSocket: the handshake carries the operator's headers and the credentials, each time", async () => {
    const opened: (Record<string, string> | undefined)[] = [];
    const openWebSocket: OpenWebSocket = (_url, { headers }) => {
      opened.push(headers);
      return Promise.reject(new ConnectError("no", { retryable: true }));
    };
    const auth = played();
    const options = { auth, openWebSocket, headers: { "X-Key": operators }, retry: { attempts: 1 } };
    await assertRejects(() => connect("wss://fake.test/mcp", options), ConnectError);
    assertEquals(opened, [{ "X-Key": operators, "Authorization": `Bearer ${secret}` }]);
    assertEquals(auth.asked, ["headers wss://fake.test/mcp"]);
  });

  test("WebSocket: what cannot be sent is said, not left out", async () => {
    const attempt = () => connect("wss://fake.test/mcp", { auth: played(), openWebSocket: openWebSocketPlain });
    const error = await assertRejects(attempt, McpError, 'Cannot send "headers"');
    assertEquals([error.delivery, error.retryable], ["not-sent", false]);
    const { headers: _, ...mute } = played();
    const options = { auth: mute, openWebSocket: openWebSocketPlain };
    assertThrows(() => createWebSocketChannel("wss://fake.test/mcp", options), TypeError, '"auth"');
    await assertRejects(() => connect("wss://fake.test/mcp", options), TypeError, '"auth"');
  });

  test("where there is no URL it is refused", async () => {
    const auth = played();
    const transport = new ChannelTransport(() => createMemoryPair()[0]);
    await assertRejects(() => connect(transport, { auth }), TypeError, 'Cannot use "auth" without a URL');
    await assertRejects(() => connectSmall(transport, { auth }), TypeError, 'Cannot use "auth" without a URL');
    const fetch = memoryFetch(createModernServer());
    await assertRejects(() => connect(new HttpTransport(url, { fetch }), { auth }), TypeError, "without a URL");
    const spawn = () => Promise.reject(new Error("not called"));
    const stdio = () => transport;
    await assertRejects(
      () => connect({ command: "no-such-program" }, { auth, spawn, bindings: { stdio } }),
      TypeError,
      "without a URL",
    );
    assertEquals(auth.asked, []);
  });
});

describe("transports with auth", () => {
  test("an HttpTransport and an HTTP+SSE channel take it too", () => {
    const auth = played();
    new HttpTransport(url, { auth });
    createLegacySseChannel(url, { auth });
    assertEquals(auth.asked, [`wrap ${url}`, `wrap ${url}`]);
  });
});
