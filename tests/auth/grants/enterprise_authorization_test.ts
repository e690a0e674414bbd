/** Tokens that an enterprise's identity provider decides on. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { enterpriseAuthorization, type EnterpriseAuthorizationOptions, privateKeyJwt } from "../../../src/auth/mod.ts";
import { AuthorizationError, ConnectionClosedError, EgressDeniedError } from "../../../src/protocol/errors.ts";
import {
  type Answer,
  GrantWorld,
  issuer,
  readJwt,
  refusal,
  resource,
  tokenEndpoint,
  type WorldOptions,
} from "./context.ts";

const idp = "https://login.example.org";
const idpToken = `${idp}/oauth2/token`;
const idToken = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.aWQtdG9rZW4tb2YtYWRh";
const idJag = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.aWQtamFnLW9mLWFkYQ";
const idJagType = "urn:ietf:params:oauth:token-type:id-jag";
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const profile = "urn:ietf:params:oauth:grant-profile:id-jag";
const secret = "the s3cret at login";

const sound = { access_token: idJag, issued_token_type: idJagType, token_type: "N_A", expires_in: 300 };
const options = {
  clientId: "assistant",
  clientSecret: "the s3cret at auth",
  identityProvider: { tokenEndpoint: idpToken, clientId: "assistant-at-login", clientSecret: secret },
  idToken,
};

/** A world whose identity provider answers so. */
function worldOf(answer: Answer = () => Response.json(sound), given: WorldOptions = {}): GrantWorld {
  const world = new GrantWorld(given);
  world.servers.set(idpToken, answer);
  return world;
}

/** A world whose identity provider has such metadata. */
function worldWithMetadata(document: unknown, given: WorldOptions = {}): GrantWorld {
  const world = worldOf(undefined, given);
  world.servers.set(`${idp}/.well-known/openid-configuration`, () => Response.json(document));
  return world;
}

const byIssuer = {
  ...options,
  identityProvider: { issuer: idp, clientId: "assistant-at-login", clientSecret: secret },
};

describe("enterprise authorization", () => {
  test("the ID token becomes a grant at the identity provider, and that a token at the server", async () => {
    const world = worldOf(undefined, { scopes: ["files:read", "files:write"] });
    const grant = enterpriseAuthorization(options);
    assertEquals([grant.grantTypes, grant.isInteractive ?? false], [[jwtBearer], false]);
    assertEquals((await world.obtain(grant)).accessToken, "the-access-token");
    assertEquals(world.seen.map(({ url }) => url), [idpToken, tokenEndpoint]);
    const [exchange, bearer] = world.seen;
    assertEquals(Object.fromEntries(exchange?.form ?? []), {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: idJagType,
      audience: issuer,
      resource,
      scope: "files:read files:write",
      subject_token: idToken,
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    });
    assertEquals(exchange?.headers.get("authorization"), `Basic ${btoa("assistant-at-login:the+s3cret+at+login")}`);
    assertStringIncludes(exchange?.headers.get("content-type") ?? "", "application/x-www-form-urlencoded");
    assertEquals([bearer?.form.get("grant_type"), bearer?.form.get("assertion")], [jwtBearer, idJag]);
    assertEquals(bearer?.headers.get("authorization"), `Basic ${btoa("assistant:the+s3cret+at+auth")}`);
    assertEquals(bearer?.form.toString().includes(idToken), false, "the ID token stays with the identity provider");
    for (const known of [idToken, idJag, secret]) assertEquals(world.redactor.redact(known), "[redacted]");
  });

  test("no scope, no resource: neither is asked for; the kind of token may be told; its type in any case", async () => {
    const world = worldOf(() => Response.json({ ...sound, token_type: "n_a" }), { scopes: [], resource: undefined });
    const { idToken: _, ...others } = options;
    await world.obtain(
      enterpriseAuthorization({ ...others, subjectToken: "cmVmcmVzaA", subjectTokenType: "refresh_token" }),
    );
    const form = world.forms(idpToken)[0];
    assertEquals([form?.has("scope"), form?.has("resource")], [false, false]);
    assertEquals(
      [form?.get("subject_token"), form?.get("subject_token_type")],
      ["cmVmcmVzaA", "urn:ietf:params:oauth:token-type:refresh_token"],
    );
  });

  test("the metadata of the identity provider tells the endpoint and how clients authenticate", async () => {
    const document = {
      issuer: idp,
      token_endpoint: idpToken,
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    };
    const world = worldWithMetadata(document);
    await world.obtain(enterpriseAuthorization(byIssuer));
    const exchange = world.seen.find(({ url }) => url === idpToken);
    assertEquals(exchange?.form.get("client_secret"), secret);
    assertEquals(exchange?.headers.has("authorization"), false);
  });

  test("a public client names itself; one with a key signs for the identity provider", async () => {
    const open = worldOf();
    const { clientSecret: _, ...anonymous } = options.identityProvider;
    await open.obtain(enterpriseAuthorization({ ...options, identityProvider: anonymous }));
    assertEquals(open.forms(idpToken)[0]?.get("client_id"), "assistant-at-login");
    const { privateKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, [
      "sign",
      "verify",
    ]);
    const authenticate = privateKeyJwt(privateKey);
    const keyed = worldWithMetadata({ issuer: idp, token_endpoint: idpToken });
    await keyed.obtain(
      enterpriseAuthorization({ ...byIssuer, identityProvider: { issuer: idp, clientId: "login", authenticate } }),
    );
    const assertion = keyed.forms(idpToken)[0]?.get("client_assertion") ?? "";
    assertEquals([readJwt(assertion).payload.aud, readJwt(assertion).payload.sub], [idp, "login"]);
    assertEquals(keyed.redactor.redact(assertion), "[redacted]");
  });

  test("a function is asked for each token", async () => {
    const world = worldOf();
    const asked: string[] = [];
    const grant = enterpriseAuthorization({
      ...options,
      idToken: ({ identityProvider }) => {
        asked.push(identityProvider);
        return `${idToken}${asked.length}`;
      },
    });
    await world.obtain(grant);
    await world.obtain(grant);
    assertEquals(asked, [idpToken, idpToken]);
    assertEquals(world.forms(idpToken).map((form) => form.get("subject_token")), [`${idToken}1`, `${idToken}2`]);
  });

  test("an identity provider in the operator's own network is asked as given", async () => {
    const local = "https://login.corp.internal/token";
    const world = new GrantWorld();
    world.servers.set(local, () => Response.json(sound));
    const grant = enterpriseAuthorization({
      ...options,
      identityProvider: { tokenEndpoint: local, clientId: "assistant" },
    });
    assertEquals(grant.allow, ["https://login.corp.internal"]);
    assertEquals((await world.obtain(grant)).accessToken, "the-access-token");
  });

  test("a server that takes other grants only is not tried; one that takes ours is", async () => {
    const other = worldOf(undefined, { metadata: { authorization_grant_profiles_supported: ["urn:example:other"] } });
    const error = await assertRejects(() => other.obtain(enterpriseAuthorization(options)), AuthorizationError);
    assertStringIncludes(error.message, `expected "authorization_grant_profiles_supported" of its metadata to hold`);
    assertEquals(other.seen, []);
    const ours = worldOf(undefined, { metadata: { authorization_grant_profiles_supported: [profile] } });
    await ours.obtain(enterpriseAuthorization(options));
  });
});

describe("an identity provider that answers badly", () => {
  const bad: [string, Answer, string][] = [
    ["HTML", () => new Response("<html>Sign in</html>"), "expected a JSON object"],
    ["a list", () => Response.json([sound]), "expected a JSON object"],
    ["no token", () => Response.json({ ...sound, access_token: undefined }), 'expected "access_token" to be a text'],
    ["a number", () => Response.json({ ...sound, access_token: 7 }), 'expected "access_token" to be a text'],
    ["an empty token", () => Response.json({ ...sound, access_token: "" }), 'expected "access_token" to be a text'],
    ["two lines", () => Response.json({ ...sound, access_token: "a\nb" }), 'expected "access_token" to be a text'],
    [
      "no issued type",
      () => Response.json({ ...sound, issued_token_type: undefined }),
      `expected "issued_token_type" to be "${idJagType}", got a value of type undefined`,
    ],
    [
      "an access token",
      () => Response.json({ ...sound, issued_token_type: "urn:ietf:params:oauth:token-type:access_token" }),
      `expected "issued_token_type" to be "${idJagType}", got "urn:ietf:params:oauth:token-type:access_token"`,
    ],
    [
      "a bearer",
      () => Response.json({ ...sound, token_type: "Bearer" }),
      'expected "token_type" to be "N_A", got "Bearer"',
    ],
    ["null", () => Response.json({ ...sound, token_type: null }), '"token_type" to be "N_A", got a value of type null'],
    ["502", () => new Response("<html>Bad gateway</html>", { status: 502 }), 'expected "error" with status 502'],
    ["a bare 400", () => Response.json({ error: 7 }, { status: 400 }), 'expected "error" with status 400'],
    ["201", () => Response.json(sound, { status: 201 }), 'expected "error" with status 201'],
  ];
  for (const [name, answer, wanted] of bad) {
    test(`${name}: which document, which field, what was expected; the server is not asked`, async () => {
      const world = worldOf(answer);
      const error = await assertRejects(
        () => world.obtain(enterpriseAuthorization(options)),
        AuthorizationError,
        wanted,
      );
      assertStringIncludes(error.message, `the token response of the identity provider "${idpToken}"`);
      for (const hidden of [idJag, idToken, secret]) assertEquals(error.message.includes(hidden), false);
      assertEquals(world.seen.map(({ url }) => url), [idpToken]);
    });
  }

  test("its refusal has its code and its words, without secrets and control characters", async () => {
    const words = `no ${idToken}, no ${btoa(secret)}, no ${encodeURIComponent(secret)}\u001b[31m, ${"x".repeat(500)}`;
    const world = worldOf(() => refusal("invalid_grant", words));
    const error = await assertRejects(() => world.obtain(enterpriseAuthorization(options)), AuthorizationError);
    assertEquals(error.error, "invalid_grant");
    assertStringIncludes(
      error.message,
      'it refused with "invalid_grant", "no [redacted], no [redacted]g==, no [redacted][31m',
    );
    assert(error.message.length < 450, "a refusal is no essay");
    for (const hidden of [idToken, secret, btoa(secret), "\u001b"]) assertEquals(error.message.includes(hidden), false);
    assertEquals(world.seen.length, 1, "nothing is tried again");
  });

  test("a token in the place of a type is not shown", async () => {
    for (const field of ["issued_token_type", "token_type"]) {
      for (const hidden of [idJag, idToken, secret]) {
        const world = worldOf(() => Response.json({ ...sound, [field]: hidden }));
        const error = await assertRejects(
          () => world.obtain(enterpriseAuthorization(options)),
          AuthorizationError,
          field,
        );
        assertStringIncludes(error.message, '"[redacted]"');
      }
    }
    const long = idToken + "x".repeat(900);
    const world = worldOf(() => refusal(long));
    const cut = await assertRejects(
      () => world.obtain(enterpriseAuthorization({ ...options, idToken: long })),
      AuthorizationError,
    );
    assertEquals([cut.error, cut.message.includes(idToken)], ["[redacted]", false], "redacted first, cut afterwards");
    const error = await assertRejects(() => world.obtain(enterpriseAuthorization(options)), AuthorizationError);
    assertEquals(error.error?.length, 201, "of an unknown text there is no more than the start");
  });

  test("metadata without a token endpoint, or with one that secrets must not go to", async () => {
    const wrong = [
      undefined,
      null,
      7,
      "",
      "/token",
      "http://login.example.org/token",
      "http://127.0.0.1/token",
      "https://user@login.example.org/token",
      "https://:secret@login.example.org/token",
      "ftp://x/y",
    ];
    for (const endpoint of [...wrong, "javascript:alert(1)", "https://user:pass@login.example.org/token"]) {
      const world = worldWithMetadata({ issuer: idp, token_endpoint: endpoint });
      const work = () => world.obtain(enterpriseAuthorization(byIssuer));
      const error = await assertRejects(work, AuthorizationError, 'expected "token_endpoint" to be an https URL');
      assertStringIncludes(error.message, `the metadata of the identity provider "${idp}"`);
      assertEquals(world.seen.some(({ method }) => method === "POST"), false);
    }
  });

  test("metadata that leads into the private network, and metadata of another issuer", async () => {
    for (const endpoint of ["https://10.0.0.1/token", "https://[::1]/token", "https://router.local/token"]) {
      const world = worldWithMetadata({ issuer: idp, token_endpoint: endpoint });
      await assertRejects(() => world.obtain(enterpriseAuthorization(byIssuer)), EgressDeniedError);
      assertEquals(world.seen.some(({ method }) => method === "POST"), false);
    }
    const foreign = worldWithMetadata({ issuer: "https://evil.example", token_endpoint: idpToken });
    await assertRejects(() => foreign.obtain(enterpriseAuthorization(byIssuer)), AuthorizationError, idp);
    assertEquals(foreign.seen.some(({ method }) => method === "POST"), false);
  });

  test("secrets do not follow a redirect to another origin; a broken connection is not hidden", async () => {
    const moved = worldOf(() =>
      new Response(null, { status: 307, headers: { location: "https://evil.example/token" } })
    );
    await assertRejects(() => moved.obtain(enterpriseAuthorization(options)), Error, "redirect");
    assertEquals(moved.seen.map(({ url }) => url), [idpToken]);
    const broken = worldOf(() => Promise.reject(new TypeError("connection reset")));
    await assertRejects(() => broken.obtain(enterpriseAuthorization(options)), ConnectionClosedError);
    assertEquals(broken.seen.length, 1);
  });

  test("what the server then says of the grant is its own matter: one request, no other way", async () => {
    const world = worldOf();
    world.servers.set(tokenEndpoint, () => refusal("invalid_grant"));
    const error = await assertRejects(() => world.obtain(enterpriseAuthorization(options)), AuthorizationError);
    assertEquals([error.error, world.seen.length], ["invalid_grant", 2]);
  });
});

describe("options of enterprise authorization", () => {
  test("what makes no sense is refused at once, and no secret is shown", () => {
    const provider = options.identityProvider;
    const bad: [object, string][] = [
      [{ clientId: "" }, '"clientId"'],
      [{ identityProvider: undefined }, '"identityProvider"'],
      [{ identityProvider: { clientId: "a" } }, '"issuer" or "tokenEndpoint"'],
      [{ identityProvider: { ...provider, clientId: undefined } }, '"clientId"'],
      [{ identityProvider: { ...provider, tokenEndpoint: "http://login.example.org/token" } }, '"tokenEndpoint"'],
      [{ identityProvider: { ...provider, tokenEndpoint: 7 } }, '"tokenEndpoint"'],
      [{ identityProvider: { ...provider, issuer: "login.example.org" } }, '"issuer"'],
      [{ idToken: undefined }, '"idToken" or "subjectToken"'],
      [{ subjectToken: "s3cret" }, '"idToken" or "subjectToken"'],
      [{ idToken: "s3cret s3cret" }, '"idToken"'],
      [{ idToken: undefined, subjectToken: "", subjectTokenType: "saml2" }, '"subjectToken"'],
      [{ subjectTokenType: "access_token" }, '"subjectTokenType"'],
      [{ subjectTokenType: "saml2" }, '"subjectTokenType"'],
    ];
    for (const [changed, wanted] of bad) {
      const given = { ...options, ...changed } as EnterpriseAuthorizationOptions;
      const error = assertThrows(() => enterpriseAuthorization(given), TypeError, wanted);
      assertEquals(error.message.includes("s3cret"), false);
    }
    for (const url of ["http://127.0.0.1:8080/token", "http://localhost/token", "http://[::1]:1/token"]) {
      enterpriseAuthorization({ ...options, identityProvider: { ...provider, tokenEndpoint: url } });
    }
  });
});
