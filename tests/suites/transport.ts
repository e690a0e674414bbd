/**
 * What every transport must do, whichever binding it fills: run by HTTP, memory, stdio, WebSocket and HTTP+SSE.
 *
 * @module
 */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { connect, ConnectionClosedError, McpError } from "../../mod.ts";
import type { Era, JsonRpcMessage, Transport } from "../../mod.ts";
import type { JsonObject, JsonRpcResponse } from "../../src/protocol/json_rpc.ts";

/** What a peer has seen. */
export interface PeerState {
  readonly calls: Readonly<Record<string, number>>;
  readonly cancelled: number;
  readonly violations: readonly string[];
}

/** One transport, new and unused, and the fake peer that it reaches. */
export interface TransportSubject {
  readonly transport: Transport;
  readonly era: Era;
  /** What the peer has seen; undefined where nobody can look into it. */
  state?(): Promise<PeerState>;
  /** Ends what the test started beside the transport. */
  end?(): Promise<void>;
}

/** Runs the suite. `open` is called once for each test. */
export function transportSuite(
  name: string,
  open: () => TransportSubject | Promise<TransportSubject>,
  options: { skip?: string | false } = {},
): void {
  const { skip = false } = options;
  describe(`the transport contract: ${name}`, () => {
    for (const [what, run] of Object.entries(contract)) {
      test(what, { skip }, async () => {
        const subject = await open();
        const line = new Line(subject);
        try {
          await line.handshake();
          await run(line);
          await subject.transport.close();
          const { violations } = await subject.state?.() ?? { violations: [] };
          assertEquals(violations, []);
        } finally {
          await subject.transport.close();
          await subject.end?.();
        }
      });
    }
    test("a client does all its work over it", { skip }, async () => {
      const subject = await open();
      try {
        const client = await connect(subject.transport);
        assertEquals(client.era, subject.era);
        const { tools } = await client.listTools();
        assert(tools.some(({ name }) => name === "echo"));
        assertEquals((await client.callTool("add", { a: 2, b: 3 })).structuredContent, { sum: 5 });
        const stream = client.listen({ tools: true });
        await stream.acknowledged;
        await client.close();
      } finally {
        await subject.end?.();
      }
    });
  });
}

const contract: Record<string, (line: Line) => Promise<void>> = {
  "a request's answer comes on its own exchange, last": async (line) => {
    const call = line.call("echo", { text: "héllo ☃ 𝄞 \u2028" });
    assertEquals(line.textOf(await call.answer), "héllo ☃ 𝄞 \u2028");
    assertEquals(call.answers(), 1);
  },

  "a hundred at once get their own": async (line) => {
    const calls = Array.from({ length: 100 }, (_, index) => line.call("echo", { text: `${index}` }));
    const texts = await Promise.all(calls.map(async ({ answer }) => line.textOf(await answer)));
    assertEquals(texts, calls.map((_, index) => `${index}`));
    for (const call of calls) assertEquals(call.answers(), 1);
  },

  "notifications come before the answer, on the exchange of their request": async (line) => {
    const calls = [3, 5].map((count) => ({ count, call: line.call("progress", { count }) }));
    for (const { count, call } of calls) {
      assertEquals(line.textOf(await call.answer), `progressed ${count}`);
      assertEquals(call.notes(), Array.from({ length: count }, (_, index) => index + 1));
    }
  },

  "an error of the server's own is an answer": async (line) => {
    const { error } = await line.call("crash", {}).answer;
    assertEquals(error?.code, -32603);
  },

  "a megabyte goes both ways": async (line) => {
    const text = "é".repeat(500_000);
    assert(line.textOf(await line.call("echo", { text }).answer) === text);
  },

  "a notification has no answer: its exchange only ends, without a reason": async (line) => {
    const ended = await new Promise<McpError | undefined>((resolve) => {
      line.transport.send(line.notification("notifications/com.example", { a: 1 }), {
        message: () => resolve(new McpError("a message came")),
        end: (reason) => resolve(reason),
      }, line.options("notifications/com.example", {}));
    });
    assertEquals(ended, undefined);
    assertEquals(line.textOf(await line.call("echo", { text: "on" }).answer), "on");
  },

  "what is called off brings nothing any more; the server stops": async (line) => {
    const call = line.call("slow", {});
    await line.reached("slow", 1);
    call.cancel(new Error("enough"));
    call.cancel(new Error("twice"));
    if (line.subject.state) await line.until(async () => (await line.subject.state?.())?.cancelled === 1);
    assertEquals(line.textOf(await line.call("echo", { text: "on" }).answer), "on");
    assertEquals(call.answers(), 0);
  },

  "calling off what is over is harmless": async (line) => {
    const call = line.call("echo", { text: "a" });
    await call.answer;
    call.cancel(new Error("late"));
    assertEquals(line.textOf(await line.call("echo", { text: "b" }).answer), "b");
    const { cancelled } = await line.subject.state?.() ?? { cancelled: 0 };
    assertEquals(cancelled, 0);
  },

  "closing ends all that waits, each once, with a reason; closing again is harmless": async (line) => {
    const calls = Array.from({ length: 5 }, () => line.call("slow", {}));
    await line.reached("slow", 5);
    await line.transport.close();
    await line.transport.close();
    for (const call of calls) {
      assert(await call.failed instanceof ConnectionClosedError);
      assertEquals(call.answers(), 0);
    }
  },

  "a closed transport takes nothing more, and says that nothing was sent": async (line) => {
    await line.transport.close();
    const call = line.call("echo", { text: "late" });
    const reason = await call.failed;
    assert(reason instanceof ConnectionClosedError);
    assertEquals(reason.delivery, "not-sent");
    call.cancel(undefined);
  },

  "its label tells people who it is, without secrets": (line) => {
    const { label, kind } = line.transport;
    assert(label.length > 0 && !/hunter2|\?/.test(label), label);
    assert(kind === "http" || kind === "channel");
    return Promise.resolve();
  },
};

/** One request under way. */
interface RunningCall {
  readonly answer: Promise<JsonRpcResponse>;
  /** Why it ended without an answer. */
  readonly failed: Promise<McpError | undefined>;
  answers(): number;
  /** The values of its progress. */
  notes(): unknown[];
  cancel(reason: unknown): void;
}

/** Speaks plain messages over a transport, as a session of its era would. */
class Line {
  readonly subject: TransportSubject;
  readonly transport: Transport;
  #count = 0;
  #agreed: Record<string, string> = {};

  constructor(subject: TransportSubject) {
    this.subject = subject;
    this.transport = subject.transport;
  }

  async handshake(): Promise<void> {
    if (this.subject.era === "modern") return;
    const clientInfo = { name: "suite", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const { result } = await this.send("initialize", params).answer;
    this.#agreed = { "MCP-Protocol-Version": String(result?.protocolVersion) };
    const method = "notifications/initialized";
    await new Promise<void>((resolve) => {
      this.transport.send(
        this.notification(method, {}),
        { message() {}, end: () => resolve() },
        this.options(method, {}),
      );
    });
  }

  call(name: string, args: JsonObject): RunningCall {
    return this.send("tools/call", { name, arguments: args });
  }

  send(method: string, params: JsonObject): RunningCall {
    const id = `${++this.#count}`;
    let answers = 0;
    const notes: unknown[] = [];
    let resolve: (answer: JsonRpcResponse) => void = () => {};
    let fail: (reason: McpError | undefined) => void = () => {};
    const answer = new Promise<JsonRpcResponse>((done) => resolve = done);
    const failed = new Promise<McpError | undefined>((done) => fail = done);
    const message: JsonRpcMessage = { jsonrpc: "2.0", id, method, params: this.#dressed(params, id) };
    const cancel = this.transport.send(message, {
      message(got) {
        if (!("method" in got)) {
          answers++;
          resolve(got);
        } else if (got.method === "notifications/progress") notes.push(got.params?.progress);
      },
      end: (reason) => fail(reason),
    }, this.options(method, params));
    return { answer, failed, answers: () => answers, notes: () => notes, cancel };
  }

  notification(method: string, params: JsonObject): JsonRpcMessage {
    return { jsonrpc: "2.0", method, params: this.#dressed(params, undefined) };
  }

  options(method: string, { name }: JsonObject): { headers?: Record<string, string>; legacy?: boolean } {
    if (this.subject.era === "legacy") return { legacy: true, headers: this.#agreed };
    const headers: Record<string, string> = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method };
    if (typeof name === "string") headers["Mcp-Name"] = name;
    return { headers };
  }

  textOf({ result, error }: JsonRpcResponse): string {
    const content = result?.content;
    const [first] = Array.isArray(content) ? content : [];
    if (typeof first === "object" && first !== null && !Array.isArray(first)) return String(first.text);
    return JSON.stringify(error ?? result);
  }

  /** Waits until a tool runs so often, where the peer can be looked into; else for a moment. */
  async reached(tool: string, count: number): Promise<void> {
    if (!this.subject.state) return await new Promise((resolve) => void setTimeout(resolve, 30));
    await this.until(async () => (await this.subject.state?.())?.calls[tool] === count);
  }

  async until(condition: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + 20_000;
    for (let turn = 0; turn < 400 || performance.now() < end; turn++) {
      if (await condition()) return;
      await new Promise((resolve) => void setTimeout(resolve, turn < 50 ? 0 : 5));
    }
    throw new Error("it did not happen");
  }

  #dressed(params: JsonObject, progressToken: string | undefined): JsonObject {
    const prefix = "io.modelcontextprotocol/";
    const token = progressToken === undefined ? {} : { progressToken };
    if (this.subject.era === "legacy") return { ...params, _meta: token };
    return {
      ...params,
      _meta: {
        ...token,
        [`${prefix}protocolVersion`]: "2026-07-28",
        [`${prefix}clientCapabilities`]: {},
        [`${prefix}clientInfo`]: { name: "suite", version: "1" },
      },
    };
  }
}
