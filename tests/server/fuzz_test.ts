/** Requests at random: each gets a reply, in bounded time, never a 5xx, and JSON-RPC where it is JSON. */
import { describe, test } from "node:test";
import { assert } from "@std/assert";
import fc from "fast-check";
import type { JsonObject } from "../../src/protocol/json_rpc.ts";
import { isObject } from "../../src/protocol/json_rpc.ts";
import { modernMeta, rpc } from "./http/support.ts";
import { stage } from "./attack/support.ts";
import { stopwatch } from "../support/clocks/stopwatch.ts";
import { heldRequest } from "../support/held_request.ts";

/** `attackRuns` and `attackSeed`, set before this file is loaded, make the long form. */
const { attackRuns: numRuns = 1_000, attackSeed: seed } = globalThis as { attackRuns?: number; attackSeed?: number };

const methods = [
  "tools/call",
  "tools/list",
  "prompts/get",
  "prompts/list",
  "resources/read",
  "resources/list",
  "resources/templates/list",
  "completion/complete",
  "server/discover",
  "subscriptions/listen",
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "notifications/initialized",
  "notifications/cancelled",
  "tasks/get",
  "__proto__",
  "",
];
const names = ["echo", "fails", "asks", "p", "memo://one", "memo://{id}", "memo://x", "constructor", "__proto__", ""];
const metaKeys = ["protocolVersion", "clientCapabilities", "clientInfo", "logLevel"].map((key) =>
  `io.modelcontextprotocol/${key}`
);

const scalar = fc.oneof(
  fc.constantFrom<unknown>(...names, ...methods, null, true, 0, -1, 1e308, "2026-07-28", "2025-11-25", {}, [], "debug"),
  fc.string({ maxLength: 20 }),
);
const value = fc.oneof({ weight: 3, arbitrary: scalar }, { weight: 1, arbitrary: fc.jsonValue() });
const strangeKey = fc.constantFrom(
  "__proto__",
  "constructor",
  "name",
  "uri",
  "arguments",
  "cursor",
  "ref",
  "argument",
  "context",
  "inputResponses",
  "requestState",
  "notifications",
  "level",
  "requestId",
  "protocolVersion",
  "capabilities",
  "_meta",
  "progressToken",
);
/** An object whose keys may be those of the prototype. */
const bag = fc.array(fc.tuple(strangeKey, value), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs));

const soundParams = fc.record({
  name: fc.constantFrom(...names),
  uri: fc.constantFrom(...names),
  arguments: bag,
  ref: fc.constantFrom({ type: "ref/prompt", name: "p" }, { type: "ref/resource", uri: "memo://{id}" }, {}),
  argument: fc.constantFrom({ name: "a", value: "x" }, { name: "id", value: "" }, {}),
  notifications: fc.constantFrom({ toolsListChanged: true }, { resourceSubscriptions: ["memo://one"] }, {}),
  protocolVersion: fc.constantFrom("2025-11-25", "2025-03-26", "x"),
}, { requiredKeys: [] });

const meta = fc.oneof(
  { weight: 4, arbitrary: fc.constant(modernMeta()) },
  { weight: 1, arbitrary: fc.constant({ ...modernMeta(), [metaKeys[1]!]: { elicitation: {} } }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...metaKeys), value).map(([key, odd]) => ({ ...modernMeta(), [key]: odd })),
  },
  { weight: 1, arbitrary: value },
  { weight: 2, arbitrary: fc.constant(undefined) },
);

const message = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(
      fc.constantFrom(...methods),
      soundParams,
      bag,
      meta,
      fc.constantFrom<unknown>(1, "a", 2 ** 53, null, undefined),
    )
      .map(([method, sound, odd, _meta, id]) => ({ jsonrpc: "2.0", id, method, params: { ...sound, ...odd, _meta } })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...methods), value).map(([method, params]) => ({
      jsonrpc: "2.0",
      id: 1,
      method,
      params,
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>({ jsonrpc: "2.0", id: 1, result: {} }, {
      jsonrpc: "2.0",
      error: { code: 1, message: "" },
    }),
  },
  // Nothing is wrong with these: that some requests are served must not be chance.
  {
    weight: 4,
    arbitrary: fc.constantFrom<[string, JsonObject]>(
      ["tools/list", {}],
      ["tools/call", { name: "echo", arguments: {} }],
      ["prompts/get", { name: "p" }],
      ["resources/read", { uri: "memo://one" }],
    ).map(([method, params]) => rpc(method, 1, { ...params, _meta: modernMeta() })),
  },
  { weight: 1, arbitrary: value },
);
const body = fc.oneof(
  { weight: 8, arbitrary: message.map((one) => JSON.stringify(one) ?? "") },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 4 }).map((some) => JSON.stringify(some)) },
  { weight: 1, arbitrary: fc.tuple(message, fc.nat(200)).map(([one, at]) => (JSON.stringify(one) ?? "").slice(0, at)) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }) },
);

const headerText = fc.string({ maxLength: 12 }).map((text) => text.replace(/[^\x21-\x7e]/g, ""));
const header = (...good: string[]) =>
  fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: headerText }, {
    weight: 1,
    arbitrary: fc.constant(undefined),
  });
const headers = fc.record({
  "content-type": header("application/json", "application/json; charset=utf-8"),
  accept: header("application/json, text/event-stream", "*/*"),
  "mcp-protocol-version": header("2026-07-28", "2026-07-28", "2025-11-25", "2025-03-26"),
  "mcp-method": header(...methods),
  "mcp-name": header(...names, "=?base64?!?=", "=?base64?ZWNobw==?="),
  "mcp-session-id": header("SESSION", "SESSION", "none"),
  "last-event-id": header("1-0", "0-0", "0-99"),
  "content-encoding": fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom("gzip", "x") },
  ),
  origin: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(undefined, "http://localhost:3000") },
    { weight: 1, arbitrary: fc.constantFrom("null", "https://evil.example") },
  ),
});
const request = fc.record({
  method: fc.oneof(
    { weight: 20, arbitrary: fc.constant("POST") },
    { weight: 1, arbitrary: fc.constantFrom("GET", "DELETE", "OPTIONS", "PUT") },
  ),
  headers,
  body,
  /** Headers that say what the body says, so that most requests come further. */
  agrees: fc.boolean(),
});

function create() {
  const open = stage({
    echo: (args, { progress, log }) => {
      progress({ progress: 1 });
      log("info", "x");
      return { args };
    },
    fails: () => {
      throw new Error("broken");
    },
    asks: async (_args, { elicit }) => (await elicit({ message: "?" })).action,
  }, { askTimeout: 1_000 });
  open.server.prompt("p", { arguments: { a: { complete: () => ["x"] } } }, () => "text");
  open.server.resource("memo://one", {}, () => "1");
  open.server.template("memo://{id}", { complete: { id: () => ["1"] } }, (_uri, { id }) => `${id}`);
  return open;
}

/** What the body says, for the headers. */
function agreeing(text: string | Uint8Array): Record<string, string> {
  try {
    const { method, params } = JSON.parse(String(text)) as { method: string; params: JsonObject };
    const name = method === "resources/read" ? params.uri : params.name;
    const found: Record<string, string> = { "mcp-method": method, "mcp-protocol-version": "2026-07-28" };
    if (/^(tools\/call|prompts\/get|resources\/read)$/.test(method) && typeof name === "string" && name) {
      found["mcp-name"] = name;
    }
    return found;
  } catch {
    return {};
  }
}

/** What is wrong with a body of JSON-RPC. */
function isJsonRpc(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isJsonRpc);
  if (!isObject(value) || value.jsonrpc !== "2.0") return false;
  if ("method" in value) return typeof value.method === "string";
  const { result, error } = value;
  return isObject(result) !== isObject(error) && (!isObject(error) || Number.isInteger(error.code));
}

describe("a handler under requests at random", () => {
  test("always replies, soundly and soon", { timeout: 600_000 }, async () => {
    let open = create();
    let session = "none";
    let count = 0;
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(request, async (made) => {
        if (count++ % 200 === 0) {
          open.handler.close();
          open = create();
          const first = rpc("initialize", 0, {
            protocolVersion: count % 400 < 200 ? "2025-03-26" : "2025-11-25",
            capabilities: { elicitation: {} },
          });
          const reply = await open.handler(
            new Request("http://localhost/mcp", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify(first),
            }),
          );
          session = reply.headers.get("mcp-session-id") ?? "none";
        }
        const given = Object.entries({ ...made.headers, ...(made.agrees ? agreeing(made.body) : {}) })
          .filter((pair): pair is [string, string] => pair[1] !== undefined)
          .map(([name, text]): [string, string] => [name, text === "SESSION" ? session : text]);
        const gone = new AbortController();
        const hasBody = ["POST", "PUT"].includes(made.method);
        const sent = heldRequest("http://localhost/mcp", {
          method: made.method,
          headers: given,
          signal: gone.signal,
          ...(hasBody && { body: made.body as BodyInit }),
        });
        const worked = stopwatch();
        const replying = open.handler(sent);
        // Most are there at once; what waits for time is given some.
        const soon = await Promise.race([replying, new Promise<undefined>((go) => setTimeout(go, 5))]);
        const response = soon ?? await open.clock.until(replying, 400_000);
        assert(response instanceof Response);
        assert(response.status < 500, `${response.status}`);
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        const type = response.headers.get("content-type");
        if (type === "application/json") {
          const text = await response.text();
          assert(isJsonRpc(JSON.parse(text)), text);
          assert(!/\bat .*:\d+:\d+|src\/server/.test(text), text);
        } else if (type === "text/event-stream") {
          const reader = response.body!.getReader();
          const chunk = await Promise.race([reader.read(), new Promise<undefined>((go) => setTimeout(go, 1))]);
          const text = chunk?.value ? new TextDecoder().decode(chunk.value) : "";
          for (const [, data] of text.matchAll(/^data: (.+)$/gm)) assert(isJsonRpc(JSON.parse(data!)), text);
          gone.abort();
          await reader.cancel().catch(() => {});
        } else assert(response.body === null || await response.text() === "", `${response.status} ${type}`);
        assert(worked() < 5_000, "It took too long");
      }),
      { numRuns, ...(seed !== undefined && { seed }) },
    );
    // Not all are sent away at the door.
    assert((statuses.get(200) ?? 0) > numRuns / 50, JSON.stringify([...statuses]));
    if (numRuns > 10_000) console.log(JSON.stringify([...statuses]));
  });
});
