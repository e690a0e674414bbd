import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createGateway } from "../../../../src/hub/gateway/mod.ts";
import { joinInstructions } from "../../../../src/hub/gateway/lists/instructions.ts";
import { InvalidParamsError } from "../../../../src/protocol/errors.ts";
import type { JsonObject } from "../../../../src/protocol/json_rpc.ts";
import type { RequestContext } from "../../../../src/server/definitions.ts";
import { openHub } from "../../support.ts";
import { all, open } from "../support.ts";

describe("a gateway that is asked", () => {
  test("for what makes no sense says what is wrong with it, and asks no server", async () => {
    const one = all("one", "modern");
    await using scene = await open({ one: one.config });
    const context = { signal: new AbortController().signal } as RequestContext;
    const [ref, argument] = [{ type: "ref/prompt", name: "one__greet" }, { name: "who", value: "" }];
    const cases: readonly (readonly [method: string, params: JsonObject, wrong: string])[] = [
      ["tools/call", { name: 1 }, '"name" is number, expected text'],
      ["tools/call", { name: "one__sum", arguments: 1 }, '"arguments" is not an object'],
      ["prompts/get", { name: "one__greet", arguments: { who: 1 } }, '"arguments" is not texts by their names'],
      ["resources/read", {}, '"uri" is undefined, expected text'],
      ["completion/complete", { argument }, '"ref" is not an object'],
      ["completion/complete", { ref }, '"argument" is not an object'],
      ["completion/complete", { ref, argument: { name: "who" } }, '"value" is undefined, expected text'],
      [
        "completion/complete",
        { ref: { type: "ref/tool" }, argument },
        '"ref.type" is not "ref/prompt" or "ref/resource"',
      ],
      [
        "completion/complete",
        { ref, argument, context: { arguments: { a: 1 } } },
        '"context.arguments" is not texts by their names',
      ],
    ];
    for (const [method, params, wrong] of cases) {
      const error = await assertRejects(async () => {
        await scene.gateway.methods.run(method, params, context);
      }, InvalidParamsError);
      assertEquals([error.message, error.rpcCode], [`Cannot read the parameters: ${wrong}`, -32602]);
    }
    assertEquals(one.runs.count, 0);
    assertEquals(scene.gateway.methods.run("tools/none", {}, context), undefined);
  });

  test("who it is says what its options say, and no more", async () => {
    await using hub = await openHub({});
    const info = {
      name: "all",
      version: "1.2.3",
      title: "All of them",
      description: "Every server",
      icons: [{ src: "https://a.test/icon.png" }],
      websiteUrl: "https://a.test/",
    };
    await using full = createGateway(hub, info);
    assertEquals(full.methods.info, info);
    await using plain = createGateway(hub, { name: "all", version: "1.2.3" });
    assertEquals(plain.methods.info, { name: "all", version: "1.2.3" });
  });

  test("how to use many servers tells of those that find room, and how many do not", () => {
    const none = { listedAt: 1, tools: [], resources: [], templates: [], prompts: [] };
    const said = (count: number) =>
      joinInstructions(
        "Ours",
        Array.from({ length: count }, (_, at) => ({ ...none, name: `s${at}`, instructions: "x".repeat(3_000) })),
      ) ?? "";
    const [seven, eight, many] = [said(7), said(8), said(20)];
    assertEquals(seven.match(/^# s/gm)?.length, 7);
    assert(!seven.includes("no room"), seven.slice(-100));
    assertEquals(eight.match(/^# s/gm)?.length, 7);
    assert(eight.endsWith("\n\n(1 more server has instructions that found no room here)"), eight.slice(-100));
    assert(many.endsWith("\n\n(13 more servers have instructions that found no room here)"), many.slice(-100));
    assert(many.length < 16_200, `${many.length} characters`);
  });
});
