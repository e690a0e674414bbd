/**
 * The world of servers on a loopback port, in real time.
 *
 * @module
 */
import { createOAuth } from "../../../../src/auth/mod.ts";
import { type Store, systemClock } from "../../../../src/ports.ts";
import { listen } from "../../../conformance/host/listen.ts";
import { VirtualClock } from "../../../support/virtual_clock.ts";
import { createWorld, redirectUri, type World } from "../../world/world.ts";

/** A clock that nobody moves. */
class RealClock extends VirtualClock {
  override now(): number {
    return systemClock.now();
  }

  override monotonic(): number {
    return systemClock.monotonic();
  }

  override schedule(callback: () => void, milliseconds: number): () => void {
    return systemClock.schedule(callback, milliseconds);
  }
}

/** A world that listens. */
export interface Loopback extends AsyncDisposable {
  readonly world: World;
  /** The MCP server. */
  readonly server: string;
  /** Lets so many wait at `/barrier` until all of them are there; `then` happens before they go on. */
  gather(count: number, then?: () => void): void;
  /** Signs in with a store, so that its token has expired (`expired`), or is good for long; the log is empty then. */
  signIn(store: Store, state: "expired" | "good"): Promise<void>;
}

/** Starts it. */
export async function startLoopback(): Promise<Loopback> {
  const made: { world?: World } = {};
  let barrier: { left: number; then: () => void; open: () => void; opened: Promise<void> } | undefined;
  const listener = await listen(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/barrier" && barrier) {
      if (--barrier.left === 0) {
        barrier.then();
        barrier.open();
      }
      await barrier.opened;
      return new Response("go");
    }
    if (!made.world) return new Response("not yet", { status: 503 });
    const headers = new Headers(request.headers);
    for (const name of ["host", "connection", "content-length", "accept-encoding"]) headers.delete(name);
    const { method } = request;
    const body = method === "POST" ? await request.text() : undefined;
    return await made.world.fetch(request.url, { method, headers, ...(body !== undefined && { body }) });
  }, 0);
  const origin = `http://127.0.0.1:${listener.port}`;
  const server = `${origin}/mcp`;
  const world = await createWorld({ url: server, issuer: origin, clock: new RealClock() });
  made.world = world;
  return {
    world,
    server,
    gather(count, then = () => {}) {
      let open = (): void => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      barrier = { left: count, then, open, opened };
    },
    async signIn(store, state) {
      const { knobs } = world.server;
      knobs.lifetime = state === "expired" ? 1 : 300;
      const { fetch, person: { authorize } } = world;
      await createOAuth({ redirectUri, store, fetch, authorize }).signIn(server);
      if (state === "expired") await new Promise((resolve) => setTimeout(resolve, 1_050));
      knobs.lifetime = 300;
      world.log.clear();
      world.person.visits.length = 0;
    },
    [Symbol.asyncDispose]: () => listener.close(),
  };
}
