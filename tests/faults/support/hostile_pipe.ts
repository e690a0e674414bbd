/**
 * A pipe in memory to a server that is healthy but for one thing. Each new opening is a new server; the ledger is that of all.
 *
 * @module
 */
import { type Channel, type ChannelReceiver, ChannelTransport, type Limits } from "../../../mod.ts";
import { isId, isJsonObject, type JsonObject, type RequestId } from "../../servers/core/wire.ts";
import { createPipeServer, type PipeServer } from "../../servers/pipe.ts";
import { isPipeMessage, type PipeContext, type PipeFault, pipeMessages } from "./pipe_faults.ts";

/** A hostile pipe, and what a test may see of it. */
export interface HostilePipe {
  readonly transport: ChannelTransport;
  /** How often the fault was given. */
  hits(): number;
  /** How often the tool ran, over all openings. */
  calls(): number;
  /** What the client did wrong. */
  violations(): string[];
  /** Calls that the client called off by a notice. */
  notices(): number;
  /** Answers of the client to the server's requests. */
  answers(): number;
  /** Channels that were opened and not closed. */
  open(): number;
}

/** What a hostile pipe lets one choose. */
export interface HostilePipeOptions {
  readonly era: "modern" | "legacy";
  /** How often the fault happens before the server is healthy. */
  readonly times: number;
  /** The method that is spoilt. */
  readonly on: string;
  readonly limits?: Partial<Limits>;
}

interface State extends HostilePipeOptions {
  readonly fault: PipeFault;
  readonly servers: PipeServer[];
  hits: number;
  answers: number;
  open: number;
}

/** Makes one. */
export function createHostilePipe(fault: PipeFault, options: HostilePipeOptions): HostilePipe {
  const state: State = { ...options, fault, servers: [], hits: 0, answers: 0, open: 0 };
  const { limits } = options;
  return {
    transport: new ChannelTransport(() => new HostileChannel(state), limits ? { limits } : {}),
    hits: () => state.hits,
    calls: () => state.servers.reduce((sum, server) => sum + server.calls("echo"), 0),
    violations: () => state.servers.flatMap((server) => server.violations),
    notices: () => state.servers.reduce((sum, server) => sum + server.count("notifications/cancelled"), 0),
    answers: () => state.answers,
    open: () => state.open,
  };
}

class HostileChannel implements Channel {
  readonly label = "hostile";
  readonly #state: State;
  readonly #spoilt = new Map<RequestId, PipeContext>();
  #server: PipeServer | undefined;
  #receiver: ChannelReceiver | undefined;
  #over = false;

  constructor(state: State) {
    this.#state = state;
  }

  open(receiver: ChannelReceiver): Promise<void> {
    this.#receiver = receiver;
    this.#state.open++;
    this.#server = createPipeServer({ era: this.#state.era, send: (text) => this.#answer(text) });
    this.#state.servers.push(this.#server);
    return Promise.resolve();
  }

  write(messages: readonly string[]): void | Promise<void> {
    for (const text of messages) {
      const waits = this.#take(text);
      if (waits) return waits;
    }
  }

  close(): Promise<void> {
    if (!this.#over) {
      this.#over = true;
      this.#state.open--;
      this.#server?.close();
    }
    return Promise.resolve();
  }

  /** One message of the client; a promise when the pipe takes no more. */
  #take(text: string): void | Promise<void> {
    const { fault, times, on } = this.#state;
    const message = objectOf(text);
    if (message.id === "asked" && message.method === undefined) {
      this.#state.answers++; // the fault asked in the server's name
      return;
    }
    if (message.method !== on || this.#state.hits >= times || !isId(message.id)) return this.#server?.receive(text);
    this.#state.hits++;
    if (fault === "write-throws") throw new Error("broken pipe");
    if (fault === "write-rejects") return Promise.reject(new Error("broken pipe"));
    if (fault === "stuck") return new Promise(() => {});
    if (fault === "ends-before") return this.#end();
    this.#spoilt.set(message.id, { request: message, id: message.id, attempt: this.#state.hits });
    this.#server?.receive(text);
  }

  #answer(text: string): void {
    const message = objectOf(text);
    const context = isId(message.id) && message.method === undefined ? this.#spoilt.get(message.id) : undefined;
    const { fault } = this.#state;
    if (context === undefined) return this.#send([text]);
    this.#spoilt.delete(context.id);
    if (!isPipeMessage(fault)) return this.#end();
    this.#send(pipeMessages[fault](message, context));
  }

  #send(items: readonly unknown[]): void {
    queueMicrotask(() => {
      for (const item of items) {
        if (!this.#over) this.#receiver?.text(typeof item === "string" ? item : JSON.stringify(item));
      }
    });
  }

  #end(): void {
    queueMicrotask(() => this.#receiver?.end());
  }
}

function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : {};
}
