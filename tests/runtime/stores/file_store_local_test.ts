/** Files: what is on the disk, who may read it, and what is said when it cannot be used. */
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { after, describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { createSealedStore } from "../../../src/auth/mod.ts";
import { createFileStore } from "../../../src/entry/local.ts";
import { McpError } from "../../../src/protocol/errors.ts";
import { fileError, isForeign } from "../../../src/runtime/stores/file_access.ts";
import { storeSuite } from "../../suites/store.ts";

const root = mkdtempSync(join(tmpdir(), "causeway-stores-"));
after(() => rmSync(root, { recursive: true, force: true }));
const posix = process.platform === "win32" ? "Windows has other permissions" : false;
const secret = "canary-51c9 a refresh token";

let places = 0;
const place = (): string => join(root, `place ${++places}`, "store");

storeSuite("createFileStore", () => {
  const folder = place();
  return { stores: [createFileStore(folder), createFileStore(folder)] };
}, { compares: true });

storeSuite("createSealedStore over files", () => {
  const folder = place();
  const keys = [btoa("k".repeat(32)), btoa("l".repeat(32))];
  const [one, two] = [createFileStore(folder), createFileStore(folder)];
  return { stores: [createSealedStore(one, { keys }), createSealedStore(two, { keys: keys.toReversed() })] };
}, { compares: true, writers: 8 });

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

/** A store with one text, and the file that it is in. */
async function filled(): Promise<{ folder: string; file: string; store: ReturnType<typeof createFileStore> }> {
  const folder = place();
  const store = createFileStore(folder);
  await store.set("key", secret);
  const [name = "", ...more] = await readdir(folder);
  assertEquals(more, []);
  return { folder, file: join(folder, name), store };
}

async function refuses(work: () => Promise<unknown>, path: string, reason: string): Promise<void> {
  const error = await assertRejects(work, McpError);
  assert(error.message.includes(`"${path}"`), error.message);
  assert(error.message.includes(reason), error.message);
  assert(!`${error.message} ${error.stack} ${String(error.cause)}`.includes("canary"), error.message);
}

describe("the files of a store", () => {
  test("are for the user alone, whatever the mask of the process", { skip: posix }, async () => {
    const before = process.umask(0);
    try {
      const { folder, file } = await filled();
      assertEquals([await modeOf(folder), await modeOf(file)], [0o700, 0o600]);
    } finally {
      process.umask(before);
    }
  });

  test("are one for each key, and nothing else stays", async () => {
    const { folder, file, store } = await filled();
    assertMatch(file, /[\da-f]{64}$/);
    await store.set("other", "x");
    await store.compareAndSet("other", "x", "y");
    await store.compareAndSet("other", "z", "y");
    assertEquals((await readdir(folder)).length, 2);
    await store.delete("other");
    await store.compareAndSet("key", secret, undefined);
    assertEquals(await readdir(folder), []);
  });

  test("are gone when they are deleted, also while they are written for the first time", async () => {
    const folder = place();
    const store = createFileStore(folder);
    await Promise.all([store.set("key", "value"), store.delete("key")]);
    assertEquals([await store.get("key"), await readdir(folder)], [undefined, []]);
    const nowhere = place();
    await createFileStore(nowhere).delete("key");
    await assertRejects(() => stat(nowhere), Error, undefined, "nothing is made for what is not there");
  });

  test("are tightened, and so is the folder, before they are read", { skip: posix }, async () => {
    const { folder, file, store } = await filled();
    await chmod(folder, 0o777);
    await chmod(file, 0o666);
    assertEquals(await store.get("key"), secret);
    assertEquals([await modeOf(folder), await modeOf(file)], [0o700, 0o600]);
  });

  test("are replaced whole: another inode, never a longer or shorter one", { skip: posix }, async () => {
    const { file, store } = await filled();
    const before = (await stat(file)).ino;
    const held = await readFile(file, "utf8");
    await store.set("key", "next");
    assert((await stat(file)).ino !== before);
    assert(held.includes("canary"));
  });

  test("stay where they were when the process changes its folder", async () => {
    const folder = place();
    const before = process.cwd();
    const store = createFileStore(relative(before, folder));
    try {
      process.chdir(root);
      await store.set("key", "one");
    } finally {
      process.chdir(before);
    }
    assertEquals(await createFileStore(folder).get("key"), "one");
  });

  test("reading makes no folder", async () => {
    const folder = place();
    const store = createFileStore(folder);
    assertEquals(await store.get("key"), undefined);
    await store.delete("key");
    await assertRejects(() => lstat(folder));
  });

  test("a folder that vanishes is made again", async () => {
    const { folder, store } = await filled();
    await rm(folder, { recursive: true });
    assertEquals(await store.get("key"), undefined);
    await store.set("key", "again");
    assertEquals(await store.get("key"), "again");
  });

  test("what a dead process left half written is removed after an hour, and nothing else", async () => {
    const { folder, file } = await filled();
    const old = new Date(Date.now() - 3_700_000);
    const made = { half: `${file}.0123456789abcdef.tmp`, lock: `${file}.lock.0123456789abcdef.tmp` };
    const kept = [`${file}.fedcba9876543210.tmp`, join(folder, "notes.tmp"), join(folder, "README")];
    await mkdir(made.lock);
    for (const path of [made.half, join(made.lock, "owner"), ...kept]) await writeFile(path, '{"key":"k');
    for (const path of [made.half, made.lock, ...kept.slice(1)]) await utimes(path, old, old);
    await createFileStore(folder).set("key", "next");
    const names = (await readdir(folder)).map((name) => join(folder, name)).sort();
    assertEquals(names, [file, ...kept].sort());
  });
});

describe("a file that cannot be used", () => {
  test("a link is not followed, and is replaced by the next text", { skip: posix }, async () => {
    const { file, store } = await filled();
    const elsewhere = join(root, `elsewhere ${places}`);
    await rename(file, elsewhere);
    await symlink(elsewhere, file);
    await refuses(() => store.get("key"), file, "it is a symbolic link, expected a file");
    await refuses(() => store.compareAndSet("key", secret, "x"), file, "it is a symbolic link, expected a file");
    await store.set("key", "next");
    assertEquals([await store.get("key"), (await lstat(file)).isFile()], ["next", true]);
    assert((await readFile(elsewhere, "utf8")).includes(secret));
  });

  test("a folder in its place", async () => {
    const { file, store } = await filled();
    await rm(file);
    await mkdir(file);
    await refuses(() => store.get("key"), file, "it is no file, expected one");
    await refuses(() => store.set("key", secret), file, "expected a file");
  });

  test("damaged, cut, or of somebody else: said without its content", async () => {
    const { file, store } = await filled();
    const whole = await readFile(file, "utf8");
    const bad = ["", whole.slice(0, -1), whole.slice(1), `[${whole}]`, secret, "null", '{"key":"key"}', whole + whole];
    for (const text of [...bad, `{"key":"key","value":{"a":"${secret}"}}`]) {
      await writeFile(file, text);
      await refuses(() => store.get("key"), file, "it is no file of this store, or damaged");
      await refuses(() => store.compareAndSet("key", secret, "x"), file, "it is no file of this store, or damaged");
      assertEquals(await readFile(file, "utf8"), text);
    }
    await store.set("key", "new");
    assertEquals(await store.get("key"), "new");
    await writeFile(file, "damaged");
    await store.delete("key");
    assertEquals(await store.get("key"), undefined);
  });

  test("swapped with that of another key", async () => {
    const { folder, file, store } = await filled();
    await store.set("other", "x");
    const other = (await readdir(folder)).map((name) => join(folder, name)).find((path) => path !== file) ?? "";
    await rename(file, other);
    await refuses(() => store.get("other"), other, "it belongs to another key");
    assertEquals(await store.get("key"), undefined);
  });

  test("the folder is a file, or below one", async () => {
    const { file } = await filled();
    const store = createFileStore(file);
    for (const work of [() => store.get("key"), () => store.set("key", secret), () => store.delete("key")]) {
      await refuses(work, file, "it is a file, expected a folder");
    }
    const below = createFileStore(join(file, "below"));
    for (const work of [() => below.get("key"), () => below.set("key", secret)]) {
      await refuses(work, join(file, "below"), "a part of the path is a file, expected a folder");
    }
  });

  test("the reasons of the system are told in words", () => {
    const told = { ENOSPC: "the disk is full", EROFS: "the file system is read-only", EACCES: "this user may not" };
    for (const [code, words] of Object.entries(told)) {
      const error = fileError("write", "/a/b", Object.assign(new Error(`${code}: something`), { code }));
      assert(error.message.startsWith(`Cannot write "/a/b": ${words}`), error.message);
    }
    assertEquals(fileError("write", "/a/b", new Error("odd")).message, 'Cannot write "/a/b": odd');
    const first = fileError("read", "/a", new Error("odd"));
    assertEquals(fileError("write", "/b", first), first);
  });

  test("files of others are not trusted, those of the administrator are", () => {
    assertEquals([isForeign(1_000, 1_000), isForeign(0, 1_000), isForeign(1_000, 0)], [false, false, false]);
    assertEquals([isForeign(1_001, 1_000), isForeign(65_534, 1_000)], [true, true]);
  });
});

test("files are kept where Node's permissions take away what brings them to the disk", async () => {
  const folder = place();
  const handle = await open(mkdtempSync(join(root, "handle-")), "r");
  const methods: { sync(): Promise<void> } = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = methods;
  const refusing = (code: string) => () => Promise.reject(Object.assign(new Error("it is disabled"), { code }));
  try {
    methods.sync = refusing("ERR_ACCESS_DENIED");
    await createFileStore(folder).set("key", secret);
    assertEquals(await createFileStore(folder).get("key"), secret);
    methods.sync = refusing("EIO");
    await assertRejects(() => createFileStore(folder).set("key", "other"), McpError, "the disk failed");
  } finally {
    methods.sync = sync;
  }
  assertEquals(await createFileStore(folder).get("key"), secret);
});

test("a store without a folder, or with a time-out that is none, is refused", () => {
  for (const folder of ["", "a\0b"]) {
    assertThrows(() => createFileStore(folder), TypeError, "expected the path of a folder");
  }
  for (const lockTimeout of [0, -1, NaN, Infinity]) {
    assertThrows(() => createFileStore(root, { lockTimeout }), RangeError, `"lockTimeout" is ${lockTimeout}`);
  }
});
