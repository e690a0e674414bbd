/** Endpoints of models in memory, and ways to read answers. */
import { assertRejects } from "@std/assert";
import { LanguageModelError, openAiModel } from "../../../src/agent/mod.ts";
import type {
  AiSdkLanguageModel,
  LanguageModel,
  LanguageModelPart,
  LanguageModelRequest,
  LanguageModelTool,
  OpenAiModelOptions,
} from "../../../src/agent/mod.ts";
import type { Fetch, Random } from "../../../src/ports.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";

const encoder = new TextEncoder();

/** A question without anything special. */
export const hello: LanguageModelRequest = { messages: [{ role: "user", content: "hello" }] };

/** A tool that takes anything. */
export function tool(name: string, properties: LanguageModelTool["inputSchema"] = {}): LanguageModelTool {
  return { name, description: `Does ${name}`, inputSchema: { type: "object", properties } };
}

/** Chance that gives the same bytes each time, one more with each call. */
export function countingRandom(): Random {
  let next = 0;
  return { fraction: () => 0, bytes: (count) => new Uint8Array(count).fill(++next) };
}

/** Values as server-sent events; texts stand as they are. */
export function events(...values: unknown[]): string {
  return values.map((value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`).join("");
}

/** A chunk of a chat completion. */
export function delta(delta: object, reason: string | null = null): object {
  return { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] };
}

/** A body in pieces, each given when it is asked for; `cancelled` is told when it is given up. */
export function body(
  pieces: Iterable<string | Uint8Array>,
  cancelled: () => void = () => {},
): ReadableStream<Uint8Array> {
  const source = pieces[Symbol.iterator]();
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = source.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
    },
    cancel: cancelled,
  }, { highWaterMark: 0 });
}

/** A reply with a stream of events. */
export function streamed(...pieces: (string | Uint8Array)[]): Response {
  return new Response(body(pieces), { headers: { "content-type": "text/event-stream" } });
}

/** What an endpoint was sent. */
export interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- each test looks at other fields
  readonly body: any;
}

/** An endpoint that gives these replies in order, and what it was sent. */
export function endpoint(...replies: (Response | (() => Response | Promise<Response>))[]): {
  fetch: Fetch;
  sent: Sent[];
} {
  const sent: Sent[] = [];
  const left = [...replies];
  return {
    sent,
    async fetch(url, init) {
      const text = await new Response(init.body).text();
      sent.push({ url, init, headers: new Headers(init.headers), body: JSON.parse(text) });
      const next = left.shift();
      if (next === undefined) throw new Error("The endpoint has no further reply");
      return typeof next === "function" ? await next() : next;
    },
  };
}

/** A model at an endpoint that replies so. */
export function modelAt(
  reply: Response | (() => Response | Promise<Response>),
  options: Partial<OpenAiModelOptions> = {},
): LanguageModel {
  const { fetch } = endpoint(reply);
  return openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch, random: countingRandom(), ...options });
}

/** All parts of an answer; texts that follow each other are one. */
export async function collect(stream: AsyncIterable<LanguageModelPart>): Promise<LanguageModelPart[]> {
  const parts: LanguageModelPart[] = [];
  for await (const part of stream) {
    const last = parts.at(-1);
    if (last && (part.type === "text" || part.type === "reasoning") && last.type === part.type) {
      parts.splice(-1, 1, { type: part.type, text: last.text + part.text });
    } else parts.push(part);
  }
  return parts;
}

/** Asks, and gives the error that comes. */
export function refused(
  model: LanguageModel,
  part = "",
  request: LanguageModelRequest = hello,
): Promise<LanguageModelError> {
  return assertRejects(() => collect(model.stream(request)), LanguageModelError, part);
}

/** An answer of an endpoint. */
export const ended = (): Response => streamed(events(delta({ content: "ok" }, "stop"), "[DONE]"));

/** What a model of the AI SDK was asked. */
export interface SdkAsked {
  readonly prompt: JsonObject[];
  readonly tools?: JsonObject[] | undefined;
  readonly responseFormat?: JsonObject | undefined;
}

/** A model of the AI SDK, and what it was asked. */
export function sdk(...answers: object[][]): { model: AiSdkLanguageModel; asked: SdkAsked[] } {
  const asked: SdkAsked[] = [];
  const model: AiSdkLanguageModel = {
    specificationVersion: "v3",
    provider: "test",
    modelId: "m",
    doStream(options) {
      const { prompt, tools, responseFormat } = options as SdkAsked;
      asked.push(structuredClone({ prompt, tools, responseFormat }));
      return Promise.resolve({ stream: ReadableStream.from(answers.shift() ?? []) as ReadableStream<unknown> });
    },
  };
  return { model, asked };
}

/** The last part of an answer of the AI SDK. */
export const finish: JsonObject = { type: "finish", finishReason: { unified: "stop" }, usage: {} };

/** The parts of an answer of the AI SDK. */
export const said = (delta: string): object[] => [{ type: "text-delta", id: "1", delta }, finish];
