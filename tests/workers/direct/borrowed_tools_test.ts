/** What an isolate has borrowed: never used by other settings than it was lent for, and given back when it is not used. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { sha256 } from "../../../src/protocol/web_crypto.ts";
import { BorrowedTools } from "../../../workers/direct/borrowed_tools.ts";
import type { DirectRequest, DirectTools, Loan } from "../../../workers/direct/loan.ts";
import type { RunnerEnv } from "../../../workers/env.ts";
import type { TenantSettings } from "../../../workers/operator/config.ts";

type Lend = Extract<DirectRequest, { ask: "lend" }>;

function settingsOf(token: string): TenantSettings {
  const servers = { data: { url: "https://data.example/mcp", headers: { authorization: token } } };
  return { servers, agents: {}, text: JSON.stringify(servers) };
}

/** The same tools by each of the settings: headers are in none of them. */
const tools: DirectTools = {
  servers: [{
    name: "data",
    listedAt: 1,
    tools: [{ name: "read", inputSchema: { type: "object" } }],
    resources: [],
    templates: [],
    prompts: [],
  }],
  names: [["data__read", "data", "read"]],
};

/** An object that answers each question as it is told to, and what it was asked. */
function envOf(answer: (asked: Lend) => Promise<Response>): { readonly env: RunnerEnv; readonly asked: Lend[] } {
  const asked: Lend[] = [];
  const object = {
    async fetch(request: Request): Promise<Response> {
      const one: Lend = await request.json();
      asked.push(one);
      return await answer(one);
    },
  };
  const TENANTS = { idFromName: (name: string) => name, get: () => object };
  return { env: { RUNNER_SECRET: "a secret of 32 characters or more", TENANTS } as unknown as RunnerEnv, asked };
}

async function loan({ text }: TenantSettings, { known, wanted }: Lend): Promise<Response> {
  const lent: Loan = { allowance: wanted, settings: await sha256(text), version: "1", ...(known !== "1" && { tools }) };
  return Response.json(lent);
}

const [old, rotated] = [settingsOf("old"), settingsOf("new")];

describe("what was borrowed", () => {
  test("by other settings is not used again where the object could not be asked in between", async () => {
    let isDown = false;
    const { env, asked } = envOf((one) =>
      isDown ? Promise.resolve(new Response(null, { status: 503 })) : loan(asked.length === 1 ? old : rotated, one)
    );
    const borrowed = new BorrowedTools("acme");
    await borrowed.borrow(env, old);
    isDown = true;
    await assertRejects(() => borrowed.borrow(env, rotated), Error, "503");
    isDown = false;
    await borrowed.borrow(env, rotated);
    // What it knows is of the settings before: its headers are old.
    assertEquals(asked.map(({ known }) => known), [undefined, undefined, undefined]);
    assertEquals(borrowed.find("data__read", rotated)?.name, "read");
    assertEquals(borrowed.find("data__read", old), undefined);
    await borrowed.borrow(env, rotated);
    assertEquals(asked.at(-1)?.known, "1");
    assertEquals(borrowed.find("data__read", rotated)?.name, "read");
  });

  test("is what was asked for last, also when an answer before it comes late", async () => {
    const late: (() => void)[] = [];
    const { env, asked } = envOf(async (one) => {
      if (asked.length > 1) return await loan(rotated, { ...one, wanted: { ...one.wanted, requests: 3 } });
      await new Promise<void>((resolve) => late.push(resolve));
      return await loan(old, { ...one, wanted: { ...one.wanted, requests: 16 } });
    });
    const borrowed = new BorrowedTools("acme");
    const first = borrowed.borrow(env, old);
    while (!late.length) await new Promise((resolve) => setTimeout(resolve, 0));
    await borrowed.borrow(env, rotated);
    const hub = borrowed.take(() => 0)?.hub;
    late[0]?.();
    await first;
    assertEquals(borrowed.take(() => 0)?.hub === hub, true);
    assertEquals(borrowed.find("data__read", rotated)?.name, "read");
    // What came too late is given back: 16 of then, and what is left of 3.
    await borrowed.borrow(env, rotated);
    assertEquals(asked.at(-1)?.left.requests, 16 + 1);
  });

  test("is given back where the object goes by other settings", async () => {
    const { env, asked } = envOf((one) => loan(old, one));
    const borrowed = new BorrowedTools("acme");
    await borrowed.borrow(env, rotated);
    assertEquals([borrowed.find("data__read", rotated), borrowed.take(() => 0)], [undefined, undefined]);
    const { wanted } = asked[0]!;
    await borrowed.borrow(env, rotated);
    assertEquals(asked.at(-1)?.left, { requests: wanted.requests, bytes: wanted.bytes });
  });

  test("is counted: calls under way, calls, and their bytes, each once; what is used up is asked for fourfold", async () => {
    const allowances = [{ requests: 3, bytes: 100, concurrent: 1 }, { requests: 0, bytes: 0, concurrent: 0 }];
    const { env, asked } = envOf(async (one) => {
      const wanted = allowances[asked.length - 1] ?? one.wanted;
      return await loan(old, { ...one, wanted });
    });
    const borrowed = new BorrowedTools("acme");
    assertEquals([borrowed.isIdle, borrowed.isDue(old)], [true, true]);
    await borrowed.borrow(env, old);
    const first = borrowed.take(() => 60);
    assertEquals([first === undefined, borrowed.take(() => 1), borrowed.find("data__read", old)], [
      false,
      undefined,
      undefined,
    ]);
    first?.release();
    first?.release();
    assertEquals(borrowed.find("data__read", old)?.name, "read");
    borrowed.take(() => 60)?.release();
    // Of its calls one is left, of its bytes none.
    assertEquals([borrowed.find("data__read", old), borrowed.take(() => 1), borrowed.isDue(old)], [
      undefined,
      undefined,
      false,
    ]);
    await borrowed.borrow(env, old);
    assertEquals(asked.at(-1)?.left, { requests: 1, bytes: -20 });
    // Nothing is to be had: it is not asked for again before its time.
    assertEquals([borrowed.take(() => 1), borrowed.isDue(old), borrowed.isDue(rotated)], [undefined, false, true]);
    await borrowed.borrow(env, old);
    const { wanted } = asked.at(-1)!;
    for (let call = 0; call < wanted.requests; call++) borrowed.take(() => 0)?.release();
    assertEquals([borrowed.take(() => 0), borrowed.isDue(old)], [undefined, true]);
    await borrowed.borrow(env, old);
    assertEquals(asked.at(-1)?.wanted, { requests: 64, bytes: 64 * 65_536, concurrent: 64 });
    assertEquals(asked.at(-1)?.left, { requests: 0, bytes: wanted.bytes });
  });

  test("ends in its time, also when the clock is turned back", async () => {
    const { env } = envOf((one) => loan(old, one));
    const borrowed = new BorrowedTools("acme");
    const { now } = Date;
    try {
      const start = now();
      await borrowed.borrow(env, old);
      assertEquals([borrowed.isDue(old), borrowed.find("data__read", old)?.name], [false, "read"]);
      for (const jump of [10_001, -3_600_000]) {
        Date.now = () => start + jump;
        assertEquals([borrowed.isDue(old), borrowed.find("data__read", old)], [true, undefined], String(jump));
      }
    } finally {
      Date.now = now;
    }
  });
});
