/**
 * A person with a browser, who goes where a link leads and says yes.
 *
 * @module
 */
import type { Fetch } from "../../../src/ports.ts";
import { readUrl } from "../../../src/egress/url.ts";

/** How many pages lead from the first to the callback at most. */
const mostPages = 5;

/** A person. */
export class Person {
  /** The links that were followed, in their order. */
  readonly visits: string[] = [];
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /**
   * Signs in: goes to the authorization server, and where it sends.
   *
   * @returns The URL that the browser ends at: the redirect URI, with what the server says in its query.
   * @throws {Error} When a page does not lead on.
   */
  readonly follow = async (authorizationUrl: string | URL): Promise<string> => {
    const start = new URL(authorizationUrl);
    this.visits.push(start.href);
    const target = start.searchParams.get("redirect_uri") ?? "none";
    let next = start.href;
    for (let pages = 0; pages < mostPages; pages++) {
      const response = await this.#fetch(next, { redirect: "manual" });
      const location = response.headers.get("location");
      if (location === null) throw new Error(`The person is stuck at ${response.status}: ${await response.text()}`);
      next = new URL(location, next).href;
      if (isSamePlace(next, target)) return next;
    }
    throw new Error(`The person was sent on ${mostPages} times`);
  };

  /** The same, as the `authorize` of `createOAuth`. */
  readonly authorize = ({ authorizationUrl }: { readonly authorizationUrl: string }): Promise<string> => {
    return this.follow(authorizationUrl);
  };
}

function isSamePlace(url: string, target: string): boolean {
  const [reached, wanted] = [new URL(url), readUrl(target)];
  return wanted !== undefined && ["protocol", "host", "pathname"].every((part) => {
    return Reflect.get(reached, part) === Reflect.get(wanted, part);
  });
}
