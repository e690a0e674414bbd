/** Two authorization servers, one of them hostile: what belongs to one never goes to the other. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { OAuthOptions } from "../../../src/auth/mod.ts";
import { createParty, type Party } from "../sign_in/parties.ts";
import type { SeenRequest } from "../world/request_log.ts";
import type { AuthorizationServer } from "../world/server/server.ts";
import { type ServerKnobs, soundRegistration } from "../world/server/knobs.ts";
import { issuer, redirectUri, resourceUrl } from "../world/world.ts";
import { attack, denialOf, refusalOf, strangers } from "./attack.ts";

const evil = "https://evil.example";
const evilResource = "https://tools.evil.example/mcp";
const secret = "hunter22-hunter22-hunter22";

interface Parties extends Party {
  /** The honest server is `world.server`. */
  readonly hostile: AuthorizationServer;
}

/** An honest server and its resource, and a hostile one and its resource: one client signs in to both. */
async function createParties(options: OAuthOptions = {}, knobs: Partial<ServerKnobs> = {}): Promise<Parties> {
  const party = await createParty(options);
  const hostile = await party.world.addServer(evil, knobs);
  party.world.addResource({ url: evilResource, servers: [hostile] });
  return { ...party, hostile };
}

const toEvil = ({ url }: SeenRequest) => url.hostname.endsWith("evil.example");
const shown = (seen: readonly SeenRequest[]) => seen.map(({ method, url }) => `${method} ${url.href}`);
/** The requests to the hostile side that hold one of these texts. */
function leaks({ world }: Party, texts: readonly string[]): string[] {
  return texts.flatMap((text) => shown(world.log.holding(text).filter((seen) => seen.by === "client" && toEvil(seen))));
}
const basic = (id: string) => btoa(`${id}:${secret}`);

describe("mixing authorization servers up", () => {
  const honest = ["authorization", "registration", "token"] as const;
  const borrowed: Record<string, readonly (typeof honest)[number][]> = {
    "a page": ["authorization"],
    "a page and clients": ["authorization", "registration"],
    "clients": ["registration"],
    "a token endpoint": ["token"],
    "all but the page": ["registration", "token"],
    "all": ["authorization", "registration", "token"],
  };
  attack("a hostile server names what is the honest one's: the honest code stays here", borrowed, async (names) => {
    const paths = { authorization: "authorize", registration: "register", token: "token" };
    const metadata = Object.fromEntries(names.map((name) => [`${name}_endpoint`, `${issuer}/${paths[name]}`]));
    const party = await createParties({}, { metadata });
    const { world, oauth } = party;
    // The client that it has at the honest server is known to the hostile one as well.
    if (names.includes("authorization") && !names.includes("registration")) {
      party.hostile.knobs.registration = { ...soundRegistration(), reply: { client_id: "editor" } };
      world.server.clients.add({ id: "editor", redirectUris: [redirectUri] });
    }
    // Either this program refuses, or the person gets no further.
    await assertRejects(() => oauth.signIn(evilResource));
    assertEquals(await oauth.status(evilResource), undefined);
    const codes = [...world.server.issued.codes.keys()];
    return leaks(party, [...codes, ...world.server.issued.access.keys(), ...world.server.issued.refresh.keys()]);
  });

  attack("the same, where the hostile one says that it does not name itself", borrowed, async (names) => {
    const paths = { authorization: "authorize", registration: "register", token: "token" };
    const named = Object.fromEntries(names.map((name) => [`${name}_endpoint`, `${issuer}/${paths[name]}`]));
    const party = await createParties({}, {
      metadata: { ...named, authorization_response_iss_parameter_supported: false },
    });
    await assertRejects(() => party.oauth.signIn(evilResource));
    return leaks(party, [...party.world.server.issued.codes.keys()]);
  });

  test("where the honest one does not name itself either, what leaks is for the hostile resource alone", async () => {
    const metadata = { authorization_endpoint: `${issuer}/authorize`, registration_endpoint: `${issuer}/register` };
    const { world, oauth } = await createParties({}, {
      metadata: { ...metadata, authorization_response_iss_parameter_supported: undefined },
    });
    world.server.knobs.iss = "absent";
    await oauth.signIn(resourceUrl);
    await assertRejects(() => oauth.signIn(evilResource));
    const resources = [...world.server.issued.codes.values()].map(({ resource }) => resource);
    assertEquals(resources, [resourceUrl, evilResource]);
    const [own = ""] = world.server.issued.codes.keys();
    assertEquals(world.log.holding(own).filter(toEvil), []);
    assertEquals(world.log.of(`${evil}/token`).length, 1);
  });

  test("and the honest sign-in that waits finishes", async () => {
    const metadata = { authorization_endpoint: `${issuer}/authorize`, registration_endpoint: `${issuer}/register` };
    const { world, oauth, another } = await createParties({}, { metadata });
    const waits = another({ authorize: undefined });
    const { authorizationUrl } = await waits.begin(resourceUrl);
    const callback = await world.person.follow(authorizationUrl);
    await refusalOf(oauth.signIn(evilResource));
    assertEquals((await waits.finishAuth(callback)).issuer, issuer);
  });

  test("an honest server's document that names hostile endpoints is its own word: only its own issuer is believed", async () => {
    // The hostile server answers under its own name with the honest issuer in its document.
    const party = await createParties({}, { metadata: { issuer } });
    await denialOf(party.oauth.signIn(evilResource));
    assertEquals([...party.world.log.tokens(), ...party.world.log.of("/register")], []);
    assertEquals(party.world.person.visits, []);
  });

  test("a hostile resource of an honest server gets a token that is for itself alone", async () => {
    const { world, oauth } = await createParty();
    world.addResource({ url: evilResource, servers: [world.server] });
    await oauth.signIn(resourceUrl);
    await oauth.signIn(evilResource);
    const [own, other] = [...world.server.issued.access.values()];
    assertEquals([own?.resource, other?.resource], [resourceUrl, evilResource]);
    for (const url of [resourceUrl, evilResource]) {
      await oauth.wrap(world.fetch, url)(url, { method: "POST", body: "{}" });
    }
    assertEquals(world.log.holding(own?.token ?? "").filter(toEvil), []);
    assertEquals(world.log.holding(other?.token ?? "").filter(({ url }) => url.href === resourceUrl), []);
  });
});

describe("what belongs to one server", () => {
  const made: Record<string, OAuthOptions["client"]> = {
    "a client without an issuer": { clientId: "app", clientSecret: secret },
    "one with an issuer": { clientId: "app", clientSecret: secret, issuer },
    "one that posts": { clientId: "app", clientSecret: secret, issuer, authMethod: "client_secret_post" },
    "two of them": [
      { clientId: "app", clientSecret: secret, issuer },
      { clientId: "app", clientSecret: "another-secret", issuer: "https://third.example" },
    ],
  };
  attack("secrets that were made in advance", made, async (client) => {
    const party = await createParties({ client });
    const { world, oauth } = party;
    const authMethod = [client].flat()[0]?.authMethod;
    world.server.clients.add({ id: "app", secret, redirectUris: [redirectUri], ...(authMethod && { authMethod }) });
    await oauth.signIn(resourceUrl);
    const error = await denialOf(oauth.signIn(evilResource));
    assertStringIncludes(error.message, `"${evil}"`);
    assertStringIncludes(error.message, issuer);
    assertEquals([world.log.of(`${evil}/token`).length, world.log.of(`${evil}/register`).length], [0, 0]);
    // Nor does another program with the same store give it away.
    await denialOf(party.another().signIn(evilResource));
    return leaks(party, [secret, "another-secret", basic("app")]);
  });

  test("two servers with clients of one name: each gets its own secret, when signing in, renewing and signing out", async () => {
    const client = [
      { clientId: "app", clientSecret: secret, issuer },
      { clientId: "app", clientSecret: "for-evil-eyes-only", issuer: evil },
    ];
    const party = await createParties({ client });
    const { world, oauth, hostile } = party;
    world.server.clients.add({ id: "app", secret, redirectUris: [redirectUri] });
    hostile.clients.add({ id: "app", secret: "for-evil-eyes-only", redirectUris: [redirectUri] });
    for (const url of [resourceUrl, evilResource]) await oauth.signIn(url);
    await world.clock.advance(400_000);
    for (const url of [resourceUrl, evilResource]) {
      await oauth.wrap(world.fetch, url)(url, { method: "POST", body: "{}" });
    }
    assertEquals(world.log.tokens("refresh_token").length, 2);
    for (const url of [resourceUrl, evilResource]) assertEquals(await oauth.signOut(url), { revoked: true });
    assertEquals(leaks(party, [secret, basic("app")]), []);
  });

  test("a hostile server registers this program under the name that it has elsewhere: its secret stays here", async () => {
    const party = await createParties();
    const { world, oauth, hostile, another } = party;
    hostile.knobs.registration = {
      ...soundRegistration(),
      reply: { client_id: "app", client_secret: "known-to-evil", token_endpoint_auth_method: "client_secret_basic" },
    };
    hostile.clients.add({ id: "app", secret: "known-to-evil", redirectUris: [redirectUri] });
    assertEquals((await oauth.signIn(evilResource)).clientId, "app");
    // Later the operator has a client made at the honest server, with the same name.
    world.server.clients.add({ id: "app", secret, redirectUris: [redirectUri] });
    for (const own of [undefined, issuer]) {
      const later = another({ client: { clientId: "app", clientSecret: secret, issuer: own } });
      await later.signIn(resourceUrl);
      await world.clock.advance(400_000);
      await later.wrap(world.fetch, evilResource)(evilResource, { method: "POST", body: "{}" }).catch(() => {});
      await later.signOut(evilResource);
    }
    assertEquals(leaks(party, [secret, basic("app")]), []);
  });

  test("registered clients are those of one server", async () => {
    const party = await createParties();
    const { world, oauth, hostile } = party;
    world.server.knobs.registration = { ...soundRegistration(), authMethod: "client_secret_basic" };
    await oauth.signIn(resourceUrl);
    await oauth.signIn(evilResource);
    const [[id = "", client] = []] = [...world.server.clients.known];
    const text = `${id}:${client?.secret}`;
    assertEquals([world.server.clients.known.size, hostile.clients.known.size], [1, 1]);
    assertEquals(leaks(party, [id, client?.secret ?? "none", btoa(text)]), []);
  });
});

describe("tokens of one server", () => {
  const places = [
    evilResource,
    "http://mcp.example.com/mcp",
    "https://mcp.example.com:8443/mcp",
    "https://mcp.example.com.evil.example/mcp",
    "https://mcp.example.com./mcp",
    "https://example.com/mcp",
    "https://a.mcp.example.com/mcp",
    "https://mcp.example.com@evil.example/mcp",
    `${issuer}/mcp`,
  ];
  attack("sent elsewhere", places, async (url) => {
    const { oauth } = await createParty();
    await oauth.signIn(resourceUrl);
    const sent: (string | null)[] = [];
    const network = (_url: string, init: RequestInit) => {
      sent.push(new Headers(init.headers).get("authorization"));
      return Promise.resolve(new Response(null, { status: 401 }));
    };
    const reply = await oauth.wrap(network, resourceUrl)(url, { method: "POST", body: "{}" });
    assertEquals([reply.status, sent], [401, [null]]);
    return [];
  });
});

describe("a resource that changes its server", () => {
  /** Lets the resource name this server, and take its tokens alone. */
  function move({ world }: Party, to: string): void {
    world.resource.knobs.metadata = { authorization_servers: [to] };
  }
  const call = ({ world, oauth }: Party) =>
    oauth.wrap(world.fetch, resourceUrl)(resourceUrl, { method: "POST", body: "{}" });

  for (const how of ["while the token is good", "when the token is refused", "when it has expired"] as const) {
    test(`and back again, ${how}: nothing of one goes to the other`, async () => {
      const party = await createParty();
      const { world, oauth } = party;
      const other = await world.addServer(evil);
      await oauth.signIn(resourceUrl);
      const issuers: (string | undefined)[] = [];
      for (const to of [evil, issuer]) {
        move(party, to);
        if (how === "when it has expired") await world.clock.advance(400_000);
        if (how === "when the token is refused") {
          for (const server of [world.server, other]) server.issued.revokeAccess();
        }
        await call(party);
        if (how === "while the token is good") await oauth.signIn(resourceUrl);
        issuers.push((await oauth.status(resourceUrl))?.issuer);
      }
      // Tokens that are good, or can be renewed, are used on; a new sign-in goes where the resource says.
      if (how === "while the token is good") assertEquals(issuers, [evil, issuer]);
      const honest = world.server.issued.secrets;
      const foreign = other.issued.secrets;
      assertEquals(leaks(party, honest), []);
      const atHonest = foreign.flatMap((text) => world.log.holding(text).filter(({ url }) => url.origin === issuer));
      assertEquals(shown(atHonest), []);
      assertEquals(strangers(world, evil), []);
    });
  }

  test("to a server that the old one's client is not for: its refresh token is not sent there", async () => {
    const party = await createParty();
    const { world, oauth } = party;
    const other = await world.addServer(evil);
    await oauth.signIn(resourceUrl);
    move(party, evil);
    // The honest server is gone: nothing can be renewed, and somebody has to sign in anew.
    world.server.issued.revokeFamily([...world.server.issued.refresh.values()][0]?.family ?? "");
    await call(party);
    assertEquals((await oauth.status(resourceUrl))?.issuer, evil);
    assertEquals(leaks(party, world.server.issued.secrets), []);
    assert(other.issued.access.size > 0);
  });
});
