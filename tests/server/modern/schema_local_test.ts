/** What the modern era sends, against the published JSON Schema: data beside the repository. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { createSchemaValidator } from "../../../src/protocol/json_schema/mod.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { JsonSchema } from "../../../src/protocol/types.ts";
import { at, Bench, own, type Run, text } from "./support.ts";

const file = fileURLToPath(new URL("../../../../shared/spec/schema-2026-07-28.json", import.meta.url));
const skip = existsSync(file) ? false : `the published schema is not at ${file}`;
const all = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

function judge(): (name: string, value: unknown) => string | undefined {
  const address = "https://schema.test/2026-07-28";
  const validator = createSchemaValidator({
    schemas: { [address]: JSON.parse(readFileSync(file, "utf8")) as JsonSchema },
    bytes: 1_000_000,
    subschemas: 20_000,
  });
  return (name, value) => {
    const result = validator({ $ref: `${address}#/$defs/${name}` })(value);
    if (result.unchecked) return `${name}: not checked`;
    return result.valid ? undefined : `${name}: ${result.issues.map((issue) => `${issue.path} ${issue.message}`)}`;
  };
}

const ask: Run = async ({ elicit, sample, roots, progress, log }) => {
  progress({ progress: 1, total: 2, message: "asking" });
  log("info", { asking: true }, "part");
  await Promise.all([
    elicit({ message: "?" }),
    elicit({ mode: "url", message: "?", url: "https://a.test/", elicitationId: "x" }),
    sample({ messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 1 }),
    roots(),
  ]);
  return text("done");
};

test("every message fits the published schema", { skip }, async () => {
  const wrong = judge();
  const bench = new Bench({
    "tools/call": (context, { name }) => name === "ask" ? ask(context, {}) : text("plain"),
    "tools/list": () => ({ tools: [] }),
    "prompts/list": () => ({ prompts: [] }),
    "prompts/get": () => ({ messages: [] }),
    "resources/list": () => ({ resources: [] }),
    "resources/templates/list": () => ({ resourceTemplates: [] }),
    "resources/read": () => ({ contents: [{ uri: "x:a", text: "" }] }),
    "completion/complete": () => ({ completion: { values: [] } }),
  });
  const meta = { progressToken: 1, [own + "logLevel"]: "debug" };
  const faults: (string | undefined)[] = [];
  const answered = async (name: string, method: string, params: JsonObject = {}, can: JsonObject = all) => {
    const asked = bench.ask(method, { params, can, meta });
    const answer = await asked.answer;
    faults.push(wrong(name, answer?.response));
    for (const notice of asked.notices) faults.push(wrong("ServerNotification", notice));
    return { asked, result: answer?.response.result ?? {} };
  };
  await answered("DiscoverResultResponse", "server/discover");
  await answered("ListToolsResultResponse", "tools/list");
  await answered("ListPromptsResultResponse", "prompts/list");
  await answered("GetPromptResultResponse", "prompts/get");
  await answered("ListResourcesResultResponse", "resources/list");
  await answered("ListResourceTemplatesResultResponse", "resources/templates/list");
  await answered("ReadResourceResultResponse", "resources/read");
  await answered("CompleteResultResponse", "completion/complete");
  await answered("CallToolResultResponse", "tools/call", { name: "plain" });
  await answered("MissingRequiredClientCapabilityError", "tools/call", { name: "ask" }, {});
  await answered("JSONRPCErrorResponse", "unknown/method");
  const { asked, result } = await answered("CallToolResultResponse", "tools/call", { name: "ask" });
  assertEquals(asked.notices.map(({ method }) => method), ["notifications/progress", "notifications/message"]);
  faults.push(wrong("InputRequiredResult", result));
  const requests = Object.values(at(result, "inputRequests"));
  assertEquals(requests.length, 4);
  for (const request of requests) faults.push(wrong("InputRequest", request));
  const old = await bench.ask("tools/list", { meta: { [own + "protocolVersion"]: "1999" } }).answer;
  faults.push(wrong("UnsupportedProtocolVersionError", old?.response));
  const notifications = { toolsListChanged: true, resourceSubscriptions: ["x:a"] };
  const stream = bench.ask("subscriptions/listen", { params: { notifications } });
  await bench.clock.settle();
  for (const type of ["tools", "prompts", "resources"] as const) bench.change({ type });
  bench.change({ type: "resource", uri: "x:a" });
  bench.serving.close();
  faults.push(wrong("SubscriptionsListenResultResponse", (await stream.answer)?.response));
  for (const notice of stream.notices) faults.push(wrong("ServerNotification", notice));
  assertEquals(stream.notices.length, 3);
  assertEquals(faults.filter((fault) => fault !== undefined), []);
});
