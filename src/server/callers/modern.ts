/**
 * The modern era of many servers: each request is answered by its caller's.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { modernRevisions } from "../../protocol/revisions.ts";
import { capabilitiesKey, versionKey } from "../common/meta_keys.ts";
import { isOver } from "../common/requests.ts";
import { errorAnswer } from "../modern/answers.ts";
import type { Answer, Incoming, ModernServing, ServerParts } from "../seam.ts";
import { noServer } from "./opening.ts";
import type { Opened, OpenFor } from "./opening.ts";
import { ownResult } from "./own.ts";

/** Hands each request to the era of its caller's server. */
export class CallersModern implements ModernServing {
  readonly #parts: ServerParts;
  readonly #open: OpenFor;
  /** How many requests each server is at: of others there is nothing to close. */
  readonly #busy = new Map<ModernServing, number>();
  #closed = false;

  constructor(parts: ServerParts, open: OpenFor) {
    this.#parts = parts;
    this.#open = open;
  }

  async answer(incoming: Incoming): Promise<Answer | undefined> {
    let opened: Opened;
    try {
      opened = await this.#open(incoming);
    } catch (error) {
      const { id } = incoming.message;
      return isOver(incoming) ? undefined : noServer(incoming, error, this.#parts, (told) => errorAnswer(id, told));
    }
    const wrong = wrongHeader(incoming, opened);
    return wrong ?? (opened.modern && ownAlone(await this.#answerBy(opened.modern, incoming)));
  }

  close(): void {
    this.#closed = true;
    for (const modern of [...this.#busy.keys()]) modern.close();
  }

  async #answerBy(modern: ModernServing, incoming: Incoming): Promise<Answer | undefined> {
    this.#count(modern, 1);
    // While the function was asked.
    if (this.#closed) modern.close();
    try {
      return await modern.answer(incoming);
    } finally {
      this.#count(modern, -1);
    }
  }

  #count(modern: ModernServing, by: 1 | -1): void {
    const count = (this.#busy.get(modern) ?? 0) + by;
    if (count) this.#busy.set(modern, count);
    else this.#busy.delete(modern);
  }
}

/** Which headers mirror arguments is in the tools of the caller's server: who looked at the others could not know them. */
function wrongHeader({ message, request }: Incoming, { check }: Opened): Answer | undefined {
  const said = message.params?._meta;
  const claim = isObject(said) && isObject(said[capabilitiesKey]) ? said[versionKey] : undefined;
  const revision = modernRevisions.find((spoken) => spoken === claim);
  const wrong = revision && request && check.wrong(message, request.headers, revision);
  if (!wrong) return undefined;
  return { response: { jsonrpc: "2.0", id: message.id, error: { code: -32020, message: wrong } }, status: 400 };
}

/** What is at one address for one caller must not be kept for another. */
function ownAlone(answer: Answer | undefined): Answer | undefined {
  const result = answer?.response.result;
  if (!answer || !isObject(result)) return answer;
  const own = ownResult(result as JsonObject);
  return own === result ? answer : { ...answer, response: { ...answer.response, result: own } };
}
