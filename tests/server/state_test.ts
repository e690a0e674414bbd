import { describe, test } from "node:test";
import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { systemRandom } from "../../src/ports.ts";
import { createStateSealer } from "../../src/server/state.ts";
import { VirtualClock } from "../support/virtual_clock.ts";

const secret = "a secret of enough bytes";
const state = { answers: { name: "Ada ✓", count: 3, nothing: null, list: [1, { deep: true }] } };

function sealer(options: { secret?: string | Uint8Array; ttl?: number } = {}, clock = new VirtualClock()) {
  return createStateSealer({ clock, random: systemRandom, ...options });
}

describe("a sealed state", () => {
  test("opens again as it was, for what it is bound to", async () => {
    const one = sealer();
    const sealed = await one.seal(state, "ada, tools/call");
    assertEquals(await one.open(sealed, "ada, tools/call"), state);
    assertEquals(await one.open(sealed, "bob, tools/call"), undefined);
    assertEquals(await one.open(sealed, ""), undefined);
  });

  test("shows nothing of what it holds, and is never the same twice", async () => {
    const one = sealer({ secret });
    const [first, second] = await Promise.all([one.seal(state, "x"), one.seal(state, "x")]);
    assertNotEquals(first, second);
    assert(/^[\w-]+$/.test(first));
    const [plain, bytes] = [JSON.stringify(state), atob(first.replaceAll("-", "+").replaceAll("_", "/"))];
    // Fewer characters may stand there by chance.
    for (let at = 0; at + 8 <= plain.length; at++) assert(!bytes.includes(plain.slice(at, at + 8)));
    assertEquals(await one.open(second, "x"), state);
  });

  test("opens elsewhere with the same secret, as text or as bytes, and with no other", async () => {
    const sealed = await sealer({ secret }).seal(state, "x");
    // As WebCrypto gives what it makes, and programs without types hand it on.
    const { buffer } = new TextEncoder().encode(secret).slice();
    assertEquals(await sealer({ secret: buffer as unknown as Uint8Array }).open(sealed, "x"), state);
    assertEquals(await sealer({ secret }).open(sealed, "x"), state);
    assertEquals(await sealer({ secret: new TextEncoder().encode(secret) }).open(sealed, "x"), state);
    assertEquals(await sealer({ secret: secret + "!" }).open(sealed, "x"), undefined);
    assertEquals(await sealer().open(sealed, "x"), undefined);
  });

  test("without a secret it is good where it was made, also when many are made at once", async () => {
    const one = sealer();
    const sealed = await Promise.all(Array.from({ length: 20 }, (_, at) => one.seal({ at }, "x")));
    const opened = await Promise.all(sealed.map((text) => one.open(text, "x")));
    assertEquals(opened, Array.from({ length: 20 }, (_, at) => ({ at })));
    assertEquals(await sealer().open(sealed[0] as string, "x"), undefined);
  });

  test("does not open with a single character changed, cut off or added", async () => {
    const one = sealer({ secret });
    const sealed = await one.seal({ n: 1 }, "x");
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === "A" ? "B" : "A";
      assertEquals(await one.open(sealed.slice(0, at) + other + sealed.slice(at + 1), "x"), undefined, `at ${at}`);
      assertEquals(await one.open(sealed.slice(0, at), "x"), undefined, `cut at ${at}`);
    }
    for (const more of ["A", "=", "==", " ", "\n", "-TAMPERED", sealed]) {
      assertEquals(await one.open(sealed + more, "x"), undefined, JSON.stringify(more));
    }
  });

  test("has one text only: the last character decides too", async () => {
    const one = sealer({ secret });
    for (const state of [{ n: 1 }, { n: 10 }, { n: 100 }]) {
      const sealed = await one.seal(state, "x");
      const opened = [];
      for (const last of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") {
        if (await one.open(sealed.slice(0, -1) + last, "x")) opened.push(last);
      }
      assertEquals(opened, [sealed.at(-1)]);
    }
  });

  test("garbage does not open, and does not throw", async () => {
    const one = sealer({ secret });
    for (const garbage of ["", "A", "AAAA", "not base64!", "é", "A".repeat(100_000), "{}", "null"]) {
      assertEquals(await one.open(garbage, "x"), undefined);
    }
    for (const garbage of [undefined, null, 1, {}, []]) {
      assertEquals(await one.open(garbage as unknown as string, "x"), undefined);
    }
  });

  test("is good for ten minutes, or as long as is said", async () => {
    for (const [options, ttl] of [[{ secret }, 600_000], [{ secret, ttl: 1_000 }, 1_000]] as const) {
      const clock = new VirtualClock();
      const one = sealer(options, clock);
      const sealed = await one.seal(state, "x");
      await clock.advance(ttl - 1);
      assertEquals(await one.open(sealed, "x"), state);
      await clock.advance(1);
      assertEquals(await one.open(sealed, "x"), undefined);
    }
  });

  test("may be large", async () => {
    const one = sealer({ secret });
    const large = { text: "ä".repeat(300_000) };
    assertEquals(await one.open(await one.seal(large, "x"), "x"), large);
  });

  test("a secret that is too short, or a time that is none, is refused", () => {
    assertThrows(() => sealer({ secret: "" }), RangeError, "16");
    assertThrows(() => sealer({ secret: "fifteen bytes.." }), RangeError, "16");
    assertThrows(() => sealer({ secret: new Uint8Array(15) }), RangeError, "16");
    // 32 would be 32 zeros, and of an object or a CryptoKey nothing is left.
    for (const wrong of [32, true, {}, new Date(0), crypto, Promise.resolve(secret)]) {
      assertThrows(
        () => sealer({ secret: wrong as unknown as string }),
        RangeError,
        "has 0 bytes: expected at least 16",
      );
    }
    for (const ttl of [0, -1, NaN, Infinity]) assertThrows(() => sealer({ ttl }), RangeError, "ttl");
  });

  test("making a sealer asks nothing of the world yet", () => {
    const random = { ...systemRandom, bytes: (): Uint8Array => assert(false, "not yet") as never };
    createStateSealer({ clock: new VirtualClock(), random });
  });
});
