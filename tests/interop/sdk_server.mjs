// A server written on the official SDK (`@modelcontextprotocol/server`), for the tests of our client. Plain JavaScript,
// run by `node`:
//
//   sdk_server.mjs stdio         both eras on the standard input and output; the opening message decides
//   sdk_server.mjs stdio-legacy  2025-11-25 alone, wired by hand, as most servers of today are
//   sdk_server.mjs http          /modern (2026-07-28 alone), /legacy (sessions of 2025-11-25), /both (modern, and
//                                stateless 2025-11-25), on $PORT
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { randomUUID } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import process from "node:process";

// One server is made for each request of 2026-07-28 over HTTP: what can be shared is made once.
const schemas = {
  echo: object({ text: { type: "string" } }),
  add: object({ a: { type: "number" }, b: { type: "number" } }),
  sum: object({ sum: { type: "number" } }),
  steps: object({ steps: { type: "integer" } }),
  name: object({ name: { type: "string" } }),
  region: object({ region: { type: "string", "x-mcp-header": "Region" }, query: { type: "string" } }),
};
const watchedUri = "note://watched";
const fruits = ["apple", "apricot", "banana"];
const calledOff = [];

/** Makes a server; `changed` tells everybody who listens, in the way of the binding that it is behind. */
function createServer(changed) {
  const server = new McpServer(
    { name: "sdk-server", version: "2.4.0", title: "A server on the official SDK" },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
      },
      instructions: "Call echo first.",
    },
  );
  const publish = changed ?? {
    resourceUpdated: (uri) => server.server.sendResourceUpdated({ uri }),
    toolsChanged: () => server.sendToolListChanged(),
  };
  addPlainTools(server, publish);
  addAskingTools(server);
  addResourcesAndPrompts(server);
  return server;
}

function addPlainTools(server, publish) {
  const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
  server.registerTool("echo", {
    title: "Echo",
    description: "Says it again",
    inputSchema: schemas.echo,
    annotations: { readOnlyHint: true },
  }, ({ text: said }) => text(said));
  server.registerTool("add", {
    description: "Adds two numbers",
    inputSchema: schemas.add,
    outputSchema: schemas.sum,
  }, ({ a, b }) => ({ ...text(a + b), structuredContent: { sum: a + b } }));
  server.registerTool("progress", {
    description: "Reports progress in steps",
    inputSchema: schemas.steps,
  }, async ({ steps }, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    for (let progress = 1; progress <= steps; progress++) {
      if (progressToken === undefined) break;
      const params = { progressToken, progress, total: steps, message: `step ${progress}` };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
    return text(`${steps} steps, token ${progressToken === undefined ? "missing" : "there"}`);
  });
  server.registerTool("wait", {
    description: "Reports progress once, then waits until it is called off, at most ten seconds",
    inputSchema: schemas.name,
  }, async ({ name }, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
    const off = await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), 10_000);
      mcpReq.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    if (off) calledOff.push(name);
    return text(off ? "called off" : "done");
  });
  server.registerTool("called-off", { description: "Which waits were called off" }, () => text(calledOff.join()));
  server.registerTool("log", {
    description: "Logs at two levels",
    inputSchema: schemas.echo,
  }, async ({ text: said }, { mcpReq }) => {
    await mcpReq.log("debug", `debug ${said}`, "sdk");
    await mcpReq.log("warning", { said }, "sdk");
    return text("logged");
  });
  server.registerTool("touch", { description: "Changes the watched note and the list of tools" }, async () => {
    await publish.resourceUpdated(watchedUri);
    await publish.toolsChanged();
    return text("touched");
  });
  server.registerTool("region", {
    description: "Wants one argument mirrored in a header",
    inputSchema: schemas.region,
  }, ({ region, query }) => text(`${query} in ${region}`));
  server.registerTool("fail", { description: "Throws" }, () => {
    throw new Error("out of order");
  });
}

/** What these return works in both eras: the SDK turns it into requests for a client of 2025-11-25. */
function addAskingTools(server) {
  const ask = (key, request) => inputRequired({ inputRequests: { [key]: request }, requestState: `asked ${key}` });
  const result = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
  server.registerTool("book", { description: "Asks for a name and a date by form" }, ({ mcpReq }) => {
    const { inputResponses } = mcpReq;
    const form = inputResponse(inputResponses, "form");
    if (form.kind === "elicit" && form.action !== "accept") return result(form.action);
    const content = acceptedContent(inputResponses, "form");
    if (content) return result({ ...content, state: mcpReq.requestState() });
    return ask(
      "form",
      inputRequired.elicit({
        message: "Who comes, and when?",
        requestedSchema: {
          type: "object",
          properties: {
            name: { type: "string" },
            date: { type: "string", format: "date", default: "2026-07-28" },
          },
          required: ["name"],
        },
      }),
    );
  });
  server.registerTool("poem", { description: "Asks the client's model" }, ({ mcpReq }) => {
    const { inputResponses } = mcpReq;
    const sampled = inputResponse(inputResponses, "model");
    if (sampled.kind === "sampling") return result(sampled.result);
    const messages = [{ role: "user", content: { type: "text", text: "a poem" } }];
    return ask("model", inputRequired.createMessage({ messages, maxTokens: 50 }));
  });
  server.registerTool("where", { description: "Asks for the roots" }, ({ mcpReq }) => {
    const { inputResponses } = mcpReq;
    const answer = inputResponse(inputResponses, "roots");
    return answer.kind === "roots" ? result(answer.roots) : ask("roots", inputRequired.listRoots());
  });
}

function addResourcesAndPrompts(server) {
  server.registerResource("watched", watchedUri, { mimeType: "text/plain", description: "A note" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "watch me" }],
  }));
  const template = new ResourceTemplate("fruit://{name}", {
    list: undefined,
    complete: { name: (value) => fruits.filter((fruit) => fruit.startsWith(value)) },
  });
  server.registerResource("fruit", template, { mimeType: "application/octet-stream" }, (uri, { name }) => ({
    contents: [{ uri: uri.href, blob: Buffer.from(String(name)).toString("base64") }],
  }));
  server.registerPrompt("greet", {
    title: "Greeting",
    description: "Greets somebody",
    argsSchema: schemas.name,
  }, ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${name}` } }] }));
  // The SDK keeps no books of subscriptions in the older era: what changes is told to the session anyway.
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

/** A JSON Schema of an object with exactly these fields, all required. */
function object(properties) {
  return fromJsonSchema({ type: "object", properties, required: Object.keys(properties), additionalProperties: false });
}

function serveHttp() {
  const notify = {
    resourceUpdated: (uri) => [modern, both].forEach((handler) => handler.notify.resourceUpdated(uri)),
    toolsChanged: () => [modern, both].forEach((handler) => handler.notify.toolsChanged()),
  };
  const modern = createMcpHandler(() => createServer(notify), { legacy: "reject" });
  const both = createMcpHandler(() => createServer(notify));
  const routes = { "/modern": toNodeHandler(modern), "/both": toNodeHandler(both), "/legacy": createSessions() };
  createHttpServer((request, response) => {
    const handle = routes[new URL(request.url ?? "/", "http://localhost").pathname];
    if (handle) void handle(request, response);
    else response.writeHead(404).end();
  }).listen(Number(process.env.PORT ?? 0), "127.0.0.1");
}

/** The sessions of 2025-11-25, one transport and one server for each. */
function createSessions() {
  const transports = new Map();
  return async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? transports.get(id) : undefined;
    if (known) return await known.handleRequest(request, response);
    if (id !== undefined) return response.writeHead(404).end();
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        transports.set(id, transport);
        process.stderr.write(`session ${id} begins\n`);
      },
      onsessionclosed: (id) => {
        transports.delete(id);
        process.stderr.write(`session ${id} ends\n`);
      },
    });
    await createServer().connect(transport);
    await transport.handleRequest(request, response);
  };
}

const mode = process.argv[2];
if (mode === "stdio") serveStdio(() => createServer());
else if (mode === "stdio-legacy") await createServer().connect(new StdioServerTransport());
else if (mode === "http") serveHttp();
else throw new Error(`Unknown mode "${mode}"`);
