/** Two isolates of real workerd with the tokens of one Durable Object. */
import type { Miniflare, WorkerOptions } from "miniflare";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { packagesInstalled } from "../../../tools/programs.ts";
import { assertOnce } from "./children/assert.ts";
import type { Outcome } from "./children/calls.ts";
import { type Loopback, startLoopback } from "./children/loopback.ts";
import type { Wish } from "./children/worker.ts";

const isHere = "Bun" in globalThis;
const skip = !isHere ? "it is the same workerd from each runtime" : packagesInstalled() ? false : "not installed";
let miniflare: Miniflare | undefined;

before(async () => {
  if (skip) return;
  const { Miniflare } = await import("miniflare");
  const { build } = await import("esbuild");
  const built = await build({
    // The tests run from the repository's root, also where they were compiled to somewhere else.
    entryPoints: [join(process.cwd(), "tests", "auth", "races", "children", "worker.ts")],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  const contents = built.outputFiles[0]?.text ?? "";
  const worker = (name: string, scriptName?: string): WorkerOptions => ({
    name,
    routes: [`${name}.test/*`],
    modules: [{ type: "ESModule", path: "worker.js", contents }],
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["nodejs_compat"],
    durableObjects: { STORES: { className: "StoreObject", useSQLite: true, ...(scriptName && { scriptName }) } },
  });
  miniflare = new Miniflare({ cf: false, workers: [worker("one"), worker("two", "one")] });
  await miniflare.ready;
});
after(async () => await miniflare?.dispose());

/** Asks one of the Workers for something. */
async function ask(host: "one" | "two", wish: Wish): Promise<Record<string, unknown>> {
  assert(miniflare);
  const response = await miniflare.dispatchFetch(`http://${host}.test/`, {
    method: "POST",
    // One that is kept is ended by workerd after some seconds, on a machine that stands still just when it is used again.
    headers: { connection: "close" },
    body: JSON.stringify(wish),
  });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  return JSON.parse(text);
}

async function outcomes(asked: readonly Promise<Record<string, unknown>>[]): Promise<Outcome[]> {
  return (await Promise.all(asked)).map(({ succeeded, failures, error }) => ({
    succeeded: Number(succeeded),
    failures: Array.isArray(failures) ? failures.map(String) : [String(error)],
  }));
}

/** Signs in across the two: begun in one isolate, finished in the other. */
async function signIn({ world, server }: Loopback, subject: string): Promise<void> {
  const begun = await ask("one", { step: "first call", server, subject });
  const finished = await ask("two", {
    step: "finish",
    server,
    subject,
    callback: await world.person.follow(String(begun["authorizationUrl"])),
  });
  assertEquals([finished["server"], finished["issuer"]], [server, world.server.issuer], JSON.stringify(finished));
  world.log.clear();
  world.person.visits.length = 0;
}

/** Makes one call in the second. */
async function callOnce(loopback: Loopback, subject: string): Promise<Outcome> {
  loopback.gather(1);
  const [outcome] = await outcomes([ask("two", { step: "call", server: loopback.server, subject, count: 1 })]);
  assert(outcome);
  return outcome;
}

describe("two isolates over one object", { concurrency: false }, () => {
  const both = ["one", "two"] as const;

  test("a sign-in that was begun in one is finished in the other, once, and good in both", { skip }, async () => {
    await using loopback = await startLoopback();
    const { world, server } = loopback;
    const subject = "ada";
    const begun = await ask("one", { step: "first call", server, subject });
    const pending = begun["pending"];
    assertEquals(JSON.parse(JSON.stringify(pending)).server, server);
    const callback = await world.person.follow(String(begun["authorizationUrl"]));
    assertEquals((await ask("two", { step: "finish", server, subject, callback }))["server"], server);
    const again = await ask("one", { step: "finish", server, subject, callback });
    assert(String(again["error"]).includes("nobody waits for this state"), JSON.stringify(again));
    world.log.clear();
    loopback.gather(2);
    const asked = both.map((host) => ask(host, { step: "call", server, subject, count: 10 }));
    assertEquals(await outcomes(asked), Array(2).fill({ succeeded: 10, failures: [] }));
    assertEquals([world.log.tokens().length, world.person.visits.length], [0, 1]);
  });

  test("another subject cannot finish it, and does not disturb it", { skip }, async () => {
    await using loopback = await startLoopback();
    const { world, server } = loopback;
    const begun = await ask("one", { step: "first call", server, subject: "grace" });
    const callback = await world.person.follow(String(begun["authorizationUrl"]));
    const foreign = await ask("two", { step: "finish", server, subject: "mallory", callback });
    assert(String(foreign["error"]).includes("nobody waits for this state"), JSON.stringify(foreign));
    assertEquals((await ask("two", { step: "finish", server, subject: "grace", callback }))["server"], server);
  });

  for (const requests of [1, 3]) {
    test(`10 calls in each of ${requests} requests of both, with an expired token: one refresh`, { skip }, async () => {
      await using loopback = await startLoopback();
      const { world, server } = loopback;
      const subject = `expired ${requests}`;
      world.server.knobs.lifetime = 1;
      await signIn(loopback, subject);
      world.server.knobs.lifetime = 300;
      await new Promise((resolve) => setTimeout(resolve, 1_050));
      loopback.gather(2 * requests);
      const hosts = Array.from({ length: requests }, () => both).flat();
      const asked = hosts.map((host) => ask(host, { step: "call", server, subject, count: 10 }));
      await assertOnce(loopback, await outcomes(asked), () => callOnce(loopback, subject));
    });

    test(`the same, connected when the token is revoked early (${requests})`, { skip }, async () => {
      await using loopback = await startLoopback();
      const { world, server } = loopback;
      const subject = `revoked ${requests}`;
      await signIn(loopback, subject);
      loopback.gather(2 * requests, () => world.server.issued.revokeAccess());
      const hosts = Array.from({ length: requests }, () => both).flat();
      const asked = hosts.map((host) => ask(host, { step: "call connected", server, subject, count: 10 }));
      await assertOnce(loopback, await outcomes(asked), () => callOnce(loopback, subject));
    });
  }
});
