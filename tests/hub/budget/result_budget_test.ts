import { describe, test } from "node:test";
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { cutKey, type ResultBudgetOptions, withResultBudget } from "../../../src/hub/budget/result_budget.ts";
import type { HubLike } from "../../../src/hub/seam.ts";
import { toOpenAiToolMessages } from "../../../src/hub/models/mod.ts";
import { InvalidParamsError } from "../../../src/protocol/errors.ts";
import type { CallToolResult, Tool } from "../../../src/protocol/types.ts";
import { turns } from "../../support/clients.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { FakeHub } from "../support/fake_hub.ts";

interface World {
  readonly hub: HubLike;
  readonly store: TestStore;
  readonly clock: VirtualClock;
  readonly call: () => Promise<CallToolResult>;
}

function createWorld(
  result: CallToolResult,
  options: Partial<ResultBudgetOptions> = {},
  tool: Partial<Tool> = {},
): World {
  const store = new TestStore();
  const clock = new VirtualClock();
  const { name: _, ...rest } = tool;
  const inside = new FakeHub({
    s: { tools: { t: { ...rest, run: () => result } }, resources: { "file:///a": "A" } },
  });
  const hub = withResultBudget(inside, { store, clock, limit: 100, ...options });
  return { hub, store, clock, call: () => hub.callTool("s__t") };
}

const text = (of: string): CallToolResult => ({ content: [{ type: "text", text: of }] });
const numbered = (length: number): string => Array.from({ length }, (_, at) => at % 10).join("");

describe("a result budget", () => {
  test("what fits is the very same", async () => {
    const result = { ...text(numbered(100)), structuredContent: { a: 1 }, _meta: { b: 2 } };
    const { call, store } = createWorld(result);
    assertStrictEquals(await call(), result);
    assertEquals(store.texts.size, 0);
  });

  test("what does not is cut, the model is told in one line, and the whole can be read", async () => {
    const whole = numbered(1000);
    const { hub, call } = createWorld(text(whole));
    const cut = await call();
    const uri = uriOf(cut);
    assertMatch(uri, /^causeway:\/\/results\/[\da-f]{32}$/);
    assertEquals(cut, {
      content: [
        { type: "text", text: whole.slice(0, 100) },
        {
          type: "text",
          text:
            `[This result is too large: 100 of 1000 characters are shown. All of it can be read as the resource ${uri} ` +
            `until 2026-07-28T01:00:00.000Z; the text goes on at ${uri}/0?from=100]`,
        },
      ],
      _meta: { [cutKey]: { uri, shown: 100, total: 1000, expiresAt: Date.UTC(2026, 6, 28, 1) } },
    });
    assertEquals(await hub.readResource(uri), {
      contents: [{ uri: `${uri}/0`, mimeType: "text/plain", text: whole }],
    });
    assertEquals(await hub.readResource({ server: "", uri: `${uri}/0` }), {
      contents: [{ uri: `${uri}/0`, mimeType: "text/plain", text: whole }],
    });
    const [message] = toOpenAiToolMessages([{ call: { id: "1", name: "s__t" }, result: cut }]);
    assert(typeof message?.content === "string" && message.content.includes(`goes on at ${uri}/0?from=100]`));
  });

  test("pieces that follow each other give the whole, and no character is torn", async () => {
    const whole = "a😀é漢".repeat(300);
    for (const unit of ["characters", "tokens"] as const) {
      const { hub, call, store } = createWorld(text(whole), { unit, limit: 99, chunkSize: 17 });
      const cut = await call();
      const [first] = cut.content;
      assert(first?.type === "text" && first.text.isWellFormed());
      let found = first.text;
      for (let from = found.length; from < whole.length; from += 97) {
        const { contents } = await hub.readResource(`${uriOf(cut)}/0?from=${from}&to=${from + 97}`);
        found += contents[0]?.text ?? "";
      }
      assertEquals(found, whole);
      for (const kept of store.texts.values()) assert(kept.isWellFormed());
    }
  });

  test("tokens are estimated by script", async () => {
    const shown = async (of: string) => {
      const cut = await createWorld(text(of), { unit: "tokens", limit: 10 }).call();
      return cut.content[0]?.type === "text" ? cut.content[0].text.length : 0;
    };
    assertEquals(await shown("a".repeat(1000)), 40);
    assertEquals(await shown("é".repeat(1000)), 20);
    assertEquals(await shown("漢".repeat(1000)), 10);
  });

  test("a tool may claim more or less, within a bound", async () => {
    const shown = async (claim: unknown, options: Partial<ResultBudgetOptions> = {}) => {
      const tool = { _meta: { "anthropic/maxResultSizeChars": claim } } as Partial<Tool>;
      const cut = await createWorld(text(numbered(1000)), options, tool).call();
      return cut.content[0]?.type === "text" ? cut.content[0].text.length : 0;
    };
    assertEquals(await shown(700), 700);
    assertEquals(await shown(30), 30);
    assertEquals(await shown(700, { unit: "tokens", limit: 10 }), 700);
    assertEquals(await shown(700, { mostClaimed: 200 }), 200);
    assertEquals(await shown(700, { mostClaimed: 0 }), 100);
    for (const nonsense of ["700", -1, 0, NaN, null, {}]) assertEquals(await shown(nonsense), 100);
    const said = { ...text(numbered(1000)), _meta: { "anthropic/maxResultSizeChars": 400 } };
    assertEquals((await createWorld(said).call()).content[0], { type: "text", text: numbered(400) });
  });

  test("structured content that is too large goes, and is kept", async () => {
    const structuredContent = { rows: numbered(500) };
    const json = JSON.stringify(structuredContent);
    const told = createWorld({ ...text("500 digits"), structuredContent });
    const cut = await told.call();
    const uri = uriOf(cut);
    assertEquals("structuredContent" in cut, false);
    assertEquals(cut.content.map((block) => block.type === "text" ? block.text : ""), [
      "500 digits",
      `[This result is too large: the structured content is left out. All of it can be read as the resource ${uri} until 2026-07-28T01:00:00.000Z]`,
    ]);
    assertEquals(await told.hub.readResource(`${uri}/structured`), {
      contents: [{ uri: `${uri}/structured`, mimeType: "application/json", text: json }],
    });
    const alone = await createWorld({ content: [], structuredContent }).call();
    assertEquals(alone.content[0], { type: "text", text: json.slice(0, 100) });
    assertMatch(JSON.stringify(alone.content[1]), /goes on at \S+\/structured\?from=100\]/);
  });

  test("pictures, sounds and files have a budget of their own, and are kept", async () => {
    const data = "A".repeat(400);
    const content: CallToolResult["content"] = [
      { type: "image", mimeType: "image/png", data },
      { type: "text", text: "between" },
      { type: "audio", mimeType: "audio/wav", data },
      { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: data } },
      { type: "resource", resource: { uri: "file:///a.txt", text: numbered(300) } },
      { type: "resource_link", uri: "file:///b", name: "b" },
    ];
    const { hub, call } = createWorld({ content }, { mediaLimit: 300 });
    const cut = await call();
    const uri = uriOf(cut);
    assertEquals(cut.content.slice(0, -1), [
      { type: "image", mimeType: "image/png", data },
      { type: "text", text: "between" },
      { type: "resource", resource: { uri: "file:///a.txt", text: numbered(93) } },
    ]);
    assertMatch(
      JSON.stringify(cut.content.at(-1)),
      /100 of 3\d\d characters are shown, 2 pictures, sounds or files are left out\..*\/4\?from=93\]/,
    );
    const { contents } = await hub.readResource(uri);
    assertEquals(contents, [
      { uri: `${uri}/0`, mimeType: "image/png", blob: data },
      { uri: `${uri}/1`, mimeType: "text/plain", text: "between" },
      { uri: `${uri}/2`, mimeType: "audio/wav", blob: data },
      { uri: `${uri}/3`, mimeType: "application/pdf", blob: data, _meta: { "dev.causeway/uri": "file:///a.pdf" } },
      { uri: `${uri}/4`, text: numbered(300), _meta: { "dev.causeway/uri": "file:///a.txt" } },
      { uri: `${uri}/5`, mimeType: "application/json", text: JSON.stringify(content[5]) },
    ]);
    assertEquals((await hub.readResource(`${uri}/2`)).contents, contents.slice(2, 3));
    await assertRejects(() => hub.readResource(`${uri}/2?from=1`), InvalidParamsError, "it is no text");
  });

  test("an error stays an error", async () => {
    const cut = await createWorld({ ...text(numbered(1000)), isError: true }).call();
    assertEquals(cut.isError, true);
    assertEquals(cut.content.length, 2);
  });

  test("after its time it is gone, from the store too", async () => {
    const { hub, call, store, clock } = createWorld(text(numbered(1000)), { lifetime: 5000, chunkSize: 300 });
    const uri = uriOf(await call());
    assertEquals(store.texts.size, 5);
    await clock.advance(4999);
    assertEquals((await hub.readResource(uri)).contents.length, 1);
    await clock.advance(1);
    await assertRejects(
      () => hub.readResource(uri),
      InvalidParamsError,
      `Cannot read "${uri}": there is no such result, or its time is over`,
    );
    assertEquals(store.texts.size, 0);
    await call();
    await clock.advance(5000);
    await call();
    assertEquals(store.texts.size, 5, "what nobody read again was deleted with the next one");
  });

  test("with too many characters the oldest are gone before their time, also where several are kept at once", async () => {
    const { hub, call, store } = createWorld(text(numbered(1000)), { mostKept: 2_500, chunkSize: 300 });
    const uris = [uriOf(await call()), uriOf(await call()), uriOf(await call())];
    const read = () => Promise.all(uris.map((uri) => hub.readResource(uri).then(() => true, () => false)));
    assertEquals(await read(), [false, true, true]);
    assertEquals(store.texts.size, 10);
    uris.push(...(await Promise.all([call(), call(), call()])).map(uriOf));
    assertEquals((await read()).slice(0, 3), [false, false, false]);
    assert((await read()).slice(3).filter(Boolean).length <= 2);
    assert(store.texts.size <= 10, `${store.texts.size}`);
  });

  test("what is forgotten while it is written leaves nothing behind", async () => {
    const { call, store } = createWorld(text(numbered(1000)), { mostKept: 1_000, chunkSize: 300 });
    let write = () => {};
    store.held = new Promise((resolve) => write = resolve);
    const first = call();
    await new Promise<void>((resolve) => setTimeout(resolve));
    store.held = undefined;
    // Deleting is slow: the first one is written to its end meanwhile.
    store.delete = async (key) => {
      store.texts.delete(key);
      write();
      await new Promise<void>((resolve) => setTimeout(resolve));
    };
    await Promise.all([first, call()]);
    assertEquals(store.texts.size, 5);
  });

  test("another isolate reads it by its name, which nobody guesses", async () => {
    const whole = numbered(1000);
    const { store, clock, call } = createWorld(text(whole));
    const [one, two] = [uriOf(await call()), uriOf(await call())];
    assertNotEquals(one, two);
    const other = withResultBudget(new FakeHub({}), { store, clock });
    assertEquals((await other.readResource(one)).contents[0]?.text, whole);
    const wrong = [
      "causeway://results/",
      "causeway://results/" + "0".repeat(32),
      one + "/1",
      one + "/x",
      one + "/..",
      one + "?from=1",
      one.slice(0, -1),
      one.toUpperCase().replace("CAUSEWAY://RESULTS", "causeway://results"),
      "causeway://results/../secrets",
    ];
    const reads = store.reads;
    for (const uri of wrong) await assertRejects(() => other.readResource(uri), InvalidParamsError, "Cannot read", uri);
    assert(store.reads - reads <= 4, "what is no id never reaches the store");
  });

  test("a store that fails or hangs: nothing is lost, and the operator is told", async () => {
    const result = text(numbered(1000));
    const errors: unknown[] = [];
    const { call, store, clock } = createWorld(result, { onError: (error) => errors.push(error), timeout: 50 });
    store.mood = "fails";
    assertStrictEquals(await call(), result);
    assertEquals(String(errors), "Error: the disk is on fire");
    store.mood = "hangs";
    assertStrictEquals(await clock.until(call()), result);
    assertEquals(
      String(errors[1]),
      "Error: Cannot reach the store of results: it did not answer within 50 ms",
    );
    assertEquals(clock.waiting, 0);
  });

  test("a result is given whatever becomes of telling that it could not be kept", async () => {
    const result = text(numbered(1000));
    const tellers = [() => Promise.reject(new Error("later")), () => {
      throw new Error("now");
    }];
    for (const onError of tellers) {
      const { call, store } = createWorld(result, { onError });
      store.mood = "fails";
      assertStrictEquals(await call(), result);
    }
    // A rejection that nobody takes fails the run.
    await turns();
  });

  test("a store that takes part of it keeps nothing", async () => {
    const { call, store } = createWorld(text(numbered(1000)), { chunkSize: 300 });
    store.most = 200;
    assertEquals((await call()).content.length, 1);
    assertEquals(store.texts.size, 0);
  });

  test("an abort ends the waiting for the store", async () => {
    const { hub, store } = createWorld(text(numbered(1000)));
    store.mood = "hangs";
    const controller = new AbortController();
    const running = hub.callTool("s__t", {}, { signal: controller.signal });
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 5);
    assertStrictEquals(await running.catch((error: unknown) => error), reason);
  });

  test("waiting for the store leaves no timer and no listener behind", async () => {
    const { hub, call, clock } = createWorld(text(numbered(1000)));
    const uri = uriOf(await call());
    const { waiting } = clock;
    const { signal } = new AbortController();
    let listeners = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...given: Parameters<typeof add>) => (listeners++, add(...given));
    signal.removeEventListener = (...given: Parameters<typeof remove>) => (listeners--, remove(...given));
    for (let turn = 0; turn < 3; turn++) await hub.readResource(uri, { signal });
    assertEquals([clock.waiting, listeners], [waiting, 0]);
    const gone = AbortSignal.abort(new Error("enough"));
    await assertRejects(() => hub.readResource(uri, { signal: gone }), Error, "enough");
  });

  test("unless somebody says more or less, 40,000 characters or 10,000 tokens are shown", async () => {
    const isCut = async (length: number, unit: "characters" | "tokens"): Promise<boolean> =>
      (await createWorld(text("a".repeat(length)), { limit: undefined, unit }).call()).content.length > 1;
    assertEquals([await isCut(40_000, "characters"), await isCut(40_001, "characters")], [false, true]);
    assertEquals([await isCut(20_000, "tokens"), await isCut(80_000, "tokens")], [false, true]);
  });

  test("what is left out is counted, and told beside a text that goes on", async () => {
    const image = { type: "image", mimeType: "image/png", data: "A".repeat(400) } as const;
    const structuredContent = { rows: numbered(50) };
    const one = await createWorld({ content: [image] }, { mediaLimit: 100 }).call();
    assertMatch(JSON.stringify(one.content), /too large: 1 picture, sound or file is left out\./);
    const long = await createWorld({ ...text(numbered(1000)), structuredContent }).call();
    assertMatch(JSON.stringify(long.content), /too large: 100 of 1\d+ characters are shown\./);
  });

  test("without its tool for reading on, a tool of that name is the hub's", async () => {
    const { hub } = createWorld(text("a"));
    assertEquals(hub.findTool("read_result"), undefined);
    const { content } = await hub.callTool("read_result", { uri: "causeway://results/0" });
    assertEquals(content, text('Cannot call "read_result": unknown').content);
  });

  test("a damaged entry is no result", async () => {
    const { hub, call, store } = createWorld(text(numbered(1000)), { chunkSize: 300 });
    const uri = uriOf(await call());
    const key = uri.replace("causeway://", "");
    store.texts.delete(`${key}/1`);
    await assertRejects(() => hub.readResource(uri), InvalidParamsError);
    store.texts.set(key, "no JSON");
    await assertRejects(() => hub.readResource(uri), InvalidParamsError);
  });

  test("all else is the hub inside", async () => {
    const { hub } = createWorld(text("a"));
    assertEquals(await hub.readResource("file:///a"), { contents: [{ uri: "file:///a", text: "A" }] });
    assertEquals(hub.tools().length, 1);
    assertEquals(hub.resources().length, 1);
  });

  test("one that is kept for as long as there are dates, or longer, is cut all the same", async () => {
    for (const lifetime of [8.64e15, Number.MAX_SAFE_INTEGER]) {
      const failed: unknown[] = [];
      const onError = (error: unknown): void => void failed.push(error);
      const { hub, call } = createWorld(text(numbered(1000)), { lifetime, onError });
      const cut = await call();
      assertEquals(failed, []);
      assertMatch(JSON.stringify(cut.content), /100 of 1000 characters are shown.* until \+275760-09-13T00:00:00.000Z/);
      assertEquals((await hub.readResource(uriOf(cut))).contents.length, 1);
    }
  });

  test("options that are no numbers of their kind are refused", () => {
    const store = new TestStore();
    const hub = new FakeHub({});
    for (
      const options of [{ limit: 0 }, { limit: 1.5 }, { mediaLimit: -1 }, { lifetime: NaN }, { mostKept: -1 }, {
        chunkSize: 1,
      }, {
        timeout: 0,
      }]
    ) {
      assertThrows(() => withResultBudget(hub, { store, ...options }), RangeError, "expected a whole number");
    }
  });

  test("without a store, or with a unit that is none, it is refused: nothing would be cut, or after another count", () => {
    const store = new TestStore();
    const hub = new FakeHub({});
    for (const wrong of [{}, { store: null }, { store: {} }, { store: "memory" }]) {
      assertThrows(() => withResultBudget(hub, wrong as never), TypeError, 'expected one with "set"');
    }
    const unit = "token" as "tokens";
    assertThrows(() => withResultBudget(hub, { store, unit }), TypeError, 'unit "token": expected "characters" or');
  });
});

function uriOf(result: CallToolResult): string {
  const cut = result._meta?.[cutKey];
  return typeof cut === "object" && cut !== null && "uri" in cut ? String(cut.uri) : "";
}
