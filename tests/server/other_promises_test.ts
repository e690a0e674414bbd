/**
 * Promises that are not of the class `Promise`: those of another realm or library, and all that async functions give where a library
 * has put a class of its own in the place of the global one (zone.js does).
 */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { ChannelTransport, Client, connect, ConnectError, createMemoryPair, InvalidParamsError } from "../../mod.ts";
import { createHandler, McpServer, serveChannel } from "../../src/server/mod.ts";

const kinds = {
  "over HTTP, modern": () => overHttp({}),
  "over HTTP, legacy": () => overHttp({ verdict: { era: "legacy" } }),
  "over a pipe, modern": () => overPipe({}),
  "over a pipe, legacy": () => overPipe({ verdict: { era: "legacy" } }),
};

/** A name, by a library whose checks come later: as what `later` makes of them. */
function named(later: (verdict: object) => object) {
  const schema = () => ({ type: "object", properties: { name: { type: "string" } } });
  const judge = ({ name }: { name?: unknown }) =>
    typeof name === "string" ? { value: { name } } : { issues: [{ message: "a name is missing" }] };
  return {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: (value: unknown) => later(judge(value as object)) as ReturnType<typeof judge>,
      jsonSchema: { input: schema, output: schema },
    },
  };
}

/** What has `then`, and nothing else of a promise. */
function thenable(value: object): object {
  return { then: (resolve: (value: object) => void) => void queueMicrotask(() => resolve(value)) };
}

function createServer(): McpServer {
  const server = new McpServer({ name: "sample", version: "1.0.0" });
  server.tool("greet", { input: named(async (verdict) => await verdict) }, ({ name }) => `Hello, ${name}`);
  server.resource("memo://one", {}, () => "one");
  server.prompt("greet", { arguments: { name: { complete: () => ["Ada"] } } }, ({ name }) => `Greet ${name}`);
  return server;
}

async function overHttp(options: NonNullable<Parameters<typeof connect>[1]>): Promise<Client> {
  const handler = createHandler(createServer());
  return await connect("http://localhost/mcp", { ...options, fetch: (url, init) => handler(new Request(url, init)) });
}

function overPipe(options: ConstructorParameters<typeof Client>[1]): Promise<Client> {
  const [near, far] = createMemoryPair();
  serveChannel(createServer(), far);
  return Promise.resolve(new Client(new ChannelTransport(() => near), options));
}

describe("Promises of another class", () => {
  for (const [kind, open] of Object.entries(kinds)) {
    test(`${kind}: a server answers where the global Promise is another one`, async () => {
      const own = globalThis.Promise;
      globalThis.Promise = class extends own<unknown> {} as PromiseConstructor;
      try {
        await using client = await open();
        assertEquals((await client.readResource("memo://one")).contents[0]?.uri, "memo://one");
        assertEquals((await client.getPrompt("greet", { name: "Ada" })).messages.length, 1);
        const { completion } = await client.complete({ type: "ref/prompt", name: "greet" }, {
          name: "name",
          value: "",
        });
        assertEquals(completion.values, ["Ada"]);
        assertEquals((await client.callTool("greet", { name: "Ada" })).content, [{ type: "text", text: "Hello, Ada" }]);
        assertEquals((await client.callTool("greet")).isError, true);
        await assertRejects(() => client.readResource("memo://none"), InvalidParamsError);
      } finally {
        globalThis.Promise = own;
      }
    });
  }

  test("what fails between two rounds of a call is tried again, where the global Promise is another one", async () => {
    const server = new McpServer({ name: "sample", version: "1.0.0" });
    server.tool("ask", {}, async (_args, context) => {
      const { action } = await context.elicit({
        message: "Go on?",
        requestedSchema: { type: "object", properties: {} },
      });
      return action;
    });
    const handler = createHandler(server);
    let asked = 0;
    const elicitation = (): Promise<{ action: "decline" }> =>
      asked++ ? Promise.resolve({ action: "decline" }) : Promise.reject(new ConnectError("Away", { retryable: true }));
    const own = globalThis.Promise;
    globalThis.Promise = class extends own<unknown> {} as PromiseConstructor;
    try {
      await using client = await connect("http://localhost/mcp", {
        handlers: { elicitation },
        fetch: (url, init) => handler(new Request(url, init)),
      });
      assertEquals((await client.callTool("ask")).content, [{ type: "text", text: "decline" }]);
    } finally {
      globalThis.Promise = own;
    }
  });

  test("arguments that a schema judges by a thenable are judged before the tool runs", async () => {
    const server = new McpServer({ name: "sample", version: "1.0.0" });
    const ran: unknown[] = [];
    server.tool("greet", { input: named(thenable) }, (args) => {
      ran.push(args);
      return "done";
    });
    const handler = createHandler(server);
    await using client = await connect("http://localhost/mcp", {
      fetch: (url, init) => handler(new Request(url, init)),
    });
    assertEquals((await client.callTool("greet", { name: 7 })).isError, true);
    assertEquals(ran, []);
    assertEquals((await client.callTool("greet", { name: "Ada" })).isError, undefined);
    assertEquals(ran, [{ name: "Ada" }]);
  });
});
