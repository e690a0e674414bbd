/**
 * Reading the body of a request: its type, its length, its JSON.
 *
 * @module
 */
import { eachChunk, gather, takeText } from "../../egress/body.ts";
import { LimitExceededError } from "../../protocol/errors.ts";
import { parseJson } from "../../protocol/limits/json_scan.ts";
import type { Limits } from "../../protocol/limits.ts";
import type { Clock } from "../../ports.ts";
import type { ServerParts } from "../seam.ts";
import { refuse } from "./replies.ts";

/** What a body holds, or the reply for one that cannot be used. */
export type Read = { readonly value: unknown } | { readonly refused: Response };

/** The reply for a POST that is not JSON, or whose sender cannot read both kinds of answers; undefined when it is sound. */
export function refusePost({ headers }: Request): Response | undefined {
  if (!isJson(headers.get("content-type"))) return refuse(415, 'The Content-Type has to be "application/json"');
  const accept = headers.get("accept");
  if (wants(accept, "application/json") && wants(accept, "text/event-stream")) return undefined;
  return refuse(406, 'The Accept header has to name "application/json" and "text/event-stream"');
}

/** Whether a Content-Type says that a body is JSON. */
export function isJson(type: string | null): boolean {
  return type === "application/json" || type?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}

/** Whether a kind of reply is wanted; without an Accept header each is. */
export function accepts(headers: Headers, type: string): boolean {
  return wants(headers.get("accept"), type);
}

function wants(accept: string | null, type: string): boolean {
  // As most clients write it.
  if (accept === null || accept === "application/json, text/event-stream") return true;
  const wide = type.replace(/\/.*/, "/*");
  return accept.split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    return (name === type || name === wide || name === "*/*") && !parameters.some((text) => /^q=0(\.0*)?$/.test(text));
  });
}

/** Reads a body as JSON under limits. A body that is too long is cancelled, one that is too slow is left alone. Never rejects. */
export function readBody(request: Request, parts: Pick<ServerParts, "limits" | "clock">): Promise<Read> {
  return new Promise((resolve) => takeBody(request, parts, resolve));
}

/**
 * As {@linkcode readBody}, without a promise of its own: each costs a turn.
 *
 * @param done Called once. Must not throw.
 */
export function takeBody(
  request: Request,
  { limits, clock }: Pick<ServerParts, "limits" | "clock">,
  done: (read: Read) => void,
): void {
  // Milliseconds: who sends byte by byte must not be waited for.
  const longest = 60_000;
  const { headers } = request;
  const { messageBytes } = limits;
  const length = headers.get("content-length");
  if (Number(length) > messageBytes) return done(tooLong(messageBytes));
  let isLate = false;
  const callOff = clock.schedule(
    () => {
      isLate = true;
      done({ refused: refuse(408, `The body took longer than ${longest} ms`) });
    },
    longest,
    { background: true },
  );
  const failed = (error: unknown): void => {
    callOff();
    if (!isLate) done(error instanceof LimitExceededError ? tooLong(messageBytes) : unreadable());
  };
  try {
    const reading = isSure(length, headers) ? request.arrayBuffer() : gather(request, false, messageBytes, 0);
    reading.then((bytes) => {
      callOff();
      if (!isLate) done(readJson(bytes, limits));
    }, failed);
  } catch (error) {
    failed(error);
  }
}

/**
 * Reads away what nobody wanted to read, and gives the reply. Some hosts (workerd) break off a connection on which a body is
 * left, and this reply or the next one is lost with it. A body that is too long (413), or is said to be longer than 64 KiB, is
 * left alone; what is longer all the same, or takes more than a second, is cancelled. Never rejects.
 */
export async function readRest(request: Request, reply: Response, clock: Clock): Promise<Response> {
  let left = 65_536;
  if (reply.status !== 413 && Number(request.headers.get("content-length")) <= left) {
    await eachChunk(
      request,
      false,
      (chunk, cancel) => (left -= chunk.length) < 0 && cancel(),
      (cancel) => clock.schedule(cancel, 1_000, { background: true }),
    ).catch(() => {});
  }
  return reply;
}

/** Never throws. */
function readJson(bytes: ArrayBuffer | Uint8Array, limits: Limits): Read {
  if (bytes.byteLength > limits.messageBytes) return tooLong(limits.messageBytes);
  try {
    return { value: parseJson(takeText(bytes), limits) };
  } catch (error) {
    if (!(error instanceof LimitExceededError)) return unreadable();
    return { refused: refuse(400, "The message nests too deep or holds too many values") };
  }
}

function tooLong(messageBytes: number): Read {
  return { refused: refuse(413, `The message is longer than ${messageBytes} bytes`) };
}

/** A length of less than 100,000. */
const shortLength = /^\d{1,5}$/;

/**
 * A length holds for a body that came off a socket by it; all else is counted while it comes. So is what is said to be long: Deno takes
 * memory for all of it at once, and who says so may never send it.
 */
function isSure(length: string | null, headers: Headers): boolean {
  return shortLength.test(length ?? "") && !headers.has("transfer-encoding") && !headers.has("content-encoding");
}

function unreadable(): Read {
  return { refused: refuse(400, "Parse error: the body is not JSON in UTF-8", { code: -32700 }) };
}
