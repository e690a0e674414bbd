/** SQLite files: their options, permissions, transactions, and what several connections see. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { McpError } from "../../../mod.ts";
import { openDatabase } from "../../../src/entry/local.ts";
import type { SqlDatabase } from "../../../src/ports.ts";
import { runProcess } from "../../../tools/process.ts";
import { root } from "../../../tools/programs.ts";

const isOld = !("Bun" in globalThis) && !("Deno" in globalThis) &&
  process.getBuiltinModule?.("node:sqlite") === undefined;
const skip = isOld ? "Node has SQLite since 22.13" : false;

async function inFolder(use: (path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-sql-"));
  try {
    await use(join(folder, "test.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const pragma = (database: SqlDatabase, name: string): unknown =>
  Object.values(database.all(`pragma ${name}`)[0] ?? {})[0];

/** A thread that holds the file for 10 ms and lets go of it for 0.1 ms, for 20 seconds at most, by a library of its own. */
const writing = `
  const { workerData, parentPort } = process.getBuiltinModule("node:worker_threads");
  const wait = (milliseconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
  const isBun = "Bun" in globalThis;
  const { Database, DatabaseSync } = process.getBuiltinModule(isBun ? "bun:sqlite" : "node:sqlite");
  const database = isBun ? new Database(workerData.path) : new DatabaseSync(workerData.path);
  database.exec("pragma busy_timeout = 5000");
  const stopped = new Int32Array(workerData.stopped);
  for (let at = 0; at < 2000 && Atomics.load(stopped, 0) === 0; at++) {
    database.exec("begin immediate");
    if (at === 0) parentPort.postMessage("writing");
    wait(10);
    database.exec("insert into numbers values (" + at + ")");
    database.exec("commit");
    for (const since = performance.now(); performance.now() - since < 0.1;);
  }
  Atomics.store(stopped, 0, 2);
  database.close();
`;

async function startWriter(path: string): Promise<{ isWriting(): boolean; stop(): Promise<void> }> {
  const stopped = new SharedArrayBuffer(4);
  const state = new Int32Array(stopped);
  const worker = new Worker(writing, { eval: true, workerData: { path, stopped } });
  const ended = once(worker, "exit");
  await once(worker, "message");
  return {
    isWriting: () => Atomics.load(state, 0) === 0,
    async stop() {
      Atomics.compareExchange(state, 0, 0, 1);
      await ended;
    },
  };
}

describe("an SQLite file", () => {
  test("is its owner's alone, keeps a log, and has written before it answers", { skip }, async () => {
    await inFolder(async (path) => {
      const database = await openDatabase(path, { busyTimeout: 1_234 });
      assertEquals([pragma(database, "journal_mode"), pragma(database, "synchronous")], ["wal", 2]);
      database.run("create table cells (text text, number real, bytes blob, missing text)");
      database.run("insert into cells values (?, ?, ?, ?)", "ä😀", 1.5, new Uint8Array([0, 255]), null);
      const [row] = database.all("select * from cells where number > ?", 1);
      assertEquals([row?.["text"], row?.["number"], row?.["missing"]], ["ä😀", 1.5, null]);
      assert(row?.["bytes"] instanceof Uint8Array);
      assertEquals([...row["bytes"]], [0, 255]);
      if (process.platform !== "win32") {
        for (const file of [path, `${path}-wal`]) assertEquals(statSync(file).mode & 0o777, 0o600, file);
      }
      database.close?.();
      database.close?.();
      if (process.platform !== "win32") chmodSync(path, 0o644);
      const again = await openDatabase(path);
      assertEquals(again.all("select count(*) as count from cells")[0]?.["count"], 1);
      if (process.platform !== "win32") assertEquals(statSync(path).mode & 0o777, 0o600);
      again.close?.();
    });
  });

  test("does all of a transaction or nothing, one within another too, and takes no promise", { skip }, async () => {
    await inFolder(async (path) => {
      const [one, other] = [await openDatabase(path), await openDatabase(path, { busyTimeout: 0 })];
      one.run("create table numbers (number integer)");
      const count = () => other.all("select count(*) as count from numbers")[0]?.["count"];
      assertEquals(
        one.transaction(() => one.transaction(() => (one.run("insert into numbers values (1)"), "done"))),
        "done",
      );
      assertEquals(count(), 1);
      assertThrows(() =>
        one.transaction(() => {
          one.run("insert into numbers values (2)");
          one.transaction(() => one.run("insert into numbers values (3)"));
          assertEquals(count(), 1);
          throw new RangeError("no");
        }), RangeError);
      assertThrows(() => one.transaction(() => Promise.reject(new Error("late"))), TypeError);
      // What some libraries give in the place of a promise.
      assertThrows(() => one.transaction(() => ({ then: () => {} })), TypeError, "this one gave a promise");
      one.transaction(() => {
        one.run("insert into numbers values (4)");
        const locked = assertThrows(() => other.run("insert into numbers values (5)"), McpError);
        assert(locked.message.includes('locked, and "busyTimeout" is 0'), locked.message);
      });
      assertEquals(count(), 2);
      one.close?.();
      other.close?.();
    });
  });

  test("many that open a new file at once do not stand in each other's way", { skip }, async () => {
    await inFolder(async (path) => {
      const all = await Promise.all(Array.from({ length: 8 }, () => openDatabase(path)));
      for (const [at, database] of all.entries()) database.run(`create table table${at} (number integer)`);
      for (const database of all) database.close?.();
    });
  });

  test("is written beside somebody who writes all the time, and read", { skip }, async () => {
    await inFolder(async (path) => {
      const database = await openDatabase(path, { busyTimeout: 20_000 });
      database.run("create table numbers (number integer)");
      const writer = await startWriter(path);
      try {
        for (let round = 0; round < 3; round++) {
          database.run("insert into numbers values (-1)");
          database.transaction(() => database.run("insert into numbers values (-2)"));
        }
        const rows = database.all("select count(*) as count from numbers where number < 0");
        assertEquals([rows[0]?.["count"], writer.isWriting()], [6, true]);
      } finally {
        await writer.stop();
        database.close?.();
      }
    });
  });

  test("is whole without its log once it was closed", { skip }, async () => {
    await inFolder(async (path) => {
      const database = await openDatabase(path);
      database.run("create table numbers (number integer)");
      // More statements than are kept.
      for (let number = 0; number < 250; number++) database.run(`insert into numbers values (${number})`);
      assertEquals(database.all("select count(*) as count from numbers")[0]?.["count"], 250);
      database.close?.();
      copyFileSync(path, `${path}.copy`);
      const copy = await openDatabase(`${path}.copy`);
      assertEquals(copy.all("select count(*) as count from numbers")[0]?.["count"], 250);
      copy.close?.();
    });
  });

  test("keeps its locks when this process opens it once more: else another one takes its log away", {
    skip: skip || (process.platform === "linux" ? false : "only Linux tells of locks"),
  }, async () => {
    await inFolder(async (path) => {
      const one = await openDatabase(path);
      one.run("create table numbers (number integer)");
      const inode = statSync(path).ino;
      const isLocked = () =>
        readFileSync("/proc/locks", "utf8").split("\n").some((line) =>
          line.includes(` ${process.pid} `) && line.includes(`:${inode} `)
        );
      assert(isLocked(), "while it is open once");
      const two = await openDatabase(path);
      assert(isLocked(), "while it is open twice");
      one.close?.();
      two.close?.();
    });
  });

  test("is opened again with nothing but its folder permitted", {
    skip: "Deno" in globalThis ? false : "only Deno has permissions for each thing",
  }, async () => {
    await inFolder(async (path) => {
      const entry = pathToFileURL(join(root, "src/runtime/sql/node_database.ts")).href;
      const program = join(dirname(path), "program.ts");
      writeFileSync(
        program,
        `
        import { openDatabase } from ${JSON.stringify(entry)};
        for (const time of ["once", "twice"]) {
          (await openDatabase(${JSON.stringify(path)})).close();
          console.log(time);
        }`,
      );
      const given = [`--allow-read=${dirname(path)}`, `--allow-write=${dirname(path)}`];
      const flags = ["--no-prompt", "--no-check", "--quiet", "-c", join(root, "deno.json"), ...given];
      const { code, output } = await runProcess([process.execPath, "run", ...flags, program]);
      assertEquals([code, output], [0, "once\ntwice\n"]);
    });
  });

  test(
    "is made where a link leads to",
    { skip: skip || (process.platform === "win32" && "links need a right there") },
    async () => {
      await inFolder(async (path) => {
        symlinkSync(`${path}.real`, path);
        const database = await openDatabase(path);
        database.run("create table numbers (number integer)");
        assertEquals(statSync(`${path}.real`).mode & 0o777, 0o600);
        database.close?.();
      });
    },
  );

  test("leaves what is no file as it is", {
    skip: skip || (process.platform === "win32" && "it has no pipes by path"),
  }, async () => {
    await inFolder(async (path) => {
      execFileSync("mkfifo", [path]);
      chmodSync(path, 0o666);
      // Who reads it, so that nobody waits for that one.
      const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      try {
        const error = await assertRejects(() => openDatabase(path), McpError);
        assertEquals(error.message, `Cannot open the database "${path}": it is no file, expected one`);
        assertEquals(statSync(path).mode & 0o777, 0o666);
      } finally {
        closeSync(reader);
      }
    });
  });

  test("says what is wrong", { skip }, async () => {
    await inFolder(async (path) => {
      for (const wrong of ["", "a\0b"]) await assertRejects(() => openDatabase(wrong), TypeError);
      for (const busyTimeout of [-1, 0.5, NaN]) {
        await assertRejects(() => openDatabase(path, { busyTimeout }), TypeError);
      }
      const missing = await assertRejects(() => openDatabase(join(path, "no", "folder.db")), McpError);
      assert(missing.message.includes("folder.db"), missing.message);
      const nowhere = join(dirname(path), "no", "folder.db");
      await assertRejects(() => openDatabase(nowhere), McpError, `"${nowhere}": its folder is not there`);
      const folder = await assertRejects(() => openDatabase(dirname(path)), McpError);
      assert(folder.message.includes("it is a folder, expected a file"), folder.message);
      writeFileSync(path, "this is not a database, it is a text of more than a hundred characters ".repeat(9));
      const broken = await assertRejects(() => openDatabase(path), McpError);
      assert(broken.message.includes("test.db"), broken.message);
    });
  });

  test("an older Node says which one is needed", { skip: isOld ? false : "this one has SQLite" }, async () => {
    const error = await assertRejects(() => openDatabase(":memory:"), McpError);
    assert(error.message.includes("22.13"), error.message);
  });
});
