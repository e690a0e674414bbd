/**
 * What the tests of the loop share: hubs over servers in memory, with a ledger of what the servers did.
 *
 * @module
 */
import type { ElicitRequest, Era } from "../../../../mod.ts";
import { createRelay } from "../../../../src/hub/gateway/mod.ts";
import type { Hub } from "../../../../src/hub/hub.ts";
import type { Relay } from "../../../../src/hub/gateway/mod.ts";
import type { JsonObject } from "../../../../src/protocol/json_rpc.ts";
import { McpServer } from "../../../../src/server/mod.ts";
import { inMemory, openHub } from "../../../hub/support.ts";
import type { AgentEvent } from "../../../../src/agent/loop/seam.ts";

/** A hub with one server `data`, and what that server has done. */
export interface Scene extends AsyncDisposable {
  readonly hub: Hub;
  readonly relay: Relay;
  readonly server: McpServer;
  /** Each call that has arrived, as `tool arguments`. */
  readonly ledger: string[];
  /** The `_meta` of each. */
  readonly metas: JsonObject[];
  /** Ends the server as a process dies. */
  kill(): void;
}

const text = { type: "string" };

/** Opens a hub over the server. */
export async function openScene(era: Era = "modern"): Promise<Scene> {
  const ledger: string[] = [];
  const metas: JsonObject[] = [];
  const server = createData(ledger, metas);
  const memory = inMemory(server, { eras: [era] });
  const relay = createRelay();
  const { handlers, features } = relay;
  const hub = await openHub({ data: memory.config }, { handlers, features });
  return {
    hub,
    relay,
    server,
    ledger,
    metas,
    kill: memory.kill,
    [Symbol.asyncDispose]: () => hub.close(),
  };
}

function createData(ledger: string[], metas: JsonObject[]): McpServer {
  const server = new McpServer({ name: "data-server", version: "3.2.1" });
  const note = (name: string, args: object, meta: JsonObject): void => {
    ledger.push(`${name} ${JSON.stringify(args)}`);
    metas.push(meta);
  };
  server.tool("fetch_data", {
    description: "Fetches the record of a city",
    input: { type: "object", properties: { city: text }, required: ["city"], additionalProperties: false },
    output: {
      type: "object",
      properties: { city: text, population: { type: "integer" } },
      required: ["city", "population"],
    },
    annotations: { readOnlyHint: true },
  }, (args, { meta }) => {
    note("fetch_data", args, meta);
    return { city: String(args.city), population: String(args.city).length * 1_000 };
  });
  server.tool("say", { input: { type: "object", properties: { text } } }, (args, { meta }) => {
    note("say", args, meta);
    return `it said ${args.text}`;
  });
  server.tool("fail", {}, (args, { meta }) => {
    note("fail", args, meta);
    return { content: [{ type: "text", text: "it failed" }], isError: true };
  });
  server.tool("write", { input: { type: "object", properties: { text } } }, (args, { meta }) => {
    note("write", args, meta);
    return `wrote ${args.text}`;
  });
  server.tool("hang", {}, (args, { signal, meta }) => {
    note("hang", args, meta);
    return new Promise((resolve) =>
      signal.addEventListener("abort", () => {
        ledger.push("hang stopped");
        resolve("stopped");
      })
    );
  });
  server.tool("walk", {}, async (_, { progress }) => {
    progress({ progress: 1, total: 2, message: "half" });
    // What is told on its way has to arrive before the answer.
    await new Promise((resolve) => setTimeout(resolve, 20));
    return "there";
  });
  addQuestions(server, note);
  return server;
}

type Note = (name: string, args: object, meta: JsonObject) => void;

/** Tools that ask before they answer. What they did is noted once they have their answers. */
function addQuestions(server: McpServer, note: Note): void {
  const form = (name: string): NonNullable<ElicitRequest["requestedSchema"]> => ({
    type: "object",
    properties: { [name]: { type: "string", minLength: 2 } },
    required: [name],
  });
  server.tool("register", {}, async (args, context) => {
    const first = await context.elicit({ message: "Which name?", requestedSchema: form("name") });
    if (first.action !== "accept") return `no name: ${first.action}`;
    const second = await context.elicit({
      message: `Which town, ${first.content?.name}?`,
      requestedSchema: form("town"),
    });
    note("register", { ...args, name: first.content?.name, town: second.content?.town }, context.meta);
    return `${first.content?.name} of ${second.content?.town}`;
  });
  server.tool("login", {}, async (_, context) => {
    const { action } = await context.elicit({ message: "Sign in", requestedSchema: form("password") });
    return `password: ${action}`;
  });
  server.tool("visit", {}, async (_, context) => {
    const { action } = await context.elicit({
      mode: "url",
      message: "Visit",
      url: "https://example.com/a",
      elicitationId: "1",
    });
    return `visited: ${action}`;
  });
  server.tool("summarize", {}, async (_, context) => {
    const answer = await context.sample({
      systemPrompt: "Be brief",
      messages: [{ role: "user", content: { type: "text", text: "Summarize" } }],
      maxTokens: 50,
    });
    const [block] = [answer.content].flat();
    return `${block?.type === "text" ? block.text : "?"} (${answer.stopReason}, ${answer.model})`;
  });
  server.tool("look", {}, async (_, context) => (await context.roots()).map(({ uri }) => uri).join());
}

/** All events of a run. */
export async function gather(run: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

/** The kinds of events, in their order. */
export function kinds(events: readonly AgentEvent[]): string[] {
  return events.map(({ type }) => type);
}
