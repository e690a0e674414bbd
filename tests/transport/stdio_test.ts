import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Clock, ProcessEvents, SpawnCommand } from "../../src/ports.ts";
import type { McpError } from "../../src/protocol/errors.ts";
import { ConnectionClosedError, PeerExitedError, SpawnError } from "../../src/protocol/errors.ts";
import { createStdioChannel } from "../../src/transport/stdio.ts";
import type { StdioCommand, StdioPorts } from "../../src/transport/stdio.ts";

/** Time that only moves when it is told to. */
class HandClock implements Clock {
  #time = 0;
  #timers = new Set<{ at: number; run: () => void }>();
  now = (): number => this.#time;
  monotonic = (): number => this.#time;

  schedule(run: () => void, milliseconds: number): () => void {
    const timer = { at: this.#time + milliseconds, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get waiting(): number {
    return this.#timers.size;
  }

  async pass(milliseconds: number): Promise<void> {
    const end = this.#time + milliseconds;
    for (;;) {
      for (let i = 0; i < 20; i++) await Promise.resolve();
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers.delete(next);
      this.#time = next.at;
      next.run();
    }
    this.#time = end;
  }
}

/** A channel to a process that is only played, and the log of what is done to it. */
async function play(ports: Partial<StdioPorts> = {}, command: Partial<StdioCommand> = {}) {
  const clock = new HandClock();
  const done: string[] = [];
  const ends: (McpError | undefined)[] = [];
  const texts: string[] = [];
  const state: {
    command?: SpawnCommand;
    events?: ProcessEvents;
    write?: () => void | Promise<void>;
    isEnding?: () => boolean;
  } = {};
  const channel = createStdioChannel({ command: "server", ...command }, {
    clock,
    spawn(given, events) {
      state.command = given;
      state.events = events;
      return Promise.resolve({
        pid: 1,
        write(text) {
          done.push(`${clock.now()} write ${text.replaceAll("\n", "|")}`);
          return state.write?.();
        },
        closeInput: () => void done.push(`${clock.now()} close input`),
        kill: (signal) => void done.push(`${clock.now()} ${signal}`),
        isEnding: () => state.isEnding?.() ?? false,
      });
    },
    ...ports,
  });
  await channel.open({ text: (text) => void texts.push(text), end: (reason) => void ends.push(reason) });
  const { events } = state;
  assert(events);
  const say = (text: string) => events.output(new TextEncoder().encode(text));
  return { clock, channel, done, ends, texts, events, state, say };
}

describe("stdio: the ladder on a clock moved by hand", () => {
  test("a process that goes by itself is not signalled before it has gone", async () => {
    const { clock, channel, done, ends, events } = await play();
    const closed = channel.close();
    assertEquals(ends, [undefined]);
    await clock.pass(500);
    events.outputEnd();
    events.exit({ code: 0, signal: null });
    await closed;
    assertEquals(done, ["0 close input", "500 SIGKILL"]);
    assertEquals(clock.waiting, 0);
    await channel.close();
    assertEquals([done.length, ends.length], [2, 1]);
  });

  test("a process that does not go gets two seconds for each step", async () => {
    const { clock, channel, done, events } = await play();
    const closed = channel.close();
    await clock.pass(4_100);
    assertEquals(done, ["0 close input", "2000 SIGTERM", "4000 SIGKILL"]);
    events.exit({ code: null, signal: "SIGKILL" });
    events.outputEnd();
    await clock.pass(10);
    await closed;
    assertEquals(clock.waiting, 0);
  });

  test("timeouts.close sets the steps", async () => {
    const { clock, channel, done } = await play({ timeouts: { close: 10 } });
    const closed = channel.close();
    await clock.pass(100);
    await closed;
    assertEquals(done, ["0 close input", "10 SIGTERM", "20 SIGKILL"]);
  });

  test("what holds the output after the exit is asked, then killed", async () => {
    const { clock, done, ends, events } = await play();
    events.exit({ code: 0, signal: null });
    await clock.pass(99);
    assertEquals(ends, []);
    await clock.pass(1);
    assert(ends[0] instanceof PeerExitedError);
    await clock.pass(5_000);
    assertEquals(done, ["100 close input", "200 SIGTERM", "2200 SIGKILL"]);
  });

  test("the end of the output waits 100 ms for the exit, no longer", async () => {
    const first = await play();
    first.events.outputEnd();
    await first.clock.pass(99);
    assertEquals(first.ends, []);
    first.events.exit({ code: 1, signal: null });
    await first.clock.pass(0);
    assert(first.ends[0] instanceof PeerExitedError);
    const second = await play();
    second.events.outputEnd();
    await second.clock.pass(100);
    assert(second.ends[0] instanceof ConnectionClosedError);
    second.events.exit({ code: 1, signal: null });
    await second.clock.pass(5_000);
    assertEquals(second.ends.length, 1);
  });

  test("the end of all output waits 400 ms more: a busy machine is slow to tell of an exit", async () => {
    for (const [isTold, reason] of [[true, PeerExitedError], [false, ConnectionClosedError]] as const) {
      const { events, state, clock, ends } = await play();
      state.isEnding = () => true;
      events.outputEnd();
      await clock.pass(499);
      assertEquals(ends, []);
      if (isTold) events.exit({ code: 1, signal: null });
      await clock.pass(1);
      assert(ends[0] instanceof reason);
    }
  });
});

describe("stdio: words", () => {
  test("what is written in one go is one chunk; what comes is given line by line", async () => {
    const { channel, done, texts, say } = await play();
    channel.write(["{1}", "{2}"]);
    channel.write(["{3}"]);
    assertEquals(done, ["0 write {1}|{2}|", "0 write {3}|"]);
    say('{"a"');
    say(':1}\n{"b":2}\r\n\n[3]\nnoise\n');
    assertEquals(texts, ['{"a":1}', '{"b":2}', "[3]"]);
  });

  test("nothing is given after the end, and the last words are not held back", async () => {
    const { channel, texts, say, events } = await play();
    void channel.close();
    assertEquals(say('{"late":1}\n'), undefined);
    events.outputEnd();
    assertEquals(texts, []);
  });

  test("a message without its line end counts when the output ends", async () => {
    const { texts, say, events } = await play();
    say('{"a":1}');
    events.outputEnd();
    assertEquals(texts, ['{"a":1}']);
  });

  test("the environment: inherited, then the command's own; or only that", async () => {
    const baseEnvironment = (extra: Record<string, string>) => ({ PATH: "/bin", ...extra });
    const inherits = await play({ baseEnvironment }, { env: { A: "1" }, args: ["x"], cwd: "/tmp" });
    assertEquals(inherits.state.command, {
      command: "server",
      args: ["x"],
      env: { PATH: "/bin", A: "1" },
      cwd: "/tmp",
    });
    const alone = await play({ baseEnvironment }, { env: { A: "1" }, inheritEnv: false });
    assertEquals(alone.state.command?.env, { A: "1" });
    assertEquals((await play({}, {})).state.command?.env, {});
  });
});

describe("stdio: writes that fail", () => {
  test("the exit that follows is the reason", async () => {
    for (const how of ["throws", "rejects"]) {
      const { clock, channel, events, state, ends } = await play();
      state.write = () => {
        if (how === "throws") throw new Error("EPIPE");
        return Promise.reject(new Error("EPIPE"));
      };
      const refused = assertRejects(async () => await channel.write(["{}"]), PeerExitedError, "SIGSEGV");
      await clock.pass(50);
      events.outputEnd();
      events.exit({ code: null, signal: "SIGSEGV" });
      await clock.pass(200);
      await refused;
      assert(ends[0] instanceof PeerExitedError);
    }
  });

  test("without an exit the broken input is the reason, and it is not known what arrived", async () => {
    const { clock, channel, state } = await play();
    const cause = new Error("EPIPE");
    state.write = () => Promise.reject(cause);
    const refused = assertRejects(async () => await channel.write(["{}"]), ConnectionClosedError);
    await clock.pass(200);
    const error = await refused;
    assertEquals([error.delivery, error.cause === cause], ["unknown", true]);
  });

  test("after the end nothing is sent, and the error says so", async () => {
    const { clock, channel, done, events } = await play();
    events.errorOutput(new TextEncoder().encode("boom\n"));
    events.outputEnd();
    events.exit({ code: 9, signal: null });
    await clock.pass(0);
    const error = await assertRejects(async () => await channel.write(["{}"]), PeerExitedError, "boom");
    assertEquals([error.delivery, error.exitCode], ["not-sent", 9]);
    assert(!done.some((line) => line.includes("write")));
  });

  test("a failed start is told as it is, and closing afterwards is harmless", async () => {
    const failure = new SpawnError("no");
    const channel = createStdioChannel({ command: "x" }, { spawn: () => Promise.reject(failure) });
    assertEquals(await assertRejects(() => channel.open({ text() {}, end() {} }), SpawnError), failure);
    await channel.close();
    const late = createStdioChannel({ command: "x" }, { spawn: () => Promise.reject(failure) });
    await late.close();
    await assertRejects(() => late.open({ text() {}, end() {} }), ConnectionClosedError);
  });
});

describe("stdio: standard error", () => {
  test("is told line by line, redacted, to who listens; a listener that throws ends nothing", async () => {
    const lines: string[] = [];
    const logged: string[] = [];
    const { events, ends } = await play({
      redact: (text) => text.replaceAll("s3cr3t", "***"),
      limits: { messageBytes: 100 },
      logger: ({ message }) => void logged.push(message),
    }, {
      onStderr(line) {
        lines.push(line);
        if (line === "") throw new Error("no line");
      },
    });
    const write = (text: string) => events.errorOutput(new TextEncoder().encode(text));
    for (const text of ["to sign in, open https://a.example/s3", "cr3t\r\n\nnext", "\n", "x".repeat(101), "\nlast"]) {
      write(text);
    }
    assertEquals(ends, []);
    events.exit({ code: 0, signal: null });
    assertEquals(lines, ["to sign in, open https://a.example/***", "", "next", "", "last"]);
    assertEquals(logged, Array(2).fill("The listener to standard error failed"));
  });

  test("a line that is too long takes none of its neighbours along, also where they come together", async () => {
    const lines: string[] = [];
    const { events } = await play({ limits: { messageBytes: 100 } }, { onStderr: (line) => void lines.push(line) });
    for (const text of [`one\n${"x".repeat(101)}\ntwo\nthr`, `ee\n${"y".repeat(300)}`, "y\nfour\n"]) {
      events.errorOutput(new TextEncoder().encode(text));
    }
    assertEquals(lines, ["one", "two", "three", "y", "four"]);
  });

  test("a listener that is an async function, and fails later, is told of to the logger", async () => {
    const logged: unknown[] = [];
    const { clock, events, ends } = await play({
      logger: ({ message, fields }) => void logged.push([message, String(fields?.error)]),
    }, { onStderr: () => Promise.reject(new Error("the disk is full")) });
    events.errorOutput(new TextEncoder().encode("one\n"));
    await clock.pass(0);
    assertEquals([logged, ends], [[["The listener to standard error failed", "Error: the disk is full"]], []]);
  });

  test("the last 64 KiB are kept, the last 2 KiB told, both redacted as a whole", async () => {
    const secret = "s3cr3t";
    const { clock, channel, events, ends } = await play({ redact: (text) => text.replaceAll(secret, "***") });
    const write = (text: string) => events.errorOutput(new TextEncoder().encode(text));
    write("old".repeat(50_000));
    for (let i = 0; i < 20_000; i++) write("abcd");
    // The secret lies across the place where the last 2 KiB begin.
    write(secret + "x".repeat(2_045));
    assertEquals(channel.stderr().length, 64 * 1024 - 3);
    events.outputEnd();
    events.exit({ code: 1, signal: null });
    await clock.pass(0);
    const [reason] = ends;
    assert(reason instanceof PeerExitedError);
    const stderr = reason.stderr ?? "";
    assertEquals(stderr.length, 2_048);
    assert(!stderr.includes("3t") && !channel.stderr().includes("old"));
    assert(reason.message.length < 2_500);
  });

  test("values of its own variables are not shown where their names say that they are secret", async () => {
    const env = {
      API_KEY: "k3y-of-ada",
      API_KEYS: "k3y-of-bob,k3y-of-eve",
      DB_PASSWORD_2: "correct horse",
      NODE_ENV: "production",
      A_TOKEN: "short",
      PWD: "/home/ada",
    };
    const lines: string[] = [];
    const logged: unknown[] = [];
    const { clock, say, events, ends } = await play({
      redact: (text) => text.replaceAll("ada.example", "***"),
      logger: ({ fields }) => void logged.push(fields?.line),
    }, { env, onStderr: (line) => void lines.push(line) });
    const line = "ada.example: k3y-of-ada, k3y-of-eve, correct horse, production, short, /home/ada";
    const shown = "***: [redacted], [redacted], [redacted], production, short, /home/ada";
    say(line + "\n");
    events.errorOutput(new TextEncoder().encode(line + "\n"));
    events.outputEnd();
    events.exit({ code: 1, signal: null });
    await clock.pass(0);
    assertEquals([lines, logged], [[shown], [shown]]);
    const { message, stderr } = ends[0] as PeerExitedError;
    assert(message.includes(shown) && !message.includes("k3y"), message);
    assertEquals(stderr?.trim(), shown);
  });

  const oddSecrets: [string, Record<string, string | undefined>, string, string][] = [
    ["one that is not there is none", { API_KEY: undefined, A_TOKEN: "" }, "x is undefined", "x is undefined"],
    [
      "one that is made of a known one is taken out whole",
      { API_KEY: "ada.example/t0k" },
      "ada.example/t0k!",
      "[redacted]!",
    ],
    ["one of several lines is taken out of each", { A_KEY: "begin\r\nhunter2\nend" }, "hunter2!", "[redacted]!"],
    [
      "one of very many lines is taken out of each, and those beside it are still",
      { A_TOKEN: "hunter2", B_KEY: Array.from({ length: 500 }, (_, at) => `line ${at} of it`).join("\n") },
      "hunter2! line 0 of it! line 499 of it!",
      "[redacted]! [redacted]! [redacted]!",
    ],
  ];
  for (const [what, env, said, shown] of oddSecrets) {
    test(`of the values of its own variables ${what}`, async () => {
      const lines: string[] = [];
      const { clock, channel, events } = await play(
        { redact: (text) => text.replaceAll("ada.example", "***") },
        { env: env as Record<string, string>, onStderr: (line) => void lines.push(line.trim()) },
      );
      events.errorOutput(new TextEncoder().encode(said + "\n"));
      await clock.pass(0);
      assertEquals([lines, channel.stderr().trim()], [[shown], shown]);
    });
  }

  test("of a program that never served the beginning is told too: usage often follows what was wrong", async () => {
    const { clock, events, ends } = await play();
    events.errorOutput(
      new TextEncoder().encode("No token was given\n" + "  --option\n".repeat(500) + "see the documents"),
    );
    events.outputEnd();
    events.exit({ code: 1, signal: null });
    await clock.pass(0);
    const { message, stderr = "" } = ends[0] as PeerExitedError;
    assert(stderr.length <= 2_048 && /^No token was given[^]*\n…\n[^]*see the documents$/.test(stderr), stderr);
    assert(message.includes("its standard error says:\nNo token was given"), message);
  });
});
