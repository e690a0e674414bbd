/**
 * The fault matrix over HTTP on loopback, in each runtime's own `fetch`, workerd included: every row that no time-out ends.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { type Clock, connect, systemClock } from "../../mod.ts";
import { type FaultName, faultNames } from "../servers/hostile.ts";
import { serverUrl } from "../support/server_url.ts";
import { assertOutcome, evenRandom, textOf, watch, watchStrays } from "./support/harness.ts";
import { together } from "./support/together.ts";
import { httpEras, httpRows } from "./table/http.ts";
import { isOutcome, type Outcome, violation } from "./table/row.ts";

const base = serverUrl();
const skip = base === undefined ? "tools/test.ts starts the test server" : false;
const limits = { messageBytes: 2 ** 20, streamBytes: 2 ** 21, jsonNodes: 100_000 };
const strays = watchStrays();

/** What a server in this house cannot send, or what is the same whatever carries it. */
const notOverWire: Partial<Record<FaultName, string>> = {
  "length-lie": "the host refuses to lie; see short-length on sockets",
  "infinite-pages": "a hundred healthy replies",
  "repeated-cursor": "a hundred healthy replies",
};

/** A runtime that does not know a compression hands the packed bytes over: no JSON. */
const packed: readonly FaultName[] = ["deflate-bomb", "br-bomb"];

/** No deadline is ever over by it: what ends was ended by the fault. */
const standing: Clock = { ...systemClock, monotonic: () => 0 };

describe("faults on loopback", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const era of httpEras) {
    for (const name of faultNames()) {
      const { f, size, [era]: cell } = httpRows[name];
      if (!isOutcome(cell) || cell.after !== undefined || name in notOverWire) continue;
      cases.set(`F${f} loopback-${era} ${name}: ${cell.ends}`, () => run(name, era, { cell, size }));
    }
  }
  const outcome = together(cases, 8);
  for (const name of cases.keys()) test(name, { skip }, () => outcome(name));

  test("nothing was rejected unheard", { skip }, () => strays.none());
});

async function run(
  name: FaultName,
  era: "modern" | "legacy",
  { cell, size }: { cell: Outcome; size: number | undefined },
): Promise<void> {
  const path = `/hostile@${crypto.randomUUID()}/${name}/${era}/mcp`;
  const query = `times=${cell.sent ?? 1}${size === undefined ? "" : `&size=${size}`}`;
  const client = await connect(`${base}${path}?${query}`, { limits, random: evenRandom, clock: standing });
  const lists = httpRows[name].f === "34";
  const work: Promise<unknown> = lists ? client.listTools() : client.callTool("echo", { text: "hi" });
  const call = watch(work);
  await work.catch(() => {});
  const end = call.ended();
  assert(end !== undefined);
  const either = "error" in end && packed.includes(name) && isViolation(end.error) ? violation(0) : cell;
  assertOutcome(end, either);
  const { calls, hits } = await ledgerOf(path);
  assertEquals([calls.echo ?? 0, hits], [cell.ran, cell.sent ?? 1], "ran and sent, by the ledger");
  if ("value" in end && !lists) assertEquals(textOf(end.value as Parameters<typeof textOf>[0]), "hi"); // of callTool
  assertEquals(textOf(await client.callTool("echo", { text: "next" })), "next");
  assertEquals((await ledgerOf(path)).calls.echo, cell.ran + 1);
  await client.close();
}

function isViolation(error: unknown): boolean {
  return error instanceof Error && error.constructor.name === "ProtocolViolationError";
}

async function ledgerOf(path: string): Promise<{ calls: Record<string, number>; hits: number }> {
  const response = await fetch(`${base}/control${path}`);
  return await response.json();
}
