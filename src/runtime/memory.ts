/**
 * Memory that is given back before the collector comes round.
 *
 * @module
 */
import type { Socket } from "node:net";
import { isLargeAlone } from "./children/child.ts";

/**
 * The chunks of a large body that were copied, and those that Node's parser has copied them from. They are given back when
 * the next one comes: until then a parser may still be reading.
 */
export class UsedChunks {
  readonly #socket: Socket;
  /** What is handed over to a closed port is nobody's: the way where there is no other (Node 20). */
  readonly #nobody = "transfer" in ArrayBuffer.prototype ? undefined : new MessageChannel().port1;
  #chunks: Uint8Array<ArrayBuffer>[] = [];

  /** @param socket Where the body comes from. */
  constructor(socket: Socket) {
    this.#nobody?.close();
    this.#socket = socket.on("data", this.#arrived);
  }

  /** Takes a chunk that was copied. */
  add(chunk: Uint8Array<ArrayBuffer>): void {
    if (isLargeAlone(chunk)) this.#chunks.push(chunk);
  }

  /** The body is over. */
  end(): void {
    this.#socket.off("data", this.#arrived);
  }

  /** Gives the whole body the method that frees it, `transfer`, where the runtime has none: who has used it up calls that. */
  withTransfer(buffer: ArrayBuffer): ArrayBuffer {
    if (!this.#nobody) return buffer;
    const transfer = (): ArrayBuffer => {
      this.#giveBack(buffer);
      return new ArrayBuffer(0);
    };
    return Object.defineProperty(buffer, "transfer", { value: transfer });
  }

  readonly #arrived = (chunk: Uint8Array<ArrayBuffer>): void => {
    for (const { buffer } of this.#chunks.splice(0)) this.#giveBack(buffer);
    this.add(chunk);
  };

  #giveBack(buffer: ArrayBuffer & { transfer?: (length: number) => ArrayBuffer }): void {
    if (this.#nobody) this.#nobody.postMessage(null, [buffer]);
    else buffer.transfer?.(0);
  }
}
