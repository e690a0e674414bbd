/**
 * WebSockets in a Durable Object that may sleep while they are open: what lasts of a conversation is kept with the socket,
 * and played again to a new server when the object wakes without its memory.
 *
 * @module
 */
import { parseObject } from "../src/auth/parse.ts";
import type { WebSocketEvent, WebSocketLike } from "../src/ports.ts";
import { classify, isObject } from "../src/protocol/json_rpc.ts";
import { workersLimits } from "../src/protocol/limits.ts";
import { subprotocol } from "../src/protocol/web_socket.ts";
import { createSocketEndpoint } from "../src/server/mod.ts";
import type { SocketEndpoint } from "../src/server/mod.ts";
import { lasting, withMessage } from "./session/lasting.ts";
import { createSample } from "./sample.ts";
import { namesOf } from "./names.ts";
import type { ServerEnv } from "./session_object.ts";
import { createAuth } from "./auth.ts";

/** A socket that the runtime keeps open while the object sleeps. */
interface SleepingSocket extends Omit<WebSocketLike, "addEventListener"> {
  serializeAttachment(value: unknown): void;
  deserializeAttachment(): unknown;
}

/** The part of a Durable Object's state that is used. */
interface SocketState {
  acceptWebSocket(socket: SleepingSocket): void;
  getWebSockets(): SleepingSocket[];
}

/** What is kept with a socket. */
interface Kept {
  /** The request that it came with. */
  readonly url: string;
  readonly headers: [name: string, value: string][];
  /** The messages that last, in their order. */
  readonly messages: string[];
}

declare const WebSocketPair: new () => { 0: SleepingSocket; 1: SleepingSocket };

/** The headers of a request that may be kept: never what proves who it is. */
const harmless = ["host", "origin", "upgrade", "sec-websocket-protocol"];
/** The most that can be kept with a socket, in characters; the runtime takes 16 KiB. */
const mostKept = 12_000;
/** The object is about to lose what it cannot keep: the client shall connect again (RFC 6455: 1012, service restart). */
const restart = 1012;

/** The object: the class that `workers/server.toml` names. */
export class SocketObject {
  readonly #state: SocketState;
  readonly #endpoint: SocketEndpoint;
  readonly #awake = new Map<SleepingSocket, Conversation>();

  constructor(state: SocketState, env: ServerEnv) {
    this.#state = state;
    const secret = env.STATE_SECRET || undefined;
    const options = { ...namesOf(env), auth: createAuth(env), secret, limits: workersLimits };
    this.#endpoint = createSocketEndpoint(createSample(), options);
    // Changes shall reach those who listen, also when nobody of them speaks first.
    for (const socket of state.getWebSockets()) this.#find(socket);
  }

  /** Upgrades one request. */
  async fetch(request: Request): Promise<Response> {
    const admitted = await this.#endpoint.admit(request);
    if (admitted instanceof Response) return admitted;
    const { 0: client, 1: socket } = new WebSocketPair();
    this.#state.acceptWebSocket(socket);
    const conversation = new Conversation(socket, {
      url: request.url,
      headers: headersOf(request),
      messages: [],
    });
    this.#awake.set(socket, conversation);
    admitted(conversation);
    const init = { status: 101, webSocket: client, headers: { "sec-websocket-protocol": subprotocol } };
    return new Response(null, init);
  }

  /** A frame has come. */
  async webSocketMessage(socket: SleepingSocket, data: unknown): Promise<void> {
    const conversation = this.#find(socket);
    await conversation?.take(data);
  }

  /** The other side has left. */
  async webSocketClose(socket: SleepingSocket, code: number, reason: string): Promise<void> {
    this.#awake.get(socket)?.tell("close", { code, reason });
    this.#awake.delete(socket);
    await Promise.resolve();
  }

  /** The socket broke. */
  async webSocketError(socket: SleepingSocket): Promise<void> {
    this.#awake.get(socket)?.tell("error", {});
    this.#awake.delete(socket);
    await Promise.resolve();
  }

  #find(socket: SleepingSocket): Conversation | undefined {
    const known = this.#awake.get(socket);
    if (known) return known;
    const kept = socket.deserializeAttachment() as Kept | null; // Nobody else writes there.
    if (!kept) return void socket.close(restart, "connect again");
    const conversation = new Conversation(socket, { ...kept, messages: [...kept.messages] });
    this.#awake.set(socket, conversation);
    conversation.wake(this.#admitAgain(kept, conversation));
    return conversation;
  }

  async #admitAgain({ url, headers }: Kept, conversation: Conversation): Promise<boolean> {
    const admitted = await this.#endpoint.admit(new Request(url, { headers }));
    if (admitted instanceof Response) return false;
    admitted(conversation);
    return true;
  }
}

/** One socket as the server sees it, whichever memory it is served from. */
class Conversation implements WebSocketLike {
  readonly protocol = subprotocol;
  readonly #socket: SleepingSocket;
  readonly #kept: Kept;
  readonly #listeners: [type: string, listener: (event: WebSocketEvent) => void][] = [];
  /** Messages are taken one after another, and after the waking. */
  #ready: Promise<unknown> = Promise.resolve();
  /** Ids whose answer (or acknowledgement) the client has had before, and what waits for them. */
  readonly #replayed = new Map<unknown, () => void>();

  constructor(socket: SleepingSocket, kept: Kept) {
    this.#socket = socket;
    this.#kept = kept;
    socket.serializeAttachment(kept);
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void {
    this.#listeners.push([type, listener]);
  }

  tell(type: string, event: WebSocketEvent): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === type) listener(event);
  }

  send(text: string): void {
    if (this.#replayed.size && this.#isHad(text)) return;
    this.#socket.send(text);
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason);
  }

  /** Plays what is kept to the server that was found. */
  wake(found: Promise<boolean>): void {
    this.#ready = found.then(async (isServed) => {
      if (!isServed) return this.close(restart, "connect again");
      for (const data of this.#kept.messages) {
        const { id } = parseObject(data) ?? {};
        const answered = id === undefined ? undefined : new Promise<void>((resolve) => this.#replayed.set(id, resolve));
        this.tell("message", { data });
        await answered;
      }
    });
  }

  /** Takes one frame of the client. */
  async take(data: unknown): Promise<void> {
    await this.#ready;
    if (typeof data === "string") this.#keep(data);
    this.tell("message", { data });
  }

  #keep(data: string): void {
    const { messages } = this.#kept;
    const read = data.length <= mostKept ? parseObject(data) : undefined;
    // What is no message has no answer by its id: whoever plays it again would wait for that for ever.
    const message = classify(read) ? read : undefined;
    if (message?.method === "notifications/cancelled" && isObject(message.params)) {
      const { requestId } = message.params;
      // All else that is kept was answered at once: there is nothing of it to call off.
      const at = messages.findIndex((text) => {
        const { id, method } = parseObject(text) ?? {};
        return method === "subscriptions/listen" && id === requestId;
      });
      if (at < 0) return;
      messages.splice(at, 1);
    } else if (message && (message.method === "subscriptions/listen" || lasting.includes(String(message.method)))) {
      messages.splice(0, messages.length, ...withMessage(messages, data, message));
      if (messages.join().length > mostKept) return this.close(restart, "too much to keep");
    } else return;
    try {
      this.#socket.serializeAttachment(this.#kept);
    } catch {
      // The runtime counts bytes.
      this.close(restart, "too much to keep");
    }
  }

  /** Whether the client has had this from the memory before. */
  #isHad(text: string): boolean {
    const message = parseObject(text);
    const meta = isObject(message?.params) && isObject(message.params._meta) ? message.params._meta : {};
    const id = message?.method === undefined ? message?.id : meta["io.modelcontextprotocol/subscriptionId"];
    const done = this.#replayed.get(id);
    this.#replayed.delete(id);
    done?.();
    return done !== undefined;
  }
}

function headersOf({ headers }: Request): [name: string, value: string][] {
  return [...headers].filter(([name]) => harmless.includes(name));
}
