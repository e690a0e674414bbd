/** What tokens have to be meant for, and what a verifier may give (S-115; RFC 8707). */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { ConnectError } from "../../../src/protocol/errors.ts";
import { call, challengeOf, type Choices, guard, protect, resourceUrl, sound, whoami } from "./support.ts";

async function status(choices: Choices): Promise<number> {
  const { handler } = protect(choices);
  return (await handler(call("whoami"))).status;
}

describe("the audience of a token", () => {
  const same: unknown[] = [
    resourceUrl,
    [resourceUrl],
    ["https://other.example", resourceUrl],
    "HTTP://LocalHost:3000/mcp",
    "http://localhost:3000/mcp/",
  ];
  const others: unknown[] = [
    undefined,
    "",
    [],
    [""],
    "http://localhost:3000",
    "http://localhost:3000/",
    "http://localhost:3000/MCP",
    "http://localhost:3000/mcp/more",
    "http://localhost:3000/mcp//",
    "http://localhost:3000/x/../mcp",
    "http://localhost:3000/./mcp",
    "http://localhost:3000/%6dcp",
    "http://localhost:3000/mcp?x=1",
    "http://localhost:3000/mcp#x",
    "http://user@localhost:3000/mcp",
    "http://localhost:3001/mcp",
    "http://localhost/mcp",
    "https://localhost:3000/mcp",
    "http://localhost.evil.example:3000/mcp",
    "http://evil.example/http://localhost:3000/mcp",
    " http://localhost:3000/mcp",
    "http:\\\\localhost:3000\\mcp",
    "http:localhost:3000/mcp",
    "localhost:3000/mcp",
    ["https://other.example", "https://third.example/mcp"],
  ];

  test("a token for this resource is taken, however its URL is spelt", async () => {
    for (const audience of same) assertEquals(await status({ claims: { ...sound, audience } }), 200, String(audience));
  });

  test("a token for anything else is not, and neither is one for nobody", async () => {
    for (const audience of others) {
      const { handler } = protect({ claims: { ...sound, audience } });
      const response = await handler(call("whoami"));
      assertEquals([response.status, challengeOf(response).error], [401, "invalid_token"], JSON.stringify(audience));
    }
  });

  test("the port that goes without saying compares equal", async () => {
    const resource = "https://mcp.example.com/mcp";
    for (const audience of ["https://MCP.example.com:443/mcp", "https://mcp.example.com/mcp/"]) {
      assertEquals(await status({ resource, claims: { ...sound, audience } }), 200, audience);
    }
    assertEquals(await status({ resource, claims: { ...sound, audience: "http://mcp.example.com/mcp" } }), 401);
  });

  test("claims without an audience are an author's oversight more often than not: the operator is told", async () => {
    const { handler, logs } = protect({ claims: { subject: "ada" } });
    assertEquals((await handler(call("whoami"))).status, 401);
    assertEquals(logs.map(({ level }) => level), ["warning"]);
  });

  test("names that the server gave the resource, letter by letter", async () => {
    const audience = ["api://private", "https://api.example.com"];
    for (const named of ["api://private", "https://api.example.com/", ["x", "api://private"]]) {
      assertEquals(await status({ audience, claims: { ...sound, audience: named } }), 200, String(named));
    }
    for (const named of ["api://PRIVATE", "api://private/", resourceUrl]) {
      assertEquals(await status({ audience, claims: { ...sound, audience: named } }), 401, named);
    }
  });

  test("`audience: false` leaves it to the verifier", async () => {
    assertEquals(await status({ audience: false, claims: { subject: "ada" } }), 200);
    assertEquals(await status({ audience: false, claims: { ...sound, audience: "https://other.example" } }), 200);
    assertEquals(await status({ audience: undefined, claims: { subject: "ada" } }), 401);
  });
});

describe("the issuer of a token", () => {
  test("only the authorization servers of the resource, letter by letter", async () => {
    for (const issuer of ["https://auth.example.com/", "https://AUTH.example.com", "https://evil.example", ""]) {
      assertEquals(await status({ claims: { ...sound, issuer } }), 401, issuer);
    }
    const authorizationServers = ["https://one.example.com", "https://two.example.com/tenant"];
    for (const issuer of authorizationServers) {
      assertEquals(await status({ authorizationServers, claims: { ...sound, issuer } }), 200);
    }
  });

  test("the caller's name holds the issuer, unless the author names callers", async () => {
    const named = async (choices: Choices) => (await whoami(await protect(choices).handler(call("whoami")))).principal;
    assertEquals(await named({}), "https://auth.example.com#ada");
    assertEquals(await named({ claims: { ...sound, issuer: undefined } }), "ada");
    assertEquals(await named({ principal: ({ subject }) => `user ${subject}` }), "user ada");
    assertEquals(await status({ principal: () => "" }), 500);
  });

  test("of several servers nobody is named by the subject alone: the ada of one is not the ada of another", async () => {
    const authorizationServers = [sound.issuer!, "https://other.example.com"];
    const claims = { ...sound, issuer: undefined };
    assertEquals(await status({ authorizationServers, claims }), 500);
    assertEquals(await status({ authorizationServers, claims, principal: ({ subject }) => `user ${subject}` }), 200);
    assertEquals(await status({ authorizationServers, claims: sound }), 200);
    const { handler, logs } = protect({ authorizationServers, claims });
    assertEquals((await handler(call("whoami"))).status, 500);
    assertEquals(String(logs[0]?.fields?.error).includes('"verify" has to give "issuer"'), true, JSON.stringify(logs));
  });
});

describe("what a verifier gives", () => {
  test("claims reach the handler, the token does not", async () => {
    const { handler, clock } = protect({
      claims: {
        ...sound,
        scopes: ["a", "b"],
        expiresAt: Date.UTC(2026, 6, 28) + 60_000,
        extra: { email: "ada@example.com" },
      },
    });
    assertEquals(await whoami(await handler(call("whoami"))), {
      principal: "https://auth.example.com#ada",
      scopes: ["a", "b"],
      clientId: "editor",
      expiresAt: clock.now() + 65_000,
      extra: { email: "ada@example.com" },
    });
  });

  test("what a verifier does not say, a handler is not told either", async () => {
    const { resource } = guard({ claims: { subject: "ada", audience: resourceUrl } });
    const auth = await resource(call("whoami"));
    assertEquals(auth, { principal: "ada", scopes: [], clientId: undefined, expiresAt: undefined, extra: undefined });
  });

  test("nonsense lets nobody in: 500, and the operator is told", async () => {
    const nonsense: unknown[] = [
      true,
      "ada",
      7,
      [],
      {},
      new Response(null, { status: 200 }),
      { ...sound, subject: "" },
      { ...sound, subject: 7 },
      { ...sound, issuer: 7 },
      { ...sound, audience: 7 },
      { ...sound, audience: [7, resourceUrl] },
      { ...sound, scopes: "mcp:use" },
      { ...sound, clientId: {} },
      { ...sound, extra: "x" },
      { ...sound, expiresAt: "tomorrow" },
      { ...sound, expiresAt: NaN },
      // Seconds, as JWTs have them.
      { ...sound, expiresAt: 1_900_000_000 },
    ];
    for (const claims of nonsense) {
      const { handler, logs } = protect({ claims });
      const response = await handler(call("whoami"));
      assertEquals(response.status, 500, JSON.stringify(claims));
      assertEquals(await response.json(), { jsonrpc: "2.0", error: { code: -32603, message: "Internal error" } });
      assertEquals(logs.length, 1);
    }
  });

  test("a verifier that throws lets nobody in: 500, or 503 for what passes", async () => {
    const broken = new Error("it is broken");
    const passing = new ConnectError("Cannot reach it", { retryable: true });
    const verifies: [verify: () => never | Promise<never>, status: number][] = [
      [() => {
        throw broken;
      }, 500],
      [() => Promise.reject(broken), 500],
      [() => Promise.reject(undefined), 500],
      [() => Promise.reject(passing), 503],
      [() => Promise.reject(new ConnectError("Cannot reach it")), 500],
      [() => Promise.reject(Object.assign(new Error("again"), { retryable: true })), 500],
    ];
    for (const [verify, status] of verifies) {
      const { handler, logs } = protect({ verify });
      const response = await handler(call("whoami"));
      assertEquals(response.status, status);
      assertEquals((await response.json()).error.code, -32603);
      assertEquals(response.headers.get("retry-after"), status === 503 ? "5" : null);
      assertEquals(logs.map(({ level }) => level), [status === 503 ? "warning" : "error"]);
    }
  });
});

describe("a logger that fails", () => {
  test("changes no answer", async () => {
    const loggers = [() => Promise.reject(new Error("full disk")) as unknown as void, () => {
      throw new Error("full disk");
    }];
    for (const logger of loggers) {
      const passing = () => Promise.reject(new ConnectError("Cannot reach it", { retryable: true }));
      assertEquals(await status({ logger, verify: passing }), 503);
      assertEquals(await status({ logger, claims: { subject: "ada" } }), 401);
    }
  });
});

describe("when a token ends", () => {
  const at = Date.UTC(2026, 6, 28);

  test("an expired one is refused, within the tolerance of clocks", async () => {
    assertEquals(await status({ claims: { ...sound, expiresAt: at + 1 } }), 200);
    assertEquals(await status({ claims: { ...sound, expiresAt: at - 4_999 } }), 200);
    assertEquals(await status({ claims: { ...sound, expiresAt: at - 5_000 } }), 401);
    assertEquals(await status({ clockTolerance: 0, claims: { ...sound, expiresAt: at } }), 401);
    assertEquals(await status({ clockTolerance: 60_000, claims: { ...sound, expiresAt: at - 59_999 } }), 200);
  });

  test("it is looked at with every request", async () => {
    const { handler, clock } = protect({ claims: { ...sound, expiresAt: at + 10_000 } });
    assertEquals((await handler(call("whoami"))).status, 200);
    await clock.advance(15_000);
    const response = await handler(call("whoami"));
    assertEquals([response.status, challengeOf(response).error_description], [401, "The token has expired"]);
  });
});
