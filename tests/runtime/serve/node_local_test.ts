/** What `ws` is asked for on Node: the parts that Bun and Deno do by themselves. */
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { WebSocketLike } from "../../../src/ports.ts";
import { createListenNode } from "../../../src/runtime/serve/node.ts";
import { handshake, RawSocket } from "../../server/websocket/raw_socket.ts";
import { until } from "../../support/clients.ts";

const skip = "Bun" in globalThis || "Deno" in globalThis ? "this is not Node" : false;

async function withListener(
  run: (open: (headers?: Record<string, string>) => Promise<RawSocket>, accepted: WebSocketLike[]) => Promise<void>,
  { idleTime = 60_000, messageBytes = 1 << 20 } = {},
): Promise<void> {
  const accepted: WebSocketLike[] = [];
  const listener = await createListenNode(idleTime)({
    answer: () => Promise.resolve(new Response("plain")),
    admit: () => Promise.resolve((socket: WebSocketLike) => void accepted.push(socket)),
    messageBytes,
  }, { hostname: "127.0.0.1", port: 0 });
  const open = async (headers?: Record<string, string>): Promise<RawSocket> => {
    const socket = new RawSocket(listener.port, handshake(listener.port, headers));
    await socket.head;
    return socket;
  };
  try {
    await run(open, accepted);
  } finally {
    await listener.close(0);
  }
}

describe("WebSockets on Node", () => {
  test(
    "one that is silent is asked four times, and given up when it does not answer",
    { skip },
    () =>
      withListener(async (open) => {
        const [silent, alive] = [await open(), await open()];
        let asked = 0;
        alive.socket.on("data", () => {
          for (const { opcode } of alive.frames.splice(0)) {
            if (opcode !== 9) continue;
            asked++;
            alive.send("", { opcode: 10 });
          }
        });
        await silent.gone;
        assertEquals([silent.frames.map(({ opcode }) => opcode), silent.closeCode], [[9, 9, 9, 9], undefined]);
        // It outlives further rounds.
        const rounds = asked + 2;
        await until(() => asked >= rounds || alive.socket.destroyed);
        assertEquals(alive.socket.destroyed, false);
      }, { idleTime: 300 }),
  );

  test("one that answers late, behind a long message that it reads slowly, is kept", { skip }, async () => {
    let ask = (): void => {};
    const own = globalThis.setInterval;
    const spy = (work: () => void, pause: number) => {
      ask = work;
      return own(() => {}, pause);
    };
    globalThis.setInterval = spy as unknown as typeof own;
    try {
      await withListener(async (open, accepted) => {
        const socket = await open();
        const ended = socket.gone.then(() => "ended");
        for (let round = 0; round < 4; round++) ask();
        await until(() => socket.frames.length === 4);
        socket.send("", { opcode: 10 });
        // The answer has come when what is sent behind it has.
        const heard = new Promise((resolve) => accepted[0]!.addEventListener("message", () => resolve("heard")));
        socket.send("more");
        assertEquals(await Promise.race([heard, ended]), "heard");
        for (let round = 0; round < 4; round++) ask();
        await until(() => socket.frames.length === 8);
        ask();
        assertEquals(await ended, "ended");
      });
    } finally {
      globalThis.setInterval = own;
    }
  });

  test("what its client does not read is counted", { skip }, () =>
    withListener(async (open, accepted) => {
      const socket = await open();
      socket.socket.pause();
      const [server] = accepted;
      assert(server);
      for (let sent = 0; sent < 64; sent++) server.send("x".repeat(1 << 20));
      assert((server.bufferedAmount ?? 0) > 1 << 20, `${server.bufferedAmount} bytes wait`);
      socket.socket.resume();
      await until(() => socket.frames.length === 64, 10_000);
      assertEquals(server.bufferedAmount, 0);
    }));

  test(
    "the codes of a goodbye: too long, too many pieces, no UTF-8, a broken frame",
    { skip },
    () =>
      withListener(async (open) => {
        const [long, pieces, latin, broken] = [await open(), await open(), await open(), await open()];
        long.send("x".repeat(2_000));
        for (let piece = 0; piece < 20_000; piece++) pieces.send("", { opcode: piece === 0 ? 1 : 0, last: false });
        latin.send(new Uint8Array([0xff, 0xfe]));
        broken.send("", { opcode: 5 });
        await Promise.all([long.gone, pieces.gone, latin.gone, broken.gone]);
        assertEquals([long, pieces, latin, broken].map(({ closeCode }) => closeCode), [1009, 1008, 1007, 1002]);
      }, { messageBytes: 1_000 }),
  );

  test(
    "only version 13 is spoken: others have their origin elsewhere",
    { skip },
    () =>
      withListener(async (open, accepted) => {
        const old = await open({ "sec-websocket-version": "8" });
        assertMatch(await old.head, /^HTTP\/1\.1 426 [^]*sec-websocket-version: 13/i);
        await old.gone;
        assertEquals(accepted.length, 0);
      }),
  );

  test("closing takes no longer than its grace, also while a handshake is judged", { skip }, async () => {
    let judged = false;
    const listener = await createListenNode(60_000)({
      answer: () => Promise.resolve(new Response("plain")),
      admit: () => {
        judged = true;
        return new Promise(() => {});
      },
      messageBytes: 1_000,
    }, { hostname: "127.0.0.1", port: 0 });
    const socket = new RawSocket(listener.port, handshake(listener.port));
    await until(() => judged, 2_000);
    await listener.close(20);
    await socket.gone;
  });
});

describe("HTTP on Node", () => {
  const serving = { answer: () => Promise.resolve(new Response("plain")), admit: undefined, messageBytes: 1 << 20 };
  const at = { hostname: "127.0.0.1", port: 0 };

  test(
    "a head with all arguments that are mirrored by default has room for the rest beside them",
    { skip },
    async () => {
      const listener = await createListenNode(60_000)(serving, at);
      try {
        const mirrored = Object.fromEntries([1, 2, 3, 4].map((number) => [`mcp-param-${number}`, "a".repeat(4_096)]));
        const headers = { ...mirrored, authorization: `Bearer ${"b".repeat(8_000)}` };
        const response = await fetch(`http://127.0.0.1:${listener.port}/`, { headers });
        assertEquals([response.status, await response.text()], [200, "plain"]);
      } finally {
        await listener.close(0);
      }
    },
  );

  test("a head may have what the process was told that it may", { skip, timeout: 30_000 }, async () => {
    for (const [most, expected] of [[8_192, 431], [131_072, 200]] as const) {
      const source = `
        const { createListenNode } = await import(${
        JSON.stringify(import.meta.resolve("../../../src/runtime/serve/node.ts"))
      });
        const answer = () => Promise.resolve(new Response("plain"));
        const listener = await createListenNode(60_000)({ answer, messageBytes: 1 }, ${JSON.stringify(at)});
        const headers = { authorization: "Bearer " + "b".repeat(${most - 1_024} + (${expected} === 431 ? 2_048 : 0)) };
        console.log((await fetch("http://127.0.0.1:" + listener.port, { headers })).status);
        await listener.close(0);`;
      const flags = [...process.execArgv, `--max-http-header-size=${most}`, "--input-type=module", "-e", source];
      const { stdout } = await promisify(execFile)(process.execPath, flags);
      assertEquals(stdout.trim(), String(expected));
    }
  });

  test("a process that may not listen is told so, and lives", { skip }, async () => {
    const own = (["permission", "allowedNodeEnvironmentFlags"] as const).map((name) =>
      [name, Object.getOwnPropertyDescriptor(process, name)] as const
    );
    const put = (name: string, value: unknown) => Object.defineProperty(process, name, { value, configurable: true });
    put("permission", { has: (scope: string) => scope !== "net" });
    put("allowedNodeEnvironmentFlags", new Set(["--allow-net"]));
    try {
      const listening = () => createListenNode(60_000)(serving, at);
      await assertRejects(listening, Error, "run Node with --allow-net");
      // An older Node knows no such permission, so it has none to give.
      put("allowedNodeEnvironmentFlags", new Set());
      await (await listening()).close(0);
    } finally {
      for (const [name, descriptor] of own) {
        if (descriptor) Object.defineProperty(process, name, descriptor);
        else Reflect.deleteProperty(process, name);
      }
    }
  });
});
