/** What lies on the disk of a tenant's object: nothing of what was asked for, what came of it, or what was answered. */
import { assert, assertEquals } from "@std/assert";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { eventsIn, runUntil, secret, skip, startRun, startWorld, usualConfig } from "./world.ts";

const ended = ["succeeded", "failed", "cancelled"];

/** All that is in the files of a folder, byte by byte. */
function bytesIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n");
}

describe("the disk of a tenant's object", { concurrency: false }, () => {
  test("holds nothing of a run that can be read, before, during and after it", { skip, timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-object-"));
    const more = { durableObjectsPersist: folder, r2Buckets: [] };
    try {
      const agents = { readOnly: ["data.fetch_*", "data.big", "data.greet"], instructions: "canary-instructions" };
      await using world = await startWorld({ more, config: { ...usualConfig, agents } });
      const fetched = await startRun(world, "call data.fetch_data city=canary-task");
      const run = await runUntil(world, fetched.id, ended);
      assert(run.end?.text?.includes("canary-task as acme.example knows it"), JSON.stringify(run));
      const events = await (await world.ask(`/api/runs/${fetched.id}/events`)).text();
      assertEquals(eventsIn(events).at(-1)?.event, "succeeded");

      const asking = await startRun(world, "call data.greet\nsay canary-next");
      const { questions: [question] } = await runUntil(world, asking.id, ["needs_input"]);
      await world.evict("acme");
      const answer = { action: "accept", content: { name: "canary-answer" } };
      await world.json(`/api/runs/${asking.id}/input`, { body: { question: question?.id, answer } });
      const greeted = await runUntil(world, asking.id, ended);
      assert(greeted.end?.text?.includes("canary-answer"), JSON.stringify(greeted));

      const large = await startRun(world, "call data.big");
      assertEquals((await runUntil(world, large.id, ended)).state, "succeeded");
      const { content } = await world.json<{ content: { text: string }[] }>("/api/tools/data__big", { body: {} });
      const [uri = ""] = /causeway:\/\/results\/[0-9a-f]{32}/.exec(content.at(-1)?.text ?? "") ?? [];
      const whole = await world.json<{ contents: { text: string }[] }>("/api/resources/read", {
        body: { uri: `${uri}/0` },
      });
      assertEquals(whole.contents.map(({ text }) => text).join(""), "0123456789".repeat(60_000));

      const bytes = bytesIn(folder);
      // It is where things are kept: what is looked for stands there.
      for (const { id } of [fetched, asking, large]) assert(bytes.includes(id), `${id} is not on the disk`);
      for (const plain of ["canary", "knows it", "0123456789".repeat(4), secret, world.key("ada")]) {
        assert(!bytes.includes(plain), `${plain} can be read`);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
