/**
 * As much of HTTP/1.1 as the hostile socket needs: requests with a length or in chunks, kept-alive connections.
 *
 * @module
 */
import type { Socket } from "node:net";

/** A request as it was read. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** Reads the requests of a connection, one after the other. */
export function readRequests(socket: Socket, answer: (request: WireRequest) => Promise<void>): void {
  let rest = "";
  let line = Promise.resolve();
  socket.setEncoding("latin1"); // one character for each byte
  socket.on("data", (data: Uint8Array | string) => {
    rest += String(data);
    for (let parsed = parse(rest); parsed !== undefined; parsed = parse(rest)) {
      const { request } = parsed;
      rest = parsed.rest;
      line = line.then(() => answer(request)).catch(() => void socket.destroy());
    }
  });
}

/** Writes a reply; a body without a known length goes in chunks. */
export async function writeResponse(socket: Socket, response: Response): Promise<void> {
  let head = `HTTP/1.1 ${response.status} ${response.statusText || "Status"}\r\n`;
  for (const [name, value] of response.headers) head += `${name}: ${value}\r\n`;
  if (response.body === null || response.status === 204) {
    const length = response.status === 204 ? "" : "content-length: 0\r\n";
    return void socket.write(`${head}${length}\r\n`, "latin1");
  }
  socket.write(`${head}transfer-encoding: chunked\r\n\r\n`, "latin1");
  const reader = response.body.getReader();
  const leave = () => void reader.cancel("the client left").catch(() => {});
  socket.once("close", leave);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || socket.destroyed) break;
      socket.write(`${value.length.toString(16)}\r\n`);
      socket.write(value);
      if (!socket.write("\r\n")) await drained(socket);
    }
    if (!socket.destroyed) socket.write("0\r\n\r\n");
  } catch {
    socket.resetAndDestroy(); // the body broke: so does the connection
  } finally {
    socket.off("close", leave);
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      socket.off("drain", go);
      socket.off("close", go);
      resolve();
    };
    socket.on("drain", go);
    socket.on("close", go);
  });
}

function parse(text: string): { request: WireRequest; rest: string } | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const [method = "", path = "/"] = first.split(" ");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const chunked = headers.get("transfer-encoding") === "chunked";
  const read = chunked
    ? readChunks(text, end + 4)
    : readLength(text, end + 4, Number(headers.get("content-length") ?? 0));
  if (read === undefined) return undefined;
  const bytes = Uint8Array.from(read.body, (character) => character.charCodeAt(0));
  return { request: { method, path, headers, body: new TextDecoder().decode(bytes) }, rest: text.slice(read.end) };
}

function readLength(text: string, start: number, length: number): { body: string; end: number } | undefined {
  const end = start + length;
  return text.length < end ? undefined : { body: text.slice(start, end), end };
}

function readChunks(text: string, start: number): { body: string; end: number } | undefined {
  let body = "";
  for (let at = start;;) {
    const line = text.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = parseInt(text.slice(at, line), 16);
    const end = line + 2 + size;
    if (!Number.isFinite(size) || text.length < end + 2) return undefined;
    body += text.slice(line + 2, end);
    at = end + 2;
    if (size === 0) return { body, end: at };
  }
}
