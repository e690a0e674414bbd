/** The modern era, as our own client meets it over a channel. */
import { describe, test } from "node:test";
import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { ChannelTransport, type Client, connect, createMemoryPair, MissingCapabilityError } from "../../../mod.ts";
import type { ConnectOptions } from "../../../mod.ts";
import { classify, type JsonRpcRequest } from "../../../src/protocol/json_rpc.ts";
import { Bench, type Choices, type Run, text, textOf } from "./support.ts";

/** The least binding there can be: a channel, requests by id, and what calls them off. */
function createPipe(bench: Bench): ChannelTransport {
  return new ChannelTransport(() => {
    const [near, far] = createMemoryPair();
    const running = new Map<unknown, AbortController>();
    const serve = async (message: JsonRpcRequest): Promise<void> => {
      const controller = new AbortController();
      running.set(message.id, controller);
      const answer = await bench.serving.answer({
        message,
        signal: controller.signal,
        auth: undefined,
        notify: (notification) => void far.write([JSON.stringify(notification)]),
      });
      running.delete(message.id);
      if (answer) far.write([JSON.stringify(answer.response)]);
    };
    void far.open({
      text(line) {
        const message = JSON.parse(line);
        if (classify(message) === "request") void serve(message);
        else if (message.method === "notifications/cancelled") running.get(message.params.requestId)?.abort();
      },
      end: () => running.forEach((controller) => controller.abort()),
    });
    return near;
  });
}

async function withClient(
  runs: Record<string, Run>,
  run: (client: Client, bench: Bench) => Promise<void>,
  options: ConnectOptions & { server?: Choices } = {},
): Promise<void> {
  const { server, ...rest } = options;
  const bench = new Bench(runs, server);
  const client = await connect(createPipe(bench), rest);
  try {
    await run(client, bench);
  } finally {
    await client.close();
  }
}

describe("our own client", () => {
  test("finds the era and the server's own words", async () => {
    await withClient({}, (client) => {
      assertEquals([client.era, client.revision, client.info?.server?.name], ["modern", "2026-07-28", "stand-in"]);
      assertEquals(client.info?.instructions, "Ask politely");
      return Promise.resolve();
    }, { server: { instructions: "Ask politely" } });
  });

  test("answers three questions of one call, two of them together", async () => {
    const asked: string[] = [];
    const run: Run = async ({ elicit, sample, roots }) => {
      const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
      const [{ content }, places] = await Promise.all([elicit({ message: "Who?", requestedSchema }), roots()]);
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: `Greet ${content?.name}` } }];
      const { content: said } = await sample({ messages, maxTokens: 50 });
      return text([places.map(({ uri }) => uri), said] as never);
    };
    await withClient({ "tools/call": run }, async (client) => {
      const result = await client.callTool("greet");
      assertEquals(textOf(result as never), '[["file:///srv"],{"type":"text","text":"Hello Ada"}]');
      assertEquals(asked, ["Who?", "Greet Ada"]);
    }, {
      handlers: {
        elicitation: ({ message }) => {
          asked.push(message);
          return { action: "accept", content: { name: "Ada" } };
        },
        sampling: ({ messages }) => {
          asked.push((messages[0]?.content as { text: string }).text);
          return { role: "assistant", model: "m", content: { type: "text", text: "Hello Ada" } };
        },
        roots: [{ uri: "file:///srv" }],
      },
    });
  });

  test("without handlers hears what it lacks", async () => {
    await withClient({ "tools/call": async ({ roots }) => text((await roots()).length) }, async (client) => {
      const error = await assertRejects(() => client.callTool("places"), MissingCapabilityError);
      assertInstanceOf(error, MissingCapabilityError);
      assertEquals(error.data, { requiredCapabilities: { roots: {} } });
    });
  });

  test("hears progress and log messages before the answer", async () => {
    const heard: unknown[] = [];
    const run: Run = ({ progress, log }) => {
      log("info", "begun");
      log("debug", "not wanted");
      for (const step of [1, 2, 3]) progress({ progress: step, total: 3 });
      return text("done");
    };
    await withClient({ "tools/call": run }, async (client) => {
      await client.callTool("work", {}, { onProgress: ({ progress }) => void heard.push(progress) });
      assertEquals(heard, ["begun", 1, 2, 3]);
    }, { logLevel: "info", handlers: { log: ({ data }) => void heard.push(data) } });
  });

  test("hears of changes until the server closes", async () => {
    await withClient({}, async (client, bench) => {
      const changes = client.listen({ tools: true, prompts: true, resourceUris: ["x:a"] });
      assertEquals(await changes.acknowledged, {
        tools: true,
        prompts: false,
        resources: false,
        resourceUris: ["x:a"],
      });
      bench.change({ type: "tools" });
      bench.change({ type: "prompts" });
      bench.change({ type: "resource", uri: "x:a" });
      bench.serving.close();
      const heard = [];
      for await (const change of changes) heard.push(change);
      assertEquals(heard, [{ type: "tools" }, { type: "resource", uri: "x:a" }]);
    }, { server: { capabilities: { tools: {}, resources: {} } } });
  });

  test("calls a call off, and the handler hears of it", async () => {
    let stopped: (() => void) | undefined;
    const stop = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const run: Run = ({ signal }) => {
      signal.addEventListener("abort", () => stopped?.());
      return new Promise(() => {});
    };
    await withClient({ "tools/call": run }, async (client, bench) => {
      const controller = new AbortController();
      const call = client.callTool("long", {}, { signal: controller.signal });
      await bench.clock.settle();
      controller.abort(new Error("enough"));
      await assertRejects(() => call, Error, "enough");
      await stop;
    });
  });
});
