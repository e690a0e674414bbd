/**
 * Every message that our client sends, in both eras and over both kinds of transport, against the published JSON Schemas.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { ChannelTransport, connect, HttpTransport, InputRequiredError, taskSupport } from "../../mod.ts";
import type { Channel, ChannelReceiver, Client, ConnectOptions, Transport } from "../../mod.ts";
import { isJsonObject, type JsonObject } from "../servers/core/wire.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createModernServer } from "../servers/modern.ts";
import { createPipeServer, type PipeServer } from "../servers/pipe.ts";
import { publishedSchema, skip } from "./published_schema.ts";
import type { PublishedRevision } from "./published_schema.ts";

/** What the schema lets a client send and ours never does: it does not run the server's work. */
const neverSent = ["notifications/progress", "notifications/tasks/status"];

const cases: [PublishedRevision, "HTTP" | "a pipe"][] = [
  ["2025-11-25", "HTTP"],
  ["2025-11-25", "a pipe"],
  ["2026-07-28", "HTTP"],
  ["2026-07-28", "a pipe"],
];

for (const [revision, binding] of cases) {
  test(`the messages of ${revision} over ${binding} fit the published schema`, { skip }, async () => {
    const { sent, violations } = await runSession(revision, binding);
    const judge = publishedSchema(revision, false);
    const strict = publishedSchema(revision, true);
    const wrong = sent.flatMap((message) => judge.wrong(message) ?? strict.wrong(message) ?? []);
    assertEquals([...new Set(wrong)], []);
    const seen = new Set(sent.map(({ method }) => method));
    const missing = judge.methods.filter((method) => !seen.has(method) && !neverSent.includes(method));
    // Over HTTP the end of the stream calls a modern request off.
    assertEquals(missing, revision === "2026-07-28" && binding === "HTTP" ? ["notifications/cancelled"] : []);
    assertEquals(violations, []);
  });
}

test("the judge finds faults", { skip }, () => {
  const judge = publishedSchema("2026-07-28", true);
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo" } };
  assertEquals(judge.wrong(call)?.includes("_meta"), true);
  assertEquals(judge.wrong({ ...call, id: null })?.includes("/id"), true);
  assertEquals(judge.wrong({ jsonrpc: "2.0", id: 1, result: {} })?.includes("no client answers"), true);
  const legacy = publishedSchema("2025-11-25", true);
  assertEquals(legacy.wrong(call), undefined);
  assertEquals(legacy.wrong({ ...call, params: { name: "echo", argument: {} } })?.includes("/params"), true);
  assertEquals(legacy.wrong({ jsonrpc: "2.0", id: 1, result: { action: "yes" } })?.includes("ElicitResult"), true);
});

/** Runs a broad session and gives all that the client sent after it knew the era. */
async function runSession(
  revision: PublishedRevision,
  binding: "HTTP" | "a pipe",
): Promise<{ sent: JsonObject[]; violations: readonly string[] }> {
  const sent: JsonObject[] = [];
  const taken = (text: string) => {
    const message: unknown = JSON.parse(text);
    if (isJsonObject(message)) sent.push(message);
  };
  const modern = revision === "2026-07-28";
  const reach = binding === "HTTP" ? overHttp(modern, taken) : overPipe(modern, taken);
  const options: ConnectOptions = {
    handlers: {
      elicitation: () => ({ action: "accept", content: { name: "Ada" } }),
      elicitationUrl: ({ elicitationId }) => {
        if (elicitationId) queueMicrotask(() => reach.completed(elicitationId));
        return { action: "accept" };
      },
      sampling: ({ maxTokens }) => ({
        role: "assistant",
        content: { type: "text", text: `at most ${maxTokens}` },
        model: "test",
        stopReason: "endTurn",
      }),
      samplingTools: true,
      roots: [{ uri: "file:///srv", name: "srv" }],
      log() {},
    },
    clientInfo: { name: "schema-test", version: "1", title: "The schema test", websiteUrl: "https://example.com" },
    logLevel: "debug",
    tasks: taskSupport,
    ...(!modern && { verdict: { era: "legacy" } }),
  };
  const client = await connect(reach.transport(), options);
  await everyVerb(client);
  await everyQuestion(client);
  await tasks(client);
  await client.close();
  const bare = await connect(reach.transport(), {
    capabilities: { elicitation: { form: {} } },
    ...(!modern && { verdict: { era: "legacy" } }),
  });
  if (modern) await resumed(bare);
  // What nobody answers is refused, and the refusal has to be well-formed too.
  else assertEquals((await bare.callTool("sample")).isError, true);
  await bare.close();
  return { sent, violations: reach.violations() };
}

async function everyVerb(client: Client): Promise<void> {
  await client.ping();
  await client.listTools();
  await client.listTools({ cursor: null });
  await client.callTool("echo", { text: "é ✓ 🌉" }, { meta: { "example.com/trace": "1" } });
  await client.callTool("add", { a: 1, b: 2 });
  await client.callTool("header_tool", { region: "eu", count: 3, dry: true, tenant: { id: "Zürich" } });
  await client.callTool("progress", { count: 2 }, { onProgress() {} });
  await client.callTool("log", { count: 1 });
  await client.setLogLevel("info");
  await client.listResources();
  await client.listResourceTemplates();
  await client.readResource("test://text");
  await client.listPrompts();
  await client.getPrompt("greet", { who: "Ada" });
  await client.getPrompt("plain");
  const reference = { type: "ref/prompt" as const, name: "greet" };
  await client.complete(reference, { name: "who", value: "A" });
  await client.complete(reference, { name: "tone", value: "w" }, { context: { who: "Ada" } });
  const template = { type: "ref/resource" as const, uri: "test://item/{id}" };
  await client.complete(template, { name: "id", value: "1" });
  const changes = client.listen({ tools: true, prompts: true, resources: true, resourceUris: ["test://watched"] });
  await changes.acknowledged;
  await client.callTool("change", { what: "resource" });
  await changes.next();
  changes.close();
  await client.rootsChanged();
  const controller = new AbortController();
  const slow = client.callTool("slow", {}, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error("too slow")), 20);
  await assertRejects(() => slow, Error, "too slow");
}

async function everyQuestion(client: Client): Promise<void> {
  const { era } = client;
  await client.callTool("ask", { rounds: 2 });
  await client.callTool("ask", { mode: "url" });
  await client.callTool("ask_many");
  await client.callTool("ask_url");
  await client.callTool("sample");
  await client.callTool("sample", { tools: true });
  await client.callTool("list_roots");
  if (era === "legacy") return await client.callTool("ping_client").then(() => {});
  await client.callTool("later", { rounds: 1 });
  await client.readResource("test://ask");
  await client.getPrompt("ask_prompt");
}

async function tasks(client: Client): Promise<void> {
  const job = await client.callToolTask("job", { polls: 1, text: "done" }, { ttl: 60_000 });
  await (await client.getTask(job.taskId)).get();
  if (client.era === "legacy") await client.listTasks();
  await job.result();
  const asking = await client.callToolTask("job", { polls: 1, ask: true });
  await asking.result();
  const endless = await client.callToolTask("job", { polls: 1_000 });
  await endless.cancel();
}

/** A call that stops for input and goes on, as another process would go on with it. */
async function resumed(client: Client): Promise<void> {
  const error = await client.callTool("ask").catch((error: unknown) => error);
  if (!(error instanceof InputRequiredError)) throw error;
  const { pending } = error;
  if (!pending) throw error;
  const answers = Object.keys(pending.inputRequests).map((key) => [key, { action: "accept", content: { name: "Bo" } }]);
  await client.resume(pending, Object.fromEntries(answers));
}

interface Reach {
  transport(): Transport;
  violations(): readonly string[];
  /** The user has visited the page: the server tells so. */
  completed(elicitationId: string): void;
}

function overHttp(modern: boolean, taken: (text: string) => void): Reach {
  const server = modern ? createModernServer() : createLegacyServer();
  const inner = memoryFetch(server);
  return {
    transport: () =>
      new HttpTransport("http://server.test/mcp", {
        fetch: async (url, init) => {
          if (init.body != null) taken(await new Response(init.body).text());
          return await inner(url, init);
        },
      }),
    violations: () => server.violations,
    completed: (id) => "session" in server && server.session()?.completeElicitation(id),
  };
}

function overPipe(modern: boolean, taken: (text: string) => void): Reach {
  const servers: PipeServer[] = [];
  const open = (receiver: ChannelReceiver) => {
    const server = createPipeServer({
      era: modern ? "modern" : "legacy",
      send: (text) => queueMicrotask(() => receiver.text(text)),
    });
    servers.push(server);
    return server;
  };
  return {
    transport: () => new ChannelTransport(() => new RecordedPipe(open, taken)),
    violations: () => servers.flatMap((server) => server.violations),
    completed: (id) => servers.at(-1)?.session.completeElicitation(id),
  };
}

class RecordedPipe implements Channel {
  readonly label = "pipe";
  readonly #open: (receiver: ChannelReceiver) => PipeServer;
  readonly #taken: (text: string) => void;
  #server: PipeServer | undefined;

  constructor(open: (receiver: ChannelReceiver) => PipeServer, taken: (text: string) => void) {
    this.#open = open;
    this.#taken = taken;
  }

  open(receiver: ChannelReceiver): Promise<void> {
    this.#server = this.#open(receiver);
    return Promise.resolve();
  }

  write(messages: readonly string[]): void {
    for (const text of messages) {
      this.#taken(text);
      this.#server?.receive(text);
    }
  }

  close(): Promise<void> {
    this.#server?.close();
    return Promise.resolve();
  }
}
