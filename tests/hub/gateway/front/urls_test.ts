import { describe, test } from "node:test";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UrlElicitationRequiredError } from "../../../../mod.ts";
import { McpServer } from "../../../../src/server/mod.ts";
import { createPipe, turns, until } from "../../../support/clients.ts";
import { inMemory, open, textOf } from "../support.ts";

const elicitations = [{
  mode: "url",
  elicitationId: "page-1",
  url: "https://bank.example/consent",
  message: "Say yes there",
}];

/** A server of 2025-11-25 whose tool wants a page to be visited first. */
function bank() {
  const server = new McpServer({ name: "bank", version: "1.0.0" });
  const runs = { count: 0 };
  server.tool("pay", {}, () => {
    if (runs.count++ > 0) return "paid";
    throw new UrlElicitationRequiredError("Visit a page first", { rpcCode: -32042, data: { elicitations } });
  });
  return { ...inMemory(server, { eras: ["legacy"] }), runs };
}

describe("pages that a server of 2025-11-25 wants to be visited (-32042), through a gateway", () => {
  test("a legacy client that cannot be asked is given them, as the server itself would", async () => {
    await using scene = await open({ bank: bank().config });
    const client = await scene.join("legacy");
    const error = await assertRejects(() => client.callTool("bank__pay"), UrlElicitationRequiredError);
    assertEquals([error.rpcCode, error.message, error.data], [-32042, "Visit a page first", { elicitations }]);
    assertEquals(textOf(await client.callTool("bank__pay")), "paid");
  });

  test("so are those whose handlers know forms alone, and several callers at once", async () => {
    const { config } = bank();
    await using scene = await open({ bank: config }, { caller: () => undefined });
    const clients = await Promise.all(
      [1, 2].map(() => scene.join("legacy", { handlers: { elicitation: () => ({ action: "decline" }) } })),
    );
    const errors = await Promise.all(
      clients.map((client) => client.callTool("bank__pay").then(textOf, (error) => error.data)),
    );
    assertEquals(errors, [{ elicitations }, "paid"]);
  });

  for (const era of ["legacy", "modern"] as const) {
    test(`one that can show them is asked in the server's place, and its call goes on when that is done (${era})`, async () => {
      const pipe = createPipe({ era: "legacy" });
      await using scene = await open({ bank: { transport: pipe.transport } });
      const visits: unknown[] = [];
      const client = await scene.join(era, {
        handlers: {
          elicitationUrl: ({ url }) => {
            visits.push(url);
            return { action: "accept" };
          },
        },
      });
      const call = client.callTool("bank__ask_url");
      await until(() => visits.length === 1);
      await turns();
      pipe.server.session.completeElicitation("sign-1");
      assertEquals([textOf(await call), visits], ["signed", ["https://example.com/sign"]]);
    });
  }

  test("a modern client, which knows no such code, is told that it cannot be asked", async () => {
    await using scene = await open({ bank: bank().config });
    const client = await scene.join("modern");
    const result = await client.callTool("bank__pay");
    assertEquals(result.isError, true);
    assertMatch(
      textOf(result),
      /"bank": Visit a page first: it wants pages to be visited first, and the client in front/,
    );
  });
});
