import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { InvalidParamsError, McpError, PeerExitedError } from "../../mod.ts";
import type { Change, LogMessage, Progress, Verdict } from "../../mod.ts";
import { connect } from "../../src/entry/local.ts";
import type { Client, ConnectOptions } from "../../src/entry/local.ts";
import { isAlive, sdkServer, skip, startHttp, until } from "./peers.ts";
import type { HttpPeer } from "./peers.ts";
import { record } from "./recording.ts";
import { sdkTools, textOf } from "./support.ts";

/** One way to the server, and what is to be found there. */
interface Way {
  name: string;
  /** Over HTTP: the path. Over stdio: the mode. */
  path: "/modern" | "/legacy" | "/both" | "stdio" | "stdio-legacy";
  era: "modern" | "legacy";
  verdict?: Verdict;
  /** The server can send nothing on its own account: no questions, no changes. */
  stateless?: boolean;
  /** Served as another way is, once the era is found: the first half of the tests will do. */
  brief?: boolean;
}

const legacy: Verdict = { era: "legacy" };
const ways: Way[] = [
  { name: "2026-07-28 over stdio", path: "stdio", era: "modern" },
  { name: "2025-11-25 over stdio, as the verdict says", path: "stdio", era: "legacy", verdict: legacy },
  { name: "2025-11-25 over stdio, as the probe finds", path: "stdio-legacy", era: "legacy" },
  { name: "2026-07-28 over HTTP", path: "/modern", era: "modern" },
  { name: "2025-11-25 over HTTP, with sessions", path: "/legacy", era: "legacy" },
  { name: "both eras over HTTP", path: "/both", era: "modern", brief: true },
  {
    name: "2025-11-25 over HTTP, without sessions",
    path: "/both",
    era: "legacy",
    verdict: legacy,
    stateless: true,
  },
];

let peer: HttpPeer | undefined;
before(async () => {
  if (!skip) peer = await startHttp(sdkServer("http"));
});
after(() => peer?.stop());

for (const way of ways) {
  const name = `the official SDK: ${way.name}`;
  if (skip) test(name, { skip }, () => {});
  else describe(name, () => sdkSuite(way));
}

function sdkSuite({ path, era, verdict, stateless, brief, name }: Way): void {
  const recording = record();
  const logs: LogMessage[] = [];
  let client: Client;

  before(async () => {
    const options: ConnectOptions = {
      verdict,
      logLevel: "info",
      spawn: recording.spawn,
      fetch: recording.fetch,
      handlers: {
        elicitation: ({ message }) => ({ action: "accept", content: { name: message.length > 10 ? "Ada" : "" } }),
        sampling: () => ({ role: "assistant", content: { type: "text", text: "roses" }, model: "poet" }),
        roots: () => [{ uri: "file:///srv/project" }],
        log: (message) => void logs.push(message),
      },
    };
    const target = path.startsWith("/") ? `${peer?.url}${path}` : sdkServer(path as "stdio");
    client = await connect(target, options);
  });
  after(() => client?.close());

  test("the era is found, and what the server says of itself", () => {
    assertEquals([client.era, client.revision], [era, era === "modern" ? "2026-07-28" : "2025-11-25"]);
    assertEquals(client.info?.server, { name: "sdk-server", version: "2.4.0", title: "A server on the official SDK" });
    assertEquals(client.info?.instructions, "Call echo first.");
    assertEquals(client.info?.capabilities.resources, { subscribe: true, listChanged: true });
  });

  test("lists the tools of the manifest, whole", async () => {
    const { tools, rejected } = await client.listTools();
    assertEquals(tools.map((tool) => tool.name), sdkTools);
    assertEquals(rejected, undefined);
    const add = tools.find((tool) => tool.name === "add");
    assertEquals(add?.outputSchema?.properties, { sum: { type: "number" } });
    assertEquals(tools[0]?.annotations, { readOnlyHint: true });
  });

  test("calls tools, with structured content and failures as results", async () => {
    assertEquals(await textOf(client.callTool("echo", { text: "é ✓ 🌉\n" })), "é ✓ 🌉\n");
    assertEquals((await client.callTool("add", { a: 2, b: 3 })).structuredContent, { sum: 5 });
    const failed = await client.callTool("fail");
    assertEquals([failed.isError, await textOf(failed)], [true, "out of order"]);
    await assertRejects(() => client.callTool("none"), InvalidParamsError);
  });

  test("an argument that is mirrored in a header passes the server's own check, whatever is in it", async () => {
    for (const region of ["eu-west", "Zürich", " padded ", "=?base64?eA==?="]) {
      assertEquals(await textOf(client.callTool("region", { region, query: "q" })), `q in ${region}`);
    }
  });

  if (brief) return;

  test("100 of 100 calls side by side get their own answers", async () => {
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const results = await Promise.all(numbers.map((a) => client.callTool("add", { a, b: 1 })));
    assertEquals(results.map(({ structuredContent }) => structuredContent), numbers.map((a) => ({ sum: a + 1 })));
  });

  test("reports progress in order", async () => {
    const seen: Progress[] = [];
    const text = await textOf(client.callTool("progress", { steps: 3 }, { onProgress: (at) => void seen.push(at) }));
    assertEquals(text, "3 steps, token there");
    assertEquals(seen.map(({ progress, total, message }) => [progress, total, message]), [
      [1, 3, "step 1"],
      [2, 3, "step 2"],
      [3, 3, "step 3"],
    ]);
  });

  test("a call that is called off is called off at the server too", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const onProgress = () => controller.abort(reason);
    const call = client.callTool("wait", { name }, { onProgress, signal: controller.signal });
    assertEquals(await call.catch((error: unknown) => error), reason);
    let names = "";
    for (let tries = 0; tries < 2_000 && !names.includes(name); tries++) {
      names = await textOf(client.callTool("called-off"));
    }
    assertStringIncludes(names, name);
    const notices = era === "modern" && path.startsWith("/") ? 0 : 1; // there the end of the stream says it all
    assertEquals(recording.count("notifications/cancelled"), notices);
  });

  test("log messages reach the handler from the level on that was set", async () => {
    logs.length = 0;
    await client.callTool("log", { text: "one" });
    const wanted: unknown[] = [{ level: "warning", data: { said: "one" }, logger: "sdk" }];
    // Without a session a server cannot know the level, and sends everything.
    if (stateless) wanted.unshift({ level: "debug", data: "debug one", logger: "sdk" });
    await until(() => logs.length >= wanted.length, "the log messages");
    assertEquals(logs, wanted);
  });

  test("the server's questions are answered by the handlers", async () => {
    if (stateless) {
      const refused = await client.callTool("book");
      return assertEquals(refused.isError, true); // nothing can be asked there: the tool fails, the call does not hang
    }
    assertEquals(JSON.parse(await textOf(client.callTool("book"))), {
      name: "Ada",
      date: "2026-07-28",
      state: "asked form",
    });
    assertEquals(JSON.parse(await textOf(client.callTool("poem"))).content, { type: "text", text: "roses" });
    assertEquals(JSON.parse(await textOf(client.callTool("where"))), [{ uri: "file:///srv/project" }]);
  });

  test("resources and templates are listed and read", async () => {
    assertEquals((await client.listResources()).resources.map(({ uri }) => uri), ["note://watched"]);
    const { resourceTemplates } = await client.listResourceTemplates();
    assertEquals(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ["fruit://{name}"]);
    const note = { uri: "note://watched", mimeType: "text/plain", text: "watch me" };
    assertEquals((await client.readResource("note://watched")).contents, [note]);
    assertEquals((await client.readResource("fruit://apple")).contents, [{ uri: "fruit://apple", blob: "YXBwbGU=" }]);
    await assertRejects(() => client.readResource("none://"), InvalidParamsError);
  });

  test("prompts are listed and filled in, values completed", async () => {
    assertEquals((await client.listPrompts()).prompts.map((prompt) => prompt.name), ["greet"]);
    const { messages } = await client.getPrompt("greet", { name: "Ada" });
    assertEquals(messages, [{ role: "user", content: { type: "text", text: "Greet Ada" } }]);
    const reference = { type: "ref/resource" as const, uri: "fruit://{name}" };
    const { completion } = await client.complete(reference, { name: "name", value: "ap" });
    assertEquals(completion.values, ["apple", "apricot"]);
  });

  if (stateless) {
    test("a server without a stream of changes is asked for it once, and no change is made up", async () => {
      const watch = client.listen({ tools: true });
      const heard: Change[] = [];
      const loop = (async () => {
        for await (const change of watch) heard.push(change);
      })();
      await new Promise((resolve) => setTimeout(resolve, 1_400)); // the first try to open a broken stream again is over
      watch.close();
      await loop;
      assertEquals(heard, []);
      assertEquals(recording.httpMethods.filter((method) => method === "GET").length, 1);
    });
  } else {
    test("changes reach those who listen for them", async () => {
      const watch = client.listen({ tools: true, resourceUris: ["note://watched"] });
      const other = client.listen({ prompts: true });
      const { tools, resourceUris } = await watch.acknowledged;
      assertEquals([tools, resourceUris], [true, ["note://watched"]]);
      await other.acknowledged;
      await client.callTool("touch");
      const changes = [(await watch.next()).value, (await watch.next()).value];
      assertEquals(changes, [{ type: "resource", uri: "note://watched" }, { type: "tools" }]);
      watch.close();
      other.close();
      assertEquals(await other.next(), { done: true, value: undefined });
    });
  }

  // Without a session id there is nothing to go on with: such a server is asked anew.
  if (path.startsWith("/") && !stateless) {
    test("a snapshot goes on elsewhere without a question", async () => {
      const { fetch, sent } = record();
      await using other = await connect(JSON.parse(JSON.stringify(client.snapshot())), { fetch, stream: false });
      assertEquals(sent, []);
      assertEquals((await other.callTool("add", { a: 1, b: 1 })).structuredContent, { sum: 2 });
      assertEquals(await textOf(other.callTool("region", { region: "eu", query: "q" })), "q in eu");
      assertEquals(sent.map(({ method }) => method), ["tools/call", "tools/call"]);
    });
  }

  if (path === "/legacy") {
    test("a session that the server has forgotten is opened anew, once, and the calls are made again", async () => {
      const { sessionId = "" } = client.snapshot();
      const watch = client.listen({ resourceUris: ["note://watched"] });
      await watch.acknowledged;
      await fetch(`${peer?.url}${path}`, { method: "DELETE", headers: { "Mcp-Session-Id": sessionId } });
      const results = await Promise.all([1, 2, 3].map((a) => client.callTool("add", { a, b: a })));
      assertEquals(results.map(({ structuredContent }) => structuredContent), [{ sum: 2 }, { sum: 4 }, { sum: 6 }]);
      assertEquals(recording.count("initialize"), 2);
      assert(client.snapshot().sessionId !== sessionId);
      const change = { type: "resource", uri: "note://watched" };
      assertEquals((await watch.next()).value, { ...change, missed: true });
      await client.callTool("touch");
      assertEquals((await watch.next()).value, change);
      watch.close();
    });
  }

  if (!path.startsWith("/")) {
    test("a process that is killed fails its call, and the next call has a new one", async () => {
      const pid = recording.pids.at(-1) ?? 0;
      const kill = () => process.kill(pid, "SIGKILL");
      const call = client.callTool("wait", { name: "killed" }, { onProgress: kill });
      const error = await assertRejects(() => call, McpError);
      assertEquals(error.delivery, "unknown");
      const exit = error instanceof PeerExitedError ? error : error.cause;
      assert(exit instanceof PeerExitedError);
      assert(exit.signal === "SIGKILL" || exit.exitCode === 137, `${exit.signal} ${exit.exitCode}`);
      assertEquals((await client.callTool("add", { a: 20, b: 2 })).structuredContent, { sum: 22 });
      assertEquals([client.era, recording.pids.length], [era, 2]);
    });
  }

  test("the end", async () => {
    await client.close();
    if (path === "/legacy") {
      const output = () => peer?.output() ?? "";
      const ids = [...output().matchAll(/session (\S+) begins/g)].map(([, id]) => id);
      assertEquals(ids.length, 2);
      await until(() => ids.every((id) => output().includes(`session ${id} ends`)), "the end of the sessions");
    }
    assertEquals(recording.pids.length, path.startsWith("/") ? 0 : 2);
    await until(() => !recording.pids.some(isAlive), "the end of the processes");
  });
}
