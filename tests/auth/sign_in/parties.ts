/**
 * A client of ours in a world of servers that want a token.
 *
 * @module
 */
import { type Client, connect, type ConnectOptions } from "../../../mod.ts";
import { createMemoryStore, createOAuth, type OAuth, type OAuthOptions } from "../../../src/auth/mod.ts";
import type { Store } from "../../../src/ports.ts";
import { createWorld, redirectUri, resourceUrl, type World, type WorldOptions } from "../world/world.ts";

/** What a test works with. */
export interface Party {
  readonly world: World;
  readonly store: Store;
  readonly oauth: OAuth;
  /** Another program with the same store. */
  another(options?: OAuthOptions): OAuth;
  /** Connects to the resource. */
  open(options?: ConnectOptions, oauth?: OAuth): Promise<Client>;
}

/** Makes a world and a client that signs in by itself: its person says yes to everything. */
export async function createParty(options: OAuthOptions = {}, worldOptions: WorldOptions = {}): Promise<Party> {
  const world = await createWorld(worldOptions);
  const store = options.store ?? createMemoryStore();
  const usual = { redirectUri, store, fetch: world.fetch, clock: world.clock, authorize: world.person.authorize };
  const another = (own: OAuthOptions = {}) => createOAuth({ ...usual, ...options, ...own });
  const oauth = another();
  const open = (own: ConnectOptions = {}, auth: OAuth = oauth) =>
    connect(resourceUrl, { fetch: world.fetch, auth, cache: false, stream: false, ...own });
  return { world, store, oauth, another, open };
}
