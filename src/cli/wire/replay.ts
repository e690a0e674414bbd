/**
 * Answers out of a recording: the same question gets the same answer, with its own id.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import { didYouMean } from "../../hub/config/nearest.ts";
import { UsageError } from "../failure.ts";

type Message = Readonly<Record<string, unknown>>;

/** What is told of changes names the stream that it belongs to, in its `_meta`. */
const stream = "io.modelcontextprotocol/subscriptionId";

/** A recorded request, and what it brought. */
interface Recorded {
  readonly key: string;
  readonly method: string;
  readonly id: unknown;
  readonly server: string | undefined;
  readonly progressToken: unknown;
  /** In the order in which they came; the response is last. */
  readonly answers: Message[];
  isOver: boolean;
  /** Whether it was called off: then nobody waits for an answer. */
  isCalledOff: boolean;
}

/** A question, as often as it was asked. */
interface Asked {
  readonly recorded: Recorded[];
  /** Which of them answers next. */
  next: number;
}

/**
 * Makes what answers messages. A request that was made several times gets its answers in their order, and then the last one
 * again; what was never asked gets an error that says so.
 *
 * @param text The recording: one JSON object on a line.
 * @param file What errors call it.
 * @param server Whose, where it is the recording of several.
 * @throws {UsageError} When it is none.
 */
export function createReplay(
  text: string,
  file: string,
  server?: string | undefined,
): (message: Message) => Message[] {
  const asked = new Map<string, Asked>();
  for (const one of ofOne(read(text, file), file, server)) {
    const same = asked.get(one.key);
    if (same) same.recorded.push(one);
    else asked.set(one.key, { recorded: [one], next: 0 });
  }
  return (message) => {
    const { id, method } = message;
    if (id === undefined || typeof method !== "string") return [];
    const same = asked.get(keyOf(message));
    const found = same?.recorded[same.next];
    if (!same || !found) {
      const error = {
        code: method === "server/discover" ? -32601 : -32602,
        message: `Not in the recording: ${method}`,
      };
      return [{ jsonrpc: "2.0", id, error }];
    }
    if (same.next < same.recorded.length - 1) same.next++;
    const token = tokenOf(message);
    return found.answers.map((answer) => adapted(answer, found, { id, token }));
  };
}

function read(text: string, file: string): Recorded[] {
  const recorded: Recorded[] = [];
  // Those without an answer yet, in their order.
  const open: Recorded[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const { to, message, server } = parse(line, `${file}:${at + 1}`);
    if (to === "server") {
      const { id, method } = message;
      if (method === "notifications/cancelled") {
        const called = isObject(message.params) ? waitingFor(open, message.params.requestId, server) : undefined;
        if (called) called.isCalledOff = true;
      }
      if (id === undefined || typeof method !== "string") continue;
      const asked = { key: keyOf(message), method, id, server, progressToken: tokenOf(message) };
      const one = { ...asked, answers: [], isOver: false, isCalledOff: false };
      recorded.push(one);
      open.push(one);
    } else if (typeof message.method !== "string") {
      const owner = waitingFor(open, message.id, server);
      owner?.answers.push(message);
      if (owner) owner.isOver = true;
      if (owner) open.splice(open.lastIndexOf(owner), 1);
    } else if (message.id === undefined) {
      // What is told belongs to the request that it names, else to the last one that still waits.
      const waiting = open.filter((one) => one.server === server);
      (waiting.find((one) => isNamed(one, message)) ?? waiting.at(-1))?.answers.push(message);
    }
  }
  if (recorded.length === 0) {
    throw new UsageError(`Cannot replay "${file}": it holds no request; causeway record makes one`);
  }
  // Whoever asks that would wait for ever. A stream of changes is open as long as it is wanted.
  for (const { answers, isOver, isCalledOff, id, method } of recorded) {
    if (isOver || isCalledOff || method === "subscriptions/listen") continue;
    const error = { code: -32603, message: `The recording ends before the answer to ${method}` };
    answers.push({ jsonrpc: "2.0", id, error });
  }
  return recorded;
}

/** Whether what is told names this request: by its progress token, or as the stream that it is. */
function isNamed({ id, progressToken }: Recorded, { params }: Message): boolean {
  if (!isObject(params)) return false;
  const { progressToken: token } = params;
  return (token !== undefined && token === progressToken) || isOfStream(params, id);
}

function isOfStream({ _meta: meta }: Message, id: unknown): boolean {
  return isObject(meta) && meta[stream] === id;
}

/** The request of this id that has no answer yet. */
function waitingFor(open: readonly Recorded[], id: unknown, server: string | undefined): Recorded | undefined {
  return open.findLast((one) => one.id === id && one.server === server);
}

/** The requests to one server. */
function ofOne(recorded: readonly Recorded[], file: string, server: string | undefined): readonly Recorded[] {
  const names = [...new Set(recorded.flatMap(({ server }) => server === undefined ? [] : [server]))];
  if (server === undefined && names.length < 2) return recorded;
  const own = recorded.filter((one) => one.server === server);
  if (server !== undefined && own.length > 0) return own;
  const known = names.map((name) => `"${name}"`).join(", ") || "no names of servers";
  throw new UsageError(
    server === undefined
      ? `Cannot replay "${file}": it has ${known}; write causeway replay ${file} <server>`
      : `Unknown server "${server}" in "${file}"${didYouMean(server, names)}: it has ${known}`,
  );
}

function parse(line: string, where: string): { to: unknown; message: Message; server: string | undefined } {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value) && isObject(value.message)) {
      const { to, message, server } = value;
      return { to, message, server: typeof server === "string" ? server : undefined };
    }
  } catch {
    // Said below.
  }
  throw new UsageError(`Cannot replay ${where}: expected { "at": …, "to": …, "message": { … } } on one line`);
}

/** What makes a request the same: all but its id, and what only travels along. */
function keyOf({ method, params }: Message): string {
  // These say who asks, which is somebody else now.
  if (method === "initialize" || method === "server/discover") return String(method);
  const { _meta: _, ...rest } = isObject(params) ? params : {};
  return `${method} ${JSON.stringify(sorted(rest))}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

function tokenOf({ params }: Message): unknown {
  return isObject(params) && isObject(params._meta) ? params._meta.progressToken : undefined;
}

function adapted(answer: Message, { id, progressToken }: Recorded, now: { id: unknown; token: unknown }): Message {
  if (answer.id !== undefined) return { ...answer, id: now.id };
  const { params } = answer;
  if (!isObject(params)) return answer;
  const token = params.progressToken !== undefined && params.progressToken === progressToken && now.token !== undefined;
  const meta = isOfStream(params, id) ? { _meta: { ...params._meta as object, [stream]: now.id } } : {};
  return { ...answer, params: { ...params, ...(token && { progressToken: now.token }), ...meta } };
}
