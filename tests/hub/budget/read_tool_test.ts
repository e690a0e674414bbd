import { describe, test } from "node:test";
import { assertEquals, assertMatch, assertRejects, assertStrictEquals } from "@std/assert";
import { cutKey, withResultBudget } from "../../../src/hub/budget/result_budget.ts";
import { runToolCall, toOpenAiTools } from "../../../src/hub/models/mod.ts";
import { withApproval } from "../../../src/hub/pins/approval.ts";
import { withFilter } from "../../../src/hub/pins/filter.ts";
import type { HubLike } from "../../../src/hub/seam.ts";
import { InvalidParamsError } from "../../../src/protocol/errors.ts";
import type { CallToolResult } from "../../../src/protocol/types.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { FakeHub } from "../support/fake_hub.ts";

const whole = "0123456789😀".repeat(50);
const png = "iVBORw0KGgo=";
const mixed: CallToolResult["content"] = [
  { type: "text", text: whole },
  { type: "image", mimeType: "image/png", data: png },
  { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: "AAAA" } },
];

function createHub(content: CallToolResult["content"]) {
  const inside = new FakeHub({ s: { tools: { t: { run: () => ({ content }) }, wipe: {} } } });
  const store = new TestStore();
  const clock = new VirtualClock();
  return { inside, clock, hub: withResultBudget(inside, { store, clock, limit: 100, mediaLimit: 0, readTool: true }) };
}

/** Reads the JSON that the last line of a result gives, as a model would. */
function nextOf(result: CallToolResult): { uri: string; from: number } {
  const [, json = "{}"] = /goes on with (\{.*\})\]$/.exec(textsOf(result).at(-1) ?? "") ?? [];
  return JSON.parse(json);
}

function textsOf({ content }: CallToolResult): string[] {
  return content.map((block) => block.type === "text" ? block.text : "");
}

/** Reads all that a URI stands for, in pieces that fit. */
async function readAll(hub: HubLike, uri: string): Promise<string> {
  let found = "";
  for (let from: number | undefined = 0; from !== undefined;) {
    const [piece = "", line = ""] = textsOf(await hub.callTool("read_result", { uri, from }));
    assertEquals(piece.length <= 100, true, `${piece.length} characters`);
    found += piece;
    const on = /read on with from (\d+)\]$/.exec(line);
    from = on ? Number(on[1]) : undefined;
  }
  return found;
}

describe("read_result", () => {
  test("is a tool of the hub itself, and the list stays the same", () => {
    const { hub } = createHub([]);
    assertEquals(toOpenAiTools(hub).map((tool) => tool.function.name), ["s__t", "s__wipe", "read_result"]);
    assertStrictEquals(hub.tools(), hub.tools());
    assertEquals(hub.findTool({ server: "", name: "read_result" })?.qualifiedName, "read_result");
    assertEquals(hub.findTool("s__t")?.name, "t");
  });

  test("a model that does what the lines say reads all of a text, in pieces that fit", async () => {
    const { hub } = createHub([{ type: "text", text: whole }]);
    const cut = await runToolCall(hub, { name: "s__t", arguments: "{}" });
    let { uri, from } = nextOf(cut);
    let found = textsOf(cut)[0] ?? "";
    for (let more = true; more;) {
      const [piece = "", line = ""] = textsOf(
        await runToolCall(hub, { name: "read_result", arguments: { uri, from } }),
      );
      assertEquals(piece.isWellFormed() && piece.length <= 101, true);
      found += piece;
      const on = /read on with from (\d+)\]$/.exec(line);
      more = on !== null;
      from = Number(on?.[1]);
    }
    assertEquals(found, whole);
  });

  test("parts are listed, pictures and files given", async () => {
    const { hub } = createHub(mixed);
    const cut = await hub.callTool("s__t");
    assertMatch(
      textsOf(cut).at(-1) ?? "",
      /2 pictures, sounds or files are left out\. All of it can be read with the tool read_result by its uri/,
    );
    const uri = String((cut._meta?.[cutKey] as { uri: string }).uri);
    const list =
      `${uri}/0 (text/plain, ${whole.length} characters)\n${uri}/1 (image/png, 8 bytes)\n${uri}/2 (application/pdf, 3 bytes)`;
    assertEquals(await readAll(hub, uri), list);
    assertEquals(await hub.callTool("read_result", { uri: `${uri}/1` }), { content: mixed.slice(1, 2) });
    assertEquals(await hub.callTool("read_result", { uri: `${uri}/2` }), {
      content: [{ type: "resource", resource: { uri: `${uri}/2`, mimeType: "application/pdf", blob: "AAAA" } }],
    });
  });

  test("what is wrong is said to the model", async () => {
    const { hub, clock } = createHub([{ type: "text", text: whole }]);
    const { uri } = nextOf(await hub.callTool("s__t"));
    const wrong: [object, string][] = [
      [{}, '"uri" is missing: expected what the result calls itself'],
      [{ uri, from: -1 }, '"from" is not a whole number, 0 or more'],
      [{ uri: "file:///etc/passwd" }, 'Cannot read "file:///etc/passwd": there is no such result, or its time is over'],
      [{ uri: `${uri}9` }, `Cannot read "${uri}9": there is no such result, or its time is over`],
      [
        { uri: "causeway://results/x" },
        'Cannot read "causeway://results/x": there is no such result, or its time is over',
      ],
    ];
    for (const [args, text] of wrong) {
      assertEquals(await hub.callTool("read_result", { ...args }), {
        content: [{ type: "text", text }],
        isError: true,
      });
    }
    assertEquals(textsOf(await hub.callTool("read_result", { uri, from: 9999 })), [
      "",
      "[the end: characters 600 to 600 of 600]",
    ]);
    await clock.advance(3_600_000);
    assertEquals((await hub.callTool("read_result", { uri })).isError, true);
  });

  test("a list of many parts is read in pieces that fit, too", async () => {
    const { hub } = createHub(Array.from({ length: 50 }, (_, at) => ({ type: "text" as const, text: `part ${at}` })));
    const { uri } = (await hub.callTool("s__t"))._meta?.[cutKey] as { uri: string };
    const found = await readAll(hub, uri);
    assertEquals(found.split("\n").length, 50);
    assertEquals(found.split("\n").at(-1), `${uri}/49 (text/plain, 7 characters)`);
  });

  test("null in a resource is nothing said", async () => {
    const bytes = { type: "resource", resource: { uri: "x:a", mimeType: null, text: null, blob: "AAAA" } };
    const text = { type: "resource", resource: { uri: "x:b", mimeType: null, text: whole, blob: null } };
    const { hub } = createHub([bytes, text] as unknown as CallToolResult["content"]);
    const { uri } = (await hub.callTool("s__t"))._meta?.[cutKey] as { uri: string };
    assertEquals(await readAll(hub, uri), `${uri}/0 (unknown type, 3 bytes)\n${uri}/1 (unknown type, 600 characters)`);
    assertEquals(await hub.callTool("read_result", { uri: `${uri}/0` }), {
      content: [{ type: "resource", resource: { uri: `${uri}/0`, blob: "AAAA" } }],
    });
    assertEquals(await readAll(hub, `${uri}/1`), whole);
    await assertRejects(() => hub.readResource(`${uri}/0?from=1`), InvalidParamsError, "it is no text");
    const { contents: [piece] } = await hub.readResource(`${uri}/1?from=0&to=5`);
    assertEquals(piece?.text, "01234");
  });

  test("filter, approval and budget in their order: nobody is asked for reading on", async () => {
    const { inside } = createHub([{ type: "text", text: whole }]);
    const asked: string[] = [];
    const hub = withResultBudget(
      withApproval(withFilter(inside, { deny: ["*.wipe"] }), ({ name }) => asked.push(name) > 0),
      { store: new TestStore(), limit: 100, readTool: true },
    );
    assertEquals(hub.tools().map(({ qualifiedName }) => qualifiedName), ["s__t", "read_result"]);
    const cut = await runToolCall(hub, { name: "s__t" });
    await runToolCall(hub, { name: "read_result", arguments: JSON.stringify(nextOf(cut)) });
    assertEquals((await runToolCall(hub, { name: "s__wipe" })).isError, true);
    assertEquals(asked, ["t"]);
    assertEquals(inside.calls.map(({ name }) => name), ["t"]);
  });
});
