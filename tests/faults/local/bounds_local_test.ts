/**
 * The bounds over real sockets, in each runtime's own `fetch` and with its own decompression: 64 MB are offered, and what
 * the server got rid of is the proof of what was taken. tools/faults.ts does it with 1 GB and measures memory.
 */
import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { type Client, HttpStatusError, LimitExceededError, OutcomeUnknownError } from "../../../mod.ts";
import { connect } from "../../../src/entry/local.ts";
import type { FaultName } from "../../servers/hostile.ts";
import { type HostileSocket, startHostileSocket } from "../../servers/hostile_socket.ts";
import { until } from "../../suites/spawn.ts";

const offered = 64 * 2 ** 20;
/** What may be on the way in the buffers of the system and of the runtime, which are not ours to bound. */
const onTheWay = 24 * 2 ** 20;
const limits = { messageBytes: 2 ** 20, streamBytes: 2 ** 21, jsonNodes: 100_000 };

/** The six shapes, and their sisters; the option that stops each. */
const shapes: readonly (readonly [FaultName, string, number?])[] = [
  ["endless-line", "limits.messageBytes"],
  ["endless-event", "limits.messageBytes"],
  ["endless-comments", "limits.streamBytes"],
  ["endless-messages", "limits.streamBytes"],
  ["endless-json", "limits.messageBytes"],
  ["huge-json", "limits.messageBytes"],
  ["huge-event", "limits.messageBytes"],
  ["gzip-bomb", "limits.messageBytes"],
  ["node-bomb", "limits.jsonNodes", 900_000],
  ["depth-bomb", "limits.jsonDepth", 20_000],
];

describe("bounds on sockets", () => {
  for (const [fault, option, size = offered] of shapes) {
    test(`F16 F17 socket ${fault}: refused by ${option}, the rest stays where it is`, () =>
      withSocket(fault, size, async (client, socket) => {
        const error = await assertRejects(() => client.callTool("echo"), LimitExceededError);
        assertEquals(error.limit, option);
        assertLess(socket.server.produced(), onTheWay);
        await client.callTool("echo");
      }));
  }

  test("F16 socket error-body-endless: 64 KiB are read, 2 KiB kept, the connection given up", () =>
    withSocket("error-body-endless", offered, async (client, socket) => {
      const { cause } = await assertRejects(() => client.callTool("echo"), OutcomeUnknownError);
      assert(cause instanceof HttpStatusError && (cause.body?.length ?? 0) <= 2_049);
      assertLess(socket.server.produced(), onTheWay);
      await until(() => socket.closed() > 0, "the connection to be given up");
    }));
});

/** A server that spoils the first call, and a client of it; both are gone afterwards, whatever happened. */
async function withSocket(
  fault: FaultName,
  size: number,
  run: (client: Client, socket: HostileSocket) => Promise<void>,
): Promise<void> {
  const socket = await startHostileSocket(fault, { size, times: 1 });
  try {
    const client = await connect(socket.url, { limits });
    await run(client, socket).finally(() => client.close());
  } finally {
    await socket.close();
  }
}
