import { describe, test } from "node:test";
import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import {
  AuthorizationRequiredError,
  connect,
  ConnectionClosedError,
  HttpStatusError,
  McpError,
  TimeoutError,
  UnauthorizedError,
  UnsupportedVersionError,
} from "../../../mod.ts";
import type { Authorizer } from "../../../mod.ts";
import type { FetchTarget } from "../../servers/memory_fetch.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { type JsonObject, objectAt } from "../../servers/core/wire.ts";
import { createLegacyServer, type LegacyOptions } from "../../servers/legacy.ts";
import { createModernServer } from "../../servers/modern.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import {
  errorReply,
  type Front,
  front,
  modernRevision,
  type Options,
  resultReply,
  type Seen,
  textOf,
  url,
  withLegacy,
  withModern,
} from "../support.ts";

const prefix = "io.modelcontextprotocol/";
const once: Options = { retry: { attempts: 1 } };

function reach(target: FetchTarget, options: Options = {}) {
  return connect(url, { fetch: memoryFetch(target), ...options });
}

/** A server whose answer to `server/discover` is chosen; the rest is a legacy server's, or what `target` says. */
function probed(
  answer: (seen: Seen, count: number) => Response | undefined,
  target: FetchTarget = createLegacyServer(),
): Front {
  return front(target, (seen, count) => seen.method === "server/discover" ? answer(seen, count) : undefined);
}

describe("finding out the era over HTTP", () => {
  test("a modern server is asked once, and says who it is (C-011 C-013 C-048 C-049 C-071 C-072 C-082 C-083)", () =>
    withModern((client, server) => {
      assertEquals([client.era, client.revision], ["modern", modernRevision]);
      assertEquals(client.info?.server, { name: "shop", version: "1.0.0" });
      assertEquals(client.info?.instructions, "Ask first");
      assertEquals(client.info?.supportedVersions, [modernRevision]);
      assert(client.info?.capabilities.tools);
      assertEquals(server.log.length, 1);
      const { headers, message = {} } = server.log[0] as Seen;
      assertEquals(headers["mcp-protocol-version"], modernRevision);
      assertEquals(headers["mcp-method"], "server/discover");
      assertEquals(headers["content-type"], "application/json");
      for (const type of ["application/json", "text/event-stream"]) assert(headers.accept?.includes(type));
      const meta = objectAt(objectAt(message, "params"), "_meta");
      assertEquals(meta[prefix + "protocolVersion"], modernRevision);
      assertEquals(meta[prefix + "clientCapabilities"], {});
      assertEquals(objectAt(meta, prefix + "clientInfo").name, "causeway");
      return Promise.resolve();
    }, { server: { name: "shop", instructions: "Ask first" } }));

  test("-32022 that names our revision: the same revision is tried again, once (C-012)", async () => {
    const supported = [modernRevision, "2025-11-25"];
    const server = probed(
      (seen, count) => count === 1 ? errorReply(seen, -32022, { status: 400, data: { supported } }) : undefined,
      createModernServer(),
    );
    await using client = await reach(server);
    assertEquals([client.era, client.revision], ["modern", modernRevision]);
    assertEquals(server.methods, ["server/discover", "server/discover"]);
    const [first, second] = server.seen.map(({ message }) => message?.id);
    assert(first !== second, "a retry has an id of its own");
  });

  for (const supported of [[modernRevision], [modernRevision, "2025-11-25"]]) {
    test(`-32022 that never ends, with ${supported}: refused, never initialized (C-017 C-027)`, async () => {
      const server = probed((seen) => errorReply(seen, -32022, { status: 400, data: { supported } }));
      const error = await assertRejects(() => reach(server), UnsupportedVersionError);
      assertEquals(error.supported, supported);
      assertEquals(server.methods.filter((method) => method !== "server/discover"), []);
    });
  }

  test("-32022 with handshake revisions only: initialize (C-027)", async () => {
    const data = { supported: ["2025-11-25", "2025-06-18"] };
    const server = probed((seen) => errorReply(seen, -32022, { status: 400, data }));
    await using client = await reach(server);
    assertEquals([client.era, client.revision], ["legacy", "2025-11-25"]);
  });

  for (const data of [undefined, {}, { supported: [7] }]) {
    test(`-32022 that names none (${JSON.stringify(data)}): initialize`, async () => {
      const server = probed((seen) => errorReply(seen, -32022, { status: 400, ...(data && { data }) }));
      await using client = await reach(server);
      assertEquals(client.era, "legacy");
    });
  }

  test("-32022 with nothing in common: an error that says what the server speaks", async () => {
    const data = { supported: ["2027-01-01"] };
    const server = probed((seen) => errorReply(seen, -32022, { status: 400, data }));
    const error = await assertRejects(() => reach(server), UnsupportedVersionError);
    assertEquals(error.supported, ["2027-01-01"]);
    assertEquals(server.methods, ["server/discover"]);
  });

  test("a DiscoverResult with handshake revisions only: initialize; with nothing in common: refused (C-014 C-027)", async () => {
    const discover = (supportedVersions: string[]) => (seen: Seen) =>
      resultReply(seen, { resultType: "complete", supportedVersions, capabilities: {}, ttlMs: 0 });
    await using client = await reach(probed(discover(["2025-06-18"])));
    assertEquals(client.era, "legacy");
    const foreign = probed(discover(["2027-01-01"]));
    const error = await assertRejects(() => reach(foreign), UnsupportedVersionError);
    assertEquals(error.supported, ["2027-01-01"]);
    assertEquals(foreign.methods, ["server/discover"]);
  });

  for (const code of [-32020, -32021]) {
    test(`400 with ${code} is a modern server's answer (C-020)`, async () => {
      const server = probed((seen) => errorReply(seen, code, { status: 400 }), createModernServer());
      await using client = await reach(server);
      assertEquals([client.era, client.revision], ["modern", modernRevision]);
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals(server.methods, ["server/discover", "tools/call"]);
    });
  }

  for (const status of [401, 403]) {
    test(`${status} to everything is no verdict: sign in first, then it is asked again (C-022)`, async () => {
      const headers = { "www-authenticate": 'Bearer scope="mcp"' };
      const server = front(
        createModernServer(),
        (seen) => seen.headers.authorization === "Bearer good" ? undefined : new Response("", { status, headers }),
      );
      const error = await assertRejects(() => reach(server), UnauthorizedError);
      assertEquals([error.status, error.challenge], [status, 'Bearer scope="mcp"']);
      assertEquals(server.methods, ["server/discover"]);
      await using client = await reach(server, { headers: { Authorization: "Bearer good" } });
      assertEquals(client.era, "modern");
    });
  }
});

describe("finding a handshake server over HTTP", () => {
  const answers: NonNullable<LegacyOptions["probe"]>[] = [
    "bad-request",
    "not-found",
    "method-not-allowed",
    "rpc-error",
    "html",
    "empty",
  ];
  for (const probe of answers) {
    test(`a server that answers the question with "${probe}" is initialized (C-020 C-021 C-032 C-034)`, () =>
      withLegacy(async (client, server) => {
        assertEquals([client.era, client.revision], ["legacy", "2025-11-25"]);
        assertEquals(client.info?.server, { name: "old", version: "1.0.0" });
        assertEquals(client.info?.instructions, "Be kind");
        const methods = server.log.map(({ message }) => message?.method);
        assertEquals(methods, ["server/discover", "initialize", "notifications/initialized"]);
        const params = objectAt(server.log[1]?.message ?? {}, "params");
        assertEquals([params.protocolVersion, params.capabilities], ["2025-11-25", {}]);
        assertEquals(objectAt(params, "clientInfo").name, "causeway");
        assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      }, { server: { probe, name: "old", instructions: "Be kind" } }));
  }

  for (const status of [400, 402, 404, 405, 406, 409, 410, 415, 422]) {
    test(`a bare ${status} says handshake`, async () => {
      const server = probed(() => new Response("what?", { status }));
      await using client = await reach(server);
      assertEquals(client.era, "legacy");
    });
  }

  test("404 with -32601 for server/discover itself says handshake (C-021)", async () => {
    await using client = await reach(probed((seen) => errorReply(seen, -32601, { status: 404 })));
    assertEquals(client.era, "legacy");
  });

  for (const code of [-32601, -32602, -32000, -32603, -32020, 7]) {
    test(`200 with the error ${code} says handshake (C-023)`, async () => {
      await using client = await reach(probed((seen) => errorReply(seen, code)));
      assertEquals(client.era, "legacy");
    });
  }

  for (const result of [{}, { ok: true }, { supportedVersions: "2026-07-28", capabilities: {} }]) {
    test(`a result that is no DiscoverResult says handshake: ${JSON.stringify(result)} (C-023)`, async () => {
      await using client = await reach(probed((seen) => resultReply(seen, result)));
      assertEquals(client.era, "legacy");
    });
  }

  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    test(`${revision} is agreed on and named on every later request (C-037 C-103)`, () =>
      withLegacy(async (client, server) => {
        assertEquals(client.revision as string, revision);
        await client.listTools();
        for (const { headers, message } of server.log.slice(2)) {
          assertEquals(headers["mcp-protocol-version"], revision, String(message?.method));
        }
      }, { server: { revision } }));
  }

  test("a revision that nobody knows is refused, and the server is told nothing more (C-033)", async () => {
    const server = createLegacyServer({ revision: "2023-01-01" });
    const error = await assertRejects(() => reach(server), UnsupportedVersionError, "2023-01-01");
    assertEquals(error.supported, ["2023-01-01"]);
    assertEquals(server.count("notifications/initialized"), 0);
  });

  const refusals: [revision: string, status: number, data: JsonObject][] = [
    ["2024-11-05", 200, { supported: ["2024-11-05"], requested: "2025-11-25" }],
    ["2025-03-26", 400, { supported: ["2024-11-05", "2025-03-26"] }],
    ["2025-06-18", 200, { supportedVersions: "2025-06-18" }],
  ];
  for (const [revision, status, data] of refusals) {
    test(`a server that refuses a newer revision than its own, and says ${JSON.stringify(data)}`, async () => {
      const legacy = createLegacyServer({ revision });
      const server = front(legacy, (seen) => {
        const { protocolVersion = revision } = objectAt(seen.message ?? {}, "params");
        if (seen.method !== "initialize" || protocolVersion === revision) return undefined;
        return errorReply(seen, -32602, { status, text: "Unsupported protocol version", data });
      });
      await using client = await reach(server);
      assertEquals([client.revision as string, textOf(await client.callTool("echo", { text: "hi" }))], [
        revision,
        "hi",
      ]);
      assertEquals([server.methods.filter((method) => method === "initialize").length, legacy.violations], [2, []]);
    });
  }

  for (const supported of [["2023-01-01"], [], "2025-11-25", null]) {
    test(`one that refuses, and names ${JSON.stringify(supported)}: told as it is, and not asked for ever`, async () => {
      const legacy = createLegacyServer();
      const server = front(
        legacy,
        (seen) =>
          seen.method === "initialize" ? errorReply(seen, -32602, { text: "go away", data: { supported } }) : undefined,
      );
      await assertRejects(() => reach(server, once), McpError, "go away");
      assertEquals(server.methods.filter((method) => method === "initialize").length, 1);
    });
  }

  test("a server that refuses the handshake: its own error reaches the caller (C-038)", async () => {
    const server = front(nobodyKnows, (seen) => errorReply(seen, -32602, { status: 400, text: "go away" }));
    await assertRejects(() => reach(server), McpError, "go away");
  });
});

const nobodyKnows: FetchTarget = { fetch: () => Promise.resolve(new Response("", { status: 400 })) };

/** What servers answer that do not know `server/discover` and do not say so, as was seen of some that people use. */
const inOtherWords: Readonly<Record<string, () => Response>> = {
  // Stateless servers of the Java SDK before 2.0.1, and so of Spring AI.
  "500 with an exception": () =>
    Response.json({ message: "Failed to handle request: Missing handler for request type" }, { status: 500 }),
  "500 with -32601": () => Response.json(noMethod, { status: 500 }),
  "501": () => new Response("", { status: 501 }),
  // Gateways that let known methods in alone, whatever the token.
  "401 around -32601": () =>
    Response.json({ error: { code: 401, data: noMethod } }, { status: 401, headers: { "www-authenticate": "Bearer" } }),
  "401": () => new Response("unknown method", { status: 401 }),
};
const noMethod = { jsonrpc: "2.0", id: null, error: { code: -32601, message: "Method not found" } };

describe("a handshake server that answers the question in words of its own", () => {
  for (const [what, answer] of Object.entries(inOtherWords)) {
    test(`${what}: a session that opens proves what it is`, async () => {
      const server = probed(answer);
      await using client = await reach(server, { headers: { authorization: "Bearer good" } });
      assertEquals([client.era, client.revision], ["legacy", "2025-11-25"]);
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      assertEquals(server.methods.slice(0, 2), ["server/discover", "initialize"]);
    });
  }

  test("a modern server that has broken: that is told, and not that it knows no handshake", async () => {
    const server = probed(() => new Response("oh", { status: 500 }), createModernServer());
    const error = await assertRejects(() => reach(server, once), HttpStatusError);
    assertEquals(error.status, 500);
    assertEquals(server.methods, ["server/discover", "initialize"]);
  });

  test("one that breaks at the question and wants a token for its session: that is told", async () => {
    const challenge = 'Bearer scope="mcp"';
    const refused = (): Response => new Response("", { status: 401, headers: { "www-authenticate": challenge } });
    const server = probed(() => new Response("oh", { status: 500 }), front(createLegacyServer(), refused));
    const error = await assertRejects(() => reach(server, once), UnauthorizedError);
    assertEquals(error.challenge, challenge);
  });

  test("one that breaks at the question, and whose session wants a person: the link is told", async () => {
    const server = probed(() => new Response("oh", { status: 500 }));
    const pending = { id: "1", server: url, issuer: "https://who.test", scopes: [], expiresAt: 0 };
    const authorizationUrl = "https://who.test/authorize?state=1";
    const auth: Authorizer = {
      wrap: (fetch) => (target, init) => {
        if (!String(init.body).includes('"initialize"')) return fetch(target, init);
        return Promise.reject(new AuthorizationRequiredError("Sign in", { authorizationUrl, pending }));
      },
      redact: (text) => text,
    };
    const error = await assertRejects(() => reach(server, { ...once, auth }), AuthorizationRequiredError);
    assertEquals(error.authorizationUrl, authorizationUrl);
  });
});

describe("what is no evidence of an era (C-022)", () => {
  for (const status of [408, 429, 500, 502, 503, 504]) {
    test(`${status} to everything fails and leaves no verdict; the next try finds the modern server`, async () => {
      let broken = true;
      const server = front(createModernServer(), () => broken ? new Response("oh", { status }) : undefined);
      const error = await assertRejects(() => reach(server, once), HttpStatusError);
      assertEquals(error.status, status);
      assertEquals(server.methods.includes("initialize"), status === 500);
      broken = false;
      await using client = await reach(server);
      assertEquals(client.era, "modern");
    });
  }

  test("a network that breaks", async () => {
    let tries = 0;
    const fetch = () => {
      tries++;
      return Promise.reject(new TypeError("network down"));
    };
    const error = await assertRejects(() => connect(url, { fetch, ...once }), ConnectionClosedError);
    assertEquals([tries, error.method, error.server], [1, "initialize", url]);
  });

  test("silence: the time-out is told, nothing is initialized", async () => {
    const clock = new VirtualClock();
    const server = front(createLegacyServer(), () => new Promise<undefined>(() => {}));
    const connecting = reach(server, { clock, ...once, timeouts: { start: 10_000 } });
    const error = await assertRejects(() => clock.until(connecting), TimeoutError);
    assert(clock.monotonic() >= 10_000 && clock.monotonic() <= 30_000, `${clock.monotonic()} ms, ${error.message}`);
    assertEquals(server.methods, ["server/discover"]);
  });

  test("an outage that passes is waited for: 503 twice, then the modern server", async () => {
    const clock = new VirtualClock();
    const server = probed(
      (_, count) => count < 3 ? new Response("", { status: 503 }) : undefined,
      createModernServer(),
    );
    const client = await clock.until(reach(server, { clock }));
    assertEquals([client.era, server.methods.length], ["modern", 3]);
    await client.close();
  });

  test("the caller may give up: the signal's own reason, and nothing is sent when it was aborted before", async () => {
    const server = front(createModernServer(), () => new Promise<undefined>(() => {}));
    const reason = new Error("changed my mind");
    const before = await assertRejects(() => reach(server, { signal: AbortSignal.abort(reason) }));
    assertEquals([before, server.seen.length], [reason, 0]);
    const controller = new AbortController();
    const connecting = reach(server, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 0);
    assertEquals(await assertRejects(() => connecting), reason);
    assertInstanceOf(reason, Error);
  });
});
