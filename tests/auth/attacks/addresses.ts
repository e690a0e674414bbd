/**
 * Private addresses in some 250 spellings, and a listener that tells which of them were reached: for each place where a document
 * of a server names what is fetched next.
 *
 * @module
 */
import type { Fetch, Resolve } from "../../../src/ports.ts";
import { otherHosts, publicHosts, secretPlaces, spellings } from "../../egress/hosts.ts";
import { readUrl } from "../../../src/egress/url.ts";

/** What a document names. */
export interface Place {
  /** A URL; its path holds {@linkcode marker}, so that what is derived from it can be told too. */
  readonly url: string;
  /**
   * What the resolver says of its name, time after time; the last one stays. Without: its host is judged as it is written, and
   * should it be resolved all the same, it is public.
   */
  readonly resolved?: readonly (readonly string[])[];
}

/** In the path of each place, and in no other address of a test. */
export const marker = "/canary-7d1f";

const publicAddress = "93.184.215.14";

/** Places that must not be reached: about 250. */
export const privatePlaces: readonly Place[] = [
  ...privateHosts().map((host) => ({ url: `https://${host}${marker}` })),
  ...oddUrls().map((url) => ({ url })),
  ...privateNames(),
];

/** Places that must be reached: more than 50. */
export const publicPlaces: readonly Place[] = publicHosts.map((host) => ({ url: `https://${host}${marker}` }));

/** Where requests end that went to a place. */
export class Listener {
  /** Requests that reached the place while it was private; for a public place, all. */
  readonly reached: string[] = [];
  readonly #place: Place;
  #resolutions = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Resolves the place's name as the place says, and all others to a public address. */
  resolve: Resolve = (hostname) => {
    const { resolved = [], url } = this.#place;
    if (hostOf(url) !== hostname) return Promise.resolve([publicAddress]);
    const said = resolved[Math.min(this.#resolutions++, resolved.length - 1)];
    return Promise.resolve([...said ?? [publicAddress]]);
  };

  /** Takes the requests to the place, and what is derived from it there; all others go to the network behind it. */
  before(fetch: Fetch): Fetch {
    return (url, init) => {
      if (!url.includes(marker) || hostOf(url) !== hostOf(this.#place.url)) return fetch(url, init);
      if (!this.#isPublicYet()) {
        this.reached.push(`${init.method ?? "GET"} ${url}`);
        return Promise.resolve(Response.json({ error: "invalid_request" }, { status: 400 }));
      }
      // Its name was public when it was asked for: the next hop finds it changed.
      return Promise.resolve(redirectTo(url, 307));
    };
  }

  #isPublicYet(): boolean {
    return this.#resolutions > 0 && this.#resolutions < (this.#place.resolved?.length ?? 0);
  }
}

/** What came of the places. */
export interface Outcome {
  readonly place: Place;
  /** The requests that reached it. */
  readonly reached: readonly string[];
  /** What the attempt ended with; undefined when it went well. */
  readonly error: unknown;
}

/**
 * Leads a program to each place, one after the other.
 *
 * @param attempt Runs the program with a document that names this URL. Its requests go through `listener.before(fetch)`, its names
 * through `listener.resolve`. It may reject.
 */
export async function lead(
  places: readonly Place[],
  attempt: (url: string, listener: Listener) => Promise<unknown>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const place of places) {
    const listener = new Listener(place);
    const error = await attempt(place.url, listener).then(() => undefined, (reason: unknown) => reason ?? "nothing");
    outcomes.push({ place, reached: listener.reached, error });
  }
  return outcomes;
}

/** A reply that sends to a URL, whatever letters it has: what no header can carry stands in it as it would come to the same. */
export function redirectTo(url: string, status = 302): Response {
  const location = url.replace(/[\t\n]/g, "").replace(/[^\0-\x7f]/gu, encodeURIComponent);
  return new Response(null, { status, headers: { location } });
}

/** The places of these outcomes that were reached, with what reached them. */
export function reached(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ place, reached }) => reached.map((request) => `${place.url} by ${request}`));
}

/** Empty where a URL has no host, or no parser takes it. */
function hostOf(url: string): string {
  return readUrl(url)?.hostname ?? "";
}

/** All spellings of four addresses, five of each other one, and names. */
function privateHosts(): string[] {
  const whole = ["127.0.0.1", "169.254.169.254", "10.0.0.1", "192.168.1.1"];
  const spelt = secretPlaces.flatMap((address) =>
    whole.includes(address)
      ? spellings(address)
      : spellings(address).filter((_, index) => [0, 1, 2, 5, 16].includes(index))
  );
  return [...new Set([...spelt, ...otherHosts])];
}

/** What URL parsers make a private address of, some of it only without a base; and schemes that lead elsewhere. */
function oddUrls(): string[] {
  return [
    `https:127.0.0.1${marker}`,
    `https:/127.0.0.1${marker}`,
    `https:\\\\127.0.0.1\\${marker}`,
    `https://127.0.0.1\\@mcp.example${marker}`,
    `https://mcp.example@127.0.0.1${marker}`,
    `https://mcp.example%40127.0.0.1${marker}`,
    `https://127.0.0.1:443${marker}`,
    `https://127.0.0.1:22${marker}`,
    ` \thttps://127.0.0.1${marker}\n`,
    `https://127.0\n.0.1${marker}`,
    `https://127.0.0.1#@mcp.example${marker}`,
    `https://127.0.0.1?@mcp.example${marker}`,
    `https://u:p@mcp.example${marker}`,
    `http://mcp.example${marker}`,
    `blob:https://mcp.example${marker}`,
    `HTTP://127.0.0.1${marker}`,
    `//127.0.0.1${marker}`,
    `ws://127.0.0.1${marker}`,
    `file://${marker}`,
    `ftp://127.0.0.1${marker}`,
    `data:application/json,{}${marker}`,
    `javascript:fetch("https://127.0.0.1${marker}")`,
    `blob:https://127.0.0.1${marker}`,
  ];
}

/** Public names with private addresses: alone, beside a public one, and only the second time. */
function privateNames(): Place[] {
  const addresses = [
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "192.168.1.1",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "fe80::1",
  ];
  addresses.push("fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe", "fe80::1%eth0");
  return addresses.flatMap((address, index) =>
    [
      [[address]],
      [[publicAddress, address]],
      [[address, publicAddress]],
      [[publicAddress], [address]],
    ].map((resolved, way) => ({ url: `https://rebind-${index}-${way}.example${marker}`, resolved }))
  );
}
