/** What a machine that loses its power leaves, as near as a copy comes to it: the file and its log at any moment. */
import { assert, assertEquals } from "@std/assert";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createRuns } from "../../../../src/agent/mod.ts";
import { openAnyDatabase, skip } from "../support/database.ts";
import { checkEvents, eventsOf, Ledger } from "../support/runs.ts";
import { createScriptedAgent } from "../support/scripted_agent.ts";
import { idOf } from "./plan.ts";

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("a copy of the file and its log", () => {
  test("opens, holds what was accepted, and its runs end", { skip, timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-copy-"));
    const path = join(folder, "runs.db");
    const database = await openAnyDatabase(path);
    const call = async (key: string): Promise<string> => {
      await pause(3);
      return await new Ledger().call(key);
    };
    const agents = { agent: createScriptedAgent({ rounds: 8, call }) };
    const runs = createRuns({ database, agents, watchdog: 500 });
    const copies: { path: string; accepted: number }[] = [];
    for (let count = 0; count < 10; count++) {
      await runs.start({ agent: "agent", principal: "ada", input: "go", id: idOf(count) });
      await pause(Math.random() * 25);
      const copy = join(folder, `copy${count}.db`);
      copyFileSync(path, copy);
      if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
      copies.push({ path: copy, accepted: count + 1 });
    }
    for (const copy of copies) {
      const copied = await openAnyDatabase(copy.path);
      assertEquals(Object.values(copied.all("pragma integrity_check")[0] ?? {}), ["ok"]);
      const next = createRuns({ database: copied, agents, watchdog: 500 });
      await next.resume();
      for (let at = 0; at < copy.accepted; at++) {
        const events = await eventsOf(next, idOf(at));
        checkEvents(events);
        assert(events.at(-1)?.event.type === "succeeded");
      }
      await next.close();
      copied.close?.();
    }
    await runs.close();
    database.close?.();
    rmSync(folder, { recursive: true, force: true });
  });
});
