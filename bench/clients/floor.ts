/**
 * The floor: the least that a program can do to call a tool. `fetch` or a pipe, and `JSON`; nothing is checked, nothing
 * times out, nothing is cleaned up after a failure.
 */
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import process from "node:process";
import type { BenchCallOptions, BenchClient, BenchTarget } from "./client.ts";
import { firstText } from "./client.ts";

/** Makes the floor for either binding. */
export function createClient(): BenchClient {
  let client: BenchClient;
  return {
    connect(target) {
      client = target.kind === "http" ? httpFloor() : pipeFloor();
      return client.connect(target);
    },
    call: (name, args, options) => client.call(name, args, options),
    list: () => client.list(),
    close: () => client.close(),
  };
}

const prefix = "io.modelcontextprotocol/";
const envelope = {
  [`${prefix}protocolVersion`]: "2026-07-28",
  [`${prefix}clientInfo`]: { name: "floor", version: "1.0.0" },
  [`${prefix}clientCapabilities`]: {},
};

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
}

type Parameters = Record<string, unknown>;

function withEnvelope(params: Parameters, token: number | undefined): Parameters {
  return {
    ...params,
    _meta: token === undefined ? envelope : { ...envelope, progressToken: token },
  };
}

function httpFloor(): BenchClient {
  let url = "";
  let id = 0;
  async function request(method: string, params: Parameters, options?: BenchCallOptions): Promise<unknown> {
    id++;
    const name = typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {};
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...name,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id,
        method,
        params: withEnvelope(params, options?.onProgress && id),
      }),
    });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    const answer: Answer = isStream ? await readStream(response, options) : JSON.parse(await response.text());
    return answer.result;
  }
  return {
    connect(target) {
      if (target.kind === "http") url = target.url;
      return Promise.resolve();
    },
    call: async (name, args, options) => firstText(await request("tools/call", { name, arguments: args }, options)),
    list: async () => countTools(await request("tools/list", {})),
    close: () => Promise.resolve(),
  };
}

async function readStream(response: Response, options: BenchCallOptions | undefined): Promise<Answer> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let rest = "";
  let answer: Answer = {};
  for (let read; reader && !(read = await reader.read()).done;) {
    const lines = (rest + decoder.decode(read.value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data: ")) continue;
      const message: Answer = JSON.parse(line.slice(6));
      if (message.method === undefined) answer = message;
      else options?.onProgress?.();
    }
  }
  return answer;
}

/** `node:child_process` in all three: in Bun and Deno too it costs less than or as much as their own. */
function pipeFloor(): BenchClient {
  const pipe = new Pipe();
  return {
    connect: (target) => pipe.open(target),
    call: async (name, args, options) =>
      firstText(await pipe.request("tools/call", { name, arguments: args }, options)),
    list: async () => countTools(await pipe.request("tools/list", {})),
    close: () => pipe.close(),
  };
}

class Pipe {
  readonly #pending = new Map<number, { resolve: (result: unknown) => void; options?: BenchCallOptions | undefined }>();
  #child: ChildProcessWithoutNullStreams | undefined;
  #modern = false;
  #id = 0;

  async open(target: BenchTarget): Promise<void> {
    if (target.kind === "http") return;
    this.#modern = target.era !== "legacy";
    this.#child = spawn(target.command, [...target.args], { stdio: "pipe", env: { PATH: process.env["PATH"] } });
    this.#child.stdout.on("data", lineReader((line) => this.#take(line)));
    if (this.#modern) return;
    const clientInfo = { name: "floor", version: "1.0.0" };
    await this.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.#child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  request(method: string, params: Parameters, options?: BenchCallOptions): Promise<unknown> {
    return new Promise((resolve) => {
      const id = ++this.#id;
      this.#pending.set(id, { resolve, options });
      const sent = this.#modern ? withEnvelope(params, options?.onProgress && id) : params;
      this.#child?.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: sent })}\n`);
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#child?.once("close", () => resolve());
      this.#child?.stdin.end();
    });
  }

  #take(line: string): void {
    const message: Answer & { params?: { progressToken?: number } } = JSON.parse(line);
    const key = message.id ?? message.params?.progressToken ?? 0;
    if (message.method !== undefined) return this.#pending.get(key)?.options?.onProgress?.();
    this.#pending.get(key)?.resolve(message.result);
    this.#pending.delete(key);
  }
}

/** Keeps the parts of a long line and joins them once: the way that is not quadratic in its length. */
function lineReader(take: (line: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  return (chunk) => {
    const text = decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end; (end = text.indexOf("\n", start)) >= 0; start = end + 1) {
      parts.push(text.slice(start, end));
      const line = parts.length === 1 ? (parts[0] ?? "") : parts.join("");
      parts = [];
      take(line);
    }
    if (start < text.length) parts.push(text.slice(start));
  };
}

function countTools(result: unknown): number {
  return (result as { tools: unknown[] }).tools.length;
}
