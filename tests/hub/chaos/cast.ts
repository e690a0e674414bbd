/**
 * Fifty servers in memory: forty good ones over all transports, and ten that do not work, each in its own way.
 *
 * @module
 */
import type { Clock, Fetch } from "../../../src/ports.ts";
import type { ServerConfig } from "../../../src/hub/seam.ts";
import { coarse, trackFetch } from "../../faults/support/harness.ts";
import { createHostileServer, type FaultName } from "../../servers/hostile.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import type { VirtualClock } from "../../support/virtual_clock.ts";
import { faultyFetches } from "../faulty.ts";
import { createPipes, createSockets } from "./pipes.ts";

/** One server, and what a test may see of it. */
export interface Actor {
  readonly name: string;
  readonly config: ServerConfig;
  /** When requests came, by the test's clock. */
  readonly requests: readonly number[];
  /** When it was started, where it is on a pipe. */
  readonly starts: readonly number[];
  /** What is open at its side: requests without an end, pipes, sessions, subscriptions. */
  open(): number;
}

/** A clock that knows which of its timers wait: those of a hub, and not those of the servers. */
export function countedClock(clock: VirtualClock): Clock & { timers(): number } {
  const timers = new Set<object>();
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    timers: () => timers.size,
    schedule(callback, milliseconds) {
      const timer = {};
      timers.add(timer);
      const stop = clock.schedule(() => {
        timers.delete(timer);
        callback();
      }, milliseconds);
      return () => {
        timers.delete(timer);
        stop();
      };
    },
  };
}

/** Ways in which a server is reached. */
const ways = ["modern HTTP", "legacy HTTP", "modern pipe", "legacy pipe", "WebSocket"] as const;

/** Good servers, over one transport after the other. */
export function goodActors(count: number, clock: VirtualClock): Actor[] {
  return Array.from({ length: count }, (_, index) => {
    const way = ways[index % ways.length] ?? ways[0];
    return createGood(`good${index}`, way, clock);
  });
}

function createGood(name: string, way: typeof ways[number], clock: VirtualClock): Actor {
  if (way === "modern HTTP") {
    const server = createModernServer({ clock });
    return overHttp(name, memoryFetch(server), clock, () => server.listeners());
  }
  if (way === "legacy HTTP") {
    const server = createLegacyServer({ clock });
    return overHttp(name, memoryFetch(server), clock, () => server.getStreams() + server.sessionIds().length);
  }
  if (way === "WebSocket") {
    const { transport, open } = createSockets({ era: "modern", clock });
    return { name, config: { transport }, requests: [], starts: [], open };
  }
  return onPipe(name, { era: way === "modern pipe" ? "modern" : "legacy" }, clock);
}

/** Ten servers that do not work. */
export function faultyActors(clock: VirtualClock): Actor[] {
  const { dead, hanging, unauthorized, wrongJson } = faultyFetches(clock);
  const fetches = {
    dead,
    hanging,
    unauthorized,
    wrongJson,
    flapping: flapping(clock),
    slow: slow(clock),
    hostile: hostile(clock),
  };
  return [
    ...Object.entries(fetches).map(([name, fetch]) => overHttp(name, fetch ?? missing(name), clock, () => 0)),
    onPipe("deadPipe", { era: "modern", isDead: true }, clock),
    onPipe("hangingPipe", { era: "modern", spoil: () => true }, clock),
    // It comes up each time, and dies of the first call.
    onPipe("flappingPipe", {
      era: "modern",
      spoil: ({ method }, end) => method === "tools/call" && (end(), true),
    }, clock),
  ];
}

function missing(name: string): never {
  throw new Error(`there is no fault "${name}"`);
}

function overHttp(name: string, fetch: Fetch, clock: VirtualClock, open: () => number): Actor {
  const requests: number[] = [];
  const tracked = trackFetch(fetch);
  const count: Fetch = (url, init) => {
    requests.push(clock.monotonic());
    return tracked.fetch(url, init);
  };
  const config = { url: `http://${name.toLowerCase()}.test/mcp`, fetch: count };
  return { name, config, requests, starts: [], open: () => tracked.open() + open() };
}

function onPipe(
  name: string,
  plan: Omit<Parameters<typeof createPipes>[0], "asked">,
  clock: VirtualClock,
): Actor {
  const requests: number[] = [];
  const starts: number[] = [];
  const asked = (method: string | undefined): void => {
    (method === undefined ? starts : requests).push(clock.monotonic());
  };
  const { transport, open } = createPipes({ ...plan, clock, asked });
  return { name, config: { transport }, requests, starts, open };
}

/** A healthy server that is down every other minute, beginning in the middle of one. */
function flapping(clock: VirtualClock): Fetch {
  const fetch = memoryFetch(createModernServer({ clock }));
  return (url, init) =>
    (clock.monotonic() + 30_000) % 120_000 < 60_000 ? fetch(url, init) : Promise.reject(new TypeError("fetch failed"));
}

/** A healthy server behind a line on which everything takes eight seconds. */
function slow(clock: VirtualClock): Fetch {
  const fetch = memoryFetch(createModernServer({ clock }));
  return async (url, init) => {
    await new Promise<void>((resolve, reject) => {
      const stop = clock.schedule(resolve, 8_000);
      init.signal?.addEventListener("abort", () => {
        stop();
        reject(init.signal?.reason);
      });
    });
    return await fetch(url, init);
  };
}

const faults: readonly FaultName[] = [
  "http-500",
  "truncated-json",
  "breaks-mid-event",
  "html-200",
  "stalls",
  "ends-without-answer",
  "huge-session-id",
  "http-404",
  "breaks-at-once",
  "redirect-without-location",
  "empty-stream",
  "drip",
  "truncated-event",
  "http-400-unsupported-version",
];

/** Another fault for each request, whatever it asks for. */
function hostile(clock: VirtualClock): Fetch {
  let turn = 0;
  return (url, init) => {
    const name = faults[turn++ % faults.length] ?? "http-500";
    const on = new Headers(init.headers).get("mcp-method") ?? "initialize";
    return memoryFetch(createHostileServer(name, { on, clock: coarse(clock), size: 10_000 }))(url, init);
  };
}
