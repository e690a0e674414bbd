/**
 * Every limit at n-1, n and n+1, and what is refused names the option that would allow it. What the server made by then is
 * the proof that no more was taken.
 */
import { assert, assertEquals, assertGreaterOrEqual, assertLessOrEqual, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { type Client, connect, type JsonObject, LimitExceededError, type Limits, type Random } from "../../mod.ts";
import { createHostileServer, type FaultName, type HostileOptions, type HostileServer } from "../servers/hostile.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { textOf, trackFetch, watchStrays, within } from "./support/harness.ts";
import { createHostilePipe } from "./support/hostile_pipe.ts";

const url = "http://fake.test/mcp";
const mebibyte = 2 ** 20;
const buffers = 3 * 65_536;
/** Ids of one length. */
const sameRandom: Random = { fraction: () => 0.5, bytes: (count) => new Uint8Array(count).fill(1) };
const verdict = { era: "modern" } as const;
const strays = watchStrays();

describe("F16 bytes", () => {
  /** What is made without an end, and the option that stops it. */
  const shapes: readonly (readonly [FaultName, keyof Limits])[] = [
    ["endless-line", "messageBytes"],
    ["endless-event", "messageBytes"],
    ["endless-json", "messageBytes"],
    ["huge-json", "messageBytes"],
    ["huge-event", "messageBytes"],
    ["gzip-bomb", "messageBytes"],
    ["endless-comments", "streamBytes"],
    ["endless-messages", "streamBytes"],
  ];
  for (const [fault, option] of shapes) {
    test(`${fault}: of 64 MiB no more than the limit is taken`, async () => {
      const limits = { messageBytes: mebibyte, streamBytes: 2 * mebibyte };
      const { client, server, isOpen } = await open(fault, { size: 64 * mebibyte, limits });
      const error = await refusal(client.callTool("echo"));
      assertEquals([error.limit, error.value], [`limits.${option}`, limits[option as "messageBytes"]]);
      assert(error.message.includes(`limits.${option}`) && error.seen > error.value);
      assertLessOrEqual(server.produced(), limits[option as "messageBytes"] + buffers);
      assert(await within(() => isOpen() === 0, 20));
      assertEquals(server.cancelled(), 1);
      await client.close();
    });
  }

  test("an error's body: 64 KiB are taken, 2 KiB are kept", async () => {
    for (const fault of ["error-body-huge", "error-body-endless"] as const) {
      const { client, server } = await open(fault, { size: 64 * mebibyte });
      const error = await assertRejects(() => client.callTool("echo"), Error);
      const { cause } = error;
      assert(cause instanceof Error && "body" in cause && typeof cause.body === "string");
      assertLessOrEqual(error.message.length, 2_500);
      assertLessOrEqual(cause.body.length, 2_049);
      assertLessOrEqual(server.produced(), 65_536 + buffers);
      await client.close();
    }
  });

  test("a body that is longer than its content-length says is counted, not believed", async () => {
    const healthy = createModernServer();
    let made = 0;
    const server = {
      async fetch(request: Request): Promise<Response> {
        if (!(await request.clone().text()).includes("tools/call")) return await healthy.fetch(request);
        const body = new ReadableStream<Uint8Array>({
          pull(controller) {
            made += 65_536;
            if (made > 32 * mebibyte) controller.close();
            else controller.enqueue(new Uint8Array(65_536).fill(32));
          },
        }, { highWaterMark: 0 });
        return new Response(body, { headers: { "content-type": "application/json", "content-length": "10" } });
      },
    };
    const client = await connect(url, { fetch: memoryFetch(server), limits: { messageBytes: mebibyte } });
    assertEquals((await refusal(client.callTool("echo"))).limit, "limits.messageBytes");
    assertLessOrEqual(made, mebibyte + buffers);
    await client.close();
  });

  test("one message: n and n - 1 bytes are taken, n + 1 are refused; as a body and as an event", async () => {
    for (const reply of ["json", "sse"] as const) {
      const server = createModernServer({ reply });
      const messageBytes = 5_000 + await sizeOfAnswer(server, reply);
      for (const more of [-1, 0, 1]) {
        const fetch = memoryFetch(server);
        const client = await connect(url, { fetch, limits: { messageBytes }, random: sameRandom, verdict });
        const call = client.callTool("echo", { text: "x".repeat(5_000 + more) });
        if (more > 0) assertEquals((await refusal(call)).limit, "limits.messageBytes");
        else assertEquals(textOf(await call)?.length, 5_000 + more);
        await client.close();
      }
    }
  });
});

describe("F17 depth and nodes", () => {
  test("depth 127 and 128 are taken, 129 is refused", async () => {
    for (const [depth, taken] of [[127, true], [128, true], [129, false]] as const) {
      // The value sits two deep: in the message, in its result.
      const { client } = await open("depth-bomb", { size: depth - 2 });
      const call = client.callTool("echo");
      if (taken) assertEquals((await call).content, []);
      else assertEquals((await refusal(call)).limit, "limits.jsonDepth");
      await client.close();
    }
  });

  test("nodes: n and n - 1 are taken, n + 1 are refused", async () => {
    // The message, jsonrpc, id, result, content, the list, and a 0 at its end: seven beside the objects.
    for (const [objects, taken] of [[92, true], [93, true], [94, false]] as const) {
      const { client } = await open("node-bomb", { size: objects * 3, limits: { jsonNodes: 100 } }, true);
      const call = client.callTool("echo");
      if (taken) assertEquals((await call).content, []);
      else assertEquals((await refusal(call)).limit, "limits.jsonNodes");
      await client.close();
    }
  });
});

describe("F34 lists", () => {
  test("pages, items and time: what was read is given, and what cut it is named", async () => {
    const cut = async (limits: Partial<Limits>, options: HostileOptions & { fault: FaultName }) => {
      const { client, server } = await open(options.fault, { ...options, limits });
      const { tools, truncated } = await client.listTools();
      await client.close();
      return [tools.length, truncated, server.hits()];
    };
    assertEquals(await cut({}, { fault: "infinite-pages" }), [100, "pages", 100]);
    assertEquals(await cut({ pages: 7 }, { fault: "infinite-pages" }), [7, "pages", 7]);
    assertEquals(await cut({ pages: 7 }, { fault: "repeated-cursor" }), [7, "pages", 7]);
    assertEquals(await cut({ items: 7 }, { fault: "infinite-pages" }), [7, "items", 7]);
    assertEquals(await cut({}, { fault: "empty-cursor" }), [2, undefined, 2]);
    assertEquals(await cut({ tools: 49 }, { fault: "many-tools", size: 50 }), [49, "items", 1]);
    assertEquals(await cut({ tools: 50 }, { fault: "many-tools", size: 50 }), [50, undefined, 1]);
    assertEquals(await cut({ tools: 51 }, { fault: "many-tools", size: 50 }), [50, undefined, 1]);
  });

  test("30 s for all pages together", async () => {
    const clock = new VirtualClock();
    const server = createHostileServer("infinite-pages", { clock });
    const slow = {
      async fetch(request: Request): Promise<Response> {
        await new Promise<void>((resolve) => clock.schedule(resolve, 1_000));
        return await server.fetch(request);
      },
    };
    const client = await clock.until(connect(url, { fetch: memoryFetch(slow), clock }));
    const { tools, truncated } = await clock.until(client.listTools());
    assertEquals([tools.length, truncated], [30, "time"]);
    await client.close();
  });
});

describe("F35 rounds", () => {
  const accept = () => ({ action: "accept" as const, content: {} });

  test("ten rounds are answered, an eleventh is never sent", async () => {
    for (const fault of ["input-loop", "input-changing"] as const) {
      const { client, server } = await open(fault, { handlers: { elicitation: accept } });
      assertEquals((await refusal(client.callTool("echo"))).limit, "limits.inputRounds");
      assertEquals([server.hits(), server.calls("echo")], [11, 0]); // the first, and ten answers
      await client.close();
    }
  });

  test("a state of one megabyte comes back byte for byte", async () => {
    const { client, server } = await open("input-state-huge", { times: 1, handlers: { elicitation: accept } });
    await client.callTool("echo", { text: "hi" }).catch(() => {}); // the healthy peer does not know the state
    const { params } = server.log.at(-1)?.message ?? {};
    assertEquals((params as JsonObject | undefined)?.requestState === "s".repeat(mebibyte), true);
    await client.close();
  });
});

describe("F41 a pipe that takes nothing any more", () => {
  test("what waits is bounded; what would be too much is refused, and was not sent", async () => {
    const clock = new VirtualClock();
    const limits = { outboxBytes: mebibyte };
    const pipe = createHostilePipe("stuck", { era: "modern", on: "tools/call", times: 1, limits });
    const client = await clock.until(connect(pipe.transport, { clock, limits }));
    const text = "x".repeat(200_000);
    const calls = Array.from({ length: 10 }, () => client.callTool("echo", { text }).catch((error) => error));
    const errors = await clock.until(Promise.all(calls));
    const refused = errors.filter((error) => error instanceof LimitExceededError);
    assertEquals(refused.map(({ limit, delivery }) => [limit, delivery]).at(-1), ["limits.outboxBytes", "not-sent"]);
    assertGreaterOrEqual(refused.length, 4);
    assertEquals(pipe.calls(), 0);
    await clock.until(client.close());
    assertEquals([clock.waiting, pipe.open()], [0, 0]);
  });

  test("messages without a place: the pipe is given up when there are more than the limit", async () => {
    const clock = new VirtualClock();
    const limits = { strays: 3 };
    const pipe = createHostilePipe("noise", { era: "modern", on: "tools/call", times: 4, limits });
    const client = await clock.until(connect(pipe.transport, { clock, limits }));
    for (let count = 1; count <= 3; count++) assertEquals(textOf(await client.callTool("echo", { text: "a" })), "a");
    assertEquals((await refusal(client.callTool("echo"))).limit, "limits.strays");
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "next" }))), "next");
    await clock.until(client.close());
  });
});

describe("headers", () => {
  test("a mirrored argument and all of them: n is sent, n + 1 is not", async () => {
    const server = createModernServer();
    const limits = { headerBytes: 100, headersBytes: 1_000 };
    const client = await connect(url, { fetch: memoryFetch(server), limits });
    const { tools } = await client.listTools();
    assert(tools.some(({ name }) => name === "header_tool"));
    await client.callTool("header_tool", { region: "r".repeat(100) });
    const error = await refusal(client.callTool("header_tool", { region: "r".repeat(101) }));
    assertEquals([error.limit, error.delivery, server.calls("header_tool")], ["limits.headerBytes", "not-sent", 1]);
    await client.close();
  });

  test("nothing was rejected unheard", () => strays.none());
});

async function refusal(call: Promise<unknown>): Promise<LimitExceededError> {
  return await assertRejects(() => call, LimitExceededError);
}

/** The bytes of an answer around its text: of the body, or of the line of its event. */
async function sizeOfAnswer(
  server: { fetch(request: Request): Promise<Response> },
  reply: "json" | "sse",
): Promise<number> {
  let size = 0;
  const fetch = memoryFetch({
    async fetch(request) {
      const text = await (await server.fetch(request)).text();
      size = text.trimEnd().length;
      const type = reply === "json" ? "application/json" : "text/event-stream";
      return new Response(text, { headers: { "content-type": type } });
    },
  });
  const client = await connect(url, { fetch, random: sameRandom, verdict });
  await client.callTool("echo", { text: "" });
  await client.close();
  return size;
}

interface OpenOptions extends HostileOptions {
  readonly limits?: Partial<Limits>;
  readonly handlers?: NonNullable<Parameters<typeof connect>[1]>["handlers"];
}

interface Opened {
  readonly client: Client;
  readonly server: HostileServer;
  /** Bodies that are open. */
  isOpen(): number;
}

/** `told` gives the client the era, where the limits would not let it be asked for. */
async function open(fault: FaultName, options: OpenOptions = {}, told: boolean = false): Promise<Opened> {
  const { limits = {}, handlers, ...rest } = options;
  const server = createHostileServer(fault, rest);
  const tracked = trackFetch(memoryFetch(server));
  const client = await connect(url, {
    fetch: tracked.fetch,
    limits,
    ...(handlers && { handlers }),
    ...(told && { verdict }),
  });
  return { client, server, isOpen: tracked.open };
}
