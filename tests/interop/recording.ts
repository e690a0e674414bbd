/**
 * Looks over a client's shoulder: its processes, and every message it sends. The runtime's own ports do the work.
 */
import type { Fetch, Spawn } from "../../src/ports.ts";

/** A message as it was sent. */
export type Sent = Readonly<Record<string, unknown>>;

/** What was recorded: give `spawn` and `fetch` to `connect`. */
export interface Recording {
  /** Every message sent, in order. */
  readonly sent: Sent[];
  /** The method of every HTTP request. */
  readonly httpMethods: string[];
  /** The processes started, by id. */
  readonly pids: number[];
  readonly spawn: Spawn;
  readonly fetch: Fetch;
  /** How many messages with this method were sent. */
  count(method: string): number;
}

/** Starts a recording. */
export function record(): Recording {
  const sent: Sent[] = [];
  const pids: number[] = [];
  const httpMethods: string[] = [];
  return {
    sent,
    httpMethods,
    pids,
    spawn: async (command, events) => {
      const spawn = await runtimeSpawn();
      const child = await spawn(command, events);
      pids.push(child.pid);
      return {
        pid: child.pid,
        write: (text) => {
          for (const line of text.split("\n")) if (line !== "") sent.push(JSON.parse(line));
          return child.write(text);
        },
        closeInput: () => child.closeInput(),
        kill: (signal) => child.kill(signal),
      };
    },
    fetch: async (url, init) => {
      httpMethods.push(init.method ?? "GET");
      // Whatever the body is made of; `init` goes on untouched.
      if (init.body != null) sent.push(JSON.parse(await new Response(init.body).text()));
      return await fetch(url, init);
    },
    count: (method) => sent.filter((message) => message.method === method).length,
  };
}

async function runtimeSpawn(): Promise<Spawn> {
  if ("Bun" in globalThis) return (await import("../../src/runtime/bun.ts")).bunSpawn;
  if ("Deno" in globalThis) return (await import("../../src/runtime/deno.ts")).denoSpawn;
  return (await import("../../src/runtime/node.ts")).nodeSpawn;
}
