/**
 * Three programs of two people over one store, with calls, aborts, revocations, servers and stores that fail, sign-outs, sign-ins,
 * kills and passing time, as a seed decides. A failure prints its seed. The short form is run with the tests; the full form is
 *
 *     CAUSEWAY_RACE_SEEDS=10000 bun tools/run.ts test --filter tests/auth/races/simulation --only bun
 *
 * and one seed alone `CAUSEWAY_RACE_SEEDS=1 CAUSEWAY_RACE_FROM=4711 bun tools/run.ts test …`.
 */
import { env } from "node:process";
import { describe, test } from "node:test";
import { simulate } from "./simulation.ts";

const count = Number(env["CAUSEWAY_RACE_SEEDS"] ?? 12);
const from = Number(env["CAUSEWAY_RACE_FROM"] ?? 1);
/** A test may take 30 s on Bun, also on a busy machine. */
const parts = Math.max(10, Math.ceil(count / 200));

describe("programs that race", () => {
  for (let part = 0; part < parts; part++) {
    const first = from + Math.floor(count * part / parts);
    const end = from + Math.floor(count * (part + 1) / parts);
    if (first === end) continue;
    test(`do nothing that they must not, for the seeds ${first} to ${end - 1}`, async () => {
      const failures: string[] = [];
      const doubtful: number[] = [];
      const seeds = Array.from({ length: end - first }, (_, index) => first + index);
      const run = async (): Promise<void> => {
        for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
          await simulate(seed).catch(() => doubtful.push(seed));
        }
      };
      // Most of the time they wait for turns of the event loop.
      await Promise.all(Array.from({ length: 10 }, run));
      // So many at a time, the threads that make hashes can lag behind the time of a world, as if a program had been held up
      // for a minute: what counts is what a seed does when it is alone.
      for (const seed of doubtful) {
        await simulate(seed).catch((error) => failures.push(`seed ${seed}: ${String(error)}`));
      }
      if (failures.length) throw new Error(failures.join("\n"));
    });
  }
});
