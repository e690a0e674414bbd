/** What the bytes of a file and of its log hold: nothing that can be read without the secret, at any moment. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createRuns } from "../../../src/agent/mod.ts";
import { canaries, findCanaries, plantCanaries, tellTale } from "./support/canaries.ts";
import { openAnyDatabase, skip } from "./support/database.ts";
import { secret } from "./support/runs.ts";

describe("the file of runs", () => {
  test("holds none of twelve kinds of secrets in any form, nor does its log; without a secret it holds all", {
    skip,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-sealed-"));
    try {
      for (const more of [{ secret }, {}]) {
        const path = join(folder, "secret" in more ? "sealed.db" : "plain.db");
        const database = await openAnyDatabase(path);
        const runs = createRuns({ database, agents: { tellTale }, ...more });
        const look = (): string[] => {
          const files = [path, `${path}-wal`, `${path}-shm`].filter((file) => existsSync(file));
          return findCanaries(Buffer.concat(files.map((file) => readFileSync(file))));
        };
        const id = await plantCanaries(runs, "needs_input");
        const asked = look();
        await plantCanaries(runs);
        const done = look();
        await runs.forget(id);
        await runs.close();
        database.close?.();
        const closed = look();
        if ("secret" in more) assertEquals([asked, done, closed], [[], [], []]);
        else {
          assert(asked.length > 5);
          assertEquals([done, closed], [Object.keys(canaries), Object.keys(canaries)]);
        }
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
