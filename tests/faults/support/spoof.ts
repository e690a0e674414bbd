/**
 * Many calls at once to a server that mixes its answers up. Whatever it does, no call may be given the answer of another.
 *
 * @module
 */
import { type Channel, type ChannelReceiver, ChannelTransport, connect, McpError } from "../../../mod.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { createPipeServer, type PipeServer } from "../../servers/pipe.ts";
import { textOf } from "./harness.ts";

/** What became of the calls. */
export interface SpoofCount {
  /** Answered with their own text. */
  right: number;
  /** Rejected with an error of this library. */
  rejected: number;
  /** Answered with another's text: has to be 0. */
  wrong: number;
  /** Anything else. */
  strange: string[];
}

/** How a server mixes the answers of one batch: which answer goes to the stream of which call. */
export type Mix = "swap-all" | "foreign-first" | "some-swapped";

const batch = 20;

/** Over HTTP: answers are given to the streams of other calls. */
export async function spoofStreams(count: number, mix: Mix): Promise<SpoofCount> {
  const healthy = createModernServer({ keep: 0 });
  const waiting: { answer: string; resolve(response: Response): void }[] = [];
  const server = {
    async fetch(request: Request): Promise<Response> {
      const text = await request.clone().text();
      if (!text.includes('"method":"tools/call"')) return await healthy.fetch(request);
      const answer = await (await healthy.fetch(request)).text();
      const response = new Promise<Response>((resolve) => void waiting.push({ answer, resolve }));
      if (waiting.length === batch) release(waiting.splice(0), mix);
      return await response;
    },
  };
  const client = await connect("http://fake.test/mcp", { fetch: memoryFetch(server) });
  const counted = await inBatches(count, (text) => client.callTool("echo", { text }));
  await client.close();
  return counted;
}

/** On a pipe: answers come in another order, doubled, and beside answers that nobody asked for. */
export async function spoofPipe(count: number): Promise<SpoofCount> {
  const transport = new ChannelTransport(() => new MixingChannel(), { limits: { strays: 10 * count } });
  const client = await connect(transport, { limits: { strays: 10 * count } });
  const counted = await inBatches(count, (text) => client.callTool("echo", { text }));
  await client.close();
  return counted;
}

async function inBatches(
  count: number,
  call: (text: string) => Promise<Parameters<typeof textOf>[0]>,
): Promise<SpoofCount> {
  const counted: SpoofCount = { right: 0, rejected: 0, wrong: 0, strange: [] };
  for (let from = 0; from < count; from += batch) {
    await Promise.all(Array.from({ length: batch }, async (_, index) => {
      const own = `canary ${from + index}`;
      try {
        if (textOf(await call(own)) === own) counted.right++;
        else counted.wrong++;
      } catch (error) {
        if (error instanceof McpError) counted.rejected++;
        else counted.strange.push(String(error));
      }
    }));
  }
  return counted;
}

function release(items: { answer: string; resolve(response: Response): void }[], mix: Mix): void {
  for (const [index, { answer, resolve }] of items.entries()) {
    const other = items[(index + 7) % items.length]?.answer ?? "";
    const swapped = mix === "swap-all" || (mix === "some-swapped" && index % 2 === 0);
    const texts = mix === "foreign-first" ? [other, answer] : [swapped ? other : answer];
    const body = texts.map((text) => `data: ${text}\n\n`).join("");
    resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  }
}

/** Holds the answers of a batch back, and gives them in another order with doubles and inventions. */
class MixingChannel implements Channel {
  readonly label = "mixing";
  readonly #held: string[] = [];
  #receiver: ChannelReceiver | undefined;
  #server: PipeServer | undefined;

  open(receiver: ChannelReceiver): Promise<void> {
    this.#receiver = receiver;
    this.#server = createPipeServer({ era: "modern", keep: 0, send: (text) => this.#answer(text) });
    return Promise.resolve();
  }

  write(messages: readonly string[]): void {
    for (const text of messages) this.#server?.receive(text);
  }

  close(): Promise<void> {
    this.#server?.close();
    return Promise.resolve();
  }

  #answer(text: string): void {
    if (!text.includes("canary")) return void queueMicrotask(() => this.#receiver?.text(text));
    if (this.#held.push(text) < batch) return;
    const held = this.#held.splice(0);
    queueMicrotask(() => {
      for (let index = 0; index < held.length; index++) {
        const answer = held[(index * 7) % held.length] ?? "";
        this.#receiver?.text(answer.replace(/"id":\d+/, `"id":${index}`)); // as a server that counts itself
        this.#receiver?.text(answer.replace(/"id":(\d+)/, '"id":"$1"'));
        this.#receiver?.text(answer);
        this.#receiver?.text(answer);
      }
    });
  }
}
