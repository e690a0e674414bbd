/** Sealed stores, by chance: whatever is kept comes back for its row, tenant and key alone, and comparing does as a plain store does. */
import fc from "fast-check";
import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore, createSealedStore } from "../../../src/auth/mod.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";

const text = fc.string({ unit: "binary", maxLength: 200 });
const key = fc.uint8Array({ minLength: 32, maxLength: 64 });

test("what is sealed opens for its row, tenant and key, and for nothing else", async () => {
  const place = fc.record({ row: text, tenant: text, key });
  await fc.assert(
    fc.asyncProperty(place, place, text, async (here, there, value) => {
      const inner = createMemoryStore();
      await createSealedStore(inner, { keys: here.key, tenant: here.tenant }).set(here.row, value);
      await inner.set(there.row, await inner.get(here.row) ?? "");
      const other = createSealedStore(inner, { keys: [there.key, here.key], tenant: here.tenant });
      assertEquals(await other.get(here.row), value);
      if (there.row !== here.row) await assertRejects(() => other.get(there.row), AuthorizationError);
      for (const each of [{ keys: there.key, tenant: here.tenant }, { keys: here.key, tenant: there.tenant }]) {
        if (each.tenant === here.tenant && String(each.keys) === String(here.key)) continue;
        await assertRejects(() => createSealedStore(inner, each).get(here.row), AuthorizationError);
      }
    }),
    { numRuns: 150 },
  );
});

test("any sequence of steps gives what it gives in a plain store", async () => {
  const small = fc.constantFrom("", "a", "b", "\ud800");
  const maybe = fc.option(small, { nil: undefined });
  const step = fc.oneof(
    fc.record({ step: fc.constant("get" as const), row: small }),
    fc.record({ step: fc.constant("delete" as const), row: small }),
    fc.record({ step: fc.constant("set" as const), row: small, value: small }),
    fc.record({ step: fc.constant("compare" as const), row: small, expected: maybe, next: maybe }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const plain = createMemoryStore();
      const inner = createMemoryStore();
      const keys = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
      const sealed = [keys, [...keys].reverse()].map((keys) => createSealedStore(inner, { keys, tenant: "ada" }));
      for (const [index, each] of steps.entries()) {
        const results = [plain, sealed[index % 2] ?? plain].map(async (store) => {
          if (each.step === "get") return await store.get(each.row);
          if (each.step === "delete") return await store.delete(each.row);
          if (each.step === "set") return await store.set(each.row, each.value);
          return await store.compareAndSet(each.row, each.expected, each.next);
        });
        const [expected, found] = await Promise.all(results);
        assertEquals(found, expected);
      }
    }),
    { numRuns: 100 },
  );
});
