import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { readFileSync } from "node:fs";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { connect } from "../../src/entry/local.ts";
import type { Client, ConnectOptions } from "../../src/entry/local.ts";
import { InvalidParamsError, taskSupport, UrlElicitationRequiredError } from "../../mod.ts";
import type { ElicitRequest, LogMessage, Progress, Task } from "../../mod.ts";
import { leapingClock } from "../support/clocks/leaping_clock.ts";
import { everything, isAlive, skip, startHttp, until } from "./peers.ts";
import type { HttpPeer } from "./peers.ts";
import { record } from "./recording.ts";
import { textOf } from "./support.ts";

/** What the server lists for a client with handlers for all it may ask, in its order. */
const manifest = [
  "echo",
  "get-annotated-message",
  "get-env",
  "get-resource-links",
  "get-resource-reference",
  "get-structured-content",
  "get-sum",
  "get-tiny-image",
  "gzip-file-as-resource",
  "toggle-simulated-logging",
  "toggle-subscriber-updates",
  "trigger-long-running-operation",
  "get-roots-list",
  "trigger-elicitation-request",
  "trigger-url-elicitation",
  "trigger-sampling-request",
  "simulate-research-query",
];

interface Research {
  text: string;
  /** The states of the task, each once as long as it stays. */
  states: string[];
}

type Mode = "stdio" | "streamableHttp" | "sse";

const peers = new Map<Mode, HttpPeer>();
/** The tool that runs as a task takes four seconds: it is begun first and looked at last. */
let research: Promise<Research> | undefined;

before(async () => {
  if (skip) return;
  const modes = ["streamableHttp", "sse"] as const;
  await Promise.all(modes.map(async (mode) => peers.set(mode, await startHttp(everything(mode)))));
  research = researched(`${peers.get("streamableHttp")?.url}/mcp`);
  research.catch(() => {});
});
after(() => Promise.all([...peers.values()].map((peer) => peer.stop())));

for (const mode of ["stdio", "sse", "streamableHttp"] as const) {
  const name = `server-everything over ${mode}`;
  if (skip) test(name, { skip }, () => {});
  else describe(name, () => everythingSuite(mode));
}

function everythingSuite(mode: Mode): void {
  const recording = record();
  const clock = leapingClock();
  const logs: LogMessage[] = [];
  const asked: ElicitRequest[] = [];
  const output = () => peers.get(mode)?.output() ?? "";
  let client: Client;

  before(async () => {
    process.env["CAUSEWAY_INTEROP_SECRET"] = "do not tell";
    const { spawn, fetch } = recording;
    const options: ConnectOptions = {
      spawn,
      fetch,
      clock,
      handlers: {
        elicitation: (request) => {
          asked.push(request);
          return { action: "accept", content: { name: "Ada Lovelace", check: true } };
        },
        elicitationUrl: (request) => {
          asked.push(request);
          return { action: request.url?.endsWith("/no") ? "decline" : "accept" };
        },
        sampling: ({ messages }) => {
          const [message] = messages;
          const content = Array.isArray(message?.content) ? message.content[0] : message?.content;
          const text = content?.type === "text" ? content.text.toUpperCase() : "";
          return { role: "assistant", content: { type: "text", text }, model: "shouter" };
        },
        roots: [{ uri: "file:///srv/project", name: "The project" }],
        log: (message) => void logs.push(message),
      },
    };
    if (mode === "stdio") {
      client = await connect({ ...everything(mode), env: { GREETING: "hello" } }, options);
    } else {
      client = await connect(`${peers.get(mode)?.url}/${mode === "sse" ? "sse" : "mcp"}`, options);
    }
  });

  after(async () => {
    delete process.env["CAUSEWAY_INTEROP_SECRET"];
    await client?.close();
  });

  test("is found to speak 2025-11-25 and says who it is", () => {
    assertEquals([client.era, client.revision], ["legacy", "2025-11-25"]);
    assertEquals(client.info?.server?.name, "mcp-servers/everything");
    assertStringIncludes(client.info?.instructions ?? "", "Everything");
    assertEquals(client.verdict?.binding, mode === "sse" ? "http+sse" : undefined);
  });

  test("lists the tools of the manifest, and no doubled or rejected ones", async () => {
    const { tools, rejected, truncated } = await client.listTools();
    assertEquals(tools.map(({ name }) => name), manifest);
    assertEquals([rejected, truncated], [undefined, undefined]);
    const research = tools.find(({ name }) => name === "simulate-research-query");
    assertEquals(research?.execution, { taskSupport: "required" });
  });

  test("calls tools: text, structured content, images, links, embedded resources", async () => {
    assertEquals(await textOf(client.callTool("echo", { message: "Grüße, 世界 🌉" })), "Echo: Grüße, 世界 🌉");
    const weather = await client.callTool("get-structured-content", { location: "Chicago" });
    assertEquals(weather.structuredContent, {
      temperature: 36,
      conditions: "Light rain / drizzle",
      humidity: 82,
    });
    const image = (await client.callTool("get-tiny-image")).content.find(({ type }) => type === "image");
    assert(image?.type === "image" && atob(image.data).startsWith("\x89PNG") && image.mimeType === "image/png");
    const links = (await client.callTool("get-resource-links", { count: 3 })).content;
    assertEquals(links.filter(({ type }) => type === "resource_link").length, 3);
    const reference = await client.callTool("get-resource-reference", { resourceType: "Text", resourceId: 2 });
    const embedded = reference.content.find(({ type }) => type === "resource");
    assertEquals(embedded?.type === "resource" && embedded.resource.uri, "demo://resource/dynamic/text/2");
    const annotated = await client.callTool("get-annotated-message", { messageType: "error" });
    assertEquals(annotated.content[0]?.annotations, { priority: 1, audience: ["user", "assistant"] });
  });

  test("what a tool refuses is a result, not an exception", async () => {
    const result = await client.callTool("get-sum", { a: "one" });
    assertEquals(result.isError, true);
    assertStringIncludes(JSON.stringify(result.content), "expected number");
  });

  test("100 of 100 calls side by side get their own answers", async () => {
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const texts = await Promise.all(numbers.map((a) => textOf(client.callTool("get-sum", { a, b: 1_000 }))));
    assertEquals(texts, numbers.map((a) => `The sum of ${a} and 1000 is ${a + 1_000}.`));
  });

  test("reports progress in order", async () => {
    const seen: Progress[] = [];
    const onProgress = (progress: Progress) => void seen.push(progress);
    const args = { duration: 0.1, steps: 4 };
    const text = await textOf(client.callTool("trigger-long-running-operation", args, { onProgress }));
    assertStringIncludes(text, "completed");
    assertEquals(seen.map(({ progress, total }) => [progress, total]), [[1, 4], [2, 4], [3, 4], [4, 4]]);
  });

  test("a call is called off with the caller's own reason, the server is told, and the next call works", async () => {
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    let signs = 0;
    const onProgress = () => {
      signs++;
      controller.abort(reason);
    };
    const args = { duration: 1, steps: 50 };
    const options = { onProgress, signal: controller.signal };
    const call = client.callTool("trigger-long-running-operation", args, options);
    assertEquals(await call.catch((error: unknown) => error), reason);
    await until(() => recording.count("notifications/cancelled") === 1, "the cancellation");
    assertEquals(await textOf(client.callTool("echo", { message: "still here" })), "Echo: still here");
    assertEquals(signs, 1);
  });

  test("the form handler answers, and missing fields get their defaults", async () => {
    asked.length = 0;
    const { content } = await client.callTool("trigger-elicitation-request");
    const text = content.map((block) => block.type === "text" ? block.text : "").join("\n");
    assertStringIncludes(text, "- Name: Ada Lovelace");
    assertStringIncludes(text, "- Agreed to terms: true");
    assertStringIncludes(text, '"titledSingleSelectEnum": "hero-1"');
    assertEquals(asked.map(({ message }) => message), ["Please provide inputs for the following fields:"]);
  });

  test("the URL handler consents or declines", async () => {
    asked.length = 0;
    const tool = "trigger-url-elicitation";
    assertStringIncludes(await textOf(client.callTool(tool, { url: "https://example.com/yes" })), "completed the URL");
    assertStringIncludes(await textOf(client.callTool(tool, { url: "https://example.com/no" })), "declined");
    assertEquals(asked.map(({ mode, url }) => [mode, url]), [
      ["url", "https://example.com/yes"],
      ["url", "https://example.com/no"],
    ]);
  });

  test("-32042 whose completion nobody tells is the caller's to retry", async () => {
    const args = { url: "https://example.com/later", elicitationId: mode, errorPath: true };
    const call = () => client.callTool("trigger-url-elicitation", args, { timeout: 300_000 });
    asked.length = 0;
    const first = assertRejects(call, UrlElicitationRequiredError);
    await until(() => asked.length > 0, "the question");
    // The handler's answer is there in a moment: from then on the completion alone is waited for.
    await new Promise((resolve) => setTimeout(resolve, 0));
    clock.leap(300_000);
    await first;
    assertStringIncludes(await textOf(call()), "completed the URL");
  });

  test("the model answers what the server samples", async () => {
    const text = await textOf(client.callTool("trigger-sampling-request", { prompt: "say it", maxTokens: 9 }));
    assertStringIncludes(text, "CONTEXT: SAY IT");
    assertStringIncludes(text, '"model": "shouter"');
  });

  test("the server knows the roots", async () => {
    assertStringIncludes(await textOf(client.callTool("get-roots-list")), "file:///srv/project");
  });

  test("log messages reach the handler at the level that was set", async () => {
    await client.setLogLevel("debug");
    logs.length = 0;
    await client.callTool("toggle-simulated-logging");
    await until(() => logs.some(({ data }) => /level.message/.test(String(data))), "a log message");
    await client.callTool("toggle-simulated-logging");
    await client.setLogLevel("emergency");
  });

  test("resources: all of them, their templates, text and binary, and an error for none", async () => {
    const { resources } = await client.listResources();
    const names = resources.map(({ name }) => name).sort();
    const documents = ["architecture", "extension", "features", "how-it-works", "instructions", "startup", "structure"];
    assertEquals(names, documents.map((name) => `${name}.md`));
    const { resourceTemplates } = await client.listResourceTemplates();
    assertEquals(resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
      "demo://resource/dynamic/text/{resourceId}",
      "demo://resource/dynamic/blob/{resourceId}",
    ]);
    const uri = "demo://resource/static/document/architecture.md";
    const file = "node_modules/@modelcontextprotocol/server-everything/dist/docs/architecture.md";
    const { contents } = await client.readResource(uri);
    assertEquals(contents, [{ uri, mimeType: "text/markdown", text: readFileSync(file, "utf8") }]);
    const [blob] = (await client.readResource("demo://resource/dynamic/blob/7")).contents;
    assertStringIncludes(blob && "blob" in blob ? atob(blob.blob) : "", "Resource 7");
    await assertRejects(() => client.readResource("demo://resource/none"), InvalidParamsError);
  });

  test("a watched resource tells of its change, and is let go again", async () => {
    const uri = "demo://resource/dynamic/text/1";
    const watch = client.listen({ resourceUris: [uri] });
    await watch.acknowledged;
    await client.callTool("toggle-subscriber-updates");
    assertEquals(await watch.next(), { done: false, value: { type: "resource", uri } });
    await client.callTool("toggle-subscriber-updates");
    watch.close();
    await until(() => recording.count("resources/unsubscribe") === 1, "the unsubscription");
    assertEquals(recording.count("resources/subscribe"), 1);
  });

  test("prompts: listed, filled in, refused without what they need", async () => {
    const { prompts } = await client.listPrompts();
    const names = ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"];
    assertEquals(prompts.map(({ name }) => name), names);
    const { messages } = await client.getPrompt("args-prompt", { city: "Rome", state: "Lazio" });
    assertEquals(messages, [{ role: "user", content: { type: "text", text: "What's weather in Rome, Lazio?" } }]);
    await assertRejects(() => client.getPrompt("args-prompt"), InvalidParamsError);
  });

  test("completion, with what is known already, for prompts and templates", async () => {
    const prompt = { type: "ref/prompt" as const, name: "completable-prompt" };
    const departments = await client.complete(prompt, { name: "department", value: "S" });
    assertEquals(departments.completion.values, ["Sales", "Support"]);
    const context = { department: "Sales" };
    const people = await client.complete(prompt, { name: "name", value: "E" }, { context });
    assertEquals(people.completion.values, ["Eve"]);
    const template = { type: "ref/resource" as const, uri: "demo://resource/dynamic/text/{resourceId}" };
    const ids = await client.complete(template, { name: "resourceId", value: "3" });
    assertEquals(ids.completion.values, ["3"]);
  });

  if (mode === "stdio") {
    test("the process gets what it was given and no secret of ours, and is gone after the end", async () => {
      const environment: Record<string, string> = JSON.parse(await textOf(client.callTool("get-env")));
      assertEquals([environment.GREETING, environment.CAUSEWAY_INTEROP_SECRET], ["hello", undefined]);
      const [pid = 0, ...others] = recording.pids;
      assertEquals(others, []);
      assert(isAlive(pid));
      await client.close();
      await until(() => !isAlive(pid), "the end of the process");
    });
  } else if (mode === "streamableHttp") {
    test("a tool that runs only as a task is followed, asked back, and gives its result", async () => {
      const seen = await research;
      assertStringIncludes(seen?.text ?? "", "# Research Report: python (snake)");
      // What comes after depends on whether a look or the result is first.
      assertEquals(seen?.states.slice(0, 2), ["working", "input_required"]);
    });

    test("the sessions are ended at the server", async () => {
      await client.close();
      const ids = [...output().matchAll(/Session initialized with ID: (\S+)/g)].map(([, id]) => id);
      assertEquals(ids.length, 2);
      const ended = (id?: string) => output().includes(`Received session termination request for session ${id}`);
      await until(() => ids.every(ended), "the end of the sessions");
    });
  } else {
    test("the connection is ended at the server", async () => {
      await client.close();
      await until(() => output().includes("Client Disconnected: "), "the end of the connection");
    });
  }
}

/** Runs the tool that is a task, with a question in its middle. */
async function researched(url: string): Promise<Research> {
  await using client = await connect(url, {
    tasks: taskSupport,
    handlers: { elicitation: () => ({ action: "accept", content: { interpretation: "snake" } }) },
  });
  const states: string[] = [];
  const onStatus = ({ status }: Task) => {
    if (states.at(-1) !== status) states.push(status);
  };
  const args = { topic: "python", ambiguous: true };
  await client.listTools();
  const handle = await client.callToolTask("simulate-research-query", args, { onStatus });
  return { text: await textOf(handle.result()), states };
}
