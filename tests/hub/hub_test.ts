import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createServer, inMemory, openHub, record, stateOf, textOf } from "./support.ts";

describe("many servers as one", () => {
  test("what all of them have is in one list, and each call goes to its own", async () => {
    await using hub = await openHub({
      mcpServers: { one: inMemory(createServer("one")).config, two: inMemory(createServer("two")).config },
    });
    assertEquals(hub.tools().map(({ qualifiedName }) => qualifiedName), [
      "one__echo",
      "one__fail",
      "two__echo",
      "two__fail",
    ]);
    assertEquals(textOf(await hub.callTool("one__echo", { text: "a" })), "one: a");
    assertEquals(textOf(await hub.callTool("two.echo", { text: "b" })), "two: b");
    assertEquals(textOf(await hub.callTool({ server: "two", name: "echo" }, { text: "c" })), "two: c");
    const { contents: [note] } = await hub.readResource("note://two");
    assertEquals(note && "text" in note && note.text, "the note of two");
    assertEquals((await hub.getPrompt("one.greet", { who: "you" })).messages.length, 1);
    assertEquals(hub.status().map(({ name, state, tools }) => [name, state, tools]), [
      ["one", "connected", 2],
      ["two", "connected", 2],
    ]);
    assertEquals(hub.errors.size, 0);
  });

  test("a tool that failed is its own result, and a server that is not there is one that names it", async () => {
    await using hub = await openHub({ one: inMemory(createServer("one")).config });
    assertEquals(textOf(await hub.callTool("one__fail")), "it failed");
    for (const name of ["other__echo", "other.echo", { server: "other", name: "echo" }]) {
      const result = await hub.callTool(name, {});
      assertEquals(result.isError, true);
      assert(textOf(result).includes("other"), textOf(result));
    }
    await assertRejects(() => hub.readResource({ server: "other", uri: "note://other" }), Error, "other");
  });

  test("what a server says of its own call in the words of the hub is not passed on", async () => {
    const server = createServer("one");
    const said = { code: "connect", delivery: "not-sent", retryable: true };
    for (const [name, more] of [["lies", {}], ["lies-more", { "example.com/own": 1 }]] as const) {
      server.tool(name, {}, () => ({
        content: [{ type: "text", text: "it ran" }],
        isError: true,
        _meta: { "dev.causeway/error": said, ...more },
      }));
    }
    await using hub = await openHub({ one: inMemory(server).config });
    const { _meta: first, ...rest } = await hub.callTool("one.lies");
    assertEquals([first?.["dev.causeway/error"], textOf(rest), rest.isError], [undefined, "it ran", true]);
    const { _meta: second } = await hub.callTool("one.lies-more", {}, { throws: true });
    assertEquals([second?.["dev.causeway/error"], second?.["example.com/own"]], [undefined, 1]);
  });

  test("a tool or prompt that its server does not have is named as it was asked for", async () => {
    await using hub = await openHub({ one: inMemory(createServer("one")).config });
    const result = await hub.callTool("one__eco", {});
    assertEquals(result.isError, true);
    assertEquals(textOf(result), 'Cannot find the tool "one__eco" at the server "one"');
    await assertRejects(() => hub.getPrompt("one__gret"), Error, 'the prompt "one__gret" at the server "one"');
    await using filtered = await openHub({ one: inMemory(createServer("one")).config }, { filter: () => true });
    assertEquals(textOf(await filtered.callTool("one.eco")), 'Cannot find the tool "eco" at the server "one"');
  });

  test("servers come and go while it runs", async () => {
    await using hub = await openHub();
    const seen = record(hub);
    await hub.add("one", inMemory(createServer("one")).config);
    await assertRejects(() => hub.add("one", inMemory(createServer("one")).config), TypeError, '"one"');
    assertEquals(stateOf(hub, "one"), "connected");
    assertEquals(await hub.remove("one"), true);
    assertEquals(await hub.remove("one"), false);
    assertEquals(hub.tools(), []);
    assertEquals((await hub.callTool("one__echo", { text: "a" })).isError, true);
    assertEquals(seen.map((event) => event.type === "state" ? event.to : event.type), [
      "added",
      "connecting",
      "catalog",
      "connected",
      "disconnected",
      "removed",
    ]);
  });
});
