/** What callers without a good token are told (S-113, S-114; RFC 6750). */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { modernPost, post, rpc, send } from "../http/support.ts";
import { call, challengeOf, metadataUrl, protect, sound, token, whoami } from "./support.ts";

describe("callers without a good token", () => {
  test("no token: 401 with the place of the metadata, the scopes, and no error", async () => {
    const { handler, asked } = protect({ requiredScopes: ["mcp:use", "files:read"] });
    const requests = [
      call("whoami", { authorization: undefined }),
      post(rpc("initialize")),
      send("GET"),
      send("DELETE"),
      send("PUT"),
      post("no JSON"),
    ];
    for (const request of requests) {
      const response = await handler(request);
      assertEquals(response.status, 401);
      assertEquals(challengeOf(response), { scope: "mcp:use files:read", resource_metadata: metadataUrl });
      assertEquals(response.headers.get("cache-control"), "no-store");
      assertEquals((await response.json()).error.code, -32600);
    }
    assertEquals(asked, []);
  });

  test("without required scopes the challenge names none", async () => {
    const { handler } = protect();
    assertEquals(challengeOf(await handler(send("GET"))), { resource_metadata: metadataUrl });
  });

  test("a token is taken from the Authorization header, whatever the case of its scheme", async () => {
    const { handler, asked } = protect();
    for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR "]) {
      const response = await handler(call("whoami", { authorization: `${scheme} ${token}` }));
      assertEquals(response.status, 200, scheme);
      const { principal, clientId } = await whoami(response);
      assertEquals([principal, clientId], ["https://auth.example.com#ada", "editor"]);
    }
    assertEquals(asked, [token, token, token, token]);
  });

  test("another scheme is no token", async () => {
    const { handler, asked } = protect();
    for (const authorization of ["Basic YTpi", "DPoP abc", token, "Bearerabc", "", `Basic YTpi, Bearer ${token}`]) {
      const response = await handler(call("whoami", { authorization }));
      assertEquals([response.status, challengeOf(response).error], [401, undefined], authorization);
    }
    assertEquals(asked, []);
  });

  test("garbage and duplicates: 400 invalid_request", async () => {
    const { handler, asked } = protect();
    const garbage = [
      "Bearer",
      "Bearer ,",
      `Bearer ${token} x`,
      `Bearer ${token}, Bearer other`,
      `Bearer ${token},${token}`,
      'Bearer "quoted"',
      "Bearer a=b",
      "Bearer \u00e9\u00e9",
      `Bearer ${"x".repeat(16_385)}`,
    ];
    for (const authorization of garbage) {
      const response = await handler(call("whoami", { authorization }));
      assertEquals(response.status, 400, authorization.slice(0, 40));
      const { error, resource_metadata } = challengeOf(response);
      assertEquals([error, resource_metadata], ["invalid_request", metadataUrl]);
    }
    assertEquals(asked, []);
  });

  test("never from the query: alone it is no token, beside the header it is refused", async () => {
    const { handler, asked } = protect();
    const { headers } = call("whoami");
    const target = `http://localhost:3000/mcp?access_token=${token}`;
    const without = await handler(send("GET", {}, {}, target));
    assertEquals([without.status, challengeOf(without).error], [401, undefined]);
    const both = await handler(send("GET", Object.fromEntries(headers), {}, target));
    assertEquals([both.status, challengeOf(both).error], [400, "invalid_request"]);
    const other = await handler(
      send("GET", Object.fromEntries(headers), {}, "http://localhost:3000/mcp?x=access_token"),
    );
    assertEquals([other.headers.get("www-authenticate"), asked.length], [null, 1], "another parameter is none");
    asked.length = 0;
    const body = new URLSearchParams({ access_token: token });
    const inBody = await handler(send("POST", { "content-type": "application/x-www-form-urlencoded" }, { body }));
    assertEquals(inBody.status, 401);
    assertEquals(asked, []);
  });

  test("a token that is not valid: 401 invalid_token", async () => {
    for (const claims of [undefined, null]) {
      const { handler, asked } = protect({ claims, requiredScopes: ["mcp:use"] });
      const response = await handler(call("whoami"));
      assertEquals(response.status, 401);
      const { error, scope, resource_metadata } = challengeOf(response);
      assertEquals([error, scope, resource_metadata], ["invalid_token", "mcp:use", metadataUrl]);
      assertEquals(asked, [token]);
    }
  });

  test("too little scope: 403 insufficient_scope with all that is needed", async () => {
    const { handler } = protect({
      requiredScopes: ["mcp:use", "files:read"],
      claims: { ...sound, scopes: ["files:read", "mcp:use2"] },
    });
    const response = await handler(call("whoami"));
    assertEquals(response.status, 403);
    const { error, scope, resource_metadata } = challengeOf(response);
    assertEquals([error, scope, resource_metadata], ["insufficient_scope", "mcp:use files:read", metadataUrl]);
  });

  test("each request is verified: a session is no proof (S-118)", async () => {
    let isValid = true;
    const { handler } = protect({ verify: () => isValid ? sound : undefined });
    const authorization = `Bearer ${token}`;
    const opened = await handler(
      post(rpc("initialize", 1, { protocolVersion: "2025-11-25", capabilities: {} }), { authorization }),
    );
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    assertEquals((await handler(post(rpc("ping"), { authorization, ...session }))).status, 200);
    assertEquals((await handler(post(rpc("ping"), session))).status, 401);
    isValid = false;
    assertEquals((await handler(post(rpc("ping"), { authorization, ...session }))).status, 401);
  });

  test("a session belongs to who opened it: another subject, or the same one of another issuer, finds none", async () => {
    const other = "https://other.example.com";
    let claims = sound;
    const { handler } = protect({ authorizationServers: [sound.issuer!, other], verify: () => claims });
    const authorization = `Bearer ${token}`;
    const opened = await handler(
      post(rpc("initialize", 1, { protocolVersion: "2025-11-25", capabilities: {} }), { authorization }),
    );
    const headers = { authorization, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    for (
      const [subject, issuer, status] of [["ada", sound.issuer!, 200], ["eve", sound.issuer!, 404], ["ada", other, 404]]
    ) {
      claims = { ...sound, subject: String(subject), issuer: String(issuer) };
      assertEquals((await handler(post(rpc("ping"), headers))).status, status as number);
    }
  });

  test("a token of very many parts hides nothing, and costs nothing where nobody listens", async () => {
    const parts = Array.from({ length: 300 }, (_, part) => `s3cr3t-${part}`).join(".");
    const authorization = `Bearer ${parts}`;
    const { handler, logs } = protect({ verify: (given) => Promise.reject(new Error(`cannot parse ${given}`)) });
    assertEquals((await handler(call("whoami", { authorization }))).status, 500);
    assertEquals([logs.length, JSON.stringify(logs).includes("s3cr3t")], [1, false]);
    let read = 0;
    const error = Object.defineProperty(new Error("no"), "stack", { get: () => `${++read}` });
    const silent = protect({ verify: () => Promise.reject(error), logger: undefined });
    assertEquals([(await silent.handler(call("whoami", { authorization }))).status, read], [500, 0]);
  });

  test("nothing of a token is in any reply or log line", async () => {
    const choices = [
      { claims: undefined },
      { claims: { ...sound, audience: "https://other.example" } },
      { claims: { ...sound, audience: undefined } },
      { claims: 7 },
      { requiredScopes: ["more"] },
      { verify: (given: string) => Promise.reject(new Error(`cannot parse ${given} or ${given.split(".")[1]}`)) },
      { verify: (given: string) => Promise.reject(given) },
    ];
    for (const choice of choices) {
      const { handler, logs } = protect(choice);
      const response = await handler(call("whoami"));
      assert(response.status >= 401);
      const seen = JSON.stringify([...response.headers]) + await response.text() + JSON.stringify(logs) +
        logs.map(({ fields }) => String(fields?.error)).join();
      assertEquals(seen.includes("s3cr3t"), false, seen);
    }
    const { handler } = protect();
    const response = await handler(modernPost("tools/list", {}, { authorization: `Bearer ${token} ${token}` }));
    assertEquals((await response.text()).includes("s3cr3t"), false);
  });
});
