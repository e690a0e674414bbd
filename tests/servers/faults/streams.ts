/**
 * Faults in time and order of bytes: streams that end, break, stall or drip. And quirks: streams that are right, though
 * few servers write them so.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../core/wire.ts";
import { events, type Fault, type FaultContext, made, never, text } from "./fault.ts";

/** Faults of streams. */
export type StreamFault =
  | "ends-without-answer"
  | "ends-after-progress"
  | "empty-stream"
  | "truncated-event"
  | "truncated-json"
  | "breaks-at-once"
  | "breaks-mid-event"
  | "breaks-after-event-id"
  | "network-error"
  | "headers-never"
  | "stalls"
  | "drip"
  | "retry-zero"
  | "retry-huge"
  | "get-closes";

/** Streams that are right. */
export type Quirk =
  | "quirk-cr"
  | "quirk-crlf"
  | "quirk-mixed-ends"
  | "quirk-comments"
  | "quirk-byte-by-byte"
  | "quirk-data-lines"
  | "quirk-other-events"
  | "quirk-event-message"
  | "quirk-bom"
  | "quirk-json-bom"
  | "quirk-no-space"
  | "quirk-content-type"
  | "quirk-empty-data"
  | "quirk-unknown-fields"
  | "quirk-result-type-missing"
  | "quirk-more-after-answer";

/** The faults by name. */
export const streamFaults: Readonly<Record<StreamFault, Fault>> = {
  "ends-without-answer": after(() => events([])),
  "ends-after-progress": after(() => events([notification])),
  "empty-stream": { reply: () => text("", "text/event-stream") },
  "truncated-event": after((response) => text(`data: ${JSON.stringify(response)}`, "text/event-stream")),
  "truncated-json": after((response) => text(JSON.stringify(response).slice(0, 20))),
  "breaks-at-once": after((_response, context) => broken(context, "")),
  "breaks-mid-event": after((response, context) => broken(context, `data: ${JSON.stringify(response).slice(0, 30)}`)),
  "breaks-after-event-id": { resumption: true, reply: breaksAfterId },
  "network-error": { reply: () => Promise.reject(new TypeError("fetch failed")) },
  "headers-never": { reply: ({ request }) => untilAborted(request) },
  "stalls": { reply: (context) => stalling(context, "") },
  "drip": { reply: drip },
  "retry-zero": { resumption: true, reply: () => text("id: s1_1\nretry: 0\ndata: \n\n", "text/event-stream") },
  "retry-huge": {
    resumption: true,
    reply: () => text("id: s1_1\nretry: 99999999999\ndata: \n\n", "text/event-stream"),
  },
  "get-closes": { on: "GET", reply: () => text("id: s0_1\nretry: 0\ndata: \n\n", "text/event-stream") },
};

/** The quirks by name. */
export const quirks: Readonly<Record<Quirk, Fault>> = {
  "quirk-cr": written((json) => `data: ${json}\r\r`),
  "quirk-crlf": written((json) => `event: message\r\ndata: ${json}\r\n\r\n`),
  "quirk-mixed-ends": written((json) => `: a\r\nid: 1\rdata: ${json}\n\r\n`),
  "quirk-comments": written((json) => `:\n: keep-alive\n\n:\ndata: ${json}\n: in between\n\n: after\n\n`),
  "quirk-byte-by-byte": after((response, { meter }) => {
    const bytes = new TextEncoder().encode(`data: ${JSON.stringify(response)}\n\n`);
    const body = made(meter, (index) => index < bytes.length ? bytes.slice(index, index + 1) : undefined);
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }),
  "quirk-data-lines": after((response) => {
    const lines = JSON.stringify(response, null, 1).split("\n").map((line) => `data: ${line}\n`).join("");
    return text(`${lines}\n`, "text/event-stream");
  }),
  "quirk-other-events": written((json) =>
    `event: weather\ndata: {"sun":true}\n\nevent: ping\ndata: 1\n\ndata: ${json}\n\n`
  ),
  "quirk-event-message": written((json) => `event: message\nid: 7\ndata: ${json}\n\n`),
  "quirk-bom": written((json) => `\ufeffdata: ${json}\n\n`),
  "quirk-json-bom": after((response) => text("\ufeff" + JSON.stringify(response))),
  "quirk-no-space": written((json) => `data:${json}\n\n`),
  "quirk-content-type": after((response) => text(JSON.stringify(response), "Application/JSON ; charset=UTF-8")),
  "quirk-empty-data": written((json) => `data\n\nid: 3\ndata: \n\nid: 4\n\ndata: ${json}\n\n`),
  "quirk-unknown-fields": written((json) => `foo: bar\nfoo\n:data: no\nid: 1\u0000\nretry: soon\ndata: ${json}\n\n`),
  "quirk-result-type-missing": after((response) => {
    const { result } = response;
    return text(
      JSON.stringify({ ...response, result: isJsonObject(result) ? { ...result, resultType: undefined } : {} }),
    );
  }),
  "quirk-more-after-answer": written((json) => `data: ${json}\n\n: bye\n\ndata: ${notification}\n\n`),
};

const notification =
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"on its way","logger":"fault"}}';

/** The request is executed first. */
function after(make: (response: JsonObject, context: FaultContext) => Response): Fault {
  return { reply: async (context) => make(await context.answer(), context) };
}

function written(write: (json: string) => string): Fault {
  return after((response) => text(write(JSON.stringify(response)), "text/event-stream"));
}

function broken(context: FaultContext, first: string): Response {
  const body = made(context.meter, (index) => {
    if (index === 0 && first !== "") return new TextEncoder().encode(first);
    return Promise.reject(new TypeError("terminated: connection reset by peer"));
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

async function breaksAfterId(context: FaultContext): Promise<Response> {
  if (context.request.method === "POST") await context.answer();
  return broken(context, "id: s1_1\nretry: 1\ndata: \n\n");
}

function untilAborted(request: Request): Promise<Response> {
  return new Promise<Response>((_resolve, reject) => {
    request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
  });
}

function stalling(context: FaultContext, first: string): Response {
  const body = made(context.meter, (index) => index === 0 ? new TextEncoder().encode(`:${first}\n`) : never());
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** A comment every 200 ms of the server's clock, for ever. */
function drip(context: FaultContext): Response {
  const { clock, meter } = context;
  let callOff = () => {};
  const source = made(meter, (index) => {
    const bytes = new TextEncoder().encode(":\n");
    if (index === 0) return bytes;
    return new Promise((resolve) => callOff = clock.schedule(() => resolve(bytes), 200));
  });
  const reader = source.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value } = await reader.read();
      if (value !== undefined) controller.enqueue(value);
    },
    cancel(reason) {
      callOff();
      return reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
