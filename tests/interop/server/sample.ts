/** A server with one of everything, for the clients of others and for ours: the same over HTTP and stdio. */
import { McpServer } from "../../../src/server/mod.ts";
import type { RequestContext } from "../../../src/server/mod.ts";

/** The tools of the sample, in its order. */
export const sampleTools: readonly string[] = [
  ...["echo", "add", "fail", "progress", "heard", "log", "wait", "called-off", "touch", "region"],
  ...["book", "poem", "where"],
];
/** What can be watched. */
export const watchedUri = "note://watched";

const text = { type: "string" };
const number = { type: "number" };
const fruits = ["apple", "apricot", "banana"];

/** Makes the server. */
export function createSample(): McpServer {
  const server = new McpServer({ name: "sample", version: "1.2.3", title: "A sample" }, {
    instructions: "Call echo first.",
  });
  addPlainTools(server);
  addWorkingTools(server);
  addAskingTools(server);
  addResourcesAndPrompts(server);
  return server;
}

function addPlainTools(server: McpServer): void {
  server.tool("echo", {
    title: "Echo",
    description: "Says it again",
    input: { type: "object", properties: { text }, required: ["text"] },
    annotations: { readOnlyHint: true },
  }, (args) => String(args.text));
  server.tool("add", {
    input: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
    output: { type: "object", properties: { sum: number }, required: ["sum"] },
  }, ({ a, b }) => ({ sum: Number(a) + Number(b) }));
  server.tool("fail", {}, () => {
    throw new Error("out of order");
  });
}

/** `progress` makes three steps; with `paced` each one, and the answer, waits until `heard` was called after the step before. */
function addProgress(server: McpServer): void {
  let goOn = (): void => {};
  server.tool("progress", { input: { type: "object", properties: { paced: { type: "boolean" } } } }, async (
    { paced },
    { progress },
  ) => {
    for (let step = 1; step <= 3; step++) {
      const heard = new Promise<void>((resolve) => goOn = resolve);
      progress({ progress: step, total: 3, message: `step ${step}` });
      await (paced ? heard : new Promise((resolve) => setTimeout(resolve, 60)));
    }
    return "3 steps";
  });
  server.tool("heard", {}, () => (goOn(), "go on"));
}

function addWorkingTools(server: McpServer): void {
  const calledOff: string[] = [];
  let late: (() => void) | undefined;
  addProgress(server);
  server.tool("log", {}, (_args, { log }) => {
    log("debug", "too little", "sample");
    log("warning", { at: "the end" }, "sample");
    return "logged";
  });
  server.tool("wait", { input: { type: "object", properties: { name: text } } }, async ({ name }, context) => {
    const { signal } = context;
    context.progress({ progress: 1 });
    const stopped = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), 10_000);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    if (stopped) calledOff.push(String(name));
    return stopped ? "called off" : "done";
  });
  server.tool("called-off", {}, () => calledOff.join());
  server.tool("touch", { description: "Changes the watched note and the lists" }, () => {
    server.resourceUpdated(watchedUri);
    late?.();
    late = late === undefined ? server.tool("late", {}, () => "late") : undefined;
    return "touched";
  });
  server.tool("region", {
    input: {
      type: "object",
      properties: { region: { ...text, "x-mcp-header": "Region" }, query: text },
      required: ["region", "query"],
    },
  }, ({ region, query }) => `${query} in ${region}`);
}

function addAskingTools(server: McpServer): void {
  const ask = (name: string, { elicit }: RequestContext) =>
    elicit({
      message: `${name}?`,
      requestedSchema: {
        type: "object",
        properties: { [name]: { type: "string", title: name, default: "none" } },
        required: [name],
      },
    });
  server.tool(
    "book",
    { description: "Asks for a name and a place at once, then for a date" },
    async (_args, context) => {
      const [name, place] = await Promise.all([ask("name", context), ask("place", context)]);
      if (name.action !== "accept" || place.action !== "accept") return `${name.action} ${place.action}`;
      const date = await ask("date", context);
      return `${name.content?.name}, ${place.content?.place}, ${date.content?.date}`;
    },
  );
  server.tool("poem", {}, async (_args, { sample }) => {
    const { content, model } = await sample({
      messages: [{ role: "user", content: { type: "text", text: "a poem" } }],
      maxTokens: 50,
    });
    return `${model}: ${JSON.stringify(content)}`;
  });
  server.tool("where", {}, async (_args, { roots }) => (await roots()).map(({ uri }) => uri).join());
}

function addResourcesAndPrompts(server: McpServer): void {
  server.resource(watchedUri, { name: "watched", description: "A note" }, () => "watch me");
  server.template(
    "fruit://{name}",
    {
      name: "fruit",
      mimeType: "application/octet-stream",
      complete: { name: (typed) => fruits.filter((fruit) => fruit.startsWith(typed)) },
    },
    (_uri, { name }) => fruits.includes(String(name)) ? new TextEncoder().encode(String(name)) : undefined,
  );
  server.prompt("greet", {
    title: "Greeting",
    arguments: {
      name: { required: true, complete: (typed) => ["Ada", "Alan"].filter((one) => one.startsWith(typed)) },
    },
  }, ({ name }) => `Greet ${name}`);
}
