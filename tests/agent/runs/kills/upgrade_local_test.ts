/**
 * A new version of the program takes the place of the old one in the middle of runs, with newer tables: process by process over one
 * file. `CAUSEWAY_KILLS=full` does it on three runtimes. That of an object is in `workerd_local_test.ts`.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";

import process from "node:process";
import { describe, test } from "node:test";
import { openAnyDatabase } from "../support/database.ts";
import { eventsOf, secret } from "../support/runs.ts";
import { idOf } from "./plan.ts";
import { countUnderWay, judge, kill, withPlace } from "./place.ts";

const isFull = process.env["CAUSEWAY_KILLS"] === "full";
const skip = "Bun" in globalThis ? false : "Bun kills the processes of all three runtimes";
const options = { skip, timeout: isFull ? 300_000 : 60_000 };

describe("a new version of the program", () => {
  for (const runtime of isFull ? ["bun", "deno", "node"] : ["bun"]) {
    test(
      `${runtime}: takes over one process after the other, with newer tables, in the middle of runs`,
      options,
      async () => {
        await withPlace(runtime, { secret }, async (place) => {
          const keepers = [await place.start(6), await place.start(6)];
          await place.accept(12);
          const reader = await place.openReader();
          const tail = eventsOf(reader, idOf(0));
          for (const [at, child] of keepers.entries()) {
            // A machine that is slow in starting programs has ended the runs of before by now: there are newer ones.
            await place.accept(at === 0 ? 12 : 20);
            const gone = kill(child);
            // Now: until it is heard that it is gone, the other one may have ended them all.
            assert(await countUnderWay(reader) > 0, "runs are under way");
            await gone;
            // While the first one comes, the other one goes on with the old program over the new tables.
            keepers[at] = await place.start(8, { version: 2 });
          }
          await assertRejects(() => place.start(0), Error, "newer program");
          await judge(place, `${runtime}, a newer program`, [tail], reader);
          const longer = await Promise.all([...place.accepted].map((id) => eventsOf(reader, id)));
          const did = longer.filter((events) =>
            events.some(({ event }) => event.type === "step" && event.step > place.rounds)
          );
          assert(did.length >= 2, `${did.length} runs did what the newer program does`);
          await reader.close();
          const database = await openAnyDatabase(place.file);
          assertEquals(database.all("select distinct note from agent_runs").map((row) => row["note"]), ["none"]);
          database.close?.();
        });
      },
    );
  }
});
