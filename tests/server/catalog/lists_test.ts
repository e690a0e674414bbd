import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { McpServer } from "../../../src/server/mod.ts";
import { newServer, refusal, run } from "./support.ts";

/** The names on one page, and the cursor of the next. */
async function page(
  server: McpServer,
  method: string,
  cursor?: string | null,
): Promise<[string[], string | undefined]> {
  const result = await run(server, method, cursor === undefined ? {} : { cursor });
  const { nextCursor, ...rest } = result;
  const [items] = Object.values(rest) as unknown as { name: string }[][];
  return [items?.map(({ name }) => name) ?? [], nextCursor as string | undefined];
}

/** A server with tools of these names. */
function withTools(names: string, pageSize: number): [McpServer, Map<string, () => void>] {
  const server = newServer({ pageSize });
  return [server, new Map([...names].map((name) => [name, server.tool(name, {}, () => name)]))];
}

describe("lists", () => {
  test("pages follow each other in the order of registration; the last has no cursor (S-069 S-083)", async () => {
    const [server] = withTools("edcba", 2);
    const [first, one] = await page(server, "tools/list");
    const [second, two] = await page(server, "tools/list", one);
    const [third, end] = await page(server, "tools/list", two);
    assertEquals([first, second, third, end], [["e", "d"], ["c", "b"], ["a"], undefined]);
    assertEquals(await page(server, "tools/list", null), [first, one]);
    assertEquals(await page(server, "tools/list", one), [second, two]);
  });

  test("a list that fills its pages exactly ends without an empty page", async () => {
    const [server] = withTools("abcd", 2);
    const [, cursor] = await page(server, "tools/list");
    assertEquals(await page(server, "tools/list", cursor), [["c", "d"], undefined]);
  });

  test("a cursor stays good when things come and go: nothing twice, nothing left out", async () => {
    const [server, remove] = withTools("abcde", 2);
    const [, cursor] = await page(server, "tools/list");
    remove.get("a")?.();
    remove.get("b")?.();
    remove.get("d")?.();
    server.tool("f", {}, () => "");
    assertEquals((await page(server, "tools/list", cursor))[0], ["c", "e"]);
    for (const gone of remove.values()) gone();
    assertEquals(await page(server, "tools/list", cursor), [["f"], undefined]);
  });

  test("the same server elsewhere takes the cursor too", async () => {
    const [, cursor] = await page(withTools("abc", 2)[0], "tools/list");
    assertEquals(await page(withTools("abc", 2)[0], "tools/list", cursor), [["c"], undefined]);
  });

  test("a cursor that is none of this list is refused (S-083)", async () => {
    const [server] = withTools("abc", 2);
    server.prompt("p", {}, () => "");
    const good = (await page(server, "tools/list"))[1] ?? "";
    const bad = [
      "",
      "x",
      "page:2",
      `${good} `,
      good + "A",
      "ä",
      btoa("tools:0"),
      btoa("tools:99"),
      btoa("tools:1e0"),
      btoa("tools:-1"),
      btoa("tools:1.5"),
      btoa("tools:"),
      btoa("prompts:1"),
      "A".repeat(100_000),
    ];
    for (const cursor of bad) {
      const { message } = await refusal(run(server, "tools/list", { cursor }));
      assert(message.includes('"cursor"'), message);
    }
    await refusal(run(server, "prompts/list", { cursor: good }));
    assert((await refusal(run(server, "tools/list", { cursor: 2 }))).message.includes('"cursor" is a number'));
  });

  test("every list has pages", async () => {
    const server = newServer({ pageSize: 1 });
    for (const name of ["a", "b"]) {
      server.tool(name, {}, () => "");
      server.prompt(name, {}, () => "");
      server.resource(`test://${name}`, { name }, () => "");
      server.template(`test://${name}/{id}`, { name }, () => "");
    }
    for (const method of ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]) {
      const [first, cursor] = await page(server, method);
      assertEquals([first, ...await page(server, method, cursor)], [["a"], ["b"], undefined]);
    }
  });

  test("what one reader does to a list, no other reader sees", async () => {
    const [server] = withTools("a", 2);
    const { tools } = await run(server, "tools/list") as unknown as { tools: { name: string }[] };
    assertThrows(() => Object.assign(tools[0] ?? {}, { name: "spoilt" }), TypeError);
    tools.length = 0;
    assertEquals(await page(server, "tools/list"), [["a"], undefined]);
  });

  test("a page has 100 items where nothing else is said", async () => {
    const server = newServer();
    for (let at = 0; at < 101; at++) server.prompt(`p${at}`, {}, () => "");
    const [first, cursor] = await page(server, "prompts/list");
    assertEquals([first.length, (await page(server, "prompts/list", cursor))[0]], [100, ["p100"]]);
  });
});
