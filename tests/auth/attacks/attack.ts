/**
 * What the attacks have in common: a sign-in that waits, and what was hit that must not be.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { createParty, type Party } from "../sign_in/parties.ts";
import { resourceUrl, type World, type WorldOptions } from "../world/world.ts";
import type { OAuthOptions } from "../../../src/auth/mod.ts";
import { AuthorizationError, EgressDeniedError, McpError, RedirectRefusedError } from "../../../src/protocol/errors.ts";

export { attack } from "../../support/attack.ts";

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

/** What work ends with that waits for time to pass: time moves on until then, and what needs none has some. */
export async function ended<Value>({ clock }: World, work: Promise<Value>, step = 1_000): Promise<Value> {
  let isOver = false;
  const over = () => void (isOver = true);
  work.then(over, over);
  while (!isOver) {
    await new Promise<void>((resolve) => void setTimeout(resolve, 10));
    if (!isOver) await clock.advance(step);
  }
  return await work;
}

/** The sign-in that waits is finished as if nothing had happened: one code, one token. */
export async function finishes({ world, oauth, callback }: Waiting): Promise<void> {
  world.log.clear();
  const status = await oauth.finishAuth(callback);
  assertEquals(status.server, resourceUrl);
  assertEquals(world.log.tokens().map(({ form }) => form.get("grant_type")), ["authorization_code"]);
}
