/** Private addresses at each place where signing in fetches something that a server named: none is reached, each public one is. */
import { describe, test } from "node:test";
import { assertEquals, assertGreaterOrEqual } from "@std/assert";
import { connect } from "../../../mod.ts";
import { deviceCode, type OAuthOptions } from "../../../src/auth/mod.ts";
import { createParty, type Party } from "../sign_in/parties.ts";
import { issuer, resourceUrl, type WorldOptions } from "../world/world.ts";
import { lead, type Listener, type Place, privatePlaces, publicPlaces, reached, redirectTo } from "./addresses.ts";
import { attack, refusalOf } from "./attack.ts";

/** A place where something is fetched. */
interface Site {
  /** A world whose documents name the place. */
  readonly world?: (url: string) => WorldOptions;
  readonly options?: OAuthOptions;
  /** What is done before: its requests do not count. */
  readonly before?: (party: Party) => Promise<unknown>;
  /** Where a redirect to the place stands. */
  readonly hop?: string;
  /** Leads there: signing in, unless told otherwise. */
  readonly go?: (party: Party, options: { readonly fetch: Listener["before"] }) => Promise<unknown>;
  /** Whether public places are reached: redirects of forms never leave their origin. */
  readonly isReached: boolean;
  /** It goes on without the place, and so ends without an error. */
  readonly endsWell?: boolean;
}

const resourcePlace = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
const serverPlace = `${issuer}/.well-known/oauth-authorization-server`;
const metadata = (field: string) => (url: string): WorldOptions => ({ server: { metadata: { [field]: url } } });
const signIn = ({ oauth }: Party) => oauth.signIn(resourceUrl);
/** Withdrawing is no reason to fail: the tokens are forgotten all the same. */
const withdrawing = { before: signIn, go: ({ oauth }: Party) => oauth.signOut(resourceUrl), endsWell: true };
/** As a header can carry it. */
const inHeader = (url: string) => redirectTo(url).headers.get("location") ?? "";
const device = { grant: deviceCode({ onCode: () => {} }), authorize: undefined };

const sites: Record<string, Site> = {
  "the resource's document": {
    world: (url) => ({ resource: { metadataUrl: { text: inHeader(url) }, quoting: "escaped" } }),
    isReached: true,
  },
  "the server's document": {
    world: (url) => ({ resource: { metadata: { authorization_servers: [url] } } }),
    isReached: true,
  },
  "registration": { world: metadata("registration_endpoint"), isReached: true },
  "the token endpoint": { world: metadata("token_endpoint"), isReached: true },
  "the device endpoint": { world: metadata("device_authorization_endpoint"), options: device, isReached: true },
  "revocation": { world: metadata("revocation_endpoint"), ...withdrawing, isReached: true },
  "a redirect of the MCP server, asked for what it wants": { hop: resourceUrl, isReached: false },
  "a redirect of the MCP server, connecting": {
    hop: resourceUrl,
    go: ({ oauth, world }, { fetch }) =>
      connect(resourceUrl, { auth: oauth, fetch: fetch(world.fetch), stream: false }),
    isReached: false,
  },
  "a redirect of the MCP server, which has given a token": {
    hop: resourceUrl,
    before: signIn,
    go: ({ oauth, world }, { fetch }) =>
      connect(resourceUrl, { auth: oauth, fetch: fetch(world.fetch), stream: false }),
    isReached: false,
  },
  "a redirect of the resource's document": { hop: resourcePlace, isReached: true },
  "a redirect of the server's document": { hop: serverPlace, isReached: true },
  "a redirect of registration": { hop: `${issuer}/register`, isReached: false },
  "a redirect of the token endpoint": { hop: `${issuer}/token`, isReached: false },
  "a redirect of the device endpoint": { hop: `${issuer}/device`, options: device, isReached: false },
  "a redirect of revocation": { hop: `${issuer}/revoke`, ...withdrawing, isReached: false },
};

/** Leads a client to a site that names this place. */
async function visit(site: Site, url: string, listener: Listener): Promise<void> {
  const { world: choose, options, before, hop, go = signIn } = site;
  const party = await createParty({}, choose?.(url));
  const { world, another, store } = party;
  const fetch = listener.before(world.fetch);
  const oauth = another({ ...options, fetch, resolve: listener.resolve });
  // Signing in before needs no place.
  if (before) await before({ ...party, oauth: another({ store, ...options }) }).catch(() => {});
  world.log.clear();
  if (hop !== undefined) world.fault(hop, () => redirectTo(url, 307), 99);
  try {
    await go({ ...party, oauth }, { fetch: listener.before });
  } finally {
    // The sound endpoint is asked where it is what redirects, and nowhere else.
    const asked = world.log.tokens().length;
    assertEquals(asked > 0, asked > 0 && hop === `${issuer}/token`, "the token endpoint was asked");
  }
}

describe("private addresses, wherever they are named", () => {
  for (const [what, site] of Object.entries(sites)) {
    // Against the address that redirects, "https:127.0.0.1" is a path on its own host.
    const isMeant = ({ url }: Place) => site.hop === undefined || !/^https:\/?\w/.test(url);
    const places = Object.fromEntries(privatePlaces.filter(isMeant).map((place, at) => [`${at} ${place.url}`, place]));
    attack(what, places, async (place) => {
      const [outcome] = await lead([place], (url, listener) => visit(site, url, listener));
      if (!outcome) return ["nothing was tried"];
      if (!site.endsWell) await refusalOf(Promise.reject(outcome.error));
      return reached([outcome]);
    });

    test(`${what}: ${publicPlaces.length} public names, each is ${site.isReached ? "" : "not "}reached`, async () => {
      const outcomes = await lead(publicPlaces, (url, listener) => visit(site, url, listener));
      for (const { place, reached } of outcomes) {
        if (site.isReached) assertGreaterOrEqual(reached.length, 1, place.url);
        else assertEquals(reached, [], place.url);
      }
    });
  }
});
