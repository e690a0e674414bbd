/**
 * The fault matrix on real sockets, in each runtime's own `fetch`.
 */
import { assert, assertEquals, assertLess, assertLessOrEqual, assertRejects } from "@std/assert";
import { createServer } from "node:https";
import { describe, test } from "node:test";
import { type Clock, ConnectError, McpError, systemClock } from "../../../mod.ts";
import { connect } from "../../../src/entry/local.ts";
import { startHostileSocket } from "../../servers/hostile_socket.ts";
import { until } from "../../suites/spawn.ts";
import { certificate, key } from "../support/certificate.ts";
import { leapingClock } from "../../support/clocks/leaping_clock.ts";
import { assertOutcome, evenRandom, textOf, turn, watch, watchStrays } from "../support/harness.ts";
import { together } from "../support/together.ts";
import type { Outcome } from "../table/row.ts";
import { type CallFault, type SocketRow, socketRows } from "../table/sockets.ts";

const strays = watchStrays();

describe("faults on sockets", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const era of ["modern", "legacy"] as const) {
    for (const [name, row] of Object.entries(socketRows)) {
      const title = `F${row.f} socket-${era} ${name}: ${row[era].ends}`;
      cases.set(title, () => run(name as CallFault, era, row)); // a key of the table
    }
  }
  const outcome = together(cases, 6);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("F1 a refused connection and an unknown host: ConnectError, not sent, three attempts", async () => {
    const socket = await startHostileSocket("refused");
    for (const url of [socket.url, "http://causeway-no-such-host.invalid/mcp"]) {
      const error = await assertRejects(() => connect(url, { random: evenRandom, clock: hurried }), ConnectError);
      assertEquals(error.delivery, "not-sent");
    }
    await socket.close();
  });

  test("F2 a certificate that nobody trusts: ConnectError, not sent, no second attempt", async () => {
    let requests = 0;
    let connections = 0;
    // Of none at all: the one that a WebSocket of Deno names is refused by its server else.
    const server = createServer({ key, cert: certificate, ALPNProtocols: [] }, () => void requests++);
    server.on("upgrade", () => void requests++);
    server.on("connection", () => void connections++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    for (const scheme of ["https", "wss"]) {
      const error = await assertRejects(() => connect(`${scheme}://127.0.0.1:${port}/mcp`), ConnectError);
      assertEquals([error.delivery, error.retryable, requests], ["not-sent", false, 0], scheme);
      // A WebSocket of Deno tries both versions of HTTP.
      assertLessOrEqual(connections, scheme === "wss" ? 2 : 1);
      connections = 0;
    }
    await new Promise((resolve) => server.close(resolve));
  });

  test("F5 a server that resets every connection: told, three attempts, nothing left", async () => {
    const socket = await startHostileSocket("reset-at-once");
    const error = await assertRejects(() => connect(socket.url, { random: evenRandom, clock: hurried }), McpError);
    assert(["ConnectError", "ConnectionClosedError"].includes(error.constructor.name), error.constructor.name);
    assertEquals([error.delivery === "answered", socket.server.calls("echo")], [false, 0]);
    assertLess(socket.accepted(), 10);
    await until(() => socket.closed() === socket.accepted(), "all connections to end");
    await socket.close();
  });

  test("F5 a kept connection that is dead by the next call: run at most once, whoever sends again", async () => {
    const socket = await startHostileSocket("stale-connection", { times: 1 });
    const client = await connect(socket.url, { random: evenRandom, clock: hurried });
    const call = watch(client.callTool("echo", { text: "hi" }));
    await until(() => call.ended() !== undefined, "the call");
    const end = call.ended();
    assert(end !== undefined);
    if ("error" in end) assertOutcome(end, { ends: "OutcomeUnknownError", delivery: "unknown", ran: 0 });
    assertLessOrEqual(socket.server.calls("echo"), 1);
    assertEquals(textOf(await client.callTool("echo", { text: "next" })), "next");
    await client.close();
    await socket.close();
  });

  test("nothing was rejected unheard", () => strays.none());
});

/** Waits of less than five seconds are over fifty times as fast: 500 ms for a resumption are ten. Deadlines keep their time. */
const hurried: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  schedule: (callback, milliseconds, options) =>
    systemClock.schedule(callback, milliseconds < 5_000 ? milliseconds / 50 : milliseconds, options),
};

async function run(name: CallFault, era: "modern" | "legacy", row: SocketRow): Promise<void> {
  const cell = row[era];
  let told = 0;
  let tell = (): void => {};
  const heard = () => new Promise<void>((resolve) => tell = resolve);
  const socket = await startHostileSocket(name, { era, times: cell.sent ?? 1, heard });
  const leaping = leapingClock();
  const client = await connect(socket.url, {
    random: evenRandom,
    clock: cell.sent ? hurried : leaping,
    handlers: { log: () => (told++, tell()) },
  });
  try {
    const startedAt = performance.now();
    const work = client.callTool("echo", { text: "hi" });
    const call = watch(work);
    if (cell.ends === "TimeoutError" || row.or?.ends === "TimeoutError") {
      // What the runtime may refuse by itself has some time for that.
      const patience = row.or ? startedAt + 1_500 : 0;
      const isIdle = cell.names === "idle";
      const hasCome = () => isIdle ? told > 0 : socket.hits() > 0 && performance.now() >= patience;
      await until(() => call.ended() !== undefined || hasCome(), "the call to get so far");
      // Headers are waited for 30 s, and signs of life 60.
      leaping.leap(isIdle ? 60_000 : 40_000);
    }
    await work.catch(() => {});
    const took = performance.now() - startedAt;
    const end = call.ended();
    assert(end !== undefined);
    const seen = assertEither(end, cell, row.or);
    assertLess(took, 20_000, "it ended by the fault: its time-outs are 30 s"); // tools/faults.ts measures it
    assertEquals(socket.server.calls("echo"), seen.ran, "ran, by the ledger");
    if ("value" in end) assertEquals(textOf(end.value), "hi");
    if (name !== "healthy") assertEquals(socket.hits(), seen.sent ?? 1);
    if (seen.ends === "TimeoutError") await until(() => socket.closed() > 0, "the connection to be given up");
    // A connection that the server has just closed may not be known to be dead yet: a call on it would be unknown again,
    // and rightly so. Where it was answered to the end, the client lets go of it a moment later.
    const patience = performance.now() + 1_000;
    while (name !== "healthy" && socket.open() > 0 && performance.now() < patience) await turn();
    assertEquals(textOf(await client.callTool("echo", { text: "next" })), "next");
    assertEquals(socket.server.calls("echo"), seen.ran + 1);
  } finally {
    await client.close();
    await socket.close();
  }
}

/** Checks against the table, where a runtime may see the same bytes in one of two ways. */
function assertEither(
  end: { value: unknown } | { error: unknown },
  cell: Outcome,
  or: Outcome | undefined,
): Outcome {
  const name = "error" in end && end.error instanceof Error ? end.error.constructor.name : "resolves";
  const expected = or !== undefined && name === or.ends ? or : cell;
  assertOutcome(end, expected);
  return expected;
}
