/**
 * Three programs of two people over one store, with calls, aborts, revocations, servers and stores that fail, sign-outs, sign-ins,
 * kills and passing time, as a seed decides. A failure prints its seed. The short form is run with the tests; the full form is
 *
 *     CAUSEWAY_RACE_SEEDS=10000 bun tools/run.ts test --filter tests/auth/races/simulation --only bun --timeout 4000
 *
 * and one seed alone `CAUSEWAY_RACE_SEEDS=1 CAUSEWAY_RACE_FROM=4711 bun tools/run.ts test …`.
 */
import { env } from "node:process";
import { describe, test } from "node:test";
import { simulate } from "./simulation.ts";

const count = Number(env["CAUSEWAY_RACE_SEEDS"] ?? 12);
const from = Number(env["CAUSEWAY_RACE_FROM"] ?? 1);
/** A seed takes a quarter of a second, and a test may take 30 on Bun, also on a busy machine. */
const parts = Math.max(10, Math.ceil(count / 40));

describe("programs that race", () => {
  for (let part = 0; part < parts; part++) {
    const first = from + Math.floor(count * part / parts);
    const end = from + Math.floor(count * (part + 1) / parts);
    if (first === end) continue;
    test(`do nothing that they must not, for the seeds ${first} to ${end - 1}`, async () => {
      const failures: string[] = [];
      // One at a time: the threads that make hashes are shared, and beside others they lag behind the time of a world.
      for (let seed = first; seed < end; seed++) {
        await simulate(seed).catch((error) => failures.push(`seed ${seed}: ${String(error)}`));
      }
      if (failures.length) throw new Error(failures.join("\n"));
    });
  }
});
