/** Tokens that the authorization server is asked about (RFC 7662). */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createIntrospectionVerifier } from "../../../src/auth/mod.ts";
import { AuthorizationError, ConnectError } from "../../../src/protocol/errors.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { audience, AuthorizationServer, issuer } from "./authorization_server.ts";

const endpoint = `${issuer}/introspect`;
const known = { issuer, endpoint, clientId: "the server", clientSecret: "s3cr3t:of the server" };

function verifier(answer: () => Response | Promise<Response>) {
  const server = new AuthorizationServer();
  const clock = new VirtualClock();
  server.documents.set(endpoint, answer);
  return { server, clock, verify: createIntrospectionVerifier({ ...known, fetch: server.fetch, clock }) };
}

const active = { active: true, sub: "ada", aud: audience, scope: "a b", client_id: "editor", exp: 1_800_000_000 };

describe("a token that the server is asked about", () => {
  test("an active one gives its claims; the server learns the token and who asks, by POST", async () => {
    const { server, verify } = verifier(() => Response.json({ ...active, username: "Ada" }));
    assertEquals(await verify("t0ken+/="), {
      subject: "ada",
      issuer,
      audience,
      scopes: ["a", "b"],
      clientId: "editor",
      expiresAt: 1_800_000_000_000,
      extra: { ...active, username: "Ada" },
    });
    assertEquals(server.asked, [endpoint]);
    assertEquals(new URLSearchParams(server.bodies[0]).get("token"), "t0ken+/=");
    assertEquals(server.headers[0]?.get("authorization"), `Basic ${btoa("the+server:s3cr3t%3Aof+the+server")}`);
  });

  test("one that is not active, or not of this server, or names nobody, is not valid", async () => {
    const answers = [
      { active: false },
      { ...active, active: false },
      { ...active, sub: "" },
      { ...active, iss: [issuer] },
      { ...active, aud: { name: audience } },
      { ...active, aud: [audience, 7] },
      { ...active, client_id: undefined, azp: ["editor"] },
      { ...active, scope: undefined, scp: ["a", 7] },
      { ...active, iss: "https://evil.example" },
      { ...active, sub: undefined },
      { ...active, scope: 7 },
      { ...active, exp: "never" },
      { ...active, cnf: { jkt: "abc" } },
    ];
    for (const answer of answers) {
      assertEquals(await verifier(() => Response.json(answer)).verify("t0ken"), undefined, JSON.stringify(answer));
    }
  });

  test("its logger hears why one was refused, and no token", async () => {
    const answers: [() => Response, string][] = [
      [() => Response.json({ active: false }), "it is not active"],
      [() => Response.json({ ...active, cnf: { "x5t#S256": "abc" } }), "it is bound to a key"],
      [() => Response.json({ ...active, sub: 7 }), "a claim is missing"],
      [() => Response.json({ ...active, iss: "https://evil.example" }), "its issuer is another one"],
      [() => Response.json({ error: "unsupported_token_type" }, { status: 400 }), "its type is not introspected"],
    ];
    for (const [answer, reason] of answers) {
      const server = new AuthorizationServer();
      server.documents.set(endpoint, answer);
      const heard: unknown[] = [];
      const logger = (entry: unknown) => void heard.push(entry);
      await createIntrospectionVerifier({ ...known, fetch: server.fetch, logger })("t0ken");
      assertEquals(heard, [{ level: "debug", message: "A token was refused", fields: { reason } }]);
    }
  });

  test("one of a kind that the server does not introspect is not valid", async () => {
    const refuse = () => Response.json({ error: "unsupported_token_type" }, { status: 400 });
    assertEquals(await verifier(refuse).verify("a.signed.token"), undefined);
  });

  test("a server that cannot be reached may be asked again", async () => {
    const { clock, verify } = verifier(() => new Promise(() => {}));
    const error = await assertRejects(() => clock.until(verify("t0ken"), 5_000), ConnectError);
    assertEquals(error.retryable, true);
    const dead = verifier(() => Promise.reject(new TypeError("connection refused")));
    await assertRejects(() => dead.verify("t0ken"), ConnectError);
  });

  test("one that refuses us, or answers nonsense, is the operator's matter; no secret is in the error", async () => {
    const answers = [
      () => Response.json({ error: "invalid_client" }, { status: 401 }),
      () => new Response("s3cr3t t0ken", { status: 200, headers: { "content-type": "text/plain" } }),
      () => Response.json({ active: "yes" }),
      () => Response.json([]),
      () => new Response(null, { status: 204 }),
      () => Response.json(active, { status: 500 }),
    ];
    for (const answer of answers) {
      const error = await assertRejects(() => verifier(answer).verify("t0ken"), AuthorizationError);
      const text = `${error.stack} ${JSON.stringify(error)} ${error.cause}`;
      assert(!text.includes("s3cr3t") && !text.includes("t0ken"), text);
    }
  });

  test("options that make no sense are refused", () => {
    for (const missing of ["clientId", "clientSecret"]) {
      const options = { ...known, [missing]: "" };
      assertThrows(() => createIntrospectionVerifier(options), TypeError, '"clientId" and "clientSecret" are needed');
    }
    assertThrows(
      () => createIntrospectionVerifier({ ...known, endpoint: "http://auth.example.com/x" }),
      TypeError,
      "address",
    );
  });
});
