/** Private addresses in the documents of authorization servers: none is reached, and the listener would tell. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { createJwtVerifier } from "../../../src/auth/mod.ts";
import { fetchMetadata } from "../../../src/auth/discovery/metadata.ts";
import { createGuardedFetch } from "../../../src/egress/guarded_fetch.ts";
import type { Fetch } from "../../../src/ports.ts";
import { EgressDeniedError, RedirectRefusedError } from "../../../src/protocol/errors.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { issuer, soundPayload, unsigned } from "../verify/authorization_server.ts";
import { lead, type Listener, privatePlaces, publicPlaces, reached, redirectTo } from "./addresses.ts";
import { readUrl } from "../../../src/egress/url.ts";

const operator = "https://mcp.example/mcp";
const entry = "https://as.example/entry";
const nowhere: Fetch = () => Promise.resolve(new Response(null, { status: 404 }));

function guarded({ before, resolve }: { before: Fetch; resolve?: Listener["resolve"] }) {
  return createGuardedFetch({ operator, fetch: before, resolve });
}

/** Sound but for its signature, which is not looked at before there are keys. */
const soundToken = `${unsigned({ alg: "ES256", typ: "at+jwt", kid: "one" }, soundPayload())}.${"A".repeat(86)}`;

function isRefusal(error: unknown): boolean {
  return error instanceof EgressDeniedError || error instanceof RedirectRefusedError;
}

/** What is led to a place, each in its way. */
const programs: Record<string, (url: string, listener: Listener) => Promise<unknown>> = {
  "a document": (url, listener) => guarded({ before: listener.before(nowhere), resolve: listener.resolve })(url),
  "a form": (url, listener) =>
    guarded({ before: listener.before(nowhere), resolve: listener.resolve })(url, { method: "POST", body: "a=b" }),
  "a redirect": (url, listener) => {
    const redirect: Fetch = (asked, init) => asked === entry ? Promise.resolve(redirectTo(url)) : nowhere(asked, init);
    return guarded({ before: listener.before(redirect), resolve: listener.resolve })(entry);
  },
  "the metadata of an issuer": (url, listener) =>
    fetchMetadata(url, guarded({ before: listener.before(nowhere), resolve: listener.resolve })),
  "the keys of an issuer": async (url, listener) => {
    const metadata: Fetch = () => Promise.resolve(Response.json({ issuer, jwks_uri: url }));
    const { resolve } = listener;
    const clock = new VirtualClock();
    return await createJwtVerifier({ issuer, fetch: listener.before(metadata), resolve, clock })(soundToken);
  },
};

describe("private addresses", () => {
  test("there are enough of them, and of public ones", () => {
    assertGreaterOrEqual(new Set(privatePlaces.map(({ url }) => url)).size, 250);
    assertGreaterOrEqual(new Set(publicPlaces.map(({ url }) => url)).size, 50);
  });

  for (const [what, program] of Object.entries(programs)) {
    test(`${what}: no private place is reached, each public one is`, async () => {
      const outcomes = await lead(privatePlaces, program);
      assertEquals(reached(outcomes), []);
      const passed = await lead(publicPlaces, program);
      for (const { place, reached } of passed) assertGreaterOrEqual(reached.length, 1, place.url);
    });
  }

  test("a refusal is an error of ours, also where no parser takes the URL", async () => {
    for (const what of ["a document", "a form", "a redirect"]) {
      const program = programs[what];
      assert(program);
      for (const { place, error } of await lead(privatePlaces, program)) {
        // Against a base, "https:127.0.0.1" is a path on the same host.
        const isPath = what === "a redirect" && /^https:\/?\w/.test(place.url);
        assert(isPath ? error === undefined : isRefusal(error), `${what}: ${place.url}: ${error}`);
      }
    }
  });
});

describe("the listener", () => {
  test("tells of a program that asks whatever it is told to", async () => {
    const careless = (url: string, listener: Listener) => listener.before(nowhere)(url, {});
    assertEquals(reached(await lead(privatePlaces, careless)).length, privatePlaces.length);
  });

  test("tells of a program that follows redirects without a look", async () => {
    const program = async (url: string, listener: Listener) => {
      const fetch = listener.before(nowhere);
      let place = url;
      for (let hops = 0; hops < 3; hops++) {
        const url = readUrl(place);
        if (url) await listener.resolve(url.hostname);
        place = (await fetch(place, {})).headers.get("location") ?? "";
        if (place === "") return;
      }
    };
    assertEquals(reached(await lead(privatePlaces, program)).length, privatePlaces.length);
  });

  test("tells of a guard that does not resolve names, by the names alone", async () => {
    const program = (url: string, listener: Listener) => guarded({ before: listener.before(nowhere) })(url);
    const outcomes = await lead(privatePlaces, program);
    for (const { place, reached } of outcomes) {
      assertEquals(reached.length > 0, place.resolved !== undefined, place.url);
    }
  });

  test("lets requests to other places through", async () => {
    const program = async (_url: string, listener: Listener) => {
      const response = await listener.before(nowhere)(entry, {});
      assertEquals([response.status, await listener.resolve("as.example")], [404, ["93.184.215.14"]]);
    };
    const outcomes = await lead(privatePlaces.slice(0, 3), program);
    assertEquals(outcomes.map(({ reached, error }) => [reached.length, error]), [[0, undefined], [0, undefined], [
      0,
      undefined,
    ]]);
  });
});
