import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { watchStrays } from "./support/harness.ts";
import { spoofPipe, spoofStreams } from "./support/spoof.ts";

const count = 600;
const strays = watchStrays();

describe("F13 answers that belong to others", () => {
  test("http: each on the stream of another call: none is taken, each call is told", async () => {
    assertEquals(await spoofStreams(count, "swap-all"), { right: 0, rejected: count, wrong: 0, strange: [] });
  });

  test("http: half of them swapped: the others are not disturbed", async () => {
    const expected = { right: count / 2, rejected: count / 2, wrong: 0, strange: [] };
    assertEquals(await spoofStreams(count, "some-swapped"), expected);
  });

  test("http: another's answer before the own one breaks the stream that it is on", async () => {
    assertEquals(await spoofStreams(count, "foreign-first"), { right: 0, rejected: count, wrong: 0, strange: [] });
  });

  test("pipe: out of order, doubled and made up: each call gets its own", async () => {
    assertEquals(await spoofPipe(count), { right: count, rejected: 0, wrong: 0, strange: [] });
  });

  test("nothing was rejected unheard", () => strays.none());
});
