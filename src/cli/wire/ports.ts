/**
 * What reaches a server in this runtime, for who makes transports by hand.
 *
 * @module
 */
import type { Clock, Fetch, OpenWebSocket, Spawn } from "../../ports.ts";
import { boundSpawn } from "./bound_spawn.ts";

/** What starts programs. */
export interface ChildPorts {
  readonly spawn: Spawn;
  readonly environment: (extra: Readonly<Record<string, string>>) => Record<string, string>;
}

/** The ports of Bun, Deno or Node. */
export interface RuntimePorts extends ChildPorts {
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  readonly openWebSocket: OpenWebSocket;
}

/** Loads what starts programs, and nothing else. */
export async function childPorts(): Promise<ChildPorts> {
  if ("Deno" in globalThis) return await runtimePorts();
  const [spawn, { baseEnvironment }] = await Promise.all([
    "Bun" in globalThis
      ? import("../../runtime/children/bun_spawn.ts").then(({ bunSpawn }) => bunSpawn)
      : import("../../runtime/children/node_spawn.ts").then(({ nodeSpawn }) => nodeSpawn),
    import("../../runtime/children/node_environment.ts"),
  ]);
  return { spawn: boundSpawn(spawn), environment: baseEnvironment };
}

/** Loads those of the runtime that this is. */
export async function runtimePorts(): Promise<RuntimePorts> {
  if ("Bun" in globalThis) {
    const { baseEnvironment, bunSpawn, clock, openWebSocket } = await import("../../runtime/bun.ts");
    return { clock, spawn: boundSpawn(bunSpawn), environment: baseEnvironment, openWebSocket };
  }
  if ("Deno" in globalThis) {
    const { baseEnvironment, clock, denoFetch, denoSpawn, openWebSocket } = await import("../../runtime/deno.ts");
    const spawn = boundSpawn(denoSpawn);
    return { clock, fetch: denoFetch, spawn, environment: baseEnvironment, openWebSocket };
  }
  const { baseEnvironment, clock, createNodeFetch, nodeSpawn, openWebSocket } = await import("../../runtime/node.ts");
  const spawn = boundSpawn(nodeSpawn);
  return { clock, fetch: createNodeFetch().fetch, spawn, environment: baseEnvironment, openWebSocket };
}
