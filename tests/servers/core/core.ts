/**
 * The middle of every fake peer: one `handle(method, params, context)` for both eras and all bindings.
 *
 * @module
 */
import { type Clock, systemClock } from "../../../src/ports.ts";
import { manyTools, promptsOf, resourcesOf, templatesOf, toolsOf } from "./catalog.ts";
import { Ledger } from "./ledger.ts";
import { askName, failed, runTool, type ToolContext } from "./tools.ts";
import { deferred, type JsonObject, objectAt, orAborted, type RequestId, RpcFailure, stringAt } from "./wire.ts";

/** What both eras let one choose. */
export interface CoreOptions {
  /** The name in `serverInfo` (`fake`). */
  name?: string;
  instructions?: string;
  /** Items on one page of a list; 0: everything on one page (0). */
  pageSize?: number;
  /** Tools beside the usual ones. */
  tools?: JsonObject[];
  /** So many more synthetic tools (0). */
  extraTools?: number;
  /** The clock that `slow` waits on. */
  clock?: Clock;
  /** How many entries the ledger keeps; 0 for a bench (10,000). */
  keep?: number;
  /** Tasks: the extension (modern) or the capability of 2025-11-25 (true). */
  tasks?: boolean;
}

/** The core of one fake peer. */
export interface Core {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Answers the methods that both eras share; undefined for a method that it does not know. Throws and rejects. */
  handle(method: string, params: JsonObject, context: CoreContext): JsonObject | Promise<JsonObject> | undefined;
  /** The definition of a tool, as this revision lists it. */
  tool(name: string, revision: string): JsonObject | undefined;
  /** Waits on the clock, or until `release`. */
  wait(milliseconds: number | undefined, signal: AbortSignal): Promise<void>;
  /** Lets all that wait without a time go on; says how many did. */
  release(): number;
}

/** What the era gives to the core for one request. */
export interface CoreContext extends ToolContext {
  readonly id: RequestId;
  /** True on the first round: only that is a new execution. */
  readonly first: boolean;
}

/** Makes the core. */
export function createCore(options: CoreOptions): Core {
  const ledger = new Ledger(options.keep);
  const clock = options.clock ?? systemClock;
  const waiting = new Set<() => void>();
  const reads = new Map<string, number>();
  const lists = new Map<string, JsonObject[]>();
  const extra = [...(options.tools ?? []), ...manyTools(options.extraTools ?? 0)];
  const tools = (revision: string) => {
    const list = lists.get(revision) ?? toolsOf(revision, extra);
    lists.set(revision, list);
    return list;
  };
  const tool = (name: string, revision: string) => tools(revision).find((item) => item.name === name);
  const list = (key: string, items: JsonObject[], params: JsonObject) =>
    pageOf(key, items, params, options.pageSize ?? 0);
  const wait = async (milliseconds: number | undefined, signal: AbortSignal) => {
    const { promise, resolve } = deferred<void>();
    let callOff = () => {};
    if (milliseconds === undefined) waiting.add(resolve);
    else callOff = clock.schedule(resolve, milliseconds);
    try {
      await orAborted(promise, signal);
    } finally {
      callOff();
      waiting.delete(resolve);
    }
  };
  return {
    ledger,
    clock,
    tool,
    wait,
    release() {
      const count = waiting.size;
      for (const resolve of waiting) resolve();
      return count;
    },
    handle(method, params, context) {
      switch (method) {
        case "tools/list":
          return list("tools", tools(context.revision), params);
        case "tools/call":
          return call(params, context, { ledger, tool });
        case "resources/list":
          return list("resources", resourcesOf(), params);
        case "resources/templates/list":
          return list("resourceTemplates", templatesOf(), params);
        case "resources/read":
          return read(params, context, reads);
        case "prompts/list":
          return list("prompts", promptsOf(), params);
        case "prompts/get":
          return prompt(params, context);
        case "completion/complete":
          return complete(params);
        default:
          return undefined;
      }
    },
  };
}

function call(
  params: JsonObject,
  context: CoreContext,
  scope: Pick<Core, "ledger" | "tool">,
): JsonObject | Promise<JsonObject> {
  const name = stringAt(params, "name");
  const definition = name === undefined ? undefined : scope.tool(name, context.revision);
  if (name === undefined || definition === undefined) throw new RpcFailure(-32602, `Unknown tool: ${String(name)}`);
  const args = objectAt(params, "arguments");
  if (context.first) scope.ledger.execution({ tool: name, arguments: args, id: context.id });
  const problem = argumentProblem(definition, args);
  return problem === undefined ? runTool(name, args, context) : failed(problem);
}

function pageOf(key: string, items: JsonObject[], params: JsonObject, size: number): JsonObject {
  const cursor = params.cursor;
  if (cursor !== undefined && (typeof cursor !== "string" || !/^page:\d+$/.test(cursor))) {
    throw new RpcFailure(-32602, "Unknown cursor");
  }
  const start = typeof cursor === "string" ? Number(cursor.slice(5)) : 0;
  if (size <= 0) return { [key]: items };
  if (start > 0 && start >= items.length) throw new RpcFailure(-32602, "Unknown cursor");
  const page: JsonObject = { [key]: items.slice(start, start + size) };
  if (start + size < items.length) page.nextCursor = `page:${start + size}`;
  return page;
}

function argumentProblem(definition: JsonObject, args: JsonObject): string | undefined {
  const schema = objectAt(definition, "inputSchema");
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const key of required) {
    if (typeof key === "string" && args[key] === undefined) return `Argument "${key}" is missing`;
  }
  for (const [key, property] of Object.entries(objectAt(schema, "properties"))) {
    const wanted = typeof property === "object" && property !== null && !Array.isArray(property) ? property.type : "";
    const value = args[key];
    if (value === undefined || value === null || typeof wanted !== "string") continue;
    if (wanted === "integer" ? !Number.isInteger(value) : primitive(wanted) && typeof value !== wanted) {
      return `Argument "${key}" should be of type ${wanted}`;
    }
  }
  return undefined;
}

function primitive(type: string): boolean {
  return type === "string" || type === "number" || type === "boolean";
}

async function read(params: JsonObject, context: CoreContext, reads: Map<string, number>): Promise<JsonObject> {
  const uri = stringAt(params, "uri") ?? "";
  const count = (reads.get(uri) ?? 0) + 1;
  if (context.first && uri === "test://watched") reads.set(uri, count);
  const text = (value: string) => ({ uri, mimeType: "text/plain", text: value });
  switch (uri) {
    case "test://text":
      return { contents: [text("hello world")] };
    case "test://blob":
      return { contents: [{ uri, mimeType: "application/octet-stream", blob: "AAECAwQ=" }] };
    case "test://many":
      return { contents: [text("one"), { ...text("two"), uri: "test://many/2" }] };
    case "test://watched":
      return { contents: [text(`read ${count} times`)] };
    case "test://ask": {
      const { name } = await context.inputs({ name: askName("Who reads?") });
      return { contents: [text(JSON.stringify(name?.content ?? null))] };
    }
  }
  const item = /^test:\/\/item\/([^/]+)$/.exec(uri);
  if (item !== null) {
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify({ id: item[1] }) }] };
  }
  const code = context.era === "modern" ? -32602 : -32002;
  throw new RpcFailure(code, "Resource not found", { data: { uri } });
}

async function prompt(params: JsonObject, context: CoreContext): Promise<JsonObject> {
  const message = (value: string): JsonObject => ({ role: "user", content: { type: "text", text: value } });
  const args = objectAt(params, "arguments");
  switch (params.name) {
    case "greet": {
      const who = stringAt(args, "who");
      if (who === undefined) throw new RpcFailure(-32602, 'Argument "who" is missing');
      return { description: "Greets somebody", messages: [message(`Greet ${who}, ${args.tone ?? "kindly"}`)] };
    }
    case "plain":
      return { messages: [message("Say hello")] };
    case "ask_prompt": {
      const { name } = await context.inputs({ name: askName("For whom?") });
      return { messages: [message(`For ${JSON.stringify(name?.content ?? null)}`)] };
    }
    default:
      throw new RpcFailure(-32602, `Unknown prompt: ${String(params.name)}`);
  }
}

function complete(params: JsonObject): JsonObject {
  const reference = objectAt(params, "ref");
  const argument = objectAt(params, "argument");
  const start = stringAt(argument, "value");
  if (start === undefined || typeof argument.name !== "string") throw new RpcFailure(-32602, "No argument to complete");
  const known = reference.type === "ref/prompt"
    ? promptsOf().some((item) => item.name === reference.name)
    : templatesOf().some((item) => item.uriTemplate === reference.uri);
  if (!known) throw new RpcFailure(-32602, "Unknown reference");
  const context = objectAt(objectAt(params, "context"), "arguments");
  const words = ["Ada", "Alan", "Barbara", "Edsger", "Grace", ...Object.values(context).map(String)];
  const values = words.filter((word) => word.toLowerCase().startsWith(start.toLowerCase()));
  return { completion: { values, total: values.length, hasMore: false } };
}
