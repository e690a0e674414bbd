/**
 * An HTTP server that is restarted under fifty calls, on a real port: ten rounds for each case, a hundred with
 * `CAUSEWAY_CHAOS=full` in the environment:
 *
 *     CAUSEWAY_CHAOS=full bun tools/run.ts test --filter tests/hub/chaos/restart --only bun
 */
import { createServer, type Socket } from "node:net";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { CallToolResult } from "../../../mod.ts";
import { openHub } from "../../../src/entry/local.ts";
import { watchStrays } from "../../faults/support/harness.ts";
import { readRequests, writeResponse } from "../../servers/http_wire.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { createModernServer } from "../../servers/modern.ts";
import { freePort } from "../../support/free_port.ts";
import { heldRequest } from "../../support/held_request.ts";
import { until } from "../../suites/spawn.ts";
import { stateOf, textOf } from "../support.ts";

const rounds = process.env.CAUSEWAY_CHAOS === "full" ? 100 : "Bun" in globalThis ? 10 : 4;
const calls = 50;
const slowly = { timeout: 600_000 };
const eras = { modern: createModernServer, legacy: createLegacyServer };

const strays = watchStrays();

/** A server on a port that can go and come back; what it executed is remembered by the id of the call. */
async function createHost(era: "modern" | "legacy") {
  const port = await freePort();
  const earlier: string[] = [];
  const sockets = new Set<Socket>();
  let server = eras[era]();
  const idsOf = () => server.executions.map((execution) => String(execution.arguments.id));
  const listener = createServer();
  listener.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const gone = new AbortController();
    socket.once("close", () => gone.abort(new Error("the client left")));
    readRequests(socket, async ({ method, path, headers, body }) => {
      const init = { method, headers, signal: gone.signal, ...(method === "POST" ? { body } : {}) };
      await writeResponse(socket, await server.fetch(heldRequest(`http://${headers.get("host")}${path}`, init)));
    });
  });
  const start = () => new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));
  await start();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    start,
    executed: () => [...earlier, ...idsOf()],
    /** How many calls of a round arrived since it was started. */
    held: (round: number) => idsOf().filter((id) => id.startsWith(`${round}.`)).length,
    release: () => server.release(),
    /** Ends it as a process ends: with all that it holds. */
    async kill() {
      const ended = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await ended;
      earlier.push(...idsOf());
      server = eras[era]();
    },
  };
}

interface Counts {
  unknown: number;
  answered: number;
  unsent: number;
}

/** Sorts what calls came to, and checks it against what the server did. */
function judge(results: readonly CallToolResult[], ids: readonly string[], executed: readonly string[]): Counts {
  const counts = { unknown: 0, answered: 0, unsent: 0 };
  for (const [index, result] of results.entries()) {
    const times = executed.filter((id) => id === ids[index]).length;
    const error = result._meta?.["dev.causeway/error"];
    const delivery = typeof error === "object" && error && "delivery" in error ? error.delivery : undefined;
    const told = result.isError ? delivery : "answered";
    assert(times <= 1, `the call ${ids[index]} ran ${times} times`);
    if (told === "answered") assertEquals([times, textOf(result)], [1, "done"]);
    else if (told === "not-sent") assertEquals(times, 0);
    else assertEquals(told, "unknown", textOf(result));
    counts[told === "answered" ? told : told === "unknown" ? told : "unsent"]++;
  }
  return counts;
}

describe("an HTTP server that is restarted under fifty calls", () => {
  for (const era of ["modern", "legacy"] as const) {
    // All at once, and with 18 that wait: those meet a server that is back, or a session that is being opened anew.
    for (const concurrency of [calls, 32]) {
      test(
        `${rounds} times, ${concurrency} at a time: each call settles once, none runs twice (${era})`,
        slowly,
        async () => {
          const host = await createHost(era);
          const hub = await openHub({ one: { url: host.url, concurrency, retryDelay: 50 } });
          const total: Counts = { unknown: 0, answered: 0, unsent: 0 };
          for (let round = 0; round < rounds; round++) {
            const ids = Array.from({ length: calls }, (_, index) => `${round}.${index}`);
            const done = Promise.all(ids.map((id) => hub.callTool("one__slow", { id })));
            await until(() => host.held(round) === concurrency, "the calls to arrive");
            await host.kill();
            await host.start();
            const ended = new AbortController();
            void done.finally(() => ended.abort());
            await until(() => (host.release(), ended.signal.aborted), "all calls to settle");
            const counts = judge(await done, ids, host.executed());
            assertEquals([counts.unknown, counts.answered + counts.unsent], [concurrency, calls - concurrency]);
            for (const key of ["unknown", "answered", "unsent"] as const) total[key] += counts[key];
            assertEquals(textOf(await hub.callTool("one__echo", { text: "next", id: `${round}.next` })), "next");
            assertEquals(stateOf(hub, "one"), "connected");
          }
          await hub.close();
          await host.kill();
          const executed = host.executed();
          assertEquals(new Set(executed).size, executed.length, "some ran twice");
          console.log(`restart ${era}, ${concurrency} at a time: ${JSON.stringify({ rounds, ...total })}`);
        },
      );
    }
  }

  test("nothing was rejected unheard", () => strays.none());
});
