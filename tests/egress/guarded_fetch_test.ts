import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  ConnectError,
  EgressDeniedError,
  LimitExceededError,
  RedirectRefusedError,
} from "../../src/protocol/errors.ts";
import { cut, redirect, reply, start, stub, World } from "./world.ts";

const credentials = {
  authorization: "Bearer canary-authorization",
  cookie: "sid=canary-cookie",
  "x-api-key": "canary-key",
  "x-made-up-by-the-operator": "canary-own",
  "mcp-session-id": "canary-session",
  dpop: "canary-dpop",
};
const harmless = {
  accept: "application/json",
  "accept-language": "en",
  "mcp-protocol-version": "2026-07-28",
  "user-agent": "test",
};

describe("redirects", () => {
  const targets = {
    "the same origin": "/next?x=1",
    "another port": "https://as.example:8443/next",
    "plain http": "http://as.example/next",
    "a sub-domain": "https://sub.as.example/next",
    "another host": "https://other.example/next",
    "itself, for ever": start,
  };
  for (const status of [301, 302, 303, 307, 308]) {
    for (const [name, location] of Object.entries(targets)) {
      test(`GET, ${status} to ${name}`, async () => {
        const world = new World((url) => url === start ? redirect(status, location) : reply("arrived"));
        const pending = world.guarded()(start, { headers: { ...credentials, ...harmless } });
        if (name === "plain http" || name === "itself, for ever") {
          await assertRejects(() => pending, RedirectRefusedError, `Cannot follow the redirect (${status})`);
          assertEquals(world.requests.length, name === "plain http" ? 1 : 4);
          assert(world.requests.every((request) => request.url === start), "the canary was asked");
        } else {
          const document = await pending;
          assertEquals([document.status, document.text, document.url], [200, "arrived", new URL(location, start).href]);
          const [, second] = world.requests;
          const kept = name === "the same origin" ? { ...credentials, ...harmless } : harmless;
          assertEquals(second?.headers, Object.fromEntries(Object.entries(kept).sort()));
          assertEquals(world.requests.length, 2);
        }
        assertEquals(await world.open(), 0);
      });

      test(`POST, ${status} to ${name}`, async () => {
        const world = new World((url) => url === start ? redirect(status, location) : reply("arrived"));
        const pending = world.guarded()(start, { method: "POST", body: "code=canary-body", headers: credentials });
        const kept = status >= 307;
        if (kept && name === "the same origin") {
          assertEquals((await pending).text, "arrived");
          assertEquals(world.requests.map(({ method, body }) => [method, body]), [
            ["POST", "code=canary-body"],
            ["POST", "code=canary-body"],
          ]);
          assertEquals(world.requests[1]?.headers["authorization"], credentials.authorization);
        } else {
          const error = await assertRejects(() => pending, RedirectRefusedError);
          assertEquals(error.delivery, "answered");
          assertEquals(world.requests.length, kept && name === "itself, for ever" ? 4 : 1);
          assert(world.requests.every((request) => request.url === start), "the canary was asked");
        }
        assertEquals(await world.open(), 0);
      });
    }
  }

  test("credentials that were dropped stay dropped on the way back, and three hops are the most", async () => {
    const path = ["https://b.example/1", "https://as.example/2", "https://as.example/3"];
    const world = new World((_, index) => index < 3 ? redirect(302, path[index] ?? "") : reply("end"));
    assertEquals((await world.guarded()(start, { headers: credentials })).text, "end");
    // In workerd the runtime's name is beside them.
    const kept = world.requests.map(({ headers: { "user-agent": _, ...others } }) => Object.keys(others).length);
    assertEquals(kept, [6, 0, 0, 0]);

    const longer = new World((_, index) => redirect(302, `/${index}`));
    await assertRejects(() => longer.guarded()(start), RedirectRefusedError, "more than 3 redirects");
    assertEquals(longer.requests.length, 4);
  });

  test("to forbidden places are denied before anything is sent there", async () => {
    const places = [
      "https://127.0.0.1/",
      "https://2130706433/",
      "https://[::1]/",
      "https://localhost/",
      "https://10.0.0.1/",
    ];
    places.push("https://169.254.169.254/latest", "https://metadata.google.internal/", "https://[::ffff:10.0.0.1]/");
    places.push(
      "https://u:p@other.example/",
      "ftp://other.example/",
      "file:///etc/passwd",
      "data:text/plain,x",
      "//intranet/",
    );
    for (const location of places) {
      for (const hops of [1, 2, 3]) {
        const world = new World((_, index) =>
          redirect(302, index === hops - 1 ? location : `https://hop${index}.example/`)
        );
        await assertRejects(() => world.guarded()(start), EgressDeniedError, "Cannot fetch");
        assertEquals(world.requests.length, hops, location);
        assertEquals(await world.open(), 0);
      }
    }
  });

  test("without a usable place are refused", async () => {
    for (const location of [undefined, "https://[", "http://"]) {
      const world = new World(() => redirect(302, location));
      await assertRejects(() => world.guarded()(start), RedirectRefusedError);
    }
    const opaque = new World(() => Object.defineProperty(reply(""), "type", { value: "opaqueredirect" }));
    await assertRejects(() => opaque.guarded()(start), RedirectRefusedError);
  });

  test("method names in small letters are the same methods", async () => {
    const world = new World((url) => url === start ? redirect(302, "https://other.example/") : reply("arrived"));
    for (const method of ["get", "head"]) assertEquals((await world.guarded()(start, { method })).text, "arrived");
    await assertRejects(() => world.guarded()(start, { method: "post" }), RedirectRefusedError);
  });

  test("a streamed body is not sent twice", async () => {
    const world = new World(() => redirect(307, "/next"));
    const body = new Blob(["x"]).stream();
    await assertRejects(() => world.guarded()(start, { method: "POST", body }), RedirectRefusedError, "sent again");
    assertEquals(world.requests.length, 1);
  });

  test("other statuses are documents, 304 and 300 too", async () => {
    for (const status of [200, 300, 304, 400, 401, 404, 500]) {
      const world = new World(() =>
        new Response(status === 304 ? null : "text", { status, headers: { location: "/x" } })
      );
      const document = await world.guarded()(start);
      assertEquals([document.status, document.text, world.requests.length], [status, status === 304 ? "" : "text", 1]);
    }
  });
});

describe("the egress policy", () => {
  test("the first address is judged too, and what is fetched is what was judged", async () => {
    const world = new World(() => reply("never"));
    for (
      const url of [
        "https://0x7f.1/",
        "http://as.example/",
        "https://localhost",
        "",
        "https://10.0.0.1:1/?token=canary",
      ]
    ) {
      const error = await assertRejects(() => world.guarded()(url), EgressDeniedError);
      assertEquals(error.delivery, "not-sent");
      assert(!error.message.includes("canary"), error.message);
    }
    assertEquals(world.requests, []);
    await world.guarded()("HTTPS://AS.example:443/%7e/../a");
    assertEquals(world.requests[0]?.url, "https://as.example/a");
  });

  test("an upper-case scheme does not hide a step down to http", async () => {
    const world = new World(() => redirect(302, "http://127.0.0.1:9/"));
    const guarded = world.guarded({ operator: "http://127.0.0.1:9/mcp" });
    await assertRejects(() => guarded("HTTPS://as.example/"), RedirectRefusedError, "https to http");
    assertEquals(world.requests.length, 1);
  });

  test("loopback is allowed only to an operator on loopback", async () => {
    for (const given of ["http://localhost:3000/mcp", "http://127.0.0.1/", "http://[::1]:1/", "ws://localhost/"]) {
      const world = new World(() => reply("ok"));
      for (const url of ["http://localhost:9/", "http://127.0.0.1:8/", "http://[::1]:7/"]) {
        assertEquals((await world.guarded({ operator: given })(url)).text, "ok");
      }
      await assertRejects(() => world.guarded({ operator: given })("http://10.0.0.1/"), EgressDeniedError);
    }
    for (const given of ["https://mcp.example", "http://10.0.0.1/", "https://localhost.example/", "nonsense"]) {
      const world = new World(() => reply("never"));
      await assertRejects(() => world.guarded({ operator: given })("http://localhost:9/"), EgressDeniedError);
      await assertRejects(() => world.guarded({ operator: given })("https://127.0.0.1/"), EgressDeniedError);
      assertEquals(world.requests, []);
    }
  });

  test("the operator's own origin and the allowed ones pass as given, without a resolver's word", async () => {
    const world = new World(() => reply("ok"));
    const options = {
      operator: "http://mcp.internal:8080/x",
      allow: ["https://login.internal"],
      resolve: stub("10.0.0.1"),
    };
    assertEquals((await world.guarded(options)("http://mcp.internal:8080/.well-known/x")).text, "ok");
    assertEquals((await world.guarded(options)("https://login.internal/token", { method: "POST" })).text, "ok");
    await assertRejects(() => world.guarded(options)("https://other.example/"), EgressDeniedError);
    assertEquals(world.requests.length, 2);
  });
});

describe("resolved addresses", () => {
  test("all must be public", async () => {
    for (
      const bad of ["10.0.0.1", "127.0.0.1", "::1", "fe80::1%eth0", "::ffff:192.168.0.1", "64:ff9b::7f00:1", "garbage"]
    ) {
      for (const answer of [[bad], ["93.184.215.14", bad], [bad, "93.184.215.14"]]) {
        const world = new World(() => reply("never"));
        const error = await assertRejects(() => world.guarded({ resolve: stub(...answer) })(start), EgressDeniedError);
        assert(error.message.includes(bad), error.message);
        assertEquals(world.requests, []);
      }
    }
    const world = new World(() => reply("ok"));
    assertEquals((await world.guarded({ resolve: stub("93.184.215.14", "2606:4700::1111") })(start)).text, "ok");
  });

  test("a name that is public first and private then is denied on the next hop", async () => {
    const asked: string[] = [];
    const resolve = (hostname: string) => {
      asked.push(hostname);
      return Promise.resolve([asked.length === 1 ? "93.184.215.14" : "169.254.169.254"]);
    };
    const world = new World(() => redirect(307, "/again"));
    await assertRejects(() => world.guarded({ resolve })(start), EgressDeniedError, "169.254.169.254");
    assertEquals([world.requests.length, asked.length], [1, 2]);
    assertEquals(await world.open(), 0);
  });

  test("a public name may not lead to loopback even when the operator is there, but localhost may", async () => {
    const world = new World(() => reply("ok"));
    const options = { operator: "http://localhost:1/", resolve: stub("127.0.0.1", "::1") };
    await assertRejects(() => world.guarded(options)("https://rebind.example/"), EgressDeniedError);
    assertEquals((await world.guarded(options)("http://localhost:2/")).text, "ok");
    const wrong = { operator: "http://localhost:1/", resolve: stub("10.0.0.1") };
    await assertRejects(() => world.guarded(wrong)("http://localhost:2/"), EgressDeniedError);
  });

  test("literal addresses are not resolved; a name that does not resolve is a ConnectError", async () => {
    const world = new World(() => reply("ok"));
    const resolve = () => Promise.reject(new Error("ENOTFOUND"));
    assertEquals((await world.guarded({ resolve })("https://8.8.8.8/")).text, "ok");
    assertEquals((await world.guarded({ resolve })("https://[2606:4700::1111]/")).text, "ok");
    const error = await assertRejects(() => world.guarded({ resolve })(start), ConnectError, "does not resolve");
    assertEquals([error.delivery, error.retryable, error.cause instanceof Error], ["not-sent", true, true]);
    await assertRejects(() => world.guarded({ resolve: stub() })(start), ConnectError, "does not resolve");
    assertEquals(world.requests.length, 2);
  });
});

describe("limits", () => {
  test("a document may have exactly as many bytes as allowed, however it is cut into chunks", async () => {
    for (const pieces of [1, 3, 100]) {
      for (const [size, passes] of [[99, true], [100, true], [101, false]] as const) {
        const world = new World(() => reply(...cut("é".repeat(40) + "x".repeat(size - 80), pieces)));
        const pending = world.guarded({ limits: { documentBytes: 100 } })(start);
        if (passes) {
          const { text, body } = await pending;
          assertEquals([text, body.byteLength], ["é".repeat(40) + "x".repeat(size - 80), size]);
        } else {
          const error = await assertRejects(() => pending, LimitExceededError);
          assertEquals([error.limit, error.value, error.seen], ["limits.documentBytes", 100, 101]);
        }
        assertEquals(await world.open(), 0);
      }
    }
  });

  test("an endless document is cut off soon after the limit, by default at 256 KiB", async () => {
    const chunk = new Uint8Array(10_000);
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++;
        controller.enqueue(chunk);
      },
      cancel: () => {
        cancelled = true;
      },
    });
    const world = new World(() => new Response(endless));
    const error = await assertRejects(() => world.guarded()(start), LimitExceededError);
    assertEquals([error.value, error.seen], [262_144, 270_000]);
    assert(cancelled && pulled < 30, `cancelled: ${cancelled}, pulled: ${pulled}`);
  });

  test("a declared length over the limit is refused unread; a declared length under it is not believed", async () => {
    const world = new World(() => reply("x".repeat(50)), { "content-length": "5000" });
    const error = await assertRejects(() => world.guarded()(start, { bytes: 4_999 }), LimitExceededError);
    assertEquals([error.value, error.seen], [4_999, 5_000]);
    assertEquals(await world.open(), 0);
    const exact = new World(() => reply("x".repeat(50)), { "content-length": "50" });
    assertEquals((await exact.guarded()(start, { bytes: 50 })).body.byteLength, 50);
    const liar = new World(() => reply("x".repeat(50)), { "content-length": "5" });
    await assertRejects(() => liar.guarded()(start, { bytes: 49 }), LimitExceededError);
  });
});
