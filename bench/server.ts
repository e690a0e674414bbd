/**
 * The one server of the bench: `server.ts http` prints the port it listens on, `server.ts stdio` speaks on its pipes.
 * HTTP is written by hand over a socket: that is the cheapest there is, and it can break off at any byte.
 *
 * A URL reads `/<json|sse>/<modern|legacy|both>/<key>`, with `?delay=<ms>` before each reply. `GET /count/<key>` tells what
 * was counted under a key, `POST /break/<key>/<end|reset|garbage>` breaks the calls of a key that hang.
 */
import { createServer } from "node:net";
import type { Socket } from "node:net";
import process from "node:process";
import { answer } from "./answers.ts";
import type { Incoming } from "./answers.ts";

/** What one key has seen. `trips` is the longest chain of requests of which each had to wait for the one before. */
interface Count {
  posts: number;
  gets: number;
  trips: number;
  readonly hanging: Map<Socket, "json" | "sse">;
}

interface HttpRequest {
  readonly verb: string;
  readonly path: string;
  readonly body: string;
}

const [mode] = process.argv.slice(2);
const counts = new Map<string, Count>();

if (mode === "stdio") serveStdio();
else serveHttp();

function serveHttp(): void {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("error", () => {});
    let buffer = "";
    socket.on("data", (chunk) => {
      buffer += chunk;
      for (let found; (found = cut(buffer)); buffer = found.rest) {
        respond(socket, found.request);
      }
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(typeof address === "object" ? address?.port : address);
  });
}

/** The first whole request in the buffer. Bodies are ASCII, since the clients of the bench send nothing else. */
function cut(buffer: string): { request: HttpRequest; rest: string } | undefined {
  const end = buffer.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = buffer.slice(0, end);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const start = end + 4;
  if (buffer.length < start + length) return undefined;
  const [verb = "", path = ""] = head.split(" ", 2);
  return {
    request: { verb, path, body: buffer.slice(start, start + length) },
    rest: buffer.slice(start + length),
  };
}

function respond(socket: Socket, { verb, path, body }: HttpRequest): void {
  const [route = "", query = ""] = path.split("?");
  const [, first = "", second = "", third = ""] = route.split("/");
  if (first === "count") {
    const { posts, gets, trips } = countOf(second);
    return reply(socket, 200, JSON.stringify({ posts, gets, trips }));
  }
  if (first === "break") {
    const { hanging } = countOf(second);
    for (const [waiting, kind] of hanging) breakOff(waiting, kind, third);
    hanging.clear();
    return reply(socket, 200, "{}");
  }
  const count = countOf(third);
  if (verb !== "POST") {
    count.gets++;
    return reply(socket, verb === "DELETE" ? 200 : 405, "{}");
  }
  count.posts++;
  const delay = Number(/delay=(\d+)/.exec(query)?.[1] ?? 0);
  if (delay === 0) {
    return answerPost(socket, body, { kind: first, accepts: second, count });
  }
  const trip = count.trips + 1;
  setTimeout(() => {
    count.trips = Math.max(count.trips, trip);
    answerPost(socket, body, { kind: first, accepts: second, count });
  }, delay);
}

function answerPost(socket: Socket, body: string, route: { kind: string; accepts: string; count: Count }): void {
  const message: Incoming = JSON.parse(body);
  const given = answer(message, route.accepts);
  if (given === undefined) return reply(socket, 202, "");
  const hasProgress = message.params?.name === "progress";
  const isStream = route.kind === "sse" || hasProgress;
  if (given === "hang") {
    route.count.hanging.set(socket, isStream ? "sse" : "json");
    if (isStream) socket.write(`${streamHead}${chunked(": waiting\n\n")}`);
    return;
  }
  if (!isStream) {
    return reply(socket, isRefused(given[0] ?? "") ? 400 : 200, given[0] ?? "", message.method);
  }
  let text = streamHead;
  for (const message of given) {
    text += chunked(`event: message\ndata: ${message}\n\n`);
  }
  socket.write(`${text}0\r\n\r\n`, "latin1");
}

/** A legacy server refuses what it does not know with a 400, as the official ones do. */
function isRefused(text: string): boolean {
  return text.length < 200 && text.includes('"error":{"code":-32601');
}

const streamHead =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";

function chunked(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function reply(socket: Socket, status: number, text: string, method?: string): void {
  const type = text === "" ? "" : "content-type: application/json\r\n";
  const session = method === "initialize" && status === 200 ? "mcp-session-id: bench\r\n" : "";
  socket.write(`HTTP/1.1 ${status} OK\r\n${type}${session}content-length: ${text.length}\r\n\r\n${text}`, "latin1");
}

function breakOff(socket: Socket, kind: "json" | "sse", how: string): void {
  if (how === "reset") socket.resetAndDestroy();
  else if (how === "garbage") {
    socket.write(chunked("event: message\ndata: {not json\n\n"));
  } else if (kind === "sse") socket.write("0\r\n\r\n");
  else socket.end();
}

function countOf(key: string): Count {
  let count = counts.get(key);
  if (count === undefined) {
    counts.set(key, count = { posts: 0, gets: 0, trips: 0, hanging: new Map() });
  }
  return count;
}

/** Answers all that came in one chunk with one write. */
function serveStdio(): void {
  const accepts = process.argv[3] ?? "both";
  let rest = "";
  process.stdin.setEncoding("latin1");
  process.stdin.on("data", (chunk: string) => {
    const text = rest + chunk;
    const end = text.lastIndexOf("\n");
    rest = text.slice(end + 1);
    if (end < 0) return;
    let out = "";
    for (const line of text.slice(0, end).split("\n")) {
      const given = answer(JSON.parse(line), accepts);
      if (typeof given === "object") out += `${given.join("\n")}\n`;
    }
    if (out !== "") process.stdout.write(out, "latin1");
  });
  process.stdin.on("end", () => process.exit());
}
