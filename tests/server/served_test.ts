/** Our own client and our own server, joined in memory: over HTTP and over a pipe, in both eras. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { ChannelTransport, connect, createMemoryPair, InvalidParamsError, MissingCapabilityError } from "../../mod.ts";
import type { Client, Handlers, JsonObject, LogMessage } from "../../mod.ts";
import { createHandler, McpServer, serveChannel } from "../../src/server/mod.ts";
import { heldRequest } from "../support/held_request.ts";

type Options = NonNullable<Parameters<typeof connect>[1]>;
type Era = "modern" | "legacy";
type Way = "http" | "pipe";

/** A server with one of everything. */
function createServer(): McpServer {
  const server = new McpServer({ name: "sample", version: "1.2.3" }, { instructions: "be kind" });
  const numbers = {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  };
  server.tool(
    "add",
    { input: numbers, output: { type: "object", properties: { sum: { type: "number" } } } },
    (args) => {
      return { sum: Number(args.a) + Number(args.b) };
    },
  );
  server.tool("fail", {}, () => {
    throw new Error("it is broken");
  });
  server.tool("steps", {}, (_args, { progress, log }) => {
    for (const step of [1, 2, 3]) progress({ progress: step, total: 3 });
    log("warning", { at: "the end" });
    return "done";
  });
  server.tool("ask", {}, async (_args, { elicit }) => {
    const form = (name: string) => ({
      message: `${name}?`,
      requestedSchema: { type: "object" as const, properties: { [name]: { type: "string" as const } } },
    });
    const [first, second] = await Promise.all([elicit(form("first")), elicit(form("last"))]);
    return `${first.content?.first} ${second.content?.last}`;
  });
  server.tool(
    "wait",
    {},
    (_args, { signal }) => new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("stopped"))),
  );
  server.resource("memo://one", { name: "one", mimeType: "text/markdown" }, () => "# One");
  server.template("memo://{id}", { name: "memo" }, (uri, { id }) => id === "none" ? undefined : `${uri} is ${id}`);
  server.prompt(
    "greet",
    { arguments: { name: { required: true, complete: (value) => [`${value}a`, `${value}b`] } } },
    ({ name }) => `Greet ${name}`,
  );
  return server;
}

async function withClient(
  { server = createServer(), era, way, client: options = {} }: {
    server?: McpServer;
    era: Era;
    way: Way;
    client?: Options;
  },
  run: (client: Client, server: McpServer) => Promise<void>,
): Promise<void> {
  const eras = [era];
  if (way === "http") {
    const handler = createHandler(server, { eras });
    await using client = await connect("http://localhost/mcp", {
      fetch: (url, init) => handler(heldRequest(url, init)),
      ...options,
    });
    await run(client, server);
    handler.close();
    return;
  }
  const [near, far] = createMemoryPair();
  const serving = serveChannel(server, far, { eras });
  await using client = await connect(new ChannelTransport(() => near), options);
  await run(client, server);
  await serving.close();
}

for (const era of ["modern", "legacy"] as const) {
  for (const way of ["http", "pipe"] as const) {
    const as = (client?: Options) => ({ era, way, ...(client && { client }) });
    describe(`client and server, ${era} over ${way}`, () => {
      test("who it is, and what it has", () =>
        withClient(as(), async (client) => {
          assertEquals([client.era, client.info?.server?.name, client.info?.instructions], [era, "sample", "be kind"]);
          const { tools } = await client.listTools();
          assertEquals(tools.map(({ name }) => name), ["add", "fail", "steps", "ask", "wait"]);
          assertEquals((await client.listResources()).resources.map(({ uri }) => uri), ["memo://one"]);
          assertEquals((await client.listPrompts()).prompts.map(({ name }) => name), ["greet"]);
        }));

      test("a structured result, checked on both sides", () =>
        withClient(as(), async (client) => {
          await client.listTools();
          const { structuredContent, content } = await client.callTool("add", { a: 2, b: 3 });
          assertEquals([structuredContent, content], [{ sum: 5 }, [{ type: "text", text: '{"sum":5}' }]]);
        }));

      test("arguments that do not fit and a tool that throws are results; an unknown tool is an error", () =>
        withClient(as(), async (client) => {
          assertEquals((await client.callTool("add", { a: "two", b: 3 })).isError, true);
          const failed = await client.callTool("fail");
          assertEquals([failed.isError, failed.content], [true, [{ type: "text", text: "it is broken" }]]);
          await assertRejects(() => client.callTool("nothing"), InvalidParamsError, "Unknown tool: nothing");
        }));

      test("progress and log messages come before the result", async () => {
        const seen: unknown[] = [];
        const logs: LogMessage[] = [];
        const options: Options = { handlers: { log: (message) => void logs.push(message) }, logLevel: "info" };
        await withClient(as(options), async (client) => {
          const onProgress = ({ progress }: { progress: number }) => void seen.push(progress);
          const { content } = await client.callTool("steps", {}, { onProgress });
          assertEquals(content, [{ type: "text", text: "done" }]);
          assertEquals(seen.at(-1), 3);
          assertEquals(logs.map(({ level, data }) => [level, data]), [["warning", { at: "the end" }]]);
        });
      });

      test("two questions at once are asked and answered", async () => {
        const handlers: Handlers = {
          elicitation: ({ message }) => {
            const content: JsonObject = message === "first?" ? { first: "Ada" } : { last: "Lovelace" };
            return { action: "accept", content };
          },
        };
        await withClient(as({ handlers }), async (client) => {
          assertEquals((await client.callTool("ask")).content, [{ type: "text", text: "Ada Lovelace" }]);
        });
      });

      test("a client that cannot be asked is told so", () =>
        withClient(as(), async (client) => {
          if (era === "modern") await assertRejects(() => client.callTool("ask"), MissingCapabilityError);
          else {
            // Older clients take an error of the protocol for a broken server; a tool that failed they give to their model.
            const { isError, content } = await client.callTool("ask");
            const text = 'The client did not declare "elicitation.form"';
            assertEquals([isError, content], [true, [{ type: "text", text }]]);
          }
        }));

      test("resources, templates and what is not there", () =>
        withClient(as(), async (client) => {
          const [one] = (await client.readResource("memo://one")).contents;
          assertEquals([one?.text, one?.mimeType], ["# One", "text/markdown"]);
          assertEquals((await client.readResource("memo://seven")).contents[0]?.text, "memo://seven is seven");
          const error = await assertRejects(() => client.readResource("memo://none"), InvalidParamsError);
          assertEquals(error.rpcCode, era === "modern" ? -32602 : -32002);
        }));

      test("prompts and completions", () =>
        withClient(as(), async (client) => {
          const { messages } = await client.getPrompt("greet", { name: "Ada" });
          assertEquals(messages, [{ role: "user", content: { type: "text", text: "Greet Ada" } }]);
          await assertRejects(() => client.getPrompt("greet", {}), InvalidParamsError);
          const { completion } = await client.complete({ type: "ref/prompt", name: "greet" }, {
            name: "name",
            value: "A",
          });
          assertEquals(completion.values, ["Aa", "Ab"]);
        }));

      test("a call that is given up stops the tool", () =>
        withClient(as(), async (client) => {
          const controller = new AbortController();
          const call = client.callTool("wait", {}, { signal: controller.signal });
          await client.callTool("steps");
          controller.abort(new Error("enough"));
          await assertRejects(() => call, Error, "enough");
          assertEquals((await client.callTool("steps")).content, [{ type: "text", text: "done" }]);
        }));

      test("changes are heard of", () =>
        withClient(as(), async (client, server) => {
          await using changes = client.listen({ tools: true });
          assertEquals((await changes.acknowledged).tools, true);
          const remove = server.tool("late", {}, () => "here");
          assertEquals((await changes.next()).value, { type: "tools" });
          assertEquals((await client.listTools()).tools.length, 6);
          remove();
          assertEquals((await changes.next()).value, { type: "tools" });
        }));
    });
  }
}
