/** Our own client at our own server, over real sockets and pipes. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import { InvalidParamsError } from "../../../mod.ts";
import type { LogMessage, Progress } from "../../../mod.ts";
import { connect } from "../../../src/entry/local.ts";
import type { Client } from "../../../src/entry/local.ts";
import { isAlive, until } from "../../interop/peers.ts";
import { record } from "../../interop/recording.ts";
import type { Served } from "../../interop/server/eras.ts";
import { createProgram, startTarget } from "../../interop/server/hosts.ts";
import type { Binding, Host } from "../../interop/server/hosts.ts";
import { sampleTools, watchedUri } from "../../interop/server/sample.ts";
import { textOf } from "../../interop/support.ts";

/** Registers the tests of our client over a binding, or that they are skipped. */
export function ownSuites(binding: Binding, skip: string | false = false): void {
  const all = ["both", "modern", "legacy"] as const;
  for (const served of binding === "HTTP to workerd" ? ["both", "legacy"] as const : all) {
    const name = `our client over ${binding} at a server of ${served}`;
    if (skip) test(name, { skip }, () => {});
    else describe(name, () => ownSuite(binding, served));
  }
}

function ownSuite(binding: Binding, served: Served): void {
  const era = served === "legacy" ? "legacy" : "modern";
  const name = `${binding} ${served}`;
  const recording = record();
  const logs: LogMessage[] = [];
  let host: Host | undefined;
  let client: Client;

  before(async () => {
    host = await startTarget(binding, served);
    client = await connect(host?.url ?? createProgram()(served), {
      logLevel: "info",
      spawn: recording.spawn,
      fetch: recording.fetch,
      handlers: {
        elicitation: ({ message }) => {
          const field = message.replace("?", "");
          return { action: "accept", content: { [field]: `a ${field}` } };
        },
        sampling: () => ({ role: "assistant", content: { type: "text", text: "roses" }, model: "poet" }),
        roots: () => [{ uri: "file:///srv/project" }],
        log: (message) => void logs.push(message),
      },
    });
  });
  after(async () => {
    await client?.close();
    await host?.stop();
  });

  test("lists and calls, 100 at a time, and 3 MiB there and back", async () => {
    assertEquals([client.era, client.info?.server?.name], [era, "sample"]);
    assertEquals((await client.listTools()).tools.map((tool) => tool.name), sampleTools);
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const results = await Promise.all(numbers.map((a) => client.callTool("add", { a, b: 1 })));
    assertEquals(results.map(({ structuredContent }) => structuredContent), numbers.map((a) => ({ sum: a + 1 })));
    const text = "é".repeat(1.5 * 2 ** 20);
    assertEquals(await textOf(client.callTool("echo", { text })) === text, true);
    assertEquals(await textOf(client.callTool("region", { region: " Zürich ", query: "q" })), "q in  Zürich ");
    await assertRejects(() => client.callTool("none"), InvalidParamsError);
  });

  test("progress and logs come before the result", async () => {
    const seen: Progress[] = [];
    const call = client.callTool("progress", {}, { onProgress: (progress) => void seen.push(progress) });
    assertEquals(await textOf(call), "3 steps");
    assertEquals([seen[0]?.message, seen.at(-1)?.message], ["step 1", "step 3"]);
    await client.callTool("log");
    await until(() => logs.length > 0, "the log message");
    assertEquals(logs, [{ level: "warning", data: { at: "the end" }, logger: "sample" }]);
  });

  test("questions of each kind are answered", async () => {
    assertEquals(await textOf(client.callTool("book")), "a name, a place, a date");
    assertStringIncludes(await textOf(client.callTool("poem")), "roses");
    assertEquals(await textOf(client.callTool("where")), "file:///srv/project");
  });

  test("resources, prompts and completions", async () => {
    assertEquals((await client.readResource(watchedUri)).contents[0]?.text, "watch me");
    assertEquals((await client.readResource("fruit://apple")).contents[0]?.blob, "YXBwbGU=");
    await assertRejects(() => client.readResource("fruit://stone"), InvalidParamsError);
    assertEquals((await client.getPrompt("greet", { name: "Ada" })).messages.length, 1);
    const { completion } = await client.complete({ type: "ref/prompt", name: "greet" }, { name: "name", value: "Al" });
    assertEquals(completion.values, ["Alan"]);
  });

  test("a call that is called off stops the tool", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const call = client.callTool("wait", { name }, { onProgress: () => stop.abort(reason), signal: stop.signal });
    assertEquals(await call.catch((error: unknown) => error), reason);
    // When workerd tells of a client that is gone is its own affair, but for the older era, which says it in words.
    if (binding === "HTTP to workerd" && era === "modern") {
      assertEquals(await textOf(client.callTool("echo", { text: "on" })), "on");
      return;
    }
    let names = "";
    for (let tries = 0; tries < 500 && !names.includes(name); tries++) {
      names = await textOf(client.callTool("called-off"));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assertStringIncludes(names, name);
  });

  test("changes are heard of, and the stream ends when it is left", async () => {
    const watch = client.listen({ tools: true, resourceUris: [watchedUri] });
    assertEquals((await watch.acknowledged).resourceUris, [watchedUri]);
    await client.callTool("touch");
    const changes = [(await watch.next()).value, (await watch.next()).value];
    assertEquals(changes.map((change) => change?.type).sort(), ["resource", "tools"]);
    watch.close();
    assertEquals(await watch.next(), { done: true, value: undefined });
  });

  test("the end: the process is gone, and a closed endpoint takes nothing any more", async () => {
    await client.close();
    await until(() => !recording.pids.some(isAlive), "the end of the processes");
    assertEquals(recording.pids.length, binding === "stdio" ? 1 : 0);
  });
}
