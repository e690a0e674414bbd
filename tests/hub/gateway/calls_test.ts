import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { RpcError } from "../../../mod.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { Uris } from "../../../src/hub/gateway/lists/uris.ts";
import { all, inMemory, open, pairs, textOf } from "./support.ts";

/** A server of 2025-11-25 that says null where it has nothing to say. */
const nothing: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    serverInfo: { name: "nothing", version: "1" },
    instructions: null,
  },
  "tools/list": {
    tools: [{
      name: "t",
      title: null,
      description: null,
      inputSchema: { type: "object", properties: { a: { type: ["string", "null"], default: null } }, required: null },
      outputSchema: null,
      annotations: { title: null, readOnlyHint: true },
      _meta: { own: null },
    }],
    nextCursor: null,
  },
  "tools/call": {
    content: [
      { type: "resource", resource: { uri: "x:a", mimeType: null, text: null, blob: "AAAA" } },
      { type: "text", text: "ok", annotations: null },
    ],
    structuredContent: null,
    isError: null,
  },
  "resources/list": { resources: [{ uri: "x:a", name: "a", title: null, size: null }], nextCursor: null },
  "resources/templates/list": { resourceTemplates: [{ uriTemplate: "x:{y}", name: "y", mimeType: null }] },
  "resources/read": { contents: [{ uri: "x:a", mimeType: null, text: "a", blob: null }] },
  "prompts/list": { prompts: [{ name: "p", title: null, arguments: [{ name: "a", required: null }] }] },
  "prompts/get": { description: null, messages: [{ role: "user", content: { type: "text", text: "p", _meta: null } }] },
  "completion/complete": { completion: { values: ["a"], total: null, hasMore: null } },
};

for (const era of ["modern", "legacy"] as const) {
  test(`null of a server is not passed on, ${era} in front: strict clients refuse a whole list for it`, async () => {
    const fetch = memoryFetch({
      fetch: async (request: Request) => {
        const { id, method } = await request.json();
        if (id === undefined) return new Response(null, { status: 202 });
        const result = nothing[method];
        const error = { code: -32601, message: "unknown" };
        return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) });
      },
    });
    await using scene = await open({ nothing: { url: "http://nothing.test/mcp", fetch } });
    const heard: string[] = [];
    const client = await scene.join(era, { heard });
    const { tools: [tool] } = await client.listTools();
    assertEquals(tool?.inputSchema, {
      type: "object",
      properties: { a: { type: ["string", "null"], default: null } },
    });
    assertEquals([tool?.annotations, tool?._meta], [{ readOnlyHint: true }, { own: null }]);
    await client.listResources();
    await client.listResourceTemplates();
    await client.listPrompts();
    await client.callTool("nothing__t");
    await client.readResource("x:a");
    await client.getPrompt("nothing__p");
    await client.complete({ type: "ref/prompt", name: "nothing__p" }, { name: "a", value: "" });
    const found = heard.join("").match(/"\w+":null/g) ?? [];
    assertEquals(found, ['"default":null', '"own":null'], heard.join("\n"));
    assert(!heard.join("").includes("structuredContent"));
  });
}

for (const [front, back] of pairs) {
  describe(`through the gateway, ${front} in front and ${back} behind`, () => {
    test("lists and calls are those of the servers", async () => {
      await using scene = await open({ one: all("one", back).config, two: all("two", back).config });
      const client = await scene.join(front);
      assertEquals(client.era, front);
      const { tools } = await client.listTools();
      assertEquals(tools.slice(0, 9).map(({ name }) => name), [
        "one__asks",
        "one__fails",
        "one__hangs",
        "one__links",
        "one__looks",
        "one__samples",
        "one__sum",
        "one__tells",
        "one__who",
      ]);
      assertEquals(tools.length, 18);
      const sum = tools.find(({ name }) => name === "one__sum");
      assertEquals([sum?.title, sum?.annotations?.readOnlyHint, sum?.outputSchema?.type], ["Sum", true, "object"]);
      assertEquals((await client.callTool("one__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
      const failed = await client.callTool("two__fails");
      assertEquals([failed.isError, textOf(failed)], [true, "it failed"]);
      await assertRejects(() => client.callTool("one__nothing"), RpcError, "one__nothing");
      const info = client.info?.instructions ?? "";
      assert(info.includes("# one\nHow to use one") && info.includes("How to use two"), info);
    });

    test("resources, templates, prompts and completions are those of the servers", async () => {
      await using scene = await open({ one: all("one", back).config, two: all("two", back).config });
      const client = await scene.join(front);
      const { resources } = await client.listResources();
      assertEquals(resources.map(({ uri }) => uri), [
        "note://one/own",
        "hub://one/note://shared",
        "hub://two/note://shared",
        "note://two/own",
      ]);
      const read = async (uri: string) => {
        const [part] = (await client.readResource(uri)).contents;
        return part && "text" in part ? [part.uri, part.text] : [];
      };
      assertEquals(await read("note://one/own"), ["note://one/own", "one"]);
      assertEquals(await read("hub://two/note://shared"), ["hub://two/note://shared", "shared, of two"]);
      assertEquals(await read("day://two/monday"), ["day://two/monday", "monday"]);
      assertEquals((await client.readResource("note://one/own")).cacheScope ?? "private", "private");
      await assertRejects(() => client.readResource("note://shared"), RpcError, "hub://one/note://shared");
      await assertRejects(() => client.readResource("other://nothing"), RpcError, "other://nothing");
      const { resourceTemplates } = await client.listResourceTemplates();
      assertEquals(resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
        "day://one/{day}",
        "made://one/{id}",
        "day://two/{day}",
        "made://two/{id}",
      ]);
      const { prompts } = await client.listPrompts();
      assertEquals(prompts.map(({ name }) => name), ["one__greet", "two__greet"]);
      const { messages: [message] } = await client.getPrompt("two__greet", { who: "you" });
      assertEquals(message?.content, { type: "text", text: "hello you, I am two" });
      const forPrompt = await client.complete({ type: "ref/prompt", name: "one__greet" }, {
        name: "who",
        value: "you",
      });
      assertEquals(forPrompt.completion.values, ["you!"]);
      const forUri = await client.complete({ type: "ref/resource", uri: "day://two/{day}" }, {
        name: "day",
        value: "mon",
      });
      assertEquals(forUri.completion.values, ["monday"]);
      await assertRejects(() => client.getPrompt("one__nothing"), RpcError, "one__nothing");
    });

    test("questions go to the caller, and the tool goes on with the answers", async () => {
      const one = all("one", back);
      await using scene = await open({ one: one.config });
      const asked: string[] = [];
      const client = await scene.join(front, {
        handlers: {
          elicitation: ({ message }) => {
            asked.push(message);
            return { action: "accept", content: { name: `name ${asked.length}` } };
          },
          sampling: () => ({ role: "assistant", model: "none", content: { type: "text", text: "the model's word" } }),
          roots: [{ uri: "file:///here" }],
        },
      });
      assertEquals(textOf(await client.callTool("one__asks")), "name 1, name 2");
      assertEquals(asked, ["Who are you?", "Really name 1?"]);
      // A legacy tool runs once, however many requests it takes in front; a modern one once for each of its rounds.
      assertEquals(one.runs.count, back === "legacy" ? 1 : 3);
      assertEquals(textOf(await client.callTool("one__samples")), "the model's word");
      assertEquals(textOf(await client.callTool("one__looks")), "file:///here");
    });

    test("a caller that cannot be asked gets an answer all the same", async () => {
      await using scene = await open({ one: all("one", back).config });
      const client = await scene.join(front);
      const outcome = await client.callTool("one__asks").then(({ isError }) => isError, (error) => error.rpcCode);
      assert(outcome === true || outcome === -32021 || outcome === -32600, String(outcome));
      assertEquals((await client.callTool("one__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    });

    test("progress and log messages arrive", async () => {
      await using scene = await open({ one: all("one", back).config });
      const logs: unknown[] = [];
      const client = await scene.join(front, {
        logLevel: "info",
        handlers: { log: ({ data }) => void logs.push(data) },
      });
      const seen: number[] = [];
      const result = await client.callTool("one__tells", {}, {
        onProgress: ({ progress }) => void seen.push(progress),
      });
      assertEquals(textOf(result), "told");
      assertEquals(seen.at(-1), 3);
      assertEquals(logs, ["a word of one"]);
    });

    test("who gives up stops the tool behind", async () => {
      const one = all("one", back);
      await using scene = await open({ one: one.config });
      const client = await scene.join(front);
      const controller = new AbortController();
      const hanging = client.callTool("one__hangs", {}, { signal: controller.signal });
      for (let turn = 0; scene.hub.status()[0]?.active !== 1; turn++) {
        assert(turn < 4_000, "it is called");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      setTimeout(() => controller.abort(new Error("enough")), 20);
      await assertRejects(() => hanging, Error, "enough");
      for (let turn = 0; turn < 4_000 && one.runs.count === 0; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assertEquals(one.runs.count, -1);
    });

    test("a link to what several servers have is as it is listed, and leads to the one that gave it", async () => {
      const [one, two] = [all("one", back), all("two", back)];
      two.server.template("made://one/{id}", {}, () => "of two");
      for (const { server } of [one, two]) {
        server.tool("points", {}, () => ({
          content: ["note://shared", "made://one/7"].map((uri) => ({ type: "resource_link", uri, name: uri })),
        }));
        server.prompt("points", {}, () => ({
          messages: [{ role: "user", content: { type: "resource_link", uri: "note://shared", name: "shared" } }],
        }));
      }
      await using scene = await open({ one: one.config, two: two.config });
      const client = await scene.join(front);
      const { content } = await client.callTool("two__points");
      const { messages } = await client.getPrompt("one__points");
      const texts = [...content, ...messages.map((message) => message.content)].map(async (link) => {
        const { contents: [part] } = await client.readResource(link.type === "resource_link" ? link.uri : "");
        return part && "text" in part && part.text;
      });
      assertEquals(await Promise.all(texts), ["shared, of two", "of two", "shared, of one"]);
    });

    test("a link in a result can be read, and its URI is as it was", async () => {
      await using scene = await open({ one: all("one", back).config, two: all("two", back).config });
      const client = await scene.join(front);
      const { content: [link] } = await client.callTool("two__links");
      assertEquals(link?.type === "resource_link" && link.uri, "made://two/1");
      const { contents: [part] } = await client.readResource("made://two/1");
      assertEquals(part && "text" in part && part.text, "made 1");
    });

    test("links of two servers to a URI that neither lists yet lead each to its own", async () => {
      const both = [all("one", back), all("two", back)] as const;
      for (const [at, { server }] of both.entries()) {
        const uri = "file:///report";
        server.tool("makes", {}, () => {
          server.resource(uri, { name: "report" }, () => `report ${at + 1}`);
          return { content: [{ type: "resource_link", uri, name: "report" }] };
        });
      }
      await using scene = await open({ one: both[0].config, two: both[1].config });
      const client = await scene.join(front);
      const uris: string[] = [];
      for (const name of ["one__makes", "two__makes"]) {
        const { content: [link] } = await client.callTool(name);
        uris.push(link?.type === "resource_link" ? link.uri : "");
      }
      const read = async (uri: string) => {
        const { contents: [part] } = await client.readResource(uri);
        return part && "text" in part && part.text;
      };
      assertEquals(await Promise.all(uris.map(read)), ["report 1", "report 2"]);
      // Also where both are listed.
      await scene.hub.retry("one");
      await scene.hub.retry("two");
      assertEquals(await Promise.all(uris.map(read)), ["report 1", "report 2"]);
    });

    test("only the trace goes behind of a caller's `_meta`", async () => {
      await using scene = await open({ one: all("one", back).config });
      const client = await scene.join(front);
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      const result = await client.callTool("one__who", {}, { meta: { traceparent, "example.com/secret": "mine" } });
      const { meta, auth } = JSON.parse(textOf(result));
      assertEquals(meta.traceparent, traceparent);
      assertEquals(meta["example.com/secret"], undefined);
      assertEquals(auth, undefined);
    });
  });
}

test("what is listed is gone through once for a result, however many links it has", () => {
  let looks = 0;
  const resource = {
    name: "one",
    get uri() {
      looks++;
      return "file:///one";
    },
  };
  const template = {
    name: "all",
    get uriTemplate() {
      looks++;
      return "day://two/{day}";
    },
  };
  // A filter makes its lists anew each time.
  const uris = new Uris({
    resources: () => [{ server: "one", resource }],
    templates: () => [{ server: "two", template }],
    servers: () => ["one", "two"],
    withResources: () => ["one", "two"],
  });
  const link = uris.linker("one");
  const links = Array.from({ length: 1_000 }, (_, at) => link(`file:///${at}`));
  assertEquals([links[7], link("file:///one"), link("day://two/1")], [
    "file:///7",
    "file:///one",
    "hub://one/day://two/1",
  ]);
  assert(looks < 10, `${looks} looks`);
});

test("what is there is looked at once for all that is named in one turn, and anew in the next", async () => {
  const asked: string[] = [];
  let looks = 0;
  const listed = Array.from({ length: 100 }, (_, at) => ({
    server: "one",
    resource: {
      name: "a",
      get uri() {
        looks++;
        return `note://${at}`;
      },
    },
  }));
  const template = { name: "all", uriTemplate: "day://two/{day}" };
  const uris = new Uris({
    // A hub for one principal makes its lists anew each time.
    resources: () => (asked.push("resources"), [...listed]),
    templates: () => (asked.push("templates"), [{ server: "two", template }]),
    servers: () => (asked.push("servers"), ["one", "two", "three"]),
    withResources: () => (asked.push("having"), ["three"]),
  });
  for (let round = 0; round < 2; round++) {
    asked.length = looks = 0;
    for (let at = 0; at < 100; at++) {
      const names = [`note://${at}`, `day://two/${at}`, `other://${at}`, `hub://two/x:${at}`];
      assertEquals(names.map((uri) => uris.find(uri).server), ["one", "two", "three", "two"]);
    }
    assertEquals(asked.toSorted(), ["having", "resources", "servers", "templates"]);
    assert(looks < 500, `${looks} looks`);
    await Promise.resolve();
  }
});

for (const back of ["modern", "legacy"] as const) {
  for (const front of ["modern", "legacy"] as const) {
    test(`what a server says of itself with each result is not passed on: ${front} in front, ${back} behind`, async () => {
      const one = all("one", back);
      one.server.tool("marked", {}, () => ({ content: [{ type: "text", text: "m" }], _meta: { "x.example/own": 1 } }));
      await using scene = await open({ one: one.config }, { name: "front", version: "7" });
      const client = await scene.join(front);
      const ref = { type: "ref/prompt", name: "one__greet" } as const;
      const results = [
        await client.callTool("one__sum", { a: 1, b: 2 }),
        await client.readResource("note://one/own"),
        await client.getPrompt("one__greet", { who: "Ada" }),
        await client.complete(ref, { name: "who", value: "A" }),
      ];
      const own = front === "modern"
        ? { "io.modelcontextprotocol/serverInfo": { name: "front", version: "7" } }
        : undefined;
      for (const { _meta } of results) assertEquals(_meta, own);
      assertEquals((await client.callTool("one__marked"))._meta, { "x.example/own": 1, ...own });
    });
  }
}

for (const back of ["modern", "legacy"] as const) {
  test(`a server that completes nothing has no values: ${back} behind`, async () => {
    const server = new McpServer({ name: "one", version: "1" });
    server.prompt("greet", { arguments: { who: {} } }, () => "hello");
    await using scene = await open({ one: inMemory(server, { eras: [back] }).config });
    const client = await scene.join("modern");
    const ref = { type: "ref/prompt", name: "one__greet" } as const;
    assertEquals((await client.complete(ref, { name: "who", value: "A" })).completion, { values: [] });
  });
}
