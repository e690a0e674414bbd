import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  ChannelTransport,
  connect,
  ConnectError,
  ConnectionClosedError,
  LimitExceededError,
  McpError,
  ProtocolViolationError,
} from "../../mod.ts";
import type {
  Channel,
  ChannelReceiver,
  ChannelTransportOptions,
  Exchange,
  JsonRpcMessage,
  SendOptions,
  Transport,
} from "../../mod.ts";
import { createModernServer } from "../servers/modern.ts";
import { textOf, turns } from "../support/clients.ts";
import { heldRequest } from "../support/held_request.ts";

/** A channel whose other end is in the test's hand. */
class PlayedChannel implements Channel {
  readonly label = "played";
  receiver: ChannelReceiver | undefined;
  readonly writes: string[][] = [];
  closes = 0;
  opening: Promise<void> = Promise.resolve();
  writing: void | Promise<void> = undefined;
  failsToWrite: Error | undefined;

  open(receiver: ChannelReceiver): Promise<void> {
    this.receiver = receiver;
    return this.opening;
  }

  write(messages: readonly string[]): void | Promise<void> {
    if (this.failsToWrite) throw this.failsToWrite;
    this.writes.push([...messages]);
    return this.writing;
  }

  close(): Promise<void> {
    this.closes++;
    return Promise.resolve();
  }
}

function played(options: ChannelTransportOptions = {}) {
  const channels: PlayedChannel[] = [];
  const transport = new ChannelTransport(() => {
    const channel = new PlayedChannel();
    channels.push(channel);
    return channel;
  }, options);
  return {
    transport,
    channels,
    get channel() {
      return channels.at(-1) as PlayedChannel;
    },
  };
}

/** An exchange that notes all. */
function noting() {
  const messages: JsonRpcMessage[] = [];
  const ends: (McpError | undefined)[] = [];
  const exchange: Exchange = {
    message: (message) => void messages.push(message),
    end: (reason) => void ends.push(reason),
  };
  return { exchange, messages, ends };
}

const ping = (id: number | string): JsonRpcMessage => ({ jsonrpc: "2.0", id, method: "ping" });
const note: JsonRpcMessage = { jsonrpc: "2.0", method: "notifications/x" };

describe("a transport over a channel", () => {
  test("opens with the first message, not before; what is sent meanwhile goes out in one write, in order", async () => {
    const { transport, channel } = played();
    assertEquals(channel.receiver, undefined);
    let opened = () => {};
    channel.opening = new Promise((resolve) => opened = resolve);
    for (const id of [1, 2, 3]) transport.send(ping(id), noting().exchange);
    await turns();
    assertEquals(channel.writes, []);
    opened();
    await turns();
    assertEquals(channel.writes.map((texts) => texts.map((text) => JSON.parse(text).id)), [[1, 2, 3]]);
    await transport.close();
  });

  test("what is sent in one tick is one write", async () => {
    const { transport, channel } = played();
    transport.send(note);
    await turns();
    for (const id of [1, 2]) transport.send(ping(id), noting().exchange);
    transport.send(note);
    await turns();
    transport.send(ping(3), noting().exchange);
    await turns();
    assertEquals(channel.writes.map(({ length }) => length), [1, 3, 1]);
    await transport.close();
  });

  test("a write that takes long holds the next one back", async () => {
    const { transport, channel } = played();
    let written = () => {};
    channel.writing = new Promise((resolve) => written = resolve);
    transport.send(ping(1), noting().exchange);
    await turns();
    for (const id of [2, 3]) transport.send(ping(id), noting().exchange);
    await turns();
    assertEquals(channel.writes.length, 1);
    channel.writing = undefined;
    written();
    await turns();
    assertEquals(channel.writes.map(({ length }) => length), [1, 2]);
    await transport.close();
  });

  test("answers find their request, whatever their order and the type of their id", async () => {
    const { transport, channel } = played();
    const [one, other] = [noting(), noting()];
    transport.send(ping(1), one.exchange);
    transport.send(ping("1"), other.exchange);
    await turns();
    channel.receiver?.text('{"jsonrpc":"2.0","id":"1","result":{"for":"text"}}');
    channel.receiver?.text('{"jsonrpc":"2.0","id":1,"result":{"for":"number"}}');
    const results = [one, other].map(({ messages }) =>
      messages.map((message) => "result" in message && message.result)
    );
    assertEquals(results, [[{ for: "number" }], [{ for: "text" }]]);
    assertEquals(transport.stats, { noise: 0, strays: 0 });
    await transport.close();
  });

  test("late, doubled and made-up answers are counted, and harm nobody (C-134)", async () => {
    const { transport, channel } = played();
    const call = noting();
    transport.send(ping(1), call.exchange);
    await turns();
    for (
      const text of [
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '{"jsonrpc":"2.0","id":9,"result":{}}',
      ]
    ) {
      channel.receiver?.text(text);
    }
    assertEquals([call.messages.length, transport.stats.strays, transport.ended], [1, 2, false]);
    await transport.close();
  });

  test("noise is skipped; too much of it ends the connection: limits.strays", async () => {
    const { transport, channel } = played({ limits: { strays: 3 } });
    const call = noting();
    transport.send(ping(1), call.exchange);
    await turns();
    for (const text of ["hello", "{", '"text"']) channel.receiver?.text(text);
    assertEquals([transport.stats.noise, transport.ended], [3, false]);
    channel.receiver?.text("null");
    const [reason] = call.ends;
    assert(reason instanceof LimitExceededError);
    assertEquals([reason.limit, transport.ended], ["limits.strays", true]);
    await transport.close();
  });

  test("an answer that is neither result nor error ends its own request, and no other", async () => {
    const { transport, channel } = played();
    const [bad, good] = [noting(), noting()];
    transport.send(ping(1), bad.exchange);
    transport.send(ping(2), good.exchange);
    await turns();
    channel.receiver?.text('{"jsonrpc":"2.0","id":1}');
    channel.receiver?.text('{"jsonrpc":"2.0","id":2,"result":{}}');
    assert(bad.ends[0] instanceof ProtocolViolationError);
    assertEquals([bad.messages.length, good.messages.length], [0, 1]);
    await transport.close();
  });

  test("a notification that names a request goes to it; what names none goes to who listens", async () => {
    const { transport, channel } = played();
    const [call, stream] = [noting(), noting()];
    transport.send(ping("a"), call.exchange);
    const close = transport.open(stream.exchange);
    await turns();
    const notify = (params: object | null) =>
      channel.receiver?.text(JSON.stringify({ jsonrpc: "2.0", method: "notifications/x", params }));
    notify({ progressToken: "a" });
    notify({ _meta: { "io.modelcontextprotocol/subscriptionId": "a" } });
    notify({ progressToken: "b" });
    notify(null);
    channel.receiver?.text('{"jsonrpc":"2.0","id":"a","method":"ping"}');
    assertEquals([call.messages.length, stream.messages.length], [2, 3]);
    close(undefined);
    notify({});
    assertEquals(stream.messages.length, 3);
    await transport.close();
  });

  test("calling off writes one notice, with the reason, cut to a decent length (C-065 C-131 C-138)", async () => {
    const { transport, channel } = played();
    const call = noting();
    const cancel = transport.send(ping("a"), call.exchange);
    const initialize = transport.send({ jsonrpc: "2.0", id: "b", method: "initialize" }, noting().exchange);
    await turns();
    cancel(new Error("x".repeat(5_000)));
    cancel(undefined);
    initialize(new Error("no"));
    await turns();
    const notices = channel.writes.slice(1).flat().map((text) => JSON.parse(text));
    assertEquals(notices.map(({ method, params }) => [method, params.requestId]), [["notifications/cancelled", "a"]]);
    assert(notices[0].params.reason.length <= 300);
    channel.receiver?.text('{"jsonrpc":"2.0","id":"a","result":{}}');
    assertEquals([call.messages.length, call.ends.length], [0, 0]);
    await transport.close();
  });

  test("too much that waits is refused, and nothing of it is sent: limits.outboxBytes", async () => {
    const { transport, channel } = played({ limits: { outboxBytes: 1_000 } });
    channel.writing = new Promise(() => {});
    const big: JsonRpcMessage = { jsonrpc: "2.0", id: 2, method: "x", params: { text: "y".repeat(900) } };
    const [first, second] = [noting(), noting()];
    transport.send(ping(1), first.exchange);
    await turns();
    const cancel = transport.send({ ...big, id: 3 }, first.exchange);
    transport.send(big, second.exchange);
    const [reason] = second.ends;
    assert(reason instanceof LimitExceededError);
    assertEquals([reason.limit, reason.delivery, first.ends], ["limits.outboxBytes", "not-sent", []]);
    cancel(undefined);
    assertEquals(transport.ended, false);
    await transport.close();
  });

  test("a channel that cannot be opened fails all that waits: nothing was sent", async () => {
    const { transport, channel } = played();
    channel.opening = Promise.reject(new ConnectError("no way"));
    const calls = [noting(), noting()];
    for (const [index, { exchange }] of calls.entries()) transport.send(ping(index), exchange);
    await turns();
    for (const { ends } of calls) {
      assert(ends[0] instanceof ConnectError);
      assertEquals(ends[0].delivery, "not-sent");
    }
    assertEquals([transport.ended, channel.closes], [true, 1]);
  });

  test("a channel that throws or ends while it is opened fails what waits as well", async () => {
    const ways: Record<string, (receiver: ChannelReceiver) => Promise<void>> = {
      throws() {
        throw new ConnectError("no way");
      },
      ends: (receiver) => Promise.resolve(receiver.end(new ConnectError("no way"))),
    };
    for (const [how, open] of Object.entries(ways)) {
      const { transport, channel } = played();
      channel.open = open;
      const calls = [noting(), noting()];
      for (const [index, { exchange }] of calls.entries()) transport.send(ping(index), exchange);
      await turns();
      for (const { ends: [end] } of calls) assertEquals(`${end?.message} ${end?.delivery}`, "no way not-sent", how);
      assertEquals([transport.ended, channel.closes], [true, 1]);
    }
  });

  test("a write that fails ends the connection", async () => {
    for (const how of ["throws", "rejects"] as const) {
      const { transport, channel } = played();
      const call = noting();
      if (how === "throws") channel.failsToWrite = new Error("EPIPE");
      else channel.writing = Promise.reject(new Error("EPIPE"));
      transport.send(ping(1), call.exchange);
      await turns();
      assert(call.ends[0] instanceof ConnectionClosedError, how);
      assertEquals(transport.ended, true);
    }
  });

  test("a write that is refused says nothing of what was sent before it", async () => {
    for (const before of [[], [ping(1)]]) {
      const { transport, channel } = played();
      const [sent, refused] = [noting(), noting()];
      for (const message of before) transport.send(message, sent.exchange);
      await turns();
      channel.failsToWrite = new ConnectionClosedError("It is not open", { delivery: "not-sent", retryable: true });
      transport.send(ping(2), refused.exchange);
      transport.send(note);
      await turns();
      assertEquals(sent.ends.map((reason) => reason?.delivery), before.map(() => "unknown" as const));
      assertEquals(refused.ends.length, 1);
    }
  });

  test("restart: old requests fail, old answers count no more, new ones do", async () => {
    const { transport, channels } = played();
    const [old, fresh] = [noting(), noting()];
    transport.send(ping(1), old.exchange);
    await turns();
    await transport.restart();
    assert(old.ends[0] instanceof ConnectionClosedError);
    assertEquals([transport.ended, channels.length, channels[0]?.closes], [false, 2, 2]);
    transport.send(ping(2), fresh.exchange);
    await turns();
    channels[0]?.receiver?.text('{"jsonrpc":"2.0","id":2,"result":{"from":"the dead"}}');
    channels[0]?.receiver?.end();
    assertEquals([fresh.messages.length, transport.ended], [0, false]);
    channels[1]?.receiver?.text('{"jsonrpc":"2.0","id":2,"result":{}}');
    assertEquals(fresh.messages.length, 1);
    await transport.close();
  });

  test("a message that nests too deep, or is too large to parse safely, ends the connection", async () => {
    const { transport, channel } = played({ limits: { jsonDepth: 10 } });
    const call = noting();
    transport.send(ping(1), call.exchange);
    await turns();
    channel.receiver?.text(`{"jsonrpc":"2.0","id":1,"result":{"a":${"[".repeat(50)}${"]".repeat(50)}}}`);
    assert(call.ends[0] instanceof LimitExceededError);
    await transport.close();
  });

  test("a limit that is given as undefined is not given: it switches nothing off", async () => {
    const limits = { jsonDepth: undefined, jsonNodes: undefined } as unknown as ChannelTransportOptions["limits"];
    const { transport, channel } = played({ limits });
    const call = noting();
    transport.send(ping(1), call.exchange);
    await turns();
    channel.receiver?.text(`{"jsonrpc":"2.0","id":1,"result":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`);
    assertEquals((call.ends[0] as LimitExceededError).limit, "limits.jsonDepth");
    await transport.close();
  });
});

/** A transport as a stranger would write it: each request is one call of a function. */
class FunctionTransport implements Transport {
  readonly kind = "http";
  readonly label = "a function";
  readonly handle: (request: Request) => Promise<Response>;
  closed = 0;

  constructor(handle: (request: Request) => Promise<Response>) {
    this.handle = handle;
  }

  send(message: JsonRpcMessage, exchange?: Exchange, options: SendOptions = {}) {
    const controller = new AbortController();
    const headers = {
      ...options.headers,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    };
    const init = { method: "POST", headers, body: JSON.stringify(message), signal: controller.signal };
    this.handle(heldRequest("http://function.test/", init)).then(async (response) => {
      const text = await response.text();
      if (text !== "") await exchange?.message(JSON.parse(text));
      exchange?.end();
    }).catch((cause) => exchange?.end(new ConnectionClosedError("The function failed", { cause })));
    return (reason: unknown) => controller.abort(reason);
  }

  close(): Promise<void> {
    this.closed++;
    return Promise.resolve();
  }
}

describe("a transport of one's own", () => {
  test("works with connect: calls, errors, rounds, giving up and closing", async () => {
    const server = createModernServer({ reply: "json" });
    const transport = new FunctionTransport((request) => server.fetch(request));
    const handlers = { elicitation: () => ({ action: "accept" as const, content: { name: "Grace" } }) };
    const client = await connect(transport, { handlers });
    assertEquals([client.era, client.label], ["modern", "a function"]);
    assertEquals(textOf(await client.callTool("ask", { rounds: 2 })), '["Grace","Grace"]');
    await client.listTools();
    assertEquals((await client.callTool("add", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    await assertRejects(() => client.callTool("crash"), McpError, "the server broke");
    const reason = new Error("enough");
    const controller = new AbortController();
    const call = assertRejects(() => client.callTool("slow", {}, { signal: controller.signal }));
    while (server.calls("slow") === 0) await turns(1);
    controller.abort(reason);
    assertEquals(await call, reason);
    await client.close();
    assertEquals([transport.closed, server.violations], [1, []]);
  });

  test("one that breaks is an error like any other", async () => {
    const transport = new FunctionTransport(() => Promise.reject(new Error("no")));
    await assertRejects(() => connect(transport, { retry: { attempts: 1 } }), ConnectionClosedError);
    assertEquals(transport.closed, 1);
  });
});
