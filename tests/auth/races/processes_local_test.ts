/** Two processes, of one runtime or two, with the tokens of one file store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createFileStore } from "../../../src/runtime/stores/file_store.ts";
import { packagesInstalled } from "../../../tools/programs.ts";
import { together } from "../../faults/support/together.ts";
import { runtimes, start } from "../../runtime/stores/children/processes.ts";
import { assertOnce, callWith } from "./children/assert.ts";
import type { Outcome } from "./children/calls.ts";
import { startLoopback } from "./children/loopback.ts";

const root = mkdtempSync(join(tmpdir(), "causeway-races-"));
after(() => rmSync(root, { recursive: true, force: true }));
const program = join(root, "program.mjs");
const skip = packagesInstalled() ? false : "esbuild is not installed";
const calls = 10;

before(async () => {
  if (skip) return;
  const { build } = await import("esbuild");
  await build({
    // The tests run from the repository's root, also where they were compiled to somewhere else.
    entryPoints: [join(process.cwd(), "tests", "auth", "races", "children", "program.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    outfile: program,
    logLevel: "silent",
  });
});

let folders = 0;
const newFolder = (): string => join(root, `store ${++folders}`);

/** What a process tells when it ends. */
async function outcomeOf(child: ReturnType<typeof start>): Promise<Outcome> {
  const { how, errors } = await child.ended;
  assertEquals([how, errors], [0, ""]);
  return JSON.parse(child.lines.at(-1) ?? "null");
}

/** Who the two processes are. */
interface Pair {
  readonly own: readonly string[];
  readonly other: readonly string[];
}

const races: Readonly<Record<string, (pair: Pair) => Promise<void>>> = {
  "and an expired token: one refresh": async ({ own, other }) => {
    await using loopback = await startLoopback();
    const folder = newFolder();
    const store = createFileStore(folder);
    await loopback.signIn(store, "expired");
    loopback.gather(2);
    const children = [own, other].map((way) => start(way, program, "fresh", folder, loopback.server, String(calls)));
    await assertOnce(loopback, await Promise.all(children.map(outcomeOf)), () => callWith(store, loopback));
  },

  "that are connected when the token is revoked: one refresh": async ({ own, other }) => {
    await using loopback = await startLoopback();
    const folder = newFolder();
    const store = createFileStore(folder);
    await loopback.signIn(store, "good");
    loopback.gather(2, () => loopback.world.server.issued.revokeAccess());
    const children = [own, other].map((way) =>
      start(way, program, "connected", folder, loopback.server, String(calls))
    );
    await assertOnce(loopback, await Promise.all(children.map(outcomeOf)), () => callWith(store, loopback));
  },

  "one is killed while it refreshes: the other takes over": async ({ own, other }) => {
    await using loopback = await startLoopback();
    const { world } = loopback;
    const folder = newFolder();
    const store = createFileStore(folder);
    await loopback.signIn(store, "expired");
    const arrived = new Promise<void>((resolve) => {
      // It never gets there: the token is not rotated.
      world.fault("/token", () => (resolve(), new Promise<Response>(() => {})));
    });
    loopback.gather(1);
    const killed = start(other, program, "fresh", folder, loopback.server, String(calls), "2000");
    await arrived;
    killed.kill();
    assertEquals((await killed.ended).how, "SIGKILL");
    world.log.clear();
    // How long it takes to start is its own affair.
    let began = 0;
    loopback.gather(1, () => began = performance.now());
    const outcome = await outcomeOf(start(own, program, "fresh", folder, loopback.server, String(calls)));
    // Its lease was for 7 s.
    const took = performance.now() - began;
    assert(took < 20_000, `it took ${took} ms`);
    await assertOnce(loopback, [outcome], () => callWith(store, loopback));
  },
};

describe("two processes with 10 calls each", { concurrency: false }, () => {
  const ways = runtimes();
  const [own = []] = ways;
  const cases = new Map<string, () => Promise<void>>();
  for (const [name, race] of Object.entries(races)) {
    for (const other of ways) {
      const names = [own, other].map(([path = ""]) => basename(path)).join(" and ");
      cases.set(`${name} (${names})`, () => race({ own, other }));
    }
  }
  // Each pair has a lane of its own: a lease takes its time.
  const outcome = together(cases, ways.length);
  for (const name of cases.keys()) test(name, { skip }, () => outcome(name));
});
