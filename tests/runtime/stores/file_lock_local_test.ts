/** Processes that share a file store: none of their changes is lost, whoever is killed. */
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { chmod, chown, mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import {
  assert,
  assertEquals,
  assertGreaterOrEqual,
  assertLess,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { createFileStore } from "../../../src/entry/local.ts";
import { type Clock, systemClock, systemRandom } from "../../../src/ports.ts";
import { OverloadedError } from "../../../src/protocol/errors.ts";
import { type FileLock, takeLock } from "../../../src/runtime/stores/file_lock.ts";
import { judgeOwner, knowSelf, leaderOf, nameOwner, processOf } from "../../../src/runtime/stores/lock_owner.ts";
import { denoPath, nodePath, packagesInstalled } from "../../../tools/programs.ts";
import { bundleProgram, runtimes, start, startAs } from "./children/processes.ts";

const root = mkdtempSync(join(tmpdir(), "causeway-locks-"));
const skip = packagesInstalled() ? false : "esbuild is not installed";
const skipOffLinux = process.platform === "linux" ? false : "only Linux tells when a process started";
let program = "";
before(async () => {
  if (!skip) program = await bundleProgram(root);
});
after(() => rmSync(root, { recursive: true, force: true }));

let places = 0;
const place = (): string => join(root, `store ${++places}`);
const ways = runtimes();
const own = ways[0] ?? [];

async function take(path: string, timeout = 20_000): Promise<FileLock> {
  const until = performance.now() + timeout;
  const self = await knowSelf();
  return await takeLock(path, { timeout, until, self, clock: systemClock, random: systemRandom });
}

/** The number of a process that has ended. */
async function deadProcess(): Promise<number> {
  const child = start(own, program, "count", place(), "key", "0");
  await child.ended;
  return child.pid;
}

/** A lock as a process left it. */
async function leave(path: string, owner: string, age = 0): Promise<void> {
  await mkdir(path, { recursive: true });
  await writeFile(join(path, owner), "");
  const then = new Date(Date.now() - age);
  await utimes(join(path, owner), then, then);
}

describe("processes that count", { concurrency: false }, () => {
  test("lose none of 200 steps, on this runtime", { skip }, async () => {
    const folder = place();
    const children = Array.from({ length: 4 }, () => start(own, program, "count", folder, "key", "50"));
    for (const child of children) assertEquals(await child.ended, { how: 0, errors: "" });
    assertEquals(await createFileStore(folder).get("key"), "200");
    assertEquals((await readdir(folder)).length, 1, "no lock and no half file is left");
  });

  test("lose none of 200 steps, on all runtimes at once", {
    skip: skip || (ways.length > 1 ? false : "there is no other runtime"),
  }, async () => {
    const folder = place();
    const each = Math.floor(200 / ways.length);
    const children = ways.map((way) => start(way, program, "count", folder, "key", String(each)));
    for (const child of children) assertEquals(await child.ended, { how: 0, errors: "" });
    assertEquals(await createFileStore(folder).get("key"), String(each * ways.length));
  });

  test("lose none in Deno, with nothing but the folder permitted", {
    skip: skip || (denoPath() === undefined ? "there is no Deno" : false),
  }, async () => {
    const folder = place();
    const permissions = [`--allow-read=${folder},${program}`, `--allow-write=${folder}`];
    const way = [denoPath() ?? "", "run", "--no-prompt", "--no-check", "--quiet", ...permissions];
    const children = [1, 2].map(() => start(way, program, "count", folder, "key", "20"));
    for (const child of children) assertEquals(await child.ended, { how: 0, errors: "" });
    assertEquals(await createFileStore(folder).get("key"), "40");
  });

  test(
    "and are killed at any time leave a whole text, every step that was acknowledged, and no lock",
    { skip },
    async () => {
      const folder = place();
      const store = createFileStore(folder, { lockTimeout: 20_000 });
      let acknowledged = 0;
      const rounds = 8;
      for (let round = 0; round < rounds; round++) {
        const child = start(own, program, "acknowledge", folder, "key");
        await child.said("3");
        await new Promise((resolve) => setTimeout(resolve, (round * 7) % 30));
        child.kill();
        assertEquals((await child.ended).how, "SIGKILL");
        acknowledged += child.lines.length;
        const counted = Number(await store.get("key"));
        assertGreaterOrEqual(counted, acknowledged);
        // One step for each that was killed may be there without a word of it.
        assertGreaterOrEqual(acknowledged + round + 1, counted);
        assertEquals(await store.compareAndSet("key", String(counted), String(counted)), true);
      }
    },
  );
});

describe("a lock", { concurrency: false }, () => {
  test("of a process that was killed is taken over at once", { skip: skip || skipOffLinux }, async () => {
    const folder = place();
    const store = createFileStore(folder, { lockTimeout: 20_000 });
    await store.set("key", "old");
    const child = start(own, program, "hold", folder, "key");
    await child.said("held");
    const started = performance.now();
    const error = await assertRejects(
      () => createFileStore(folder, { lockTimeout: 300 }).set("key", "canary"),
      OverloadedError,
      `within 300 ms: the process ${child.pid} holds it`,
    );
    assert(error.retryable && error.message.includes(`"${folder}`) && !error.message.includes("canary"));
    assertLess(performance.now() - started, 8_000, "not as long as it is by default");
    assertEquals([await store.get("key"), await createFileStore(folder).get("key")], ["old", "old"]);
    child.kill();
    await child.ended;
    assertEquals(await store.compareAndSet("key", "old", "new"), true);
    assertEquals((await readdir(folder)).length, 1);
  });

  test("of a process that stands still is waited for, and not taken away", { skip: skip || skipOffLinux }, async () => {
    const path = join(root, `lock ${++places}`);
    const self = await knowSelf();
    await leave(path, nameOwner(self, systemRandom), 3_600_000);
    await assertRejects(() => take(path, 100), OverloadedError, `the process ${process.pid} holds it (this very one: `);
  });

  test("of a thread that was ended is taken over at once, and one of a living thread is not", {
    skip: skip || skipOffLinux,
  }, async () => {
    const folder = place();
    const store = createFileStore(folder, { lockTimeout: 20_000 });
    await store.set("key", "old");
    const thread = new Worker(program, { argv: ["hold", folder, "key"] });
    await new Promise((resolve, reject) => thread.once("message", resolve).once("error", reject));
    await assertRejects(
      () => createFileStore(folder, { lockTimeout: 300 }).set("key", "canary"),
      OverloadedError,
      `the process ${process.pid} holds it (this very one: `,
    );
    await thread.terminate();
    assertEquals(await store.compareAndSet("key", "old", "new"), true);
    assertEquals((await readdir(folder)).length, 1);
  });

  test("of a process before a restart is not there for ever, though it had the number and age of a living one", {
    skip: skipOffLinux,
  }, async () => {
    const path = join(root, `lock ${++places}`);
    const before = await knowSelf(() => Promise.resolve("another start of this machine"));
    await leave(path, nameOwner(before, systemRandom), 70_000);
    await (await take(path)).release();
  });

  test("that cannot be given back is given back a moment later", async () => {
    const path = join(root, `lock ${++places}`);
    let file = "";
    // What is in its way goes while one waits.
    const clock: Clock = {
      ...systemClock,
      schedule(callback) {
        rmdirSync(file);
        writeFileSync(file, "");
        return systemClock.schedule(callback, 0);
      },
    };
    const options = { timeout: 1_000, until: Infinity, self: await knowSelf(), random: systemRandom };
    const lock = await takeLock(path, { ...options, clock });
    file = join(path, (await readdir(path))[0] ?? "");
    rmSync(file);
    await mkdir(file);
    await lock.release();
    await (await take(path, 100)).release();
  });

  test("that a dead process left has one heir among many", { skip }, async () => {
    const self = await knowSelf();
    const pid = await deadProcess();
    for (let round = 0; round < 5; round++) {
      const path = join(root, `lock ${++places}`);
      await leave(path, nameOwner(self, systemRandom).replace(/^\d+/, String(pid)));
      let holders = 0;
      let most = 0;
      await Promise.all(Array.from({ length: 12 }, async () => {
        const lock = await take(path);
        most = Math.max(most, ++holders);
        await new Promise((resolve) => setTimeout(resolve, 2));
        await lock.check();
        holders--;
        await lock.release();
      }));
      assertEquals(most, 1);
    }
  });

  test("is not broken by one who saw its dead forerunner long ago", { skip }, async () => {
    const path = join(root, `lock ${++places}`);
    const dead = nameOwner(await knowSelf(), systemRandom).replace(/^\d+/, String(await deadProcess()));
    await leave(path, dead);
    // A second process that finds the dead one, and is held up before it removes it: that step is all it has left to do.
    const lock = await take(path);
    const { unlink, rmdir } = await import("node:fs/promises");
    await assertRejects(() => unlink(join(path, dead)));
    await assertRejects(() => rmdir(path));
    await lock.check();
    await assertRejects(() => take(path, 50), OverloadedError);
    await lock.release();
    await (await take(path)).release();
  });

  test("that was taken away is noticed before anything is written", async () => {
    const path = join(root, `lock ${++places}`);
    const lock = await take(path);
    const [name = ""] = await readdir(path);
    rmSync(join(path, name));
    await assertRejects(() => lock.check(), OverloadedError, "this process stood still, and another one took it");
    await lock.release();
  });

  test("that was taken away in the middle of a change keeps a store from it", async () => {
    const folder = place();
    await createFileStore(folder).set("key", "before");
    const [name = ""] = await readdir(folder);
    let asked = 0;
    const random = {
      ...systemRandom,
      bytes(length: number) {
        // The third one names the file that is written aside: by then the lock is held.
        if (++asked === 3) rmSync(join(folder, `${name}.lock`), { recursive: true });
        return systemRandom.bytes(length);
      },
    };
    const store = createFileStore(folder, { random });
    await assertRejects(() => store.set("key", "after"), OverloadedError, "stood still");
    assertEquals([await store.get("key"), await readdir(folder)], ["before", [name]]);
  });

  test("of another machine is believed for a minute", async () => {
    const self = { id: process.pid, started: "1", machine: "0123456789abcdef" };
    for (const owner of [nameOwner(self, systemRandom), "what is no owner"]) {
      const path = join(root, `lock ${++places}`);
      await leave(path, owner, 50_000);
      await assertRejects(() => take(path, 60), OverloadedError, `Cannot take the lock "${path}" within 60 ms`);
      await leave(path, owner, 70_000);
      await (await take(path)).release();
    }
  });

  test("an empty one is free, and a file in its place is said", async () => {
    const path = join(root, `lock ${++places}`);
    await mkdir(path);
    await (await take(path)).release();
    await writeFile(path, "");
    const error = await assertRejects(() => take(path));
    assert(error instanceof Error && error.message.startsWith(`Cannot lock "${path}"`), String(error));
    assertEquals(await readFile(path, "utf8"), "");
    assertEquals((await readdir(root)).filter((name) => name.endsWith(".tmp")), []);
  });

  test("waits no longer than it may, however many wait before it", async () => {
    const folder = place();
    const store = createFileStore(folder, { lockTimeout: 400 });
    await store.set("key", "old");
    const [name = ""] = await readdir(folder);
    const self = await knowSelf();
    await leave(join(folder, `${name}.lock`), nameOwner({ ...self, machine: "0123456789abcdef" }, systemRandom));
    const started = performance.now();
    // So many that a machine which stands still for seconds is told from one after another.
    const tries = await Promise.allSettled(Array.from({ length: 60 }, (_, index) => store.set("key", String(index))));
    assertEquals(new Set(tries.map(({ status }) => status)), new Set(["rejected"]));
    assertLess(performance.now() - started, 60 * 400 / 2, "they do not wait one after another");
    assertEquals(await store.get("key"), "old");
  });
});

describe("another user", { concurrency: false }, () => {
  const node = nodePath();
  const cannot = process.getuid?.() !== 0 || node === undefined;
  const skipHere = skip || (cannot ? "only the administrator can start Node as another user" : false);
  /** Counts as that user, and gives what is said of it. */
  const count = async (folder: string): Promise<string> => {
    await chmod(root, 0o755);
    const { how, errors } = await startAs(54_321, [node ?? ""], program, "count", folder, "key", "1").ended;
    return how === 0 ? "done" : errors;
  };

  test("uses neither a folder nor a file of somebody else", { skip: skipHere }, async () => {
    const folder = place();
    await mkdir(folder);
    await chown(folder, 12_345, 12_345);
    await chmod(folder, 0o777);
    assertStringIncludes(
      await count(folder),
      `Cannot use "${folder}": it belongs to the user 12345, expected 54321`,
    );
    const owned = place();
    await createFileStore(owned).set("key", "1");
    await chown(owned, 54_321, 54_321);
    const file = join(owned, (await readdir(owned))[0] ?? "");
    await chown(file, 12_345, 12_345);
    assertStringIncludes(await count(owned), `Cannot use "${file}": it belongs to the user 12345, expected 54321`);
    await chown(file, 54_321, 54_321);
    assertEquals(await count(owned), "done");
    assertEquals(await createFileStore(owned).get("key"), "2");
  });

  test("is told when it may not use the folder, or others may", { skip: skipHere }, async () => {
    const folder = place();
    await createFileStore(folder).set("key", "1");
    assertStringIncludes(await count(folder), "this user may not do that");
    assertStringIncludes(await count(join(folder, "below")), "this user may not do that");
    await chmod(folder, 0o777);
    const reason = "others may (mode 0777), and it cannot be changed";
    assertStringIncludes(await count(folder), `Cannot use "${folder}": ${reason}`);
  });
});

describe("the owner of a lock", () => {
  test("is alive as long as it is the same process", { skip: skip || skipOffLinux }, async () => {
    const self = await knowSelf();
    const name = nameOwner(self, systemRandom);
    assertEquals([processOf(name), await judgeOwner(name, self)], [self.id, "alive"]);
    assertEquals(await leaderOf(name, self), process.pid);
    const reused = nameOwner({ ...self, started: "1" }, systemRandom);
    assertEquals(await judgeOwner(reused, self), "dead", "another process had this number before");
  });

  test("is of one start of its machine, where that is told", { skip: skipOffLinux }, async () => {
    const starts = ["one", "one\n", "another"].map((start) => knowSelf(() => Promise.resolve(start)));
    const [one, same, another] = await Promise.all(starts);
    assertEquals([one?.machine === same?.machine, one?.machine === another?.machine], [true, false]);
    const untold = await knowSelf(() => Promise.reject(new Error("there is no such file")));
    assertMatch(untold.machine, /^[\da-f]{16}$/);
    assertEquals(await judgeOwner(nameOwner(untold, systemRandom), untold), "alive");
  });

  test("cannot be judged from another machine, or where the system tells nothing", async () => {
    const self = await knowSelf();
    const hidden = { ...self, machine: "x" };
    for (
      const [name, judge] of [
        [nameOwner({ ...self, machine: "0123456789abcdef" }, systemRandom), self],
        [nameOwner(hidden, systemRandom), hidden],
        [nameOwner({ ...self, started: "x" }, systemRandom), self],
        ["", self],
        ["0.1.x.00", self],
        ["../1", self],
      ] as const
    ) assertEquals(await judgeOwner(name, judge), "unknown", name);
  });
});
