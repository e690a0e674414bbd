/**
 * A question to a person that several want to know at once: it is put once.
 *
 * @module
 */
import { unlessAborted } from "../../client/core_client.ts";

interface Asked {
  readonly answer: Promise<unknown>;
  readonly controller: AbortController;
  isOver: boolean;
  /** How many wait for the answer. */
  waiting: number;
}

/** The questions that a person is asked now. */
export class SharedQuestions {
  readonly #asked = new Map<string, Asked>();

  /**
   * What a person says, who is asked unless that is under way.
   *
   * @param key The same for the same question.
   * @param ask Puts it. Its signal is aborted when nobody waits for the answer any more.
   * @param signal Of the one that wants to know it.
   */
  async ask(
    key: string,
    ask: (signal: AbortSignal) => Promise<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const asked = this.#asked.get(key) ?? this.#begin(key, ask);
    asked.waiting++;
    try {
      return await unlessAborted(asked.answer, signal);
    } finally {
      if (!--asked.waiting && !asked.isOver) {
        this.#asked.delete(key);
        asked.controller.abort(signal?.reason);
      }
    }
  }

  #begin(key: string, ask: (signal: AbortSignal) => Promise<unknown>): Asked {
    const controller = new AbortController();
    const asked: Asked = { answer: ask(controller.signal), controller, isOver: false, waiting: 0 };
    this.#asked.set(key, asked);
    const end = (): void => {
      asked.isOver = true;
      if (this.#asked.get(key) === asked) this.#asked.delete(key);
    };
    asked.answer.then(end, end);
    return asked;
  }
}
