/** Signed access tokens (RFC 9068), against an authorization server in memory. */
import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { createJwtVerifier } from "../../../src/auth/mod.ts";
import type { JwtVerifier, JwtVerifierOptions } from "../../../src/auth/mod.ts";
import type { LogRecord } from "../../../src/ports.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import {
  audience,
  AuthorizationServer,
  base64url,
  createKey,
  issuer,
  sign,
  type SigningKey,
  soundPayload,
  unsigned,
} from "./authorization_server.ts";

interface Bench {
  readonly key: SigningKey;
  readonly server: AuthorizationServer;
  readonly verify: JwtVerifier;
  readonly clock: VirtualClock;
  readonly logs: LogRecord[];
}

async function bench(options: Partial<JwtVerifierOptions> = {}, key?: SigningKey): Promise<Bench> {
  const signing = key ?? await createKey("one");
  const server = new AuthorizationServer(signing);
  const clock = new VirtualClock();
  const logs: LogRecord[] = [];
  const logger = (record: LogRecord) => void logs.push(record);
  const verify = createJwtVerifier({ issuer, fetch: server.fetch, clock, logger, ...options });
  return { key: signing, server, verify, clock, logs };
}

const seconds = Date.UTC(2026, 6, 28) / 1_000;

describe("a signed access token", () => {
  test("a sound one gives its claims", async () => {
    const { key, verify } = await bench();
    const claims = await verify(await sign(key));
    assertEquals(claims, {
      subject: "ada",
      issuer,
      audience,
      scopes: ["mcp:use", "files:read"],
      clientId: "editor",
      expiresAt: (seconds + 300) * 1_000,
      extra: soundPayload(),
    });
  });

  test("of every algorithm that is taken", async () => {
    for (const alg of ["ES256", "RS256", "Ed25519"] as const) {
      const key = await createKey("one", alg);
      const { verify } = await bench({}, key);
      assertEquals((await verify(await sign(key)))?.subject, "ada", alg);
    }
  });

  test("both names of the Edwards curve, in the token and in the key", async () => {
    const key = await createKey("one", "Ed25519");
    for (const named of ["EdDSA", "Ed25519", undefined]) {
      const { server, verify } = await bench({}, key);
      const { alg: _, ...jwk } = key.jwk;
      server.setKeys(named === undefined ? jwk : { ...jwk, alg: named });
      for (const alg of ["EdDSA", "Ed25519"]) {
        assertEquals((await verify(await sign(key, {}, { alg })))?.subject, "ada", `${alg} by ${named}`);
      }
    }
  });

  test("one that was not issued so is refused", async () => {
    const { key, verify } = await bench({ audience });
    const wrong: Record<string, Record<string, unknown>> = {
      "another issuer": { iss: "https://evil.example" },
      "the issuer with a slash": { iss: `${issuer}/` },
      "no issuer": { iss: undefined },
      "another audience": { aud: "https://other.example" },
      "no audience": { aud: undefined },
      "an audience of another type": { aud: { [audience]: true } },
      "expired": { exp: seconds - 5 },
      "no expiry": { exp: undefined },
      "an expiry of another type": { exp: String(seconds + 300) },
      "not good before": { nbf: seconds + 6 },
      "no subject": { sub: undefined },
      "a subject of another type": { sub: 7 },
      "no client": { client_id: undefined },
      "no id": { jti: undefined },
      "scopes of another type": { scope: 7 },
      "bound to a key": { cnf: { jkt: "abc" } },
      "bound to a certificate": { cnf: { "x5t#S256": "abc" } },
    };
    for (const [what, payload] of Object.entries(wrong)) {
      assertEquals(await verify(await sign(key, payload)), undefined, what);
    }
    const headers: Record<string, Record<string, unknown>> = {
      "no type": { typ: undefined },
      "of type JWT": { typ: "JWT" },
      "an ID token's logout": { typ: "logout+jwt" },
      "a critical header": { crit: ["exp"] },
      "another algorithm": { alg: "RS256" },
    };
    for (const [what, header] of Object.entries(headers)) {
      assertEquals(await verify(await sign(key, {}, header)), undefined, what);
    }
    assertEquals((await verify(await sign(key)))?.subject, "ada");
    assertEquals((await verify(await sign(key, { aud: ["x", audience] })))?.subject, "ada");
    assertEquals((await verify(await sign(key, {}, { typ: "application/AT+JWT" })))?.subject, "ada");
  });

  test("the issuer's clock may be off a little", async () => {
    const { key, verify } = await bench();
    assertEquals((await verify(await sign(key, { exp: seconds - 4 })))?.subject, "ada");
    assertEquals((await verify(await sign(key, { nbf: seconds + 5 })))?.subject, "ada");
    const strict = await bench({ clockTolerance: 0 }, key);
    assertEquals(await strict.verify(await sign(key, { exp: seconds })), undefined);
    assertEquals(await strict.verify(await sign(key, { nbf: seconds + 2 })), undefined);
  });

  test("it is judged by the clock that was given", async () => {
    const { key, verify, clock } = await bench();
    const token = await sign(key);
    assertEquals((await verify(token))?.subject, "ada");
    await clock.advance(306_000);
    assertEquals(await verify(token), undefined);
  });

  test("without an audience of its own, whoever uses the claims decides", async () => {
    const { key, verify } = await bench();
    assertEquals((await verify(await sign(key, { aud: ["https://a.example", "urn:b"] })))?.audience, [
      "https://a.example",
      "urn:b",
    ]);
    assertEquals(await verify(await sign(key, { aud: undefined })), undefined);
    assertEquals(await verify(await sign(key, { aud: [] })), undefined);
  });

  test("no token says why in words of its own: the operator hears reasons, nothing of the token", async () => {
    const { key, verify, logs } = await bench();
    const token = await sign(key, { exp: seconds - 400, sub: "s3cr3t-subject" });
    assertEquals(await verify(token), undefined);
    assertEquals(await verify("s3cr3t.s3cr3t.s3cr3t"), undefined);
    assertEquals(logs.map(({ level }) => level), ["debug", "debug"]);
    const text = JSON.stringify(logs);
    for (const part of ["s3cr3t", ...token.split(".")]) assertEquals(text.includes(part), false, text);
  });

  test("a logger that fails changes no answer, and ends no process", async () => {
    const loggers = [() => Promise.reject(new Error("full disk")) as unknown as void, () => {
      throw new Error("full disk");
    }];
    for (const logger of loggers) {
      const { key, verify } = await bench({ logger });
      assertEquals(await verify(await sign(key, { exp: seconds - 400 })), undefined);
    }
  });
});

describe("a forged access token", () => {
  test("a signature of nobody, of another key, or of another text", async () => {
    const { key, verify } = await bench();
    const stranger = await createKey("one");
    const sound = await sign(key);
    const [header, , signature] = sound.split(".");
    const forged = [
      await sign(stranger),
      `${unsigned({ alg: "ES256", typ: "at+jwt", kid: "one" }, { ...soundPayload(), sub: "root" })}.${signature}`,
      `${header}.${base64url(JSON.stringify({ ...soundPayload(), scope: "admin" }))}.${signature}`,
      sound.slice(0, -4),
      `${sound}AAAA`,
      sound.replace(/\.[^.]*$/, ".AAAA"),
    ];
    for (const token of forged) assertEquals(await verify(token), undefined, token);
  });

  test("no signature at all (alg none)", async () => {
    const { verify, server } = await bench();
    for (const alg of ["none", "None", "NONE", "", undefined, null, ["ES256"]]) {
      const text = unsigned({ alg, typ: "at+jwt", kid: "one" }, soundPayload());
      for (const signature of ["", "AAAA"]) assertEquals(await verify(`${text}.${signature}`), undefined, String(alg));
    }
    assertEquals(server.asked, []);
  });

  test("a shared secret made of the public key (HS256)", async () => {
    const key = await createKey("one", "RS256");
    const { verify, server } = await bench({}, key);
    const secrets = [JSON.stringify(key.jwk), String(key.jwk.n)];
    for (const secret of secrets) {
      const text = unsigned({ alg: "HS256", typ: "at+jwt", kid: "one" }, soundPayload());
      const algorithm = { name: "HMAC", hash: "SHA-256" };
      const hmac = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["sign"]);
      const signature = await crypto.subtle.sign("HMAC", hmac, new TextEncoder().encode(text));
      assertEquals(await verify(`${text}.${base64url(new Uint8Array(signature))}`), undefined);
    }
    assertEquals(server.asked, []);
  });

  test("keys that it brings along are not used", async () => {
    const { key, verify, server } = await bench();
    const stranger = await createKey("two");
    const brought = { jwk: stranger.jwk, jku: "https://evil.example/keys", x5u: "https://evil.example/cert" };
    assertEquals(await verify(await sign(stranger, {}, brought)), undefined);
    assertEquals(await verify(await sign(stranger, {}, { ...brought, kid: key.kid })), undefined);
    assertEquals(server.asked.filter((url) => url.includes("evil")), []);
  });

  test("garbage costs no fetch", async () => {
    const { verify, server } = await bench();
    const json = base64url("{}");
    const garbage = [
      "",
      ".",
      "..",
      "a.b.c",
      `${json}.${json}`,
      `${json}.${json}.${json}`,
      `${json}.${json}.${json}.${json}.${json}`,
      `${base64url("[]")}.${json}.AA`,
      `${base64url('{"alg":"ES256"}')}.${base64url("7")}.AA`,
      `${base64url('{"alg":"ES256"')}.${json}.AA`,
      unsigned({ alg: "ES256" }, { iss: "https://evil.example" }) + ".AAAA",
      "é.é.é",
      "a b.c.d",
      `${json}\n.${json}.AA`,
    ];
    for (const token of garbage) assertEquals(await verify(token), undefined, token);
    assertEquals(server.asked, []);
  });
});

describe("tokens of servers that do not know RFC 9068 (profile jwt)", () => {
  test("of type JWT or none, with fewer claims, and the names that such servers use", async () => {
    const { key, verify } = await bench({ profile: "jwt", audience });
    const fewer = { jti: undefined, client_id: undefined, iat: undefined, scope: undefined };
    for (const typ of ["JWT", "jwt", undefined, "at+jwt"]) {
      const claims = await verify(await sign(key, { ...fewer, azp: "editor", scp: ["a", "b"] }, { typ }));
      assertEquals([claims?.subject, claims?.clientId, claims?.scopes], ["ada", "editor", ["a", "b"]], String(typ));
    }
    assertEquals((await verify(await sign(key, { ...fewer, scp: "a b" })))?.scopes, ["a", "b"]);
  });

  test("all else is held as before", async () => {
    const { key, verify } = await bench({ profile: "jwt", audience });
    const stranger = await createKey("one");
    const typ = { typ: "JWT" };
    assertEquals(await verify(await sign(stranger, {}, typ)), undefined, "forged");
    const wrong: Record<string, unknown>[] = [
      { iss: "https://evil.example" },
      { aud: "client-of-an-id-token" },
      { aud: undefined },
      { exp: seconds - 5 },
      { exp: undefined },
      { nbf: seconds + 6 },
      { sub: undefined },
      { sub: "" },
      { cnf: { jkt: "abc" } },
    ];
    for (const payload of wrong) {
      assertEquals(await verify(await sign(key, payload, typ)), undefined, JSON.stringify(payload));
    }
    for (const other of ["logout+jwt", "dpop+jwt", "secevent+jwt", 7, null]) {
      assertEquals(await verify(await sign(key, {}, { typ: other })), undefined, String(other));
    }
    assertEquals(await verify(`${unsigned({ alg: "none", typ: "JWT" }, soundPayload())}.AAAA`), undefined);
  });
});

describe("options that make no sense", () => {
  test("are refused", () => {
    const wrong: [Partial<JwtVerifierOptions>, string][] = [
      [{ issuer: "auth.example.com" }, "Cannot use the issuer"],
      [{ issuer: "http://auth.example.com" }, "Cannot use the issuer"],
      [{ issuer: "ws://localhost" }, "Cannot use the issuer"],
      [{ jwksUri: "http://auth.example.com/keys" }, "Cannot use the address"],
      [{ algorithms: ["none"] }, 'signed by "none"'],
      [{ algorithms: ["ES256", "HS256"] }, 'signed by "HS256"'],
      [{ algorithms: [] }, "expected an algorithm"],
      [{ audience: [] }, "expected an audience"],
      [{ profile: "JWT" as "jwt" }, 'the profile "JWT": expected "rfc9068" or "jwt"'],
      [{ audience: "" }, "expected an audience"],
      [{ timeout: NaN }, 'Cannot use "timeout" NaN'],
      [{ timeout: 0 }, 'Cannot use "timeout" 0'],
      [{ clockTolerance: -1 }, "clock tolerance"],
      [{ clockTolerance: Infinity }, "clock tolerance"],
    ];
    for (const [options, message] of wrong) {
      assertThrows(() => createJwtVerifier({ issuer, ...options }), TypeError, message);
    }
    createJwtVerifier({ issuer: "http://127.0.0.1:9000", jwksUri: "http://localhost:9000/keys" });
  });

  test("only the algorithms that were named", async () => {
    const { key, verify } = await bench({ algorithms: ["RS256"] });
    assertEquals(await verify(await sign(key)), undefined);
  });
});
