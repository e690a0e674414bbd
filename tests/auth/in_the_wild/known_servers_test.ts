/**
 * Authorization servers that do not say all that they have to, or say otherwise (Microsoft Entra ID, Amazon Cognito, Slack, Meta):
 * they are refused, unless the operator says what is so (`knownServers`).
 */
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { type KnownServer, knownServers } from "../../../src/auth/mod.ts";
import type { ServerDiscovery } from "../../../src/auth/mod.ts";
import { AuthorizationError, EgressDeniedError } from "../../../src/protocol/errors.ts";
import { createParty, type Party } from "../sign_in/parties.ts";
import { issuer, redirectUri, resourceUrl, type WorldOptions } from "../world/world.ts";

const client = { clientId: "known", clientSecret: "s3cret-of-known", issuer };
/** It knows PKCE and does not say so, refuses a `resource`, and registers nobody. */
const entra: WorldOptions = {
  server: {
    metadata: { code_challenge_methods_supported: undefined },
    resources: [],
    registration: false,
    needsResource: false,
  },
  resource: { takesUnbound: true },
};
const knowsPkce = { metadata: { code_challenge_methods_supported: ["S256"] } };

async function arrange(known: KnownServer, options: WorldOptions = entra): Promise<Party> {
  const party = await createParty({ client, discover: knownServers({ [resourceUrl]: known }) }, options);
  party.world.server.clients.add({ id: client.clientId, secret: client.clientSecret, redirectUris: [redirectUri] });
  return party;
}

/** What was sent as `resource`, wherever it was. */
const resources = ({ world }: Party): (string | null)[] => {
  const asked = world.log.all.filter(({ url }) => /\/(authorize|token)$/.test(url.pathname));
  return asked.map(({ url, form }) => url.searchParams.get("resource") ?? form.get("resource"));
};

/** Calls the server, and once more when the token is over. */
async function useIt({ open, world }: Party): Promise<void> {
  await using mcp = await open();
  await mcp.listTools();
  await world.clock.advance(3_600_000);
  await mcp.listTools();
  assertEquals(world.person.visits.length, 1);
  assertEquals(world.log.tokens("refresh_token").length, 1);
}

describe("an authorization server that the operator knows", () => {
  test("as it is, nobody gets a token there", async () => {
    const { oauth } = await createParty({ client }, entra);
    const { message } = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
    assertStringIncludes(message, "code_challenge_methods_supported");
  });

  test("knows PKCE without saying so, and takes no resource: none is sent, refreshing neither", async () => {
    const party = await arrange({ issuer, ...knowsPkce, resource: "" });
    await useIt(party);
    assertEquals(resources(party), [null, null, null]);
    assertEquals((await party.oauth.status(resourceUrl))?.resource, undefined);
    assertEquals(party.world.log.of(({ url }) => url.pathname.includes("oauth-protected-resource")).length, 0);
  });

  test("gives tokens for another name of the resource: that is sent", async () => {
    const resource = "api://mcp.example.com";
    const options = { ...entra, server: { ...entra.server, resources: [resource] }, resource: { resource } };
    const party = await arrange({ issuer, ...knowsPkce, resource }, options);
    await useIt(party);
    assertEquals(resources(party), [resource, resource, resource]);
  });

  test("is sent the server's own URL as the resource, where nothing is said of it", async () => {
    const party = await arrange({ issuer, ...knowsPkce }, {
      ...entra,
      server: { ...entra.server, resources: undefined },
    });
    await useIt(party);
    assertEquals(resources(party), [resourceUrl, resourceUrl, resourceUrl]);
  });

  test("is asked for the scopes of the challenge, and where it names none for those that are known", async () => {
    for (const scope of [undefined, "files:read"]) {
      const party = await arrange({ issuer, ...knowsPkce, resource: "", scopes: ["mcp:use"] }, {
        ...entra,
        resource: { takesUnbound: true, scope },
      });
      await useIt(party);
      const [first] = party.world.log.of("/authorize");
      assertEquals(first?.url.searchParams.get("scope")?.split(" ")[0], scope ?? "mcp:use");
    }
  });

  test("has its metadata elsewhere, which names an issuer of another origin", async () => {
    const metadataUrl = "https://documents.example.com/metadata.json";
    for (const known of [{ metadataUrl }, { metadataUrl, issuer }]) {
      const party = await arrange(known, { resource: { places: { header: false, path: false, root: false } } });
      party.world.documents.set(metadataUrl, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        code_challenge_methods_supported: ["S256"],
      });
      await useIt(party);
      assertEquals((await party.oauth.status(resourceUrl))?.issuer, issuer);
      assertEquals(party.world.log.metadata().length, 0);
    }
  });

  test("has no metadata at all: with both endpoints nothing is fetched", async () => {
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    const party = await arrange({ issuer, metadata: { ...endpoints, ...knowsPkce.metadata }, resource: "" });
    await useIt(party);
    assertEquals(party.world.log.metadata().length, 0);
  });

  test("is known for that server alone, however its address is written", async () => {
    const party = await arrange({ issuer, ...knowsPkce, resource: "" });
    for (const written of ["HTTPS://MCP.example.com:443/mcp#x", "wss://mcp.example.com/mcp"]) {
      const discover = knownServers({ [written]: { issuer, ...knowsPkce, resource: "" } });
      for (const server of [resourceUrl, "wss://mcp.example.com/mcp"]) await party.another({ discover }).signIn(server);
    }
    const other = party.world.addResource({ url: "https://other.example.com/mcp", servers: [party.world.server] });
    const { message } = await assertRejects(() => party.oauth.signIn(other.url), AuthorizationError);
    assertStringIncludes(message, "code_challenge_methods_supported");
  });

  test("does not end a sign-in that another one answers", async () => {
    const party = await arrange({ issuer, ...knowsPkce, resource: "" }, {
      ...entra,
      server: { ...entra.server, iss: { wrong: "https://evil.example.com" } },
    });
    const { message } = await assertRejects(() => party.oauth.signIn(resourceUrl), AuthorizationError);
    assertStringIncludes(message, `the callback is not from "${issuer}"`);
    assertEquals(party.world.log.tokens(), []);
  });

  const metadataUrl = "https://documents.example.com/metadata.json";
  const wrong: Readonly<Record<string, readonly [known: KnownServer, document: unknown, message: string]>> = {
    "names another issuer": [
      { metadataUrl, issuer },
      { issuer: "https://evil.example.com" },
      `got the issuer "https://evil.example.com" at "${metadataUrl}", expected that of "${issuer}"`,
    ],
    "names none": [{ metadataUrl }, {}, "got the issuer undefined"],
    "is no object": [{ metadataUrl }, [], "got no JSON object"],
    "is not there": [{ metadataUrl }, undefined, "got status 404"],
    "has an endpoint that nobody should open": [
      { metadataUrl },
      { issuer, authorization_endpoint: "http://10.0.0.1/authorize" },
      `"authorization_endpoint" is "http://10.0.0.1/authorize"`,
    ],
  };
  for (const [what, [known, document, expected]] of Object.entries(wrong)) {
    test(`has a document that ${what}: refused, and the error says which`, async () => {
      const party = await arrange(known);
      if (document !== undefined) party.world.documents.set(metadataUrl, document);
      const { message } = await assertRejects(() => party.oauth.signIn(resourceUrl), AuthorizationError);
      assertStringIncludes(message, expected);
      assertEquals(party.world.person.visits, []);
    });
  }

  test("has a document at a private address: not asked, unless it is allowed", async () => {
    const party = await arrange({ metadataUrl: "https://10.0.0.1/metadata.json" });
    await assertRejects(() => party.oauth.signIn(resourceUrl), EgressDeniedError);
    assertEquals(party.world.log.of(({ url }) => url.hostname === "10.0.0.1"), []);
  });

  test("has metadata of the operator that is no metadata: the error names the field", async () => {
    const metadata = { code_challenge_methods_supported: "S256" as unknown as string[] };
    const party = await arrange({ issuer, metadata, resource: "" });
    const { message } = await assertRejects(() => party.oauth.signIn(resourceUrl), AuthorizationError);
    assertStringIncludes(message, '"code_challenge_methods_supported" is "S256", expected a list of texts');
  });
});

describe("knownServers", () => {
  const entries: Readonly<Record<string, readonly [entry: unknown, message: string]>> = {
    "no entry": [null, "its entry is no object"],
    "nothing of an authorization server": [
      { resource: "" },
      '"issuer" is undefined: expected a URL, or one as "metadataUrl"',
    ],
    "an issuer that is no URL": [{ issuer: "auth" }, '"issuer" is "auth": expected a URL'],
    "a place that is no URL": [{ metadataUrl: 7 }, '"metadataUrl" is 7: expected a URL'],
    "metadata that is none": [{ issuer, metadata: "S256" }, '"metadata" is "S256": expected an object'],
    "an issuer within the metadata": [{ issuer, metadata: { issuer } }, '"metadata" is {"issuer":'],
    "a resource that is none": [{ issuer, resource: false }, '"resource" is false: expected a text'],
    "scopes in one text": [{ issuer, scopes: "a b" }, '"scopes" is "a b": expected a list of texts'],
    "an unknown field": [{ issuer, audience: "x" }, '"audience" is unknown: expected "issuer", "metadataUrl"'],
  };
  for (const [what, [entry, expected]] of Object.entries(entries)) {
    test(`${what}: one error that names the server and the field`, () => {
      const { message } = assertThrows(() => knownServers({ [resourceUrl]: entry as KnownServer }), TypeError);
      assertStringIncludes(message, `Cannot use the known server "${resourceUrl}": `);
      assertStringIncludes(message, expected);
    });
  }

  test("a server that is no URL", () => {
    const { message } = assertThrows(() => knownServers({ "mcp.example.com": { issuer } }), TypeError);
    assertStringIncludes(message, 'the known server "mcp.example.com": it is no URL');
  });
});

describe("a discovery of the program's own", () => {
  test("is asked for each server; where it gives nothing, the usual way is taken", async () => {
    const asked: string[] = [];
    const { oauth, world } = await createParty({ discover: (server) => void asked.push(server) });
    await oauth.signIn(resourceUrl);
    assertEquals(asked, [resourceUrl]);
    assertEquals(world.log.of(({ url }) => url.pathname.includes("oauth-protected-resource")).length, 1);
  });

  test("that fails ends the sign-in, and the call, with its reason", async () => {
    const discover: ServerDiscovery = () => Promise.reject(new Error("the table of servers is away"));
    const { open } = await createParty({ discover });
    const { message } = await assertRejects(() => open(), AuthorizationError);
    assertStringIncludes(message, "the table of servers is away");
  });
});
