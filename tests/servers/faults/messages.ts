/**
 * Faults in what is said: the envelope, the ids, the results, the order.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, objectAt } from "../core/wire.ts";
import { events, type Fault, type FaultContext, messages, text } from "./fault.ts";

/** Faults in what is said. */
export type MessageFault =
  | "bad-json"
  | "bad-json-body"
  | "wrong-id"
  | "wrong-id-body"
  | "string-id"
  | "null-id"
  | "no-id"
  | "no-jsonrpc"
  | "result-and-error"
  | "neither"
  | "result-not-object"
  | "error-not-object"
  | "error-without-code"
  | "error-without-id"
  | "batch"
  | "text-message"
  | "empty-object"
  | "unknown-result-type"
  | "result-type-not-text"
  | "malformed-result"
  | "duplicate-answer"
  | "second-answer-differs"
  | "answer-of-another"
  | "server-request"
  | "server-ping"
  | "unknown-notification"
  | "progress-flood"
  | "progress-backwards"
  | "progress-foreign-token"
  | "task-undeclared"
  | "input-loop"
  | "input-changing"
  | "input-empty"
  | "input-state-huge"
  | "input-undeclared"
  | "input-malformed"
  | "infinite-pages"
  | "repeated-cursor"
  | "empty-cursor"
  | "cursor-not-text"
  | "list-not-array"
  | "duplicate-tools"
  | "bad-tools"
  | "many-tools"
  | "listen-closes"
  | "listen-no-acknowledgement"
  | "listen-flood";

/** The faults by name. */
export const messageFaults: Readonly<Record<MessageFault, Fault>> = {
  ...envelopeFaults(),
  ...orderFaults(),
  ...inputFaults(),
  ...listFaults(),
  ...listenFaults(),
};

type Change = (response: JsonObject, context: FaultContext) => unknown;

/** The request is executed; its answer is spoilt and comes on a stream. */
function spoilt(change: Change): Fault {
  return { reply: async (context) => messages(change(await context.answer(), context)) };
}

function result(change: (result: JsonObject) => unknown): Fault {
  return spoilt((response) => ({ ...response, result: change(objectAt(response, "result")) }));
}

function envelopeFaults() {
  const error = { code: -32603, message: "broken" };
  const without = (key: string) => spoilt((response) => ({ ...response, [key]: undefined }));
  return {
    "bad-json": { reply: async (context) => events([JSON.stringify(await context.answer()).slice(0, -5)]) },
    "bad-json-body": { reply: async (context) => text(JSON.stringify(await context.answer()).slice(0, -5)) },
    "wrong-id": spoilt((response) => ({ ...response, id: "nobody asked this" })),
    "wrong-id-body": {
      reply: async (context) => text(JSON.stringify({ ...await context.answer(), id: "nobody asked this" })),
    },
    "string-id": spoilt((response, { id }) => ({ ...response, id: typeof id === "number" ? String(id) : [id] })),
    "null-id": spoilt((response) => ({ ...response, id: null })),
    "no-id": without("id"),
    "no-jsonrpc": without("jsonrpc"),
    "result-and-error": spoilt((response) => ({ ...response, error })),
    "neither": spoilt(({ id }) => ({ jsonrpc: "2.0", id })),
    "result-not-object": result(() => [1, 2, 3]),
    "error-not-object": spoilt(({ id }) => ({ jsonrpc: "2.0", id, error: "broken" })),
    "error-without-code": spoilt(({ id }) => ({ jsonrpc: "2.0", id, error: { message: "broken" } })),
    "error-without-id": spoilt(() => ({ jsonrpc: "2.0", error })),
    "batch": spoilt((response) => [response]),
    "text-message": spoilt(() => "just words"),
    "empty-object": spoilt(() => ({})),
    "unknown-result-type": result((value) => ({ ...value, resultType: "perhaps" })),
    "result-type-not-text": result((value) => ({ ...value, resultType: { complete: true } })),
    "malformed-result": result((value) => ({ ...value, content: "no array" })),
    "duplicate-answer": {
      reply: async (context) => {
        const response = await context.answer();
        return messages(response, response);
      },
    },
    "second-answer-differs": {
      reply: async (context) => {
        const response = await context.answer();
        const content = [{ type: "text", text: "the second answer" }];
        return messages(response, { ...response, result: { ...objectAt(response, "result"), content } });
      },
    },
  } satisfies Partial<Record<MessageFault, Fault>>;
}

function orderFaults() {
  const before = (...first: unknown[]): Fault => ({
    reply: async (context) => messages(...first, await context.answer()),
  });
  const progress = (token: unknown, value: number) => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: token, progress: value },
  });
  const tokenOf = (context: FaultContext) => objectAt(objectAt(context.message, "params"), "_meta").progressToken ?? 0;
  const foreign = { jsonrpc: "2.0", id: "of another call", result: { content: [], resultType: "complete" } };
  return {
    "answer-of-another": before(foreign),
    "server-request": before({ jsonrpc: "2.0", id: 1, method: "roots/list" }),
    "server-ping": before({ jsonrpc: "2.0", id: "server-ping", method: "ping" }),
    "unknown-notification": before({ jsonrpc: "2.0", method: "notifications/from/the/future", params: { x: 1 } }),
    "progress-flood": {
      reply: async (context) => {
        const token = tokenOf(context);
        const response = await context.answer();
        return messages(
          ...Array.from({ length: context.size ?? 200_000 }, (_, index) => progress(token, index)),
          response,
        );
      },
    },
    "progress-backwards": {
      reply: async (context) => {
        const token = tokenOf(context);
        return messages(...[5, 4, 5, 6, 1, 7].map((value) => progress(token, value)), await context.answer());
      },
    },
    "progress-foreign-token": before(progress("nobody's", 1), progress(987_654_321, 2), progress(null, 3)),
    "task-undeclared": result((value) => ({ ...value, resultType: "task", taskId: "t-1", status: "working" })),
  } satisfies Partial<Record<MessageFault, Fault>>;
}

/** Each answers without an execution, as the first round of a real one would. */
function inputFaults() {
  const asks = (rest: (context: FaultContext) => JsonObject): Fault => ({
    reply: (context) => {
      const value = { resultType: "input_required", ...rest(context) };
      return text(JSON.stringify({ jsonrpc: "2.0", id: context.id, result: value }));
    },
  });
  const form = (key: string): JsonObject => ({
    [key]: {
      method: "elicitation/create",
      params: { mode: "form", message: "Again?", requestedSchema: { type: "object", properties: {} } },
    },
  });
  return {
    "input-loop": asks(({ attempt }) => ({ inputRequests: form("again"), requestState: `round ${attempt}` })),
    "input-changing": asks(({ attempt }) => ({ inputRequests: form(`key ${attempt}`) })),
    "input-empty": asks(() => ({})),
    "input-state-huge": asks(({ size }) => ({ requestState: "s".repeat(size ?? 1_048_576), inputRequests: form("x") })),
    "input-undeclared": asks(() => ({
      inputRequests: { x: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } } },
    })),
    "input-malformed": asks(() => ({ inputRequests: [{ method: "elicitation/create" }] })),
  } satisfies Partial<Record<MessageFault, Fault>>;
}

function listFaults() {
  const list = (change: (page: JsonObject, context: FaultContext) => JsonObject): Fault => ({
    on: "tools/list",
    reply: async (context) => {
      const cursor = objectAt(context.message, "params").cursor;
      const response = cursor === undefined ? await context.answer() : emptyPage(context);
      const value = change(objectAt(response, "result"), context);
      return text(JSON.stringify({ jsonrpc: "2.0", id: context.id, result: value }));
    },
  });
  const inputSchema: JsonObject = { type: "object" };
  const plain = (name: string): JsonObject => ({ name, inputSchema });
  return {
    "infinite-pages": list((_page, { attempt }) => page([plain(`page_${attempt}`)], `cursor ${attempt}`)),
    "repeated-cursor": list((_page, { attempt }) => page([plain(`page_${attempt}`)], "the same")),
    "empty-cursor": list((_page, { attempt }) => page([plain(`page_${attempt}`)], attempt === 1 ? "" : undefined)),
    "cursor-not-text": list((value) => ({ ...value, nextCursor: 5 })),
    "list-not-array": list((value) => ({ ...value, tools: { echo: true } })),
    "duplicate-tools": list((value) => ({ ...value, tools: [plain("twice"), { ...plain("twice"), title: "Second" }] })),
    "bad-tools": list((value) => ({ ...value, tools: badTools(value.tools) })),
    "many-tools": list((_page, { size }) =>
      page(Array.from({ length: size ?? 100_000 }, (_, index) => plain(`tool_${index}`)))
    ),
  } satisfies Partial<Record<MessageFault, Fault>>;
}

function emptyPage(context: FaultContext): JsonObject {
  return { jsonrpc: "2.0", id: context.id, result: page([]) };
}

function page(tools: JsonObject[], nextCursor?: string): JsonObject {
  return { resultType: "complete", ttlMs: 0, cacheScope: "private", tools, nextCursor };
}

/** Tools whose `x-mcp-header` breaks a rule, and one that is right. */
function badTools(healthy: unknown): JsonValue[] {
  const tool = (name: string, properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    name,
    inputSchema: { type: "object", properties, ...more },
  });
  const marked = (header: JsonValue, type: string = "string"): JsonObject => ({ type, "x-mcp-header": header });
  const first = Array.isArray(healthy) ? healthy.filter(isJsonObject).slice(0, 1) : [];
  return [
    ...first,
    tool("right", { region: marked("Region") }),
    tool("empty_header", { region: marked("") }),
    tool("space_header", { region: marked("My Region") }),
    tool("colon_header", { region: marked("Region:1") }),
    tool("control_header", { region: marked("Region\u0007") }),
    tool("latin_header", { region: marked("Région") }),
    tool("number_header", { region: marked(5) }),
    tool("same_headers", { a: marked("Region"), b: marked("REGION") }),
    tool("object_header", { region: marked("Region", "object") }),
    tool("number_type", { region: marked("Region", "number") }),
    tool("items_header", { list: { type: "array", items: marked("Region") } }),
    tool("any_of_header", {}, { anyOf: [{ properties: { region: marked("Region") } }] }),
    tool("no_schema", {}, { type: "string" }),
    { name: "schema_missing" },
    { inputSchema: { type: "object" } },
    "not a tool",
  ];
}

function listenFaults() {
  const on = "subscriptions/listen";
  const key = "io.modelcontextprotocol/subscriptionId";
  const told = (context: FaultContext, method: string, params: JsonObject = {}) => ({
    jsonrpc: "2.0",
    method,
    params: { ...params, _meta: { [key]: context.id } },
  });
  const acknowledged = (context: FaultContext) =>
    told(context, "notifications/subscriptions/acknowledged", {
      notifications: objectAt(objectAt(context.message, "params"), "notifications"),
    });
  return {
    "listen-closes": { on, reply: (context) => messages(acknowledged(context)) },
    "listen-no-acknowledgement": {
      on,
      reply: (context) => messages(told(context, "notifications/tools/list_changed")),
    },
    "listen-flood": {
      on,
      reply: (context) => {
        const changed = told(context, "notifications/tools/list_changed");
        return messages(acknowledged(context), ...Array.from({ length: context.size ?? 10_000 }, () => changed));
      },
    },
  } satisfies Partial<Record<MessageFault, Fault>>;
}
