/**
 * The channel of a server that a client has started: messages as lines on its own standard streams
 * (specification: stdio).
 *
 * @module
 */
import { ConnectionClosedError, McpError } from "../protocol/errors.ts";
import { defaultLimits } from "../protocol/limits.ts";
import type { StandardStreams } from "../ports.ts";
import type { Channel, ChannelReceiver } from "../transport/channel.ts";
import { LineSplitter } from "../transport/lines.ts";

/**
 * Makes a channel out of a process's own streams. A line that is too long breaks it.
 *
 * @param streams The standard input and output.
 * @param messageBytes The most that one line may have, in bytes. Default: 16 MiB.
 */
export function createOwnStdioChannel(
  streams: StandardStreams,
  messageBytes: number = defaultLimits.messageBytes,
): Channel {
  return new OwnStdioChannel(streams, messageBytes);
}

class OwnStdioChannel implements Channel {
  readonly label = "stdio";
  readonly #streams: StandardStreams;
  readonly #lines: LineSplitter;
  #receiver: ChannelReceiver | undefined;
  /** The input has ended. */
  #ended = false;
  #closed = false;

  constructor(streams: StandardStreams, messageBytes: number) {
    this.#streams = streams;
    this.#lines = new LineSplitter(messageBytes, (line) => {
      if (!this.#ended) this.#receiver?.text(line);
    });
  }

  open(receiver: ChannelReceiver): Promise<void> {
    this.#receiver = receiver;
    this.#streams.open((chunk) => this.#input(chunk), (reason) => this.#inputEnd(reason));
    return Promise.resolve();
  }

  write(messages: readonly string[]): void | Promise<void> {
    if (this.#closed) throw new ConnectionClosedError("The standard output is closed", { delivery: "not-sent" });
    return this.#streams.write(messages.join("\n") + "\n");
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#streams.close();
      this.#end();
    }
    return Promise.resolve();
  }

  #input(chunk: Uint8Array): void {
    if (this.#ended) return;
    try {
      this.#lines.push(chunk);
    } catch (error) {
      this.#end(asReason(error));
    }
  }

  #inputEnd(reason: unknown): void {
    if (reason === undefined && !this.#ended) this.#lines.end();
    this.#end(reason === undefined ? undefined : asReason(reason));
  }

  #end(reason?: McpError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#receiver?.end(reason);
  }
}

function asReason(error: unknown): McpError {
  return error instanceof McpError ? error : new ConnectionClosedError("A standard stream broke", { cause: error });
}
