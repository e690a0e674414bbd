/**
 * Faults of size: bodies that do not end, swell, or nest too deep. All are made while they are read, and stop at `size`
 * bytes (1 GiB) in case that nobody stops them.
 *
 * @module
 */
import { brotliBomb, endlessDeflate, gzipHeader, zlibHeader } from "./deflate.ts";
import { type Fault, type FaultContext, filled, made, text } from "./fault.ts";

/** Faults of size. */
export type ByteFault =
  | "endless-line"
  | "endless-event"
  | "endless-comments"
  | "endless-messages"
  | "endless-json"
  | "huge-json"
  | "huge-event"
  | "gzip-bomb"
  | "deflate-bomb"
  | "br-bomb"
  | "error-body-huge"
  | "error-body-endless"
  | "depth-bomb"
  | "node-bomb"
  | "length-lie"
  | "invalid-utf8";

const gigabyte = 2 ** 30;

/** The faults by name. */
export const byteFaults: Readonly<Record<ByteFault, Fault>> = {
  "endless-line": stream({ first: "data: ", filler: "x" }),
  "endless-event": stream({
    first: "id: 1\n",
    filler: "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
  }),
  "endless-comments": stream({ first: ":\n", filler: ": still here\n\n" }),
  "endless-messages": stream({
    first: ": hello\n\n",
    filler: 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"again"}}\n\n',
  }),
  "endless-json": {
    reply: (context) => {
      const body = filled(context.meter, { first: opening(context), filler: "x" }, context.size ?? gigabyte);
      return new Response(body, { headers: { "content-type": "application/json" } });
    },
  },
  "huge-json": {
    reply: (context) => {
      const parts = { first: opening(context), filler: "x", last: closing };
      const body = filled(context.meter, parts, context.size ?? 64 * 2 ** 20);
      return new Response(body, { headers: { "content-type": "application/json" } });
    },
  },
  "huge-event": {
    reply: (context) => {
      const parts = { first: `data: ${opening(context)}`, filler: "x", last: `${closing}\n\n` };
      const body = filled(context.meter, parts, context.size ?? 64 * 2 ** 20);
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  },
  "gzip-bomb": { reply: (context) => bomb(context, "gzip") },
  "deflate-bomb": { reply: (context) => bomb(context, "deflate") },
  "br-bomb": { reply: (context) => bomb(context, "br") },
  "error-body-huge": { reply: (context) => errorBody(context, 64 * 2 ** 20) },
  "error-body-endless": { reply: (context) => errorBody(context, gigabyte) },
  "depth-bomb": {
    reply: (context) => {
      const depth = context.size ?? 200_000;
      const nested = "[".repeat(depth) + "]".repeat(depth);
      return text(
        `{"jsonrpc":"2.0","id":${JSON.stringify(context.id)},"result":{"content":[],"structuredContent":${nested}}}`,
      );
    },
  },
  "node-bomb": {
    reply: (context) => {
      const nodes = "{},".repeat(Math.floor((context.size ?? 8 * 2 ** 20) / 3));
      return text(
        `{"jsonrpc":"2.0","id":${JSON.stringify(context.id)},"result":{"content":[],"structuredContent":[${nodes}0]}}`,
      );
    },
  },
  "length-lie": {
    async reply(context) {
      const body = JSON.stringify(await context.answer());
      const headers = { "content-type": "application/json", "content-length": String(gigabyte) };
      return new Response(body, { headers });
    },
  },
  "invalid-utf8": {
    async reply(context) {
      const bytes = new TextEncoder().encode(JSON.stringify(await context.answer()));
      const at = bytes.lastIndexOf(0x74); // a "t" inside the JSON becomes half a character
      bytes[at] = 0xc3;
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    },
  },
};

const closing = '"}]}}';

function opening(context: FaultContext): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(context.id)},"result":{"content":[{"type":"text","text":"`;
}

function stream(parts: { first: string; filler: string }): Fault {
  return {
    reply: (context) => {
      const body = filled(context.meter, parts, context.size ?? gigabyte);
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  };
}

function errorBody(context: FaultContext, size: number): Response {
  const body = filled(context.meter, { first: "secret-token-in-an-error ", filler: "no " }, context.size ?? size);
  return new Response(body, { status: 500, headers: { "content-type": "text/plain" } });
}

/** In memory a body is what `fetch` gives: unpacked already. Over a socket it is packed. */
function bomb(context: FaultContext, encoding: "gzip" | "deflate" | "br"): Response {
  const headers = { "content-type": "application/json", "content-encoding": encoding };
  const limit = context.size ?? gigabyte;
  if (!context.wire) {
    return new Response(filled(context.meter, { first: opening(context), filler: " " }, limit), { headers });
  }
  if (encoding === "br") return new Response(brotliBomb(), { headers });
  const { head, unit } = endlessDeflate(opening(context));
  const header = encoding === "gzip" ? gzipHeader : zlibHeader;
  const chunk = new Uint8Array(unit.length * 1_000);
  for (let index = 0; index < 1_000; index++) chunk.set(unit, index * unit.length);
  const body = made(context.meter, (index) => {
    if (index === 0) return new Uint8Array([...header, ...head]);
    return index * chunk.length * 158 < limit ? chunk.slice() : undefined;
  });
  return new Response(body, { headers });
}
