import { describe, test } from "node:test";
import { assertEquals, assertInstanceOf } from "@std/assert";
import { LimitExceededError } from "../../../src/protocol/errors.ts";
import { Outbox } from "../../../src/server/channel_outbox.ts";
import { turns } from "../../client/support.ts";

/** An outbox on a channel that takes writes as the test says, and what was written. */
function outbox(limit = 1_000, take: (texts: readonly string[]) => void | Promise<void> = () => {}) {
  const writes: string[][] = [];
  const failures: unknown[] = [];
  const channel = {
    label: "test",
    open: () => Promise.resolve(),
    write(texts: readonly string[]) {
      writes.push([...texts]);
      return take(texts);
    },
    close: () => Promise.resolve(),
  };
  const box = new Outbox(channel, limit, (error) => void failures.push(error));
  const push = (count: number, from = 0) => {
    for (let at = from; at < from + count; at++) box.push(String(at));
  };
  return { ...{ box, writes, failures, push }, sizes: () => writes.map(({ length }) => length) };
}
const numbers = (count: number) => Array.from({ length: count }, (_, at) => String(at));

describe("what a server sends down a channel", () => {
  test("what is told in one turn is one write, and sixteen texts do not wait for its end", async () => {
    const { push, writes, sizes } = outbox();
    push(3);
    assertEquals(sizes(), []);
    await turns();
    assertEquals(sizes(), [3]);
    push(36, 3);
    assertEquals(sizes(), [3, 16, 16]);
    await turns();
    assertEquals(sizes(), [3, 16, 16, 4]);
    assertEquals(writes.flat(), numbers(39));
  });

  test("a channel that is busy holds all back, in order", async () => {
    let taken = () => {};
    const { box, push, writes, sizes } = outbox(1_000, () => new Promise<void>((resolve) => taken = resolve));
    push(30);
    await turns();
    assertEquals(sizes(), [16]);
    let isFlushed = false;
    const flushed = box.flushed().then(() => isFlushed = true);
    taken();
    await turns();
    assertEquals([sizes(), isFlushed], [[16, 14], false]);
    taken();
    await flushed;
    assertEquals(writes.flat(), numbers(30));
  });

  test("what a write brings about is written after it", async () => {
    const { push, writes } = outbox(1_000, (texts) => {
      if (texts.includes("0")) push(17, 16);
    });
    push(16);
    await turns();
    assertEquals(writes.map(({ length }) => length), [16, 17]);
    assertEquals(writes.flat(), numbers(33));
  });

  test("too much that waits ends it, and what was written does not count", async () => {
    const free = outbox(60);
    free.push(80);
    await turns();
    assertEquals([free.failures, free.writes.flat().length], [[], 80]);
    const stuck = outbox(60, () => new Promise(() => {}));
    stuck.push(80);
    assertEquals([stuck.failures.length, stuck.sizes()], [1, [16]]);
    assertInstanceOf(stuck.failures[0], LimitExceededError);
    let taken = () => {};
    const slow = outbox(60, () => new Promise<void>((resolve) => taken = resolve));
    for (let round = 0; round < 20; round++) {
      slow.push(8);
      await turns();
      taken();
      await turns();
    }
    assertEquals([slow.failures, slow.writes.flat().length], [[], 160]);
  });

  test("a channel that breaks is told once, at once or later", async () => {
    const broken = new Error("broken");
    const fails = [
      () => {
        throw broken;
      },
      () => Promise.reject(broken),
    ];
    for (const fail of fails) {
      const { box, push, failures } = outbox(1_000, fail);
      push(20);
      await box.flushed();
      push(20);
      await turns();
      assertEquals(failures, [broken]);
    }
  });
});
