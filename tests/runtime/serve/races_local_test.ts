/** Clients that leave, or stop reading, while something is sent to them on Node. */
import { describe, test } from "node:test";
import { connect as connect2, createServer as createServer2 } from "node:http2";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { assertEquals } from "@std/assert";
import type { HttpServing } from "../../../src/runtime/serve/listen.ts";
import { createListenNode } from "../../../src/runtime/serve/node.ts";
import { sendReply } from "../../../src/runtime/serve/node_messages.ts";
import { handshake } from "../../server/websocket/raw_socket.ts";
import { until } from "../../support/clients.ts";

const skip = "Bun" in globalThis || "Deno" in globalThis ? "this is not Node" : false;
const chunk = new Uint8Array(65_536);

/** A body without end, which hears when it is cancelled, and can be broken from outside. */
function endless() {
  const seen = { cancelled: false, fail: (_: Error): void => {} };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (seen.fail = (error) => controller.error(error)),
    pull: (controller) => controller.enqueue(chunk),
    cancel: () => void (seen.cancelled = true),
  });
  return { seen, body };
}

async function withSilent(
  serving: Partial<HttpServing>,
  head: (port: number) => string,
  run: (socket: Socket, close: (grace: number) => Promise<void>) => Promise<void>,
  patience?: number,
): Promise<void> {
  const listener = await createListenNode(60_000, patience)({
    answer: () => Promise.resolve(new Response("plain")),
    admit: undefined,
    messageBytes: 1 << 20,
    ...serving,
  }, { hostname: "127.0.0.1", port: 0 });
  const socket = connect(listener.port, "127.0.0.1").on("error", () => {}).pause();
  socket.write(head(listener.port));
  try {
    await run(socket, listener.close);
  } finally {
    socket.destroy();
    await listener.close(0);
  }
}

describe("a request on Node that was sent before the one in front of it was answered", () => {
  test("is called off when its client leaves", { skip }, async () => {
    const signals: AbortSignal[] = [];
    const answer = ({ signal }: Request) => {
      signals.push(signal);
      return new Promise<Response>((resolve) => signal.addEventListener("abort", () => resolve(new Response())));
    };
    const both = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(2);
    await withSilent({ answer }, () => both, async (socket) => {
      await until(() => signals.length === 2);
      socket.destroy();
      await until(() => signals.every(({ aborted }) => aborted));
    });
  });

  test("lets go of its stream when its client leaves", { skip }, async () => {
    const streams = [endless(), endless()];
    let asked = 0;
    const answer = () => Promise.resolve(new Response(streams[asked++]!.body));
    const both = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(2);
    await withSilent({ answer }, () => both, async (socket) => {
      await until(() => asked === 2);
      socket.destroy();
      await until(() => streams.every(({ seen }) => seen.cancelled));
    });
  });
});

describe("what is sent on Node to who does not read", () => {
  test("a reply that is given up ends its connection", { skip }, async () => {
    const { seen, body } = endless();
    let isOver = false;
    const answer = ({ signal }: Request) => {
      signal.addEventListener("abort", () => isOver = true);
      return Promise.resolve(new Response(body));
    };
    await withSilent({ answer }, () => "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", async () => {
      // The buffers of the system are full by then.
      await new Promise((resolve) => setTimeout(resolve, 300));
      assertEquals(isOver, false);
      seen.fail(new Error("The reader is too slow"));
      await until(() => isOver);
    });
  });

  test("a reply that nobody takes ends, with what it was made of", { skip }, async () => {
    const { seen, body } = endless();
    let isOver = false;
    const answer = ({ signal }: Request) => {
      signal.addEventListener("abort", () => isOver = true);
      return Promise.resolve(new Response(body));
    };
    const head = () => "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    await withSilent({ answer }, head, () => until(() => isOver && seen.cancelled, 10_000), 300);
  });

  test("a reply in one piece that waited behind another one, and that nobody takes, ends, too", { skip }, async () => {
    let isOver = false;
    let first = (_: Response): void => {};
    const answers = [
      () => new Promise<Response>((resolve) => first = resolve),
      // More than the system takes for who does not read.
      () => Promise.resolve(new Response(new Uint8Array(64 << 20))),
    ];
    const both = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(2);
    await withSilent({ answer: () => answers.shift()!() }, () => both, async (_socket, close) => {
      await until(() => answers.length === 0);
      // It waits for the first one by then.
      await new Promise((resolve) => setTimeout(resolve, 50));
      first(new Response("first"));
      void close(60_000).then(() => isOver = true);
      await until(() => isOver, 10_000);
    }, 300);
  });

  test("a reply over HTTP/2 that nobody takes ends, and its connection goes on", { skip }, async () => {
    const { seen, body } = endless();
    const replies = [new Response(body), new Response("next")];
    const server = createServer2((incoming, outgoing) => {
      const controller = new AbortController();
      outgoing.on("close", () => controller.abort());
      const parts = { outgoing: outgoing as never, signal: controller.signal, patience: 300 };
      void sendReply(replies.shift()!, incoming as never, parts);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = connect2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      client.request().on("error", () => {}).pause();
      await until(() => seen.cancelled, 10_000);
      let text = "";
      for await (const chunk of client.request().setEncoding("utf8")) text += chunk;
      assertEquals(text, "next");
    } finally {
      client.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test("the reply that refuses a WebSocket is given up with its client", { skip }, async () => {
    const { seen, body } = endless();
    const admit = () => Promise.resolve(new Response(body, { status: 403 }));
    await withSilent({ admit }, (port) => handshake(port), async (socket) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      assertEquals(seen.cancelled, false);
      socket.destroy();
      await until(() => seen.cancelled);
    });
  });
});
