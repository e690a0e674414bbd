/**
 * What our client does in each scenario of the official conformance suite, with the public API only. The suite judges
 * what it sees on the wire; what the client itself sees is asserted here, so that a scenario cannot pass by accident.
 */
import { assert, assertEquals, assertExists, assertRejects, assertStringIncludes } from "@std/assert";
import { ProtocolViolationError, skillsOf } from "../../mod.ts";
import type { ScenarioRun } from "./run.ts";
import { isSignIn, runSignIn } from "./sign_in/scenarios.ts";
import type { CallToolResult, Client, Connect, ConnectOptions, JsonObject } from "../../mod.ts";

type Scenario = (client: Client, context: string) => Promise<void>;

interface Entry {
  readonly act: Scenario;
  readonly options?: ConnectOptions;
  /** Which one the suite's server speaks, where the revision that the suite names says nothing of it. */
  readonly era?: "modern";
}

/** An elicitation that the user accepts as it is: the client has to fill in the defaults. */
const acceptAsItIs: ConnectOptions = {
  handlers: { elicitation: () => ({ action: "accept", content: {} }) },
  // This server asks on the stream that belongs to no request, which a Worker opens only when told to.
  stream: true,
};
const confirm: ConnectOptions = {
  handlers: { elicitation: () => ({ action: "accept", content: { confirmed: true } }) },
};
const everyHandler: ConnectOptions = {
  handlers: {
    ...confirm.handlers,
    roots: [{ uri: "file:///conformance", name: "conformance" }],
    sampling: () => ({ role: "assistant", model: "none", content: { type: "text", text: "Four" } }),
  },
};

const scenarios: Readonly<Record<string, Entry>> = {
  "initialize": { act: initialize },
  "tools_call": { act: callTool },
  "elicitation-sep1034-client-defaults": { act: fillInDefaults, options: acceptAsItIs },
  "sse-retry": { act: reconnect },
  "request-metadata": { act: sendMetadata, options: everyHandler },
  "sep-2322-client-request-state": { act: echoRequestState, options: confirm },
  "http-standard-headers": { act: useEveryPrimitive },
  "http-custom-headers": { act: mirrorArguments },
  "http-invalid-tool-headers": { act: leaveOutInvalidTools },
  "json-schema-ref-no-deref": { act: listForeignReference },
  "json-schema-2020-12-preservation": { act: echoSchema },
  "sep-2640-client-no-prefetch": { act: listSkills, era: "modern" },
  "sep-2640-client-verify-digest": refusal('"digest" is "sha256:'),
  "sep-2640-client-verify-size": refusal('"size" is '),
  "sep-2640-client-verify-frontmatter": refusal('"description" of its frontmatter is '),
};

/**
 * Connects, does what the scenario asks for, and closes.
 *
 * @throws {TypeError} When there is no such scenario.
 * @throws {AssertionError} When the client did not get what the scenario's server sends.
 */
export async function runScenario(connect: Connect, run: ScenarioRun): Promise<void> {
  if (isSignIn(run.scenario)) return await runSignIn(connect, run);
  const entry = Object.hasOwn(scenarios, run.scenario) ? scenarios[run.scenario] : undefined;
  if (!entry) throw new TypeError(`There is no scenario "${run.scenario}"`);
  const client = await connect(run.url, entry.options);
  try {
    assertEquals(client.era, entry.era ?? (run.version === "2026-07-28" ? "modern" : "legacy"));
    await entry.act(client, run.context);
  } finally {
    await client.close();
  }
}

async function initialize(client: Client): Promise<void> {
  assertEquals(client.info?.server?.name, "test-server");
  assertEquals((await client.listTools()).tools, []);
}

async function callTool(client: Client): Promise<void> {
  assertEquals(await listedTools(client), ["add_numbers"]);
  assertEquals(textOf(await client.callTool("add_numbers", { a: 5, b: 3 })), "The sum of 5 and 3 is 8");
}

async function fillInDefaults(client: Client): Promise<void> {
  await client.listTools();
  const text = textOf(await client.callTool("test_client_elicitation_defaults"));
  assertStringIncludes(text, "Elicitation completed: ");
  const content: unknown = JSON.parse(text.slice(text.indexOf("{")));
  assertEquals(content, { name: "John Doe", age: 30, score: 95.5, status: "active", verified: true });
}

async function reconnect(client: Client): Promise<void> {
  await client.listTools();
  assertEquals(textOf(await client.callTool("test_reconnection")), "Reconnection test completed successfully");
}

async function sendMetadata(client: Client): Promise<void> {
  assertEquals((await client.listTools()).tools, []);
  assertEquals((await client.callTool("anything")).content, []);
}

async function echoRequestState(client: Client): Promise<void> {
  await client.listTools();
  // Side by side, so that what belongs to one call could leak into another.
  const [echoed, stateless, unrelated] = await Promise.all([
    client.callTool("test_mrtr_echo_state"),
    client.callTool("test_mrtr_no_state"),
    client.callTool("test_mrtr_unrelated"),
  ]);
  assertEquals(textOf(echoed), "echo-state-ok");
  assertEquals(textOf(stateless), "no-state-ok");
  assertEquals(textOf(unrelated), "unrelated-ok");
  assertEquals(textOf(await client.callTool("test_mrtr_no_result_type")), "no-result-type-test-ok");
}

async function useEveryPrimitive(client: Client): Promise<void> {
  for (const name of await listedTools(client)) {
    assertEquals(textOf(await client.callTool(name)), "Headers test completed");
  }
  const { resources } = await client.listResources();
  assertEquals(resources.length, 2);
  for (const { uri } of resources) assertEquals((await client.readResource(uri)).contents, []);
  const { prompts } = await client.listPrompts();
  assertEquals(prompts.length, 1);
  for (const { name } of prompts) assertEquals((await client.getPrompt(name)).messages, []);
}

async function mirrorArguments(client: Client, context: string): Promise<void> {
  const { toolCalls }: { toolCalls: { name: string; arguments: JsonObject }[] } = JSON.parse(context);
  await client.listTools();
  assertEquals(toolCalls.length, 2);
  for (const call of toolCalls) {
    assertEquals(textOf(await client.callTool(call.name, call.arguments)), "Custom headers test completed");
  }
}

async function leaveOutInvalidTools(client: Client): Promise<void> {
  const { tools, rejected = [] } = await client.listTools();
  assertEquals([tools.length, rejected.length], [1, 11]);
  for (const { name } of tools) {
    assertEquals(textOf(await client.callTool(name, { region: "us-west1" })), "Tool call received");
  }
}

async function listForeignReference(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  const properties = tools[0]?.inputSchema["properties"];
  assertStringIncludes(JSON.stringify(properties), "/canary/");
}

async function echoSchema(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name === "json_schema_2020_12_tool");
  assertExists(tool);
  assertEquals(textOf(await client.callTool("json_schema_echo", { schema: tool.inputSchema })), "echoed");
}

async function listSkills(client: Client): Promise<void> {
  const { skills, rejected } = await skillsOf(client).list();
  assertEquals(rejected, []);
  assertEquals(skills.map(({ frontmatter }) => frontmatter["name"]), ["pdf-processing"]);
}

/** Loads the one skill, of which the suite's server changed something: only for that reason it may be refused. */
function refusal(wrong: string): Entry {
  const act: Scenario = async (client) => {
    const reader = skillsOf(client);
    const [skill] = (await reader.list()).skills;
    assertExists(skill);
    const error = await assertRejects(() => reader.load(skill), ProtocolViolationError, wrong);
    assertStringIncludes(error.message, 'Cannot use the skill "pdf-processing"');
  };
  return { act, era: "modern" };
}

async function listedTools(client: Client): Promise<string[]> {
  const names = (await client.listTools()).tools.map(({ name }) => name);
  assert(names.length > 0, "the server listed no tool");
  return names;
}

function textOf(result: CallToolResult): string {
  assert(!result.isError, JSON.stringify(result));
  const [first] = result.content;
  assert(first?.type === "text", JSON.stringify(result));
  return first.text;
}
