/**
 * A legacy session whose server is its caller's.
 *
 * @module
 */
import { InvalidRequestError } from "../../protocol/errors.ts";
import type { JsonRpcNotification, JsonRpcResponse } from "../../protocol/json_rpc.ts";
import { legacyRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { AuthInfo } from "../definitions.ts";
import { errorAnswer } from "../legacy/answers.ts";
import type { Answer, Incoming, LegacyOutlet, LegacyServing, ServerParts } from "../seam.ts";
import { noServer } from "./opening.ts";
import type { Opened, OpenFor } from "./opening.ts";

/** Has its server from the handshake on, and is there for who made that. */
export class CallerSession implements LegacyServing {
  readonly #parts: ServerParts;
  readonly #open: OpenFor;
  readonly #outlet: LegacyOutlet;
  #serving: LegacyServing | undefined;
  /** What the caller was allowed to do when it was opened. */
  #rights: string | undefined;
  #closed = false;

  constructor(parts: ServerParts, open: OpenFor, outlet: LegacyOutlet) {
    this.#parts = parts;
    this.#open = open;
    this.#outlet = outlet;
  }

  get revision(): Revision {
    return this.#serving?.revision ?? legacyRevisions[0] as Revision;
  }

  get open(): boolean {
    return this.#serving?.open === true && !this.#closed;
  }

  answer(incoming: Incoming): Answer | undefined | Promise<Answer | undefined> {
    if (this.#serving) return this.#serving.answer(incoming);
    const isFirst = incoming.message.method === "initialize" && this.#rights === undefined;
    return isFirst
      ? this.#begin(incoming)
      : this.#failure(incoming, new InvalidRequestError(early, { rpcCode: -32600 }));
  }

  notified(notification: JsonRpcNotification): void {
    this.#serving?.notified(notification);
  }

  answered(response: JsonRpcResponse): boolean {
    return this.#serving?.answered(response) ?? false;
  }

  isOf(auth: AuthInfo | undefined): boolean {
    return this.#rights === undefined || this.#rights === rightsOf(auth);
  }

  close(): void {
    this.#closed = true;
    this.#serving?.close();
  }

  async #begin(incoming: Incoming): Promise<Answer | undefined> {
    this.#rights = rightsOf(incoming.auth);
    let opened: Opened;
    try {
      opened = await this.#open(incoming);
    } catch (error) {
      return noServer(incoming, error, this.#parts, (told) => this.#failure(incoming, told));
    }
    if (this.#closed) return undefined;
    this.#serving = opened.legacy?.(this.#outlet);
    return await this.#serving?.answer(incoming);
  }

  #failure({ message: { id, method } }: Incoming, error: unknown): Answer {
    return errorAnswer(error, { id, method, revision: this.revision }, this.#parts.logger);
  }
}

const early = 'Send "initialize" first, and wait for its answer';

/** What the function may have gone by beside the principal, which is the session's. */
function rightsOf(auth: AuthInfo | undefined): string {
  return JSON.stringify([auth?.clientId ?? null, [...auth?.scopes ?? []].sort()]);
}
