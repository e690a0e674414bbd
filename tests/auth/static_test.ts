import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { AuthorizationError, connect, ConnectError, McpError, UnauthorizedError } from "../../mod.ts";
import type { Fetch, OpenWebSocket } from "../../mod.ts";
import { bearerAuth, headerAuth } from "../../src/auth/mod.ts";
import type { Credential } from "../../src/auth/mod.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { textOf, turns, url } from "../support/clients.ts";

const token = "tok.en-of/the+test~1==";

/** What was sent where, with which value of a header. */
function noting(name: string): { fetch: Fetch; readonly seen: string[] } {
  const seen: string[] = [];
  const fetch: Fetch = (target, init) => {
    seen.push(`${new URL(target).origin} ${new Headers(init.headers).get(name)}`);
    return Promise.resolve(new Response());
  };
  return { fetch, seen };
}

describe("bearerAuth", () => {
  test("each request carries the token", async () => {
    const server = createModernServer({ token });
    await using client = await connect(url, { auth: bearerAuth(token), fetch: memoryFetch(server) });
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    assertEquals(server.violations, []);
  });

  test("a function is asked for each request, and told when nobody waits any more", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    let count = 0;
    const auth = bearerAuth((signal) => {
      signals.push(signal);
      return `token-${++count}`;
    });
    const { fetch, seen } = noting("authorization");
    const send = auth.wrap(fetch, url);
    const controller = new AbortController();
    await send(url, { method: "POST", signal: controller.signal });
    await send(url, { method: "POST" });
    assertEquals(seen, ["http://fake.test Bearer token-1", "http://fake.test Bearer token-2"]);
    assertEquals(signals, [controller.signal, undefined]);
    assertEquals(auth.redact("token-1, token-2, token-3"), "[redacted], [redacted], token-3");
  });

  test("a call that is given up while the token is fetched ends with its own reason", async () => {
    const waiting: AbortSignal[] = [];
    let isSlow = false;
    const auth = bearerAuth((signal) =>
      !isSlow || !signal ? token : new Promise((_, reject) => {
        waiting.push(signal);
        signal.addEventListener("abort", () => reject(new Error("the fetching was ended")));
      })
    );
    await using client = await connect(url, { auth, fetch: memoryFetch(createModernServer({ token })) });
    isSlow = true;
    const controller = new AbortController();
    const call = client.callTool("echo", { text: "hi" }, { signal: controller.signal });
    const outcome = assertRejects(() => call, Error, "enough");
    await turns();
    controller.abort(new Error("enough"));
    await outcome;
    assert(waiting[0]?.aborted);
  });

  test("what the function throws, and what it gives that is no token, is an error of the sign-in: nothing was sent", async () => {
    const gives: [string, () => unknown, string][] = [
      ["throws", () => Promise.reject(new Error("the vault is shut")), "Cannot get the credentials"],
      ["empty", () => "", "found an empty text"],
      ["two lines", () => "hunter2-first\r\nX-Other: second", "found another text"],
      ["no text", () => 7, "found a value of type number"],
      ["a variable that is not set", () => undefined, "found undefined"],
    ];
    for (const [name, give, says] of gives) {
      const { fetch, seen } = noting("authorization");
      const auth = bearerAuth(give as Credential);
      const error = await assertRejects(() => connect(url, { auth, fetch }), AuthorizationError, says);
      assertEquals([error.delivery, error.retryable, error.server, seen.length], ["not-sent", false, url, 0], name);
      assert(!`${error.stack} ${error.cause}`.includes("hunter2"), name);
    }
  });

  test("an McpError of the function stays what it is", async () => {
    const { fetch } = noting("authorization");
    const auth = bearerAuth(() => Promise.reject(new ConnectError("Cannot reach the vault")));
    await assertRejects(() => connect(url, { auth, fetch }), ConnectError, "Cannot reach the vault");
  });

  test("no other origin gets it, and what was asked for is left as it is", async () => {
    const { fetch, seen } = noting("authorization");
    const send = bearerAuth(token).wrap(fetch, "https://a.test/mcp?x=1");
    const init = { method: "POST", headers: { "X-Own": "1" } };
    for (const target of ["https://a.test/other", "https://b.test/mcp", "http://a.test/mcp", "https://a.test:8443/"]) {
      await send(target, init);
    }
    assertEquals(seen.map((line) => line.endsWith(token)), [true, false, false, false]);
    assertEquals(init, { method: "POST", headers: { "X-Own": "1" } });
  });

  test("a WebSocket carries it in the handshake", async () => {
    const asked: unknown[] = [];
    const openWebSocket: OpenWebSocket = (_url, { headers }) => {
      asked.push(headers);
      return Promise.reject(new ConnectError("no"));
    };
    await assertRejects(
      () => connect("wss://fake.test/mcp", { auth: bearerAuth(() => token), openWebSocket }),
      McpError,
    );
    assertEquals(asked, [{ Authorization: `Bearer ${token}` }]);
  });

  test("401 and 403 stay what they are", async () => {
    for (const status of [401, 403]) {
      const fetch: Fetch = () => Promise.resolve(new Response("no", { status }));
      const error = await assertRejects(() => connect(url, { auth: bearerAuth(token), fetch }), UnauthorizedError);
      assertEquals(error.status, status);
    }
  });

  test("what cannot be a token is refused at once, without being said", () => {
    for (
      const wrong of ["", "hunter2 hunter2", "hunter2\n", "Bearer hunter2", "hünter2", "hunter2\u0000", 7, undefined]
    ) {
      const error = assertThrows(() => bearerAuth(wrong as string), TypeError, "Cannot use these credentials");
      assert(!/h.nter2/.test(`${error.message} ${error.stack?.split("\n")[0]}`), error.message);
    }
    // Where a variable is not set, above all.
    const found = [undefined, null, "", 7, "h\u00fcnter2"].map((wrong) => {
      return assertThrows(() => bearerAuth(wrong as string), TypeError).message.split(", found ")[1];
    });
    assertEquals(found, ["undefined", "null", "an empty text", "a value of type number", "another text"]);
  });
});

describe("headerAuth", () => {
  test("each request carries the header, in the place of one of that name", async () => {
    const { fetch, seen } = noting("x-api-key");
    const send = headerAuth("X-API-Key", "Key one two").wrap(fetch, url);
    await send(url, { headers: { "x-api-key": "the operator's" } });
    await send("http://other.test/", {});
    assertEquals(seen, ["http://fake.test Key one two", "http://other.test null"]);
  });

  test("the value and its words are taken out of texts, in all forms", () => {
    const auth = headerAuth("X-API-Key", "Scheme first-part/1 second+part");
    const texts = ["first-part/1", "second+part", btoa("user:second+part"), "second%2Bpart", "first-part\\/1"];
    for (const text of texts) assertEquals(auth.redact(`<${text}>`).includes(text), false, text);
    assertEquals(auth.redact("nothing of it"), "nothing of it");
  });

  test("names that are none, or mean something already, are refused", () => {
    const wrong = ["", "X Key", "X:Key", "X\r\nKey", "Schlüssel", "(x)"];
    for (const name of wrong) assertThrows(() => headerAuth(name, "value"), TypeError, "name of a header");
    assertThrows(() => headerAuth(undefined as unknown as string, "value"), TypeError, "name of a header");
    const owned = [
      "Content-Type",
      "accept",
      "MCP-Protocol-Version",
      "mcp-session-id",
      "Last-Event-ID",
      "Host",
      "Upgrade",
    ];
    for (const name of owned) assertThrows(() => headerAuth(name, "value"), TypeError, `"${name}"`);
    for (const name of ["Authorization", "X-API-Key", "Cookie", "Accepted", "api_key"]) headerAuth(name, "value");
  });

  test("values that cannot stand in a header are refused, without being said", () => {
    for (const wrong of ["", " hunter2", "hunter2 ", "hunter2\r\nX: y", "hünter2", "hunter2\t", null]) {
      const error = assertThrows(() => headerAuth("X-Key", wrong as string), TypeError, "Cannot use these credentials");
      assert(!/h.nter2/.test(error.message), error.message);
    }
    for (const fine of ["a", "a b", "ApiKey a=b, c"]) headerAuth("X-Key", fine);
  });
});
