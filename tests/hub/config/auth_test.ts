/** How a config wants one to sign in, as what signs in. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStrictEquals, assertThrows } from "@std/assert";
import { configuredGrant, createOAuth, knownServers } from "../../../src/auth/mod.ts";
import type { OAuth } from "../../../src/auth/mod.ts";
import type { GuardedFetch } from "../../../src/egress/guarded_fetch.ts";
import { authForConfig } from "../../../src/hub/config/auth.ts";
import type { SignInSettings } from "../../../src/hub/config/sign_in_settings.ts";
import { readHubConfig } from "../../../src/hub/config/read.ts";
import { createWorld, redirectUri, resourceUrl } from "../../auth/world/world.ts";
import { createSigner } from "../../auth/world/jwt.ts";
import { openHub, stateOf } from "../support.ts";

const url = "https://one.example/mcp";

/** What `create` was asked for, by the servers that made it necessary. */
function made(mcpServers: Record<string, object>) {
  const { servers, problems } = readHubConfig({ mcpServers }, { environment: { SECRET: "s3cret" } });
  assertEquals(problems, []);
  const settings: Record<string, SignInSettings> = {};
  const auth = authForConfig(servers, (own, server) => {
    settings[server] = own;
    return createOAuth({ redirectUri, ...own });
  }, { grant: configuredGrant, discover: knownServers });
  return { auth, settings };
}

describe("authForConfig", () => {
  test("a program signs in by its secret or its key, which come from variables alone", async () => {
    const grant = { type: "client_credentials", clientId: "nightly", issuer: "https://as.example", scopes: "read" };
    const { settings, auth } = made({ secret: { url, auth: { ...grant, clientSecret: "${env:SECRET}" } } });
    assert(auth("secret"));
    const { grant: made1, ...rest } = settings.secret ?? {};
    assertEquals(rest, { scopes: ["read"] });
    assertEquals(made1?.client, { clientId: "nightly", clientSecret: "s3cret", issuer: "https://as.example" });
    const { privateKey } = await createSigner();
    const jwk = JSON.stringify(await crypto.subtle.exportKey("jwk", privateKey));
    const text = { mcpServers: { key: { url, auth: { ...grant, privateKey: "${KEY}", keyId: "k1" } } } };
    const { servers, problems } = readHubConfig(text, { environment: { KEY: jwk } });
    assertEquals([problems, servers.key?.secrets.includes(jwk)], [[], true]);
    let own: SignInSettings | undefined;
    const create = (settings: SignInSettings) => createOAuth({ redirectUri, ...own = settings });
    authForConfig(servers, create, { grant: configuredGrant })("key");
    assertEquals([typeof own?.grant?.client?.authenticate, own?.grant?.client?.clientSecret], ["function", undefined]);
    assertThrows(() => authForConfig(servers, create)("key"), TypeError, '"grant: configuredGrant"');
  });

  test("what is wrong with a program is told by its field, and never the secret", () => {
    const grant = { type: "client_credentials", clientId: "nightly", issuer: "https://as.example" };
    const cases: [object, string, RegExp][] = [
      [{ ...grant, clientSecret: "pl4in" }, "auth.clientSecret", /it stands in the file: put it into a variable/],
      [{ ...grant, privateKey: "${KEY:-pl4in}" }, "auth.privateKey", /it stands in the file/],
      [{ ...grant }, "auth", /expected either "clientSecret" or "privateKey"/],
      [{ ...grant, clientSecret: "${SECRET}", privateKey: "${SECRET}" }, "auth", /expected either "clientSecret"/],
      [{ ...grant, clientId: undefined, clientSecret: "${SECRET}" }, "auth.clientId", /it is missing/],
      [{ ...grant, clientSecret: "${MISSING}" }, "auth.clientSecret", /MISSING/],
      [{ ...grant, issuer: "as", clientSecret: "${SECRET}" }, "auth.issuer", /this is no URL/],
    ];
    for (const [auth, field, says] of cases) {
      const read = readHubConfig({ mcpServers: { one: { url, auth } } }, { environment: { SECRET: "s3cret" } });
      assertEquals([read.servers, read.problems[0]?.field], [{}, field]);
      assertMatch(read.problems[0]?.message ?? "", says);
      assertEquals(/pl4in|s3cret/.test(read.problems.map(({ message }) => message).join()), false);
    }
    const open = { ...grant, issuer: undefined, clientSecret: "${SECRET}" };
    const { servers, problems } = readHubConfig({ mcpServers: { open: { url, auth: open } } }, {
      environment: { SECRET: "s3cret" },
    });
    assertEquals([Object.keys(servers), problems[0]?.severity, problems[0]?.field], [
      ["open"],
      "warning",
      "auth.issuer",
    ]);
  });

  test("what a config says of a client, its scopes and where the browser comes back to", () => {
    const { auth, settings } = made({
      whole: {
        url,
        auth: {
          clientId: "mine",
          clientSecret: "${SECRET}",
          issuer: "https://as.example",
          scopes: ["read"],
          redirectUri: "http://127.0.0.1:8085/back",
          callbackPort: 8086,
        },
      },
      port: { url, oauth: { callbackPort: 8086 } },
      unset: { url, oauth: { type: null, token: null, clientId: "mine", scopes: null, callbackPort: null } },
      document: { url, oauth: { clientMetadataUrl: "https://app.example/client.json", scopes: "read write" } },
      secret: { url, oauth: { clientSecret: "${SECRET}" } },
    });
    const all = ["whole", "port", "unset", "document", "secret"].map(auth);
    assertEquals([all.includes(undefined), new Set(all).size], [false, 5]);
    assertEquals(settings, {
      whole: {
        client: { clientId: "mine", clientSecret: "s3cret", issuer: "https://as.example" },
        scopes: ["read"],
        redirectUri: "http://127.0.0.1:8085/back",
      },
      port: { redirectUri: "http://localhost:8086/callback" },
      unset: { client: { clientId: "mine", clientSecret: undefined, issuer: undefined } },
      document: { clientMetadataUrl: "https://app.example/client.json", scopes: ["read", "write"] },
      // A secret of nobody.
      secret: {},
    });
  });

  test("what a config knows of an authorization server, under our names and under those of others", async () => {
    const issuer = "https://as.example";
    const endpoints = { authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` };
    const metadata = { ...endpoints, code_challenge_methods_supported: ["S256"] };
    const program = { type: "client_credentials", clientId: "nightly", clientSecret: "${SECRET}", issuer };
    const places = { authServerMetadataUrl: "https://documents.example/theirs.json" };
    const { auth, settings } = made({
      plain: { url, oauth: { issuer, metadata, resource: "" } },
      named: { url, oauth: { issuer, metadata, resource: "${SECRET}" } },
      program: { url, auth: { ...program, metadata, resource: "api://one" } },
      theirs: { url, oauth: places },
      socket: { url: "wss://one.example/mcp", oauth: { issuer, metadata } },
    });
    for (const name of ["plain", "named", "program", "theirs", "socket"]) assert(auth(name));
    const asked: string[] = [];
    const fetch: GuardedFetch = async (address) => {
      asked.push(address);
      const body = await Promise.resolve(new Uint8Array());
      return { status: 200, headers: new Headers(), text: JSON.stringify({ issuer }), body, url: address };
    };
    const found = async (name: string) => await settings[name]?.discover?.(url, fetch);
    assertEquals(await found("plain"), { metadata: { ...metadata, issuer }, resource: undefined, scopes: undefined });
    assertEquals((await found("named"))?.resource, "s3cret");
    assertEquals((await found("program"))?.resource, "api://one");
    assertEquals((await found("socket"))?.resource, url);
    assertEquals([settings.plain?.issuers, settings.program?.issuers, asked], [[issuer], undefined, []]);
    assertEquals(await found("theirs"), { metadata: { issuer }, resource: url, scopes: undefined });
    assertEquals(asked, [places.authServerMetadataUrl]);
    assertEquals(await settings.plain?.discover?.("https://other.example/mcp", fetch), undefined);
  });

  test("what a config knows of an authorization server is not lost where nothing is made of it", () => {
    const read = readHubConfig({ mcpServers: { one: { url, oauth: { metadataUrl: "https://as.example/m" } } } }, {
      environment: {},
    });
    const auth = authForConfig(read.servers, (own) => createOAuth({ redirectUri, ...own }));
    assertThrows(() => auth("one"), TypeError, 'Cannot sign in to "one" at the authorization server of its config: ');
    assertThrows(() => auth("one"), TypeError, '"discover: knownServers" of @causeway/mcp/auth');
  });

  test("one for all that say nothing of their own, each time the same; none where nobody is to sign in", () => {
    const { auth, settings } = made({
      one: { url },
      two: { url, auth: true },
      own: { url, oauth: { scopes: ["read"] } },
      off: { url, auth: "none" },
      bearer: { url, auth: { type: "bearer", token: "t0ken" } },
      header: { url, headers: { AUTHORIZATION: "Basic eA==" } },
    });
    assert(auth("one") !== undefined);
    for (const name of ["two", "added later", "constructor"]) assertStrictEquals(auth(name), auth("one"));
    assert(auth("own") !== auth("one"));
    assertStrictEquals(auth("own"), auth("own"));
    assertEquals(["off", "bearer", "header"].map(auth), [undefined, undefined, undefined]);
    assertEquals(Object.keys(settings), ["one", "own"]);
  });

  test("a hub signs in with the client of each server's config", async () => {
    const world = await createWorld({ server: { registration: false } });
    world.server.clients.add({ id: "mine", secret: "s3cret", redirectUris: [redirectUri] });
    const text = JSON.stringify({
      mcpServers: {
        known: { url: resourceUrl, oauth: { clientId: "mine", clientSecret: "${SECRET}" } },
        stranger: { url: resourceUrl, maxRetries: 0 },
      },
    });
    const { servers } = readHubConfig(text, { environment: { SECRET: "s3cret" } });
    const { fetch, clock, person: { authorize } } = world;
    const auth = authForConfig(
      servers,
      (own, subject): OAuth => createOAuth({ redirectUri, fetch, clock, authorize, subject, ...own }),
    );
    await using hub = await openHub(servers, { auth, fetch, listen: false, stream: false });
    assertEquals([stateOf(hub, "known"), stateOf(hub, "stranger")], ["connected", "failed"]);
    assertEquals((await auth("known")?.status(resourceUrl))?.clientId, "mine");
  });
});
