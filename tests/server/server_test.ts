import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { LogRecord } from "../../src/ports.ts";
import { McpServer } from "../../src/server/mod.ts";
import type { ServerChange, ServerOptions } from "../../src/server/mod.ts";
import { context, newServer, run } from "./catalog/support.ts";

describe("a server", () => {
  test("says who it is and how long that is good", () => {
    const info = { name: "a", version: "1", title: "A", description: "D", websiteUrl: "https://example.org" };
    const { methods } = new McpServer(info, { instructions: "Be brief", cache: { ttlMs: 5, cacheScope: "public" } });
    assertEquals(methods.info, info);
    assertEquals([methods.instructions, methods.cache], ["Be brief", { ttlMs: 5, cacheScope: "public" }]);
    assertEquals(newServer().methods.cache, { ttlMs: 0, cacheScope: "private" });
  });

  test("names at once what is wrong with it", () => {
    const wrong: [unknown, unknown, string][] = [
      [undefined, {}, '"info" is missing'],
      [{ version: "1" }, {}, '"name" is missing'],
      [{ name: "", version: "1" }, {}, '"name" is ""'],
      [{ name: "a", version: 1 }, {}, '"version" is 1'],
      [{ name: "a", version: "1", title: 5 }, {}, '"title" is a number'],
      [{ name: "a", version: "1" }, null, '"options" is null'],
      [{ name: "a", version: "1" }, { pageSize: 0 }, '"pageSize" is 0'],
      [{ name: "a", version: "1" }, { pageSize: 1.5 }, '"pageSize" is 1.5'],
      [{ name: "a", version: "1" }, { cache: { ttlMs: "1" } }, '"cache.ttlMs" is "1"'],
      [{ name: "a", version: "1" }, { cache: { cacheScope: "all" } }, '"cache.cacheScope" is "all"'],
      [{ name: "a", version: "1" }, { instructions: 5 }, '"instructions" is a number'],
      [{ name: "a", version: "1" }, { validator: {} }, '"validator" is {}'],
    ];
    for (const [info, options, part] of wrong) {
      const { message } = assertThrows(
        () => new McpServer(info as { name: string; version: string }, options as ServerOptions),
        TypeError,
      );
      assert(message.startsWith("Cannot set up the server: ") && message.includes(part), message);
    }
  });

  test("declares and answers only what is there (S-067 S-079 S-081)", async () => {
    const server = newServer();
    assertEquals(server.methods.capabilities(), { logging: {} });
    const all = ["tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"]
      .concat(["prompts/list", "prompts/get", "completion/complete", "ping", "toString"]);
    for (const method of all) assertEquals(server.methods.run(method, {}, context()), undefined);
    server.template("test://{id}", {}, () => "");
    assertEquals(server.methods.capabilities(), { resources: {}, logging: {} });
    assertEquals(await run(server, "resources/list"), { resources: [] });
    const remove = server.tool("tool", {}, () => "");
    server.prompt("prompt", { arguments: { a: {} } }, () => "");
    assertEquals(server.methods.capabilities(), { tools: {}, resources: {}, prompts: {}, logging: {} });
    const forget = server.prompt("completed", { arguments: { a: { complete: () => [] } } }, () => "");
    const whole = { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} };
    assertEquals(server.methods.capabilities(), whole);
    // Who was told that there are tools goes on asking for them.
    remove();
    forget();
    assertEquals(server.methods.capabilities(), whole);
    assertEquals(await run(server, "tools/list"), { tools: [] });
  });

  test("a template that suggests values makes completions a capability", () => {
    const server = newServer();
    server.template("test://{id}", { complete: { id: () => [] } }, () => "");
    assertEquals(server.methods.capabilities(), { resources: {}, completions: {}, logging: {} });
  });
});

describe("changes of a server", () => {
  test("who watches hears of what comes, goes and changes, until they stop", () => {
    const server = newServer();
    server.tool("before", {}, () => "");
    const heard: ServerChange[] = [];
    const stop = server.methods.watch((change) => void heard.push(change));
    const removals = [
      server.tool("tool", {}, () => ""),
      server.prompt("prompt", {}, () => ""),
      server.resource("test://a", {}, () => ""),
      server.template("test://{id}", {}, () => ""),
    ];
    const kinds = ["tools", "prompts", "resources", "resources"].map((type) => ({ type }) as ServerChange);
    assertEquals(heard.splice(0), kinds);
    for (const remove of [...removals, ...removals]) remove();
    assertEquals(heard.splice(0), kinds);
    server.resourceUpdated("test://a");
    assertEquals(heard.splice(0), [{ type: "resource", uri: "test://a" }]);
    assertThrows(() => server.tool("before", {}, () => ""), TypeError);
    assertThrows(() => server.resourceUpdated("a"), TypeError, "absolute URI");
    stop();
    server.tool("after", {}, () => "");
    assertEquals(heard, []);
  });

  test("one that fails keeps no other from hearing, and one that stops another is no trouble", () => {
    const records: LogRecord[] = [];
    const server = newServer({ logger: (record) => void records.push(record) });
    const heard: string[] = [];
    server.methods.watch(() => {
      throw new Error("mine");
    });
    const listener = ({ type }: ServerChange) => void heard.push(type);
    const first = server.methods.watch(listener);
    const second = server.methods.watch(listener);
    server.tool("a", {}, () => "");
    first();
    server.tool("b", {}, () => "");
    second();
    server.tool("c", {}, () => "");
    assertEquals([heard, records.length], [["tools", "tools", "tools"], 3]);
  });

  test("a change is seen by the listener that hears of it", async () => {
    const server = newServer();
    let seen: Promise<unknown> | undefined;
    server.methods.watch(() => seen = run(server, "tools/list"));
    server.tool("new", { input: { type: "object" } }, () => "");
    assertEquals(await seen, { tools: [{ name: "new", inputSchema: { type: "object" } }] });
  });
});
