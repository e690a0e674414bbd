/**
 * How the attacks are written: a list of cases, and for each what was hit that must not be.
 *
 * @module
 */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createParty, type Party } from "../sign_in/parties.ts";
import { resourceUrl, type World, type WorldOptions } from "../world/world.ts";
import type { OAuthOptions } from "../../../src/auth/mod.ts";
import { AuthorizationError, EgressDeniedError, McpError, RedirectRefusedError } from "../../../src/protocol/errors.ts";

/**
 * Makes a test of many cases. Its name tells their number, and the runner makes a table of such names: each case was tried, and
 * nothing was hit when the test passed.
 *
 * @param run Tries one case; it gives what was hit. Where it throws, the case is named.
 */
export function attack<Case>(
  name: string,
  cases: Readonly<Record<string, Case>> | readonly Case[],
  run: (value: Case) => Promise<readonly string[] | void>,
): void {
  const entries: readonly (readonly [string, Case])[] = Object.entries(cases);
  test(`${name}: ${entries.length} cases, 0 hits`, async () => {
    const hits: string[] = [];
    for (const [what, value] of entries) {
      const label = Array.isArray(cases) ? JSON.stringify(value) : what;
      try {
        hits.push(...(await run(value) ?? []).map((hit) => `${label}: ${hit}`));
      } catch (error) {
        const reason = error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error);
        throw new Error(`${label}: ${reason}`, { cause: error });
      }
    }
    assert(entries.length > 0, "there are cases");
    assertEquals(hits, []);
  });
}

/** What the program under test asked for that is not one of these origins: the canaries. */
export function strangers(world: World, ...more: string[]): string[] {
  const known = [new URL(world.resource.url).origin, new URL(world.server.issuer).origin, ...more];
  return world.log.of(({ by, url }) => by === "client" && !known.includes(url.origin))
    .map(({ method, url }) => `${method} ${url}`);
}

/** The requests that reached a token endpoint, and all that went where nobody should go. */
export function hitsOf(world: World, ...more: string[]): string[] {
  return [...world.log.tokens().map(({ url, body }) => `POST ${url} ${body}`), ...strangers(world, ...more)];
}

/** A sign-in that waits for its person, who has been at the authorization server: `callback` would finish it. */
export interface Waiting extends Party {
  readonly callback: string;
}

/** Begins a sign-in, and lets the person go where it leads. */
export async function wait(options: OAuthOptions = {}, worldOptions: WorldOptions = {}): Promise<Waiting> {
  const party = await createParty({ authorize: undefined, ...options }, worldOptions);
  const { authorizationUrl } = await party.oauth.begin(resourceUrl);
  const callback = await party.world.person.follow(authorizationUrl);
  party.world.log.clear();
  return { ...party, callback };
}

/** What a promise is rejected with; it has to be, with an error of ours that is fit for a terminal. */
export async function refusalOf(work: Promise<unknown>): Promise<McpError> {
  const error = await work.then(() => undefined, (reason: unknown) => reason);
  assert(error instanceof McpError, `expected a refusal, got ${String(error)}`);
  checkWords(error);
  return error;
}

/** The same, where somebody refuses to sign in or to go somewhere. */
export async function denialOf(work: Promise<unknown>): Promise<McpError> {
  const error = await refusalOf(work);
  const isDenial = [AuthorizationError, EgressDeniedError, RedirectRefusedError].some((kind) => error instanceof kind);
  assert(isDenial, `${error.name}: ${error.message}`);
  return error;
}

/** What a person reads in a terminal has at most 500 characters, and nothing that moves a cursor or turns text around. */
export function checkWords(error: McpError): void {
  const code = error instanceof AuthorizationError ? error.error ?? "" : "";
  for (const text of [error.message, code]) {
    assert(!/[\p{C}\p{Zl}\p{Zp}]/u.test(text), `control characters in ${JSON.stringify(text)}`);
    assert(text.length <= 500, `${text.length} characters: ${text.slice(0, 80)}`);
  }
}

/** The sign-in that waits is finished as if nothing had happened: one code, one token. */
export async function finishes({ world, oauth, callback }: Waiting): Promise<void> {
  world.log.clear();
  const status = await oauth.finishAuth(callback);
  assertEquals(status.server, resourceUrl);
  assertEquals(world.log.tokens().map(({ form }) => form.get("grant_type")), ["authorization_code"]);
}
