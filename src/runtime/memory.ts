/**
 * Memory that is given back before the collector comes round.
 *
 * @module
 */
import type { Socket } from "node:net";

/** Smaller ones are many, and not worth the call. */
const largeChunk = 2 ** 14;

/**
 * The chunks of a large body that were copied, and those that Node's parser has copied them from. They are given back when
 * the next one comes: until then a parser may still be reading.
 */
export class UsedChunks {
  readonly #socket: Socket;
  #chunks: Uint8Array<ArrayBuffer>[] = [];

  /** @param socket Where the body comes from. */
  constructor(socket: Socket) {
    this.#socket = socket.on("data", this.#arrived);
  }

  /** Takes a chunk that was copied. */
  add(chunk: Uint8Array<ArrayBuffer>): void {
    // One that is part of something else is not ours.
    if (chunk.length >= largeChunk && chunk.length === chunk.buffer.byteLength) this.#chunks.push(chunk);
  }

  /** The body is over. */
  end(): void {
    this.#socket.off("data", this.#arrived);
  }

  readonly #arrived = (chunk: Uint8Array<ArrayBuffer>): void => {
    for (const { buffer } of this.#chunks.splice(0)) giveBack(buffer);
    this.add(chunk);
  };
}

/** Frees the memory of a buffer that nobody uses any more: it is empty afterwards. */
function giveBack(buffer: ArrayBuffer & { transfer?: (length: number) => ArrayBuffer }): void {
  if (buffer.transfer) buffer.transfer(0);
  else toNobody(buffer);
}

/** Gives a buffer the method that frees it, `transfer`, where the runtime has none (Node 20): whoever has used it up calls that. */
export function withTransfer(buffer: ArrayBuffer): ArrayBuffer {
  if ("transfer" in buffer) return buffer;
  const transfer = (): ArrayBuffer => {
    toNobody(buffer);
    return new ArrayBuffer(0);
  };
  return Object.defineProperty(buffer, "transfer", { value: transfer });
}

let nobody: MessagePort | undefined;

/** What is handed over to a closed port is nobody's. */
function toNobody(buffer: ArrayBuffer): void {
  if (!nobody) {
    nobody = new MessageChannel().port1;
    nobody.close();
  }
  nobody.postMessage(null, [buffer]);
}
