/** Documents that lie about who they are, and where things are: nobody is sent there, and nothing is asked for. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import { legacyDiscovery } from "../../../src/auth/mod.ts";
import { EgressDeniedError } from "../../../src/protocol/errors.ts";
import { createParty, type Party } from "../sign_in/parties.ts";
import { answerJson, redirect } from "../world/faults.ts";
import { describeServer } from "../world/server/metadata.ts";
import { issuer, redirectUri, resourceUrl, type World, type WorldOptions } from "../world/world.ts";
import { attack, denialOf, hitsOf, refusalOf, strangers } from "./attack.ts";
import { hostile } from "./hostile_urls.ts";

const resourcePlace = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
const serverPlace = `${issuer}/.well-known/oauth-authorization-server`;

/** All that went further than documents. */
function spoils(world: World, ...more: string[]): string[] {
  const registered = world.log.of("/register").map(({ url }) => `POST ${url}`);
  return [...hitsOf(world, ...more), ...registered, ...world.person.visits];
}

/** A sign-in with these documents is denied before anything happens. */
async function denied(options: WorldOptions, arrange?: (party: Party) => void): Promise<readonly string[]> {
  const party = await createParty({}, options);
  arrange?.(party);
  await denialOf(party.oauth.signIn(resourceUrl));
  assertEquals(await party.oauth.status(resourceUrl), undefined);
  return spoils(party.world);
}

const notUrls = ["", "evil", "/token", "//evil.example/token", "https://", "https://[::1", "https://a b.example/"];
const badUrls = [
  ...notUrls,
  "http://auth.example.com/x",
  "http://evil.example/token",
  "javascript:alert(1)",
  "data:application/json,{}",
  "file:///etc/passwd",
  "blob:https://auth.example.com/token",
  "ftp://evil.example/token",
  "ws://evil.example/token",
  "mailto:a@evil.example",
  "https://user@evil.example/token",
  "https://user:pass@evil.example/token",
  "https://auth.example.com@127.0.0.1/token",
  "https://127.0.0.1/token",
  "https://localhost/token",
  "https://[::1]/token",
  "https://169.254.169.254/latest/meta-data",
  "https://metadata.google.internal/token",
];

describe("attacks on the metadata of an authorization server", () => {
  const issuers: Record<string, unknown> = {
    another: "https://evil.example",
    "with a slash": `${issuer}/`,
    "with the usual port": `${issuer}:443`,
    "in capitals": "https://AUTH.example.com",
    "over http": "http://auth.example.com",
    "percent-encoded": "https://auth.example.co%6d",
    "with a path": `${issuer}/tenant`,
    "with a query": `${issuer}?`,
    "with a blank": ` ${issuer}`,
    "none": undefined,
    "null": null,
    "empty": "",
    "a number": 1,
    "a list": [issuer],
    "an object": { issuer },
  };
  attack("its issuer is another", issuers, async (value) => await denied({ server: { metadata: { issuer: value } } }));

  test("and the error says what was found, and what was expected", async () => {
    const { oauth } = await createParty({}, { server: { metadata: { issuer: "https://evil.example" } } });
    const { message } = await denialOf(oauth.signIn(resourceUrl));
    for (const part of [`"${issuer}"`, '"issuer"', '"https://evil.example"']) assertStringIncludes(message, part);
  });

  const endpoints = ["authorization", "token", "registration", "revocation", "device_authorization"];
  for (const name of endpoints.map((name) => `${name}_endpoint`)) {
    attack(name, badUrls, async (url) => await denied({ server: { metadata: { [name]: url } } }));
  }

  attack(
    "endpoints that are missing",
    ["authorization_endpoint", "token_endpoint", "registration_endpoint"],
    (name) => denied({ server: { metadata: { [name]: undefined } } }),
  );

  const pkce: Record<string, unknown> = {
    absent: undefined,
    null: null,
    empty: [],
    "plain alone": ["plain"],
    "in small letters": ["s256"],
    "with a blank": ["S256 "],
    another: ["S512"],
    "a text": "S256",
    "a list in a list": [["S256"]],
  };
  attack("no S256", pkce, async (value) => {
    return await denied({ server: { metadata: { code_challenge_methods_supported: value } } });
  });
});

describe("attacks on the metadata of a server of 2025-03-26", () => {
  const origin = "https://mcp.example.com";
  const places = { header: false, path: false, root: false };
  /** A sign-in with the document that the MCP server has of itself as an authorization server. */
  async function signInWith(document: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
    const { world, oauth } = await createParty({ fallback: legacyDiscovery }, { resource: { places } });
    world.fault(`${origin}/.well-known/oauth-authorization-server`, answerJson(document), 9);
    await denialOf(oauth.signIn(resourceUrl));
    return spoils(world);
  }
  const paths = { authorization: "authorize", token: "token", registration: "register" };
  const endpoints = Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [`${name}_endpoint`, `${origin}/${path}`]),
  );

  const issuers = ["https://evil.example", `${origin}:443`, `${origin}/mcp`, "http://mcp.example.com", "", 1, null, [
    origin,
  ]];
  attack("its issuer is another", issuers, (issuer) => signInWith({ ...endpoints, issuer }));

  for (const name of ["authorization_endpoint", "token_endpoint", "registration_endpoint"]) {
    attack(name, badUrls, (url) => signInWith({ ...endpoints, issuer: origin, [name]: url }));
  }

  const methods = [[], ["plain"], ["s256"], "S256"];
  attack("another way than S256", methods, (code_challenge_methods_supported) => {
    return signInWith({ ...endpoints, issuer: origin, code_challenge_methods_supported });
  });
});

describe("attacks on the authorization endpoint", () => {
  const injected = [
    "?",
    "?a=b",
    "?state=evil&state=more",
    "?client_id=evil",
    "#x",
    "?redirect_uri=https://evil.example/",
    "?&&",
  ]
    .map((end) => `https://as.example/authorize${end}`);
  const texts = [...new Set([...hostile, ...injected])];

  attack("what stands in its place", texts, async (endpoint) => {
    const { world, oauth } = await createParty({}, { server: { metadata: { authorization_endpoint: endpoint } } });
    const begun = await oauth.begin(resourceUrl).catch((error: unknown) => denialOf(Promise.reject(error)));
    if (begun instanceof Error) return spoils(world);
    const { authorizationUrl } = begun;
    const url = new URL(authorizationUrl);
    assert(/^https:\/\/[\w.-]+\/[!-~]*$/.test(authorizationUrl), authorizationUrl);
    assertEquals([url.username, url.password, url.hash, url.protocol], ["", "", "", "https:"]);
    assert(!/["'<>`\\^|]/.test(url.hostname + url.search), authorizationUrl);
    for (const name of ["state", "client_id", "redirect_uri", "code_challenge", "code_challenge_method"]) {
      assertEquals(url.searchParams.getAll(name).length, 1, authorizationUrl);
    }
    assertEquals(url.searchParams.get("redirect_uri"), redirectUri);
    assert(/^[0-9a-f]{64}$/.test(url.searchParams.get("state") ?? ""));
    return hitsOf(world);
  });

  test("most of them are refused, and harmless ones are not", async () => {
    assertGreater(texts.length, 500);
    let refused = 0;
    for (const endpoint of texts) {
      const { oauth } = await createParty({}, { server: { metadata: { authorization_endpoint: endpoint } } });
      await oauth.begin(resourceUrl).catch(() => refused++);
    }
    assert(refused > 350 && refused < texts.length - 20, `${refused} of ${texts.length}`);
  });
});

describe("attacks on the metadata of the resource", () => {
  const own = "https://mcp.example.com";
  const resources: readonly unknown[] = [
    ...["https://evil.example/mcp", "https://mcp.example.com.evil.example/mcp", "https://example.com/mcp"],
    ...[`${own}:8443/mcp`, "http://mcp.example.com/mcp", `${own}./mcp`, "https://evil.mcp.example.com/mcp"],
    ...[`${own}/mcp2`, `${own}/mc`, `${own}/MCP`, `${own}/mcp/a`, `${own}/m%63p`, `${own}/mcp/../other`, `${own}//mcp`],
    ...[`${own}/mcp#x`, `${own}/mcp#`, `${own}/#/mcp`, "https://user@mcp.example.com/mcp"],
    ...["https://user:pass@mcp.example.com/mcp", "https://:pass@mcp.example.com/mcp"],
    ...["", "mcp.example.com/mcp", "/mcp", "//mcp.example.com/mcp", "javascript:alert(1)", "data:,a"],
    ...[`blob:${own}/mcp`, "wss://mcp.example.com/mcp", "urn:mcp", null, undefined, 1, true, [`${own}/mcp`], {}],
  ];
  attack("resource is another", resources, (resource) => denied({ resource: { metadata: { resource } } }));

  for (const good of [resourceUrl, own, `${own}/`, `${own}/mcp/`, "https://MCP.example.com/mcp", `${own}:443/mcp`]) {
    test(`resource ${good} is the server's own, and is sent as it is written`, async () => {
      const { world, oauth } = await createParty({}, { resource: { metadata: { resource: good } } });
      assertEquals((await oauth.signIn(resourceUrl)).resource, good);
      const [visit = ""] = world.person.visits;
      assertEquals(new URL(visit).searchParams.get("resource"), good);
      assertEquals(world.log.tokens().map(({ form }) => form.get("resource")), [good]);
    });
  }

  const servers: readonly unknown[] = [
    ...[undefined, null, [], {}, issuer, 1, [1], [null], [[issuer]], [""], ["evil"], [issuer, "evil"], [issuer, 1]],
    ...badUrls.map((url) => [url]),
    ...[`${issuer}?a=b`, `${issuer}#a`, `${issuer}?`, `${issuer}#`].map((url) => [url]),
  ];
  attack("authorization_servers", servers, (value) => {
    return denied({ resource: { metadata: { authorization_servers: value } } });
  });

  test("of a hundred servers one is asked", async () => {
    const many = Array.from({ length: 100 }, (_, index) => `https://as-${index}.example`);
    const { world, oauth } = await createParty({}, { resource: { metadata: { authorization_servers: many } } });
    await denialOf(oauth.signIn(resourceUrl));
    assertEquals(new Set(strangers(world).map((hit) => new URL(hit.slice(4)).host)), new Set(["as-0.example"]));
    assert(world.log.all.length < 6, `${world.log.all.length}`);
  });

  const places = [
    ...["/meta", "meta", "//evil.example/meta", "http://mcp.example.com/meta", "http://evil.example/meta"],
    ...["https://127.0.0.1/meta", "https://localhost/meta", "https://[::1]/meta", "https://169.254.169.254/meta"],
    ...["https://user:pass@mcp.example.com/meta", "javascript:alert(1)", "data:application/json,{}", "file:///etc/x"],
  ];
  attack("resource_metadata of the challenge", places, async (text) => {
    const { world, oauth } = await createParty({}, { resource: { metadataUrl: { text } } });
    const error = await refusalOf(oauth.signIn(resourceUrl));
    assert(error instanceof EgressDeniedError, error.name);
    return spoils(world);
  });

  const elsewhere = "https://evil.example/meta";
  test("a document on another host may speak for the server that named it, and for nobody else", async () => {
    const { world, oauth } = await createParty({}, { resource: { metadataUrl: { text: elsewhere } } });
    world.documents.set(elsewhere, { resource: "https://evil.example/mcp", authorization_servers: [issuer] });
    await denialOf(oauth.signIn(resourceUrl));
    assertEquals(spoils(world, "https://evil.example"), []);
    world.documents.set(elsewhere, { resource: resourceUrl, authorization_servers: [issuer] });
    assertEquals((await oauth.signIn(resourceUrl)).resource, resourceUrl);
  });
});

describe("attacks with wrong types", () => {
  const urls = ["authorization", "token", "registration", "revocation", "device_authorization"];
  const lists = ["scopes", "grant_types", "code_challenge_methods", "token_endpoint_auth_methods"];
  lists.push("authorization_grant_profiles", "dpop_signing_alg_values");
  const flags = ["client_id_metadata_document", "authorization_response_iss_parameter"];
  const wrong = (fields: readonly string[], values: readonly unknown[], expected: string) =>
    fields.flatMap((field) => values.map((value) => ({ field, value, expected })));
  const cases = [
    ...wrong(
      urls.map((name) => `${name}_endpoint`),
      [1, true, [], ["https://a.example"], {}],
      "a public https URL: it is no text",
    ),
    ...wrong(urls.map((name) => `${name}_endpoint`), ["a"], "a public https URL: it is not an absolute URL"),
    ...wrong(lists.map((name) => `${name}_supported`), [1, true, "S256", {}, [1], [null], [["a"]]], "a list of texts"),
    ...wrong(flags.map((name) => `${name}_supported`), [1, 0, "true", [], {}], "true or false"),
  ];
  attack("in the server's document", cases, async ({ field, value, expected }) => {
    const { world, oauth } = await createParty({}, { server: { metadata: { [field]: value } } });
    const { message } = await denialOf(oauth.signIn(resourceUrl));
    const said = `Cannot use the metadata of "${issuer}": "${field}" is ${JSON.stringify(value)}, expected ${expected}`;
    assertEquals(message, said);
    return spoils(world);
  });

  const own = [
    ...wrong(["resource"], [1, true, [], {}, "a"], "the server's own URL"),
    ...wrong(["authorization_servers"], [1, true, "a", {}, [], [1], ["a"]], "a list of issuers"),
    ...wrong(["scopes_supported"], [1, true, "a", {}, [1], [["a"]]], "a list of texts"),
  ];
  attack("in the resource's document", own, async ({ field, value, expected }) => {
    const { world, oauth } = await createParty({}, { resource: { metadata: { [field]: value } } });
    const { message } = await denialOf(oauth.signIn(resourceUrl));
    const said = `Cannot use the resource metadata of "${resourceUrl}": "${field}" is ${JSON.stringify(value)}`;
    assertEquals(message, `${said}, expected ${expected}`);
    return spoils(world);
  });

  attack(
    "no object at all",
    ["null", "[]", "1", '"a"', "", "<html>", "{", "{}", '{"__proto__":{"issuer":"a"}}'],
    async (text) => {
      const hits: string[] = [];
      for (const place of [resourcePlace, serverPlace]) {
        const { world, oauth } = await createParty();
        world.fault(place, () => new Response(text));
        await denialOf(oauth.signIn(resourceUrl));
        hits.push(...spoils(world));
      }
      return hits;
    },
  );
});

describe("redirects of documents", () => {
  const documents: Record<string, (world: World) => unknown> = {
    [resourcePlace]: () => ({ resource: resourceUrl, authorization_servers: [issuer] }),
    [serverPlace]: ({ server }) => describeServer(issuer, server.knobs),
  };
  const hop = (index: number) => `https://hop-${index}.example/document`;
  const hops = Array.from({ length: 5 }, (_, index) => hop(index));

  for (const [place, describe] of Object.entries(documents)) {
    const what = place === serverPlace ? "the server's" : "the resource's";
    for (const count of [0, 1, 2, 3, 4, 5]) {
      test(`${what}: ${count} in a row ${count > 3 ? "are too many" : "are followed"}`, async () => {
        const { world, oauth } = await createParty();
        const chain = [place, ...hops].slice(0, count + 1);
        chain.forEach((url, index) => {
          const next = chain[index + 1];
          world.fault(url, next === undefined ? answerJson(describe(world)) : redirect(next), 99);
        });
        if (count < 4) {
          assertEquals((await oauth.signIn(resourceUrl)).issuer, issuer);
          return;
        }
        await denialOf(oauth.signIn(resourceUrl));
        assertEquals(spoils(world, ...hops.map((url) => new URL(url).origin)), []);
        assertEquals(strangers(world).length, 3);
      });
    }

    const targets = ["http://evil.example/x", "https://127.0.0.1/x", "https://[::1]/x", "https://10.0.0.1/x"];
    targets.push("javascript:alert(1)", "data:,x", "file:///x", "https://a:b@evil.example/", "https://", "http:x");
    attack(`${what}: to where nobody should go`, targets, async (target) => {
      const hits: string[] = [];
      for (const status of [301, 302, 303, 307, 308] as const) {
        for (const entry of [place, hop(0)]) {
          const { world, oauth } = await createParty();
          if (entry !== place) world.fault(place, redirect(entry));
          world.fault(entry, redirect(target, status), 99);
          await denialOf(oauth.signIn(resourceUrl));
          hits.push(...spoils(world, new URL(hop(0)).origin));
        }
      }
      return hits;
    });

    attack(`${what}: in a circle`, [[place], [place, hop(0)], [place, hop(0), hop(1)]], async (circle) => {
      const { world, oauth } = await createParty();
      circle.forEach((url, index) => world.fault(url, redirect(circle[(index + 1) % circle.length] ?? ""), 99));
      await denialOf(oauth.signIn(resourceUrl));
      assert(world.log.all.length < 8, `${world.log.all.length} requests`);
      return spoils(world, ...hops.map((url) => new URL(url).origin));
    });
  }
});
