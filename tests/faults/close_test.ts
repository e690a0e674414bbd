/**
 * `close()` while a call waits, wherever it waits: the call ends at once, and nothing is left of it.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { type Client, connect, McpError } from "../../mod.ts";
import { createHostileServer, type FaultName, type HostileOptions, type HostileServer } from "../servers/hostile.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { evenRandom, trackFetch, watch, watchStrays, within } from "./support/harness.ts";
import { createHostilePipe } from "./support/hostile_pipe.ts";
import { together } from "./support/together.ts";

const strays = watchStrays();
const url = "http://fake.test/mcp";

/** A place to wait in: the fault that leads there, and what is called. */
interface Place {
  readonly fault: FaultName;
  readonly options?: HostileOptions;
  readonly call?: (client: Client) => Promise<unknown>;
}

const places: Readonly<Record<string, Place>> = {
  "for the head": { fault: "headers-never" },
  "for the head, legacy": { fault: "headers-never", options: { era: "legacy" } },
  "in the body": { fault: "stalls" },
  "in the body, legacy": { fault: "stalls", options: { era: "legacy" } },
  "between two attempts": { fault: "http-429-huge" },
  "between two attempts of a list": {
    fault: "http-503-huge",
    options: { on: "tools/list" },
    call: (client) => client.listTools(),
  },
  "before a resumption, legacy": { fault: "retry-huge", options: { era: "legacy" } },
  "for a handler": { fault: "input-loop" },
  "for a handler that was asked before": { fault: "input-changing" },
  "for the first change": {
    fault: "headers-never",
    options: { on: "subscriptions/listen" },
    call: (client) => client.listen({ tools: true }).next(),
  },
  "before a stream is opened again": {
    fault: "listen-closes",
    options: { on: "subscriptions/listen" },
    call: async (client) => {
      const changes = client.listen({ tools: true });
      while (!(await changes.next()).done);
    },
  },
  "for a stream's head, legacy": {
    fault: "headers-never",
    options: { era: "legacy", on: "GET" },
    call: (client) => client.listen({ tools: true }).next(),
  },
};

describe("close()", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const [name, place] of Object.entries(places)) {
    cases.set(`ends a call that waits ${name}`, () => closes(place));
  }
  for (const era of ["modern", "legacy"] as const) {
    cases.set(`ends a call that waits on a pipe, ${era}`, () => closesPipe(era, "silent"));
    cases.set(`ends a call that waits for a pipe that is stuck, ${era}`, () => closesPipe(era, "stuck"));
  }
  const outcome = together(cases);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("may be called twice and at the same time, and what comes after it is refused, not sent", async () => {
    const { client, server } = await open({ fault: "quirk-crlf" });
    await Promise.all([client.close(), client.close()]);
    await client.close();
    const call = watch(client.callTool("echo"));
    assert(await within(() => call.ended() !== undefined, 20));
    const end = call.ended();
    assert(end !== undefined && "error" in end && end.error instanceof McpError);
    assertEquals([end.error.delivery, server.hits()], ["not-sent", 0]);
  });

  test("a legacy server that never answers the DELETE is waited for two seconds", async () => {
    const clock = new VirtualClock();
    const server = createHostileServer("quirk-crlf", { era: "legacy", clock });
    const deaf = {
      fetch(request: Request): Promise<Response> {
        if (request.method !== "DELETE") return server.fetch(request);
        return new Promise((_resolve, reject) => {
          request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
        });
      },
    };
    const tracked = trackFetch(memoryFetch(deaf));
    const client = await clock.until(connect(url, { fetch: tracked.fetch, clock }));
    await clock.until(client.close());
    assertEquals([clock.monotonic(), clock.waiting, tracked.open()], [2_000, 0, 0]);
  });

  test("nothing was rejected unheard", () => strays.none());
});

async function closes(place: Place): Promise<void> {
  const { client, clock, server, isOpen } = await open(place);
  const call = watch((place.call ?? ((client) => client.callTool("echo")))(client));
  assert(await within(() => server.hits() > 0, 50), "it got there");
  for (let count = 0; count < 2; count++) await clock.settle();
  assertEquals(call.ended(), undefined);
  const closing = watch(client.close());
  assert(await within(() => call.ended() !== undefined, 20), "the call ended");
  const end = call.ended();
  assert(end !== undefined && (!("error" in end) || end.error instanceof McpError));
  assert(await within(() => closing.ended() !== undefined, 20), "close() ended");
  assert(await within(() => isOpen() === 0, 20), `${isOpen()} bodies are left open`);
  const hits = server.hits();
  await clock.advance(600_000);
  assertEquals([clock.waiting, server.hits() - hits], [0, 0], "timers left, requests sent afterwards");
}

async function closesPipe(era: "modern" | "legacy", fault: "silent" | "stuck"): Promise<void> {
  const clock = new VirtualClock();
  const pipe = createHostilePipe(fault, { era, on: "tools/call", times: 1 });
  const client = await clock.until(connect(pipe.transport, { clock, random: evenRandom }));
  const call = watch(client.callTool("echo"));
  assert(await within(() => pipe.hits() === 1, 20));
  await client.close();
  assert(await within(() => call.ended() !== undefined, 20), "the call ended");
  assertEquals([clock.waiting, pipe.open()], [0, 0]);
}

async function open({ fault, options }: Place): Promise<{
  client: Client;
  clock: VirtualClock;
  server: HostileServer;
  isOpen(): number;
}> {
  const clock = new VirtualClock();
  const server = createHostileServer(fault, { clock, ...options });
  const tracked = trackFetch(memoryFetch(server));
  const handlers = { elicitation: () => new Promise<never>(() => {}) };
  // Legacy: with handlers the stream is opened while connecting; here it is a call that opens it.
  const stream = options?.on !== "GET";
  const connecting = connect(url, { fetch: tracked.fetch, clock, random: evenRandom, handlers, stream });
  return { client: await clock.until(connecting), clock, server, isOpen: tracked.open };
}
