import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { connect } from "../../src/entry/local.ts";
import type { LogRecord, Spawn } from "../../src/ports.ts";
import type { McpError } from "../../src/protocol/errors.ts";
import { ConnectionClosedError, LimitExceededError, PeerExitedError, SpawnError } from "../../src/protocol/errors.ts";
import { baseEnvironment as bunEnvironment, bunSpawn } from "../../src/runtime/bun.ts";
import { baseEnvironment as denoEnvironment, denoSpawn } from "../../src/runtime/deno.ts";
import { baseEnvironment as nodeEnvironment, nodeSpawn } from "../../src/runtime/node.ts";
import { createStdioChannel } from "../../src/transport/stdio.ts";
import type { StdioChannel, StdioCommand, StdioPorts } from "../../src/transport/stdio.ts";
import { child, isAlive, shell, until } from "../suites/spawn.ts";

const [spawn, baseEnvironment]: [Spawn, typeof bunEnvironment] = "Bun" in globalThis
  ? [bunSpawn, bunEnvironment]
  : "Deno" in globalThis
  ? [denoSpawn, denoEnvironment]
  : [nodeSpawn, nodeEnvironment];

/** A channel to a real process, and all that came over it. */
async function open(command: StdioCommand, ports: Partial<StdioPorts> = {}) {
  const texts: string[] = [];
  const ends: (McpError | undefined)[] = [];
  let endedAt = 0;
  const channel = createStdioChannel(command, { spawn, baseEnvironment, timeouts: { close: 150 }, ...ports });
  await channel.open({
    text: (text) => void texts.push(text),
    end(reason) {
      ends.push(reason);
      endedAt = performance.now();
    },
  });
  return { channel, texts, ends, endedAt: () => endedAt };
}

/** Closes the channel and makes sure that its process is gone. */
async function gone(channel: StdioChannel) {
  await channel.close();
  const { pid } = channel;
  assert(pid !== undefined && !isAlive(pid), "the process is gone when close() resolves");
}

describe("stdio: talking to a real process", () => {
  test("messages of one write arrive in order, and come back", async () => {
    const { channel, texts, ends } = await open(child("echo"));
    await channel.write(['{"a":1}', '{"b":"ü"}']);
    await channel.write(["[1]"]);
    await until(() => texts.length === 3, "the echo");
    assertEquals(texts, ['{"a":1}', '{"b":"ü"}', "[1]"]);
    await gone(channel);
    assertEquals(ends, [undefined]);
    await assertRejects(async () => await channel.write(["{}"]), ConnectionClosedError);
  });

  test("a message of ten megabytes", async () => {
    const { channel, texts } = await open(child("echo"));
    const message = `{"x":"${"é".repeat(5 * 2 ** 20)}"}`;
    await channel.write([message]);
    await until(() => texts.length === 1, "the echo");
    assert(texts[0] === message);
    await gone(channel);
  });

  test("the child gets the safe list and the command's own variables, and no secret of the parent", async () => {
    process.env.CAUSEWAY_TEST_SECRET = "canary";
    try {
      for (const inheritEnv of [true, false]) {
        const own = { GREETING: "hello", PATH: process.env.PATH ?? "" };
        const { channel, texts, ends } = await open({ ...child("report"), env: own, inheritEnv });
        await until(() => ends.length === 1, "the end");
        const { env } = JSON.parse(texts[0] ?? "");
        assertEquals([env.GREETING, env.CAUSEWAY_TEST_SECRET], ["hello", undefined]);
        assertEquals(env.HOME, inheritEnv ? process.env.HOME : undefined);
        await channel.close();
      }
    } finally {
      delete process.env.CAUSEWAY_TEST_SECRET;
    }
  });

  test("noise is skipped, with one warning and a count at the end", async () => {
    const log: LogRecord[] = [];
    const { channel, texts } = await open(child("noise"), {
      logger: (record) => log.push(record),
      redact: (text) => text.replaceAll("Server", "[hidden]"),
    });
    await channel.write(['{"second":2}']);
    await until(() => texts.length === 3, "the echo");
    assertEquals(texts, ['{"first":1}', "  [debug] no JSON, but it may look so", '{"second":2}']);
    await gone(channel);
    assertEquals(log.map(({ level }) => level), ["warning", "info"]);
    assertEquals(log[0]?.fields?.line, "[hidden] starting…");
    assertEquals(log[1]?.fields?.lines, 2);
  });
});

describe("stdio: what breaks", () => {
  test("a command that is not there", async () => {
    await assertRejects(() => open({ command: "causeway-no-such-program" }), SpawnError, "causeway-no-such-program");
  });

  test("arguments that are no list, and a command that is no text, are refused before anything is started", async () => {
    const wrong = (command: object) => async () => await open(command as never);
    await assertRejects(wrong({ command: "node", args: "server.js" }), TypeError, '"args" is no list of texts');
    await assertRejects(wrong({ command: ["node", "server.js"] }), TypeError, '"command" is no text');
    await assertRejects(() => connect({ command: "node", args: "server.js" as never }), TypeError, '"args" is no list');
    // Null, as a config may have it, is none.
    await assertRejects(wrong({ command: "causeway-no-such-program", args: null }), SpawnError, "no such program");
  });

  test("a server that ends at once: the error says what it wrote", async () => {
    const { channel, ends } = await open(child("exit", "3", "Error: API_KEY=hunter2 is not set"), {
      redact: (text) => text.replaceAll("hunter2", "***"),
    });
    await until(() => ends.length === 1, "the end");
    const [reason] = ends;
    assert(reason instanceof PeerExitedError);
    assertEquals([reason.exitCode, reason.signal, reason.delivery], [3, null, "unknown"]);
    assertEquals(reason.stderr, "Error: API_KEY=*** is not set");
    for (const part of [process.execPath, "exit code 3", "before it answered", "API_KEY=*** is not set"]) {
      assert(reason.message.includes(part), reason.message);
    }
    assert(!reason.message.includes("hunter2"));
    await assertRejects(async () => await channel.write(["{}"]), PeerExitedError);
    await gone(channel);
  });

  test("kill -9 in mid-call is told at once, with the signal", async () => {
    const { channel, texts, ends, endedAt } = await open(child("deaf"));
    await until(() => texts.length === 1, "the child");
    const started = performance.now();
    process.kill(channel.pid ?? 0, "SIGKILL");
    await until(() => ends.length === 1, "the end");
    const [reason] = ends;
    assert(reason instanceof PeerExitedError);
    assertEquals([reason.exitCode, reason.signal], [null, "SIGKILL"]);
    assert(endedAt() - started < 5_000, `${endedAt() - started} ms`);
    await gone(channel);
  });

  for (const deaf of [[], ["deaf"]]) {
    test(`a grandchild${deaf.length ? " that ignores SIGTERM" : ""} holds the output: told, and killed`, async () => {
      const { channel, texts, ends } = await open(child("family", "leave", ...deaf));
      await until(() => ends.length === 1, "the end");
      assert(ends[0] instanceof PeerExitedError);
      assertEquals(ends[0].exitCode, 0);
      const { grandchild } = JSON.parse(texts[0] ?? "");
      await gone(channel);
      await until(() => !isAlive(grandchild), "the grandchild's end");
    });
  }

  test("closing a wrapper kills what it started", async () => {
    const { channel, texts, ends } = await open(child("family", "stay", "deaf"));
    await until(() => texts.length === 1, "the grandchild");
    const { grandchild } = JSON.parse(texts[0] ?? "");
    await gone(channel);
    await until(() => !isAlive(grandchild), "the grandchild's end");
    assertEquals(ends, [undefined]);
  });

  test("a child that closes its output and lives on is ended", async () => {
    const { channel, ends } = await open(shell("mute", "output"));
    await until(() => ends.length === 1, "the end");
    assert(ends[0] instanceof ConnectionClosedError, String(ends[0]));
    assertMatch(ends[0].message, /runs on: it cannot answer any more; its standard error ends with:\nno API key$/);
    await gone(channel);
  });

  test("a child that ignores everything is killed, and close is one and the same for all callers", async () => {
    const { channel, texts } = await open(child("stubborn"));
    await until(() => texts.length === 1, "the child");
    const started = performance.now();
    await Promise.all([channel.close(), channel.close()]);
    assert(performance.now() - started >= 290, "both steps were given their time");
    await gone(channel);
  });

  test("a child that does not read: the write waits, close still works", async () => {
    const { channel, texts } = await open(child("deaf"));
    await until(() => texts.length === 1, "the child");
    const write = Promise.resolve(channel.write([`"${"x".repeat(4 * 2 ** 20)}"`])).then(
      () => "written",
      () => "refused",
    );
    assertEquals(await Promise.race([write, new Promise((done) => setTimeout(done, 50, "waiting"))]), "waiting");
    await gone(channel);
    assertEquals(await write, "refused");
  });

  test("a line over the limit ends the connection", async () => {
    const { channel, texts, ends } = await open(child("long_line", "100000"), { limits: { messageBytes: 99_999 } });
    await until(() => ends.length === 1, "the end");
    assert(ends[0] instanceof LimitExceededError);
    assertEquals([ends[0].limit, texts.length], ["limits.messageBytes", 0]);
    await gone(channel);
    const allowed = await open(child("long_line", "100000"), { limits: { messageBytes: 100_000 } });
    await until(() => allowed.texts.length === 1, "the line");
    await gone(allowed.channel);
  });

  test("endless noise ends the connection; ten megabytes of standard error do not", async () => {
    const flood = await open(child("flood", "1"), { limits: { strays: 100 } });
    await until(() => flood.ends.length === 1, "the end");
    assert(flood.ends[0] instanceof LimitExceededError);
    assertEquals(flood.ends[0].limit, "limits.strays");
    await gone(flood.channel);
    let told = 0;
    const listening = { onStderr: (line: string): void => void (told += line.length + 1) };
    const errors = await open({ ...child("flood", "2", "10000000"), ...listening });
    await until(() => errors.texts.length === 1, "the word after the flood");
    const kept = errors.channel.stderr();
    // What it begins with is cut off, up to a whole line: all of one, where it was whole.
    assert(kept.length >= 63 * 1024 && kept.length <= 64 * 1024, `${kept.length} characters are kept`);
    assertEquals(kept.indexOf("\n"), 1023, "it begins with a whole line");
    await gone(errors.channel);
    // The last line has no end.
    assertEquals(told, 10_000_001);
  });

  test("closing while it starts leaves nobody behind", async () => {
    const channel = createStdioChannel(child("deaf"), { spawn, baseEnvironment, timeouts: { close: 50 } });
    const opening = assertRejects(() => channel.open({ text() {}, end() {} }), ConnectionClosedError);
    await channel.close();
    await opening;
    assert(channel.pid === undefined || !isAlive(channel.pid));
  });
});
