/** The official client at our server: both eras, by its own choice and by order. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import { until } from "../../interop/peers.ts";
import type { Served } from "../../interop/server/eras.ts";
import { createProgram, startTarget } from "../../interop/server/hosts.ts";
import type { Binding, Host } from "../../interop/server/hosts.ts";
import { loadSdk, skipSdk } from "../../interop/server/official.ts";
import type { PeerResult, SdkClient } from "../../interop/server/official.ts";
import { sampleTools, watchedUri } from "../../interop/server/sample.ts";

/** One way of the client to the server. */
interface Way {
  name: string;
  binding: Binding;
  served: Served;
  mode: "legacy" | "auto" | { pin: string };
  era: "modern" | "legacy";
}

const pin = { pin: "2026-07-28" };
const ways: readonly Omit<Way, "binding">[] = [
  { name: "both eras, modern by its own choice", served: "both", mode: "auto", era: "modern" },
  { name: "both eras, legacy", served: "both", mode: "legacy", era: "legacy" },
  { name: "modern alone, by order", served: "modern", mode: pin, era: "modern" },
  { name: "legacy alone, found out", served: "legacy", mode: "auto", era: "legacy" },
];

/** Registers the tests of the official client over a binding, or that they are skipped. */
export function sdkSuites(binding: Binding, why: string | false = false): void {
  const isFar = binding === "HTTP to workerd";
  const skip = skipSdk || why;
  // A server of both eras has all that there is to see there.
  for (const way of ways.filter(({ served }) => !isFar || served === "both")) {
    const name = `the official client over ${binding}: ${way.name}`;
    if (skip) test(name, { skip }, () => {});
    else describe(name, () => sdkSuite({ ...way, binding }));
  }
}

function textOf({ content }: PeerResult): string {
  return content.map(({ text }) => text ?? "").join("|");
}

function sdkSuite({ binding, served, mode, era, name }: Way): void {
  const heard: unknown[] = [];
  const logs: unknown[] = [];
  let action = "accept";
  let host: Host | undefined;
  let client: SdkClient;

  before(async () => {
    const { Client, StreamableHTTPClientTransport, StdioClientTransport } = await loadSdk();
    const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
    client = new Client({ name: "official", version: "2.4.0" }, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const field = String(params.message).replace("?", "");
      return { action, ...(action === "accept" && { content: { [field]: `a ${field}` } }) };
    });
    client.setRequestHandler("sampling/createMessage", () => ({
      role: "assistant",
      content: { type: "text", text: "roses" },
      model: "poet",
    }));
    client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///srv/project" }] }));
    client.setNotificationHandler("notifications/message", ({ params }) => void logs.push(params));
    client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"));
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
    host = await startTarget(binding, served);
    await client.connect(
      host
        ? new StreamableHTTPClientTransport(new URL(host.url))
        : new StdioClientTransport({ ...createProgram()(served), stderr: "ignore" }),
    );
  });
  after(async () => {
    await client?.close();
    await host?.stop();
  });

  test("the era is found, and what the server says of itself", () => {
    assertEquals(client.getProtocolEra(), era);
    assertEquals(client.getNegotiatedProtocolVersion(), era === "modern" ? "2026-07-28" : "2025-11-25");
    assertEquals(client.getServerVersion(), { name: "sample", version: "1.2.3", title: "A sample" });
    assertEquals(client.getInstructions(), "Call echo first.");
    const declared = Object.keys(client.getServerCapabilities() ?? {}).sort();
    assertEquals(declared, ["completions", "logging", "prompts", "resources", "tools"]);
  });

  test("lists the tools", async () => {
    const { tools } = await client.listTools();
    assertEquals(tools.map((tool) => tool.name), sampleTools);
    assertEquals([tools[0]?.title, tools[0]?.annotations], ["Echo", { readOnlyHint: true }]);
  });

  test("calls tools, with structured results, and failures as results", async () => {
    const said = await client.callTool({ name: "echo", arguments: { text: "é ✓ 🌉\n" } });
    assertEquals(said.content, [{ type: "text", text: "é ✓ 🌉\n" }]);
    const sum = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } });
    assertEquals(sum.structuredContent, { sum: 5 });
    const failed = await client.callTool({ name: "fail", arguments: {} });
    assertEquals([failed.isError, textOf(failed)], [true, "out of order"]);
    const wrong = await client.callTool({ name: "add", arguments: { a: "two", b: 3 } });
    assertEquals(wrong.isError, true);
  });

  test("an argument that is mirrored in a header is taken, whatever is in it", async () => {
    for (const region of ["eu-west", "Zürich", " padded "]) {
      const result = await client.callTool({ name: "region", arguments: { region, query: "q" } });
      assertEquals(textOf(result), `q in ${region}`);
    }
  });

  test("what is not there is an error with its code", async () => {
    const unknown = await assertRejects(() => client.callTool({ name: "none", arguments: {} }));
    assertEquals((unknown as Error & { code?: number }).code, -32602);
    const missing = await assertRejects(() => client.readResource({ uri: "fruit://stone" }));
    // Its class for this: the code of the newest revision, made of the -32002 of the older ones.
    assertEquals((missing as Error & { code?: number }).code, -32602);
    assertEquals((missing as Error & { data?: object }).data, { uri: "fruit://stone" });
    await assertRejects(() => client.getPrompt({ name: "greet", arguments: {} }));
  });

  test("100 of 100 calls side by side get their own answers", async () => {
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const results = await Promise.all(numbers.map((a) => client.callTool({ name: "add", arguments: { a, b: 1 } })));
    assertEquals(results.map(({ structuredContent }) => structuredContent), numbers.map((a) => ({ sum: a + 1 })));
  });

  test("hears of progress in order", async () => {
    const seen: unknown[] = [];
    const heard: Promise<unknown>[] = [];
    const onprogress = ({ progress, total, message }: { progress: number; total?: number; message?: string }) => {
      seen.push([progress, total, message]);
      // Signs that it reads together with the answer are lost on that client: it forgets who listens before it tells of them.
      heard.push(client.callTool({ name: "heard", arguments: {} }));
    };
    const done = await client.callTool({ name: "progress", arguments: { paced: true } }, { onprogress });
    assertEquals(textOf(done), "3 steps");
    assertEquals(seen, [[1, 3, "step 1"], [2, 3, "step 2"], [3, 3, "step 3"]]);
    await Promise.all(heard);
  });

  test("log messages come from the level on that was set", async () => {
    const meta = { "io.modelcontextprotocol/logLevel": "info" };
    if (era === "legacy") await client.setLoggingLevel("info");
    await client.callTool({ name: "log", arguments: {}, ...(era === "modern" && { _meta: meta }) });
    await until(() => logs.length > 0, "the log message");
    const [{ level, logger, data } = {}] = logs as Record<string, unknown>[];
    assertEquals([logs.length, level, logger, data], [1, "warning", "sample", { at: "the end" }]);
  });

  test("questions to the user, together and after each other, answered and declined", async () => {
    assertEquals(textOf(await client.callTool({ name: "book", arguments: {} })), "a name, a place, a date");
    action = "decline";
    assertEquals(textOf(await client.callTool({ name: "book", arguments: {} })), "decline decline");
    action = "accept";
  });

  test("questions to the model, and for the roots", async () => {
    const poem = textOf(await client.callTool({ name: "poem", arguments: {} }));
    assertStringIncludes(poem, "poet: ");
    assertStringIncludes(poem, '"roses"');
    assertEquals(textOf(await client.callTool({ name: "where", arguments: {} })), "file:///srv/project");
  });

  test("resources and templates are listed and read", async () => {
    assertEquals((await client.listResources()).resources.map(({ uri }) => uri), [watchedUri]);
    const { resourceTemplates } = await client.listResourceTemplates();
    assertEquals(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ["fruit://{name}"]);
    const [note] = (await client.readResource({ uri: watchedUri })).contents;
    assertEquals([note?.text, note?.mimeType], ["watch me", "text/plain"]);
    const [apple] = (await client.readResource({ uri: "fruit://apple" })).contents;
    assertEquals([apple?.blob, apple?.mimeType], ["YXBwbGU=", "application/octet-stream"]);
  });

  test("prompts are listed and filled in, values completed", async () => {
    assertEquals((await client.listPrompts()).prompts.map((prompt) => prompt.name), ["greet"]);
    const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
    assertEquals(messages, [{ role: "user", content: { type: "text", text: "Greet Ada" } }]);
    const fruit = { ref: { type: "ref/resource", uri: "fruit://{name}" }, argument: { name: "name", value: "ap" } };
    assertEquals((await client.complete(fruit)).completion.values, ["apple", "apricot"]);
    const greet = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "name", value: "Ad" } };
    assertEquals((await client.complete(greet)).completion.values, ["Ada"]);
  });

  test("a call that is called off stops the tool", async () => {
    const stop = new AbortController();
    const onprogress = () => stop.abort(new Error("enough"));
    const call = client.callTool({ name: "wait", arguments: { name } }, { signal: stop.signal, onprogress });
    await assertRejects(() => call);
    // When workerd tells of a client that is gone is its own affair, but for the older era, which says it in words.
    if (binding === "HTTP to workerd" && era === "modern") {
      assertEquals(textOf(await client.callTool({ name: "echo", arguments: { text: "on" } })), "on");
      return;
    }
    let names = "";
    for (let tries = 0; tries < 500 && !names.includes(name); tries++) {
      names = textOf(await client.callTool({ name: "called-off", arguments: {} }));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assertStringIncludes(names, name);
  });

  test("changes are heard of", async () => {
    heard.length = 0;
    const stream = era === "modern"
      ? await client.listen({ toolsListChanged: true, resourceSubscriptions: [watchedUri] })
      : undefined;
    if (stream) assertEquals(stream.honoredFilter, { toolsListChanged: true, resourceSubscriptions: [watchedUri] });
    else await client.subscribeResource({ uri: watchedUri });
    await client.callTool({ name: "touch", arguments: {} });
    await until(() => heard.length >= 2, "the changes");
    assertEquals([...heard].sort(), [watchedUri, "tools"]);
    assertEquals((await client.listTools()).tools.length, sampleTools.length + 1);
    await client.callTool({ name: "touch", arguments: {} });
    await until(() => heard.length >= 4, "the changes back");
    await stream?.close();
  });

  if (era === "legacy") test("a ping is answered", async () => void await client.ping());
}
