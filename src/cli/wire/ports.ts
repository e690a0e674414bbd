/**
 * What reaches a server in this runtime, for who makes transports by hand.
 *
 * @module
 */
import type { Clock, Fetch, OpenWebSocket, Spawn } from "../../ports.ts";

/** The ports of Bun, Deno or Node. */
export interface RuntimePorts {
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  readonly spawn: Spawn;
  readonly environment: (extra: Readonly<Record<string, string>>) => Record<string, string>;
  readonly openWebSocket: OpenWebSocket;
}

/** Loads those of the runtime that this is. */
export async function runtimePorts(): Promise<RuntimePorts> {
  if ("Bun" in globalThis) {
    const { baseEnvironment, bunSpawn, openWebSocket } = await import("../../runtime/bun.ts");
    return { spawn: bunSpawn, environment: baseEnvironment, openWebSocket };
  }
  if ("Deno" in globalThis) {
    const { baseEnvironment, denoClock, denoFetch, denoSpawn, openWebSocket } = await import("../../runtime/deno.ts");
    return { clock: denoClock, fetch: denoFetch, spawn: denoSpawn, environment: baseEnvironment, openWebSocket };
  }
  const { baseEnvironment, createNodeFetch, nodeSpawn, openWebSocket } = await import("../../runtime/node.ts");
  return { fetch: createNodeFetch().fetch, spawn: nodeSpawn, environment: baseEnvironment, openWebSocket };
}
