/** What all that succeeds looks like in a loopback world. */
import { assertEquals } from "@std/assert";
import { createOAuth } from "../../../../src/auth/mod.ts";
import type { Store } from "../../../../src/ports.ts";
import { redirectUri } from "../../world/world.ts";
import { callAtOnce, type Outcome } from "./calls.ts";
import type { Loopback } from "./loopback.ts";

/**
 * All calls succeeded, with one refresh, and nobody was asked. What is kept is the newest pair: a call that needs another
 * refresh succeeds.
 *
 * @param next Makes that one call, with what is kept.
 */
export async function assertOnce(
  { world }: Loopback,
  outcomes: readonly Outcome[],
  next: () => Promise<Outcome>,
): Promise<void> {
  assertEquals(outcomes, Array(outcomes.length).fill({ succeeded: 10, failures: [] }));
  assertEquals(world.log.tokens().map(({ form }) => form.get("grant_type")), ["refresh_token"]);
  world.server.issued.revokeAccess();
  assertEquals(await next(), { succeeded: 1, failures: [] });
  const [first, second, ...more] = world.log.tokens("refresh_token").map(({ form, status }) => {
    return { token: form.get("refresh_token"), status };
  });
  assertEquals([first?.status, second?.status, first?.token === second?.token, more], [200, 200, false, []]);
  assertEquals([world.person.visits.length, world.log.metadata().length], [0, 0]);
}

/** Makes one call with the tokens of a store. */
export async function callWith(store: Store, { world, server }: Loopback): Promise<Outcome> {
  return await callAtOnce(createOAuth({ redirectUri, store, fetch: world.fetch }), server, 1);
}
