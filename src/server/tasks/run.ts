/**
 * One task at work in this process: what stops it, and what it asks the client.
 *
 * @module
 */
import type { InputRequest } from "../../protocol/types.ts";

/** Asks the client in the course of a request of it; the signal is aborted when the answer is not wanted any more. */
export type Asker = (request: InputRequest, signal: AbortSignal) => Promise<unknown>;

interface Question {
  readonly name: string;
  readonly request: InputRequest;
  /** Takes an answer; false when it is none: then the question is asked again. */
  readonly take: (answer: unknown) => boolean;
  readonly reject: (reason: unknown) => void;
  /** Aborted when the answer is not wanted any more. */
  readonly signal: AbortSignal | undefined;
}

/** Who asks a question, and what calls that off. */
interface Asking {
  readonly asker: Asker;
  readonly controller: AbortController;
}

/** A task at work. */
export class TaskRun {
  readonly taskId: string;
  readonly owner: string | null;
  readonly #controller = new AbortController();
  readonly #questions = new Map<string, Question>();
  /** Keys are used once in a task's life (S-105). */
  readonly #used = new Set<string>();
  readonly #changed: () => Promise<void>;
  /** Questions that are on their way. */
  readonly #asked = new Map<string, Asking>();
  /** Who can ask the client: the last one does. */
  readonly #askers = new Set<Asker>();
  #over = false;
  #atEnd: () => void = () => {};

  /** @param changed Writes down what is asked now. */
  constructor(taskId: string, owner: string | null, changed: (run: TaskRun) => Promise<void>) {
    this.taskId = taskId;
    this.owner = owner;
    this.#changed = () => changed(this);
  }

  /** Aborted when it was cancelled, or is kept no longer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it has ended, or was stopped. */
  get over(): boolean {
    return this.#over;
  }

  /** Calls a function when it ends. There is one such function. */
  onEnd(callback: () => void): void {
    this.#atEnd = callback;
  }

  /** What is asked now, by key. */
  get inputRequests(): Record<string, InputRequest> {
    return Object.fromEntries([...this.#questions].map(([key, { request }]) => [key, request]));
  }

  /** Whether something is asked. */
  get waiting(): boolean {
    return this.#questions.size > 0;
  }

  /**
   * Asks the client something.
   *
   * @param name Begins its key.
   * @param read Reads an answer, which nobody has checked; undefined when it is none.
   * @param signal Aborted when the answer is not wanted any more.
   * @throws {unknown} Why there is no answer: the abort's reason, what `read` throws, or what the client said.
   */
  async ask<Reply>(
    name: string,
    request: InputRequest,
    read: (answer: unknown) => Reply | undefined,
    signal?: AbortSignal,
  ): Promise<Reply> {
    this.signal.throwIfAborted();
    signal?.throwIfAborted();
    let unwanted = (): void => {};
    const asked = new Promise<Reply>((resolve, reject) => {
      const take = (answer: unknown): boolean => {
        try {
          const reply = read(answer);
          if (reply === undefined) return false;
          resolve(reply);
        } catch (error) {
          reject(error);
        }
        return true;
      };
      const question = { name, request, take, reject, signal };
      unwanted = () => {
        reject(signal?.reason);
        this.#withdraw(question);
      };
      signal?.addEventListener("abort", unwanted);
      void this.#put(question);
    });
    return await asked.finally(() => signal?.removeEventListener("abort", unwanted));
  }

  /** Takes answers by key: those that nothing waits for are ignored (S-105). Resolves when it is written down. */
  async answer(answers: Readonly<Record<string, unknown>>): Promise<void> {
    const answered = Object.keys(answers).flatMap((key) => {
      const question = this.#questions.get(key);
      return question && this.#questions.delete(key) ? [[key, question] as const] : [];
    });
    if (answered.length === 0) return;
    try {
      // The state goes before the handler: what it asks next comes after that.
      await this.#changed();
    } catch (error) {
      // They can be answered once more, unless nobody waits any more.
      for (const [key, question] of answered) {
        if (this.#over || question.signal?.aborted) question.reject(error);
        else this.#questions.set(key, question);
      }
      throw error;
    }
    for (const [key, question] of answered) if (!question.take(answers[key])) void this.#put(question);
  }

  /**
   * Has somebody ask what waits, in the place of who asked it before: the one who came last asks.
   *
   * @returns What ends it: what it has on its way is left to the others.
   */
  serve(asker: Asker): () => void {
    this.#askers.add(asker);
    // Who was asked may be gone without a word, and nobody would see it any more.
    for (const { controller } of this.#asked.values()) controller.abort(new Error("Somebody else is asked now"));
    this.#asked.clear();
    this.#askAll();
    return () => {
      if (!this.#askers.delete(asker)) return;
      for (const [key, asking] of this.#asked) if (asking.asker === asker) this.#asked.delete(key);
      this.#askAll();
    };
  }

  /** Stops it: the signal is aborted, and what is asked is answered with that. */
  stop(reason: unknown): void {
    this.#controller.abort(reason);
    this.end(reason);
  }

  /** Ends it: nobody waits any more for what is asked. */
  end(reason: unknown): void {
    if (!this.#over) {
      this.#over = true;
      this.#atEnd();
    }
    for (const { reject } of this.#questions.values()) reject(reason);
    this.#questions.clear();
  }

  /** Asks under a new key, once that is written down. */
  async #put(question: Question): Promise<void> {
    if (question.signal?.aborted) return;
    if (this.#over) return question.reject(this.signal.reason ?? new Error("The task has ended"));
    const key = this.#keyOf(question.name);
    this.#questions.set(key, question);
    try {
      await this.#changed();
      this.#askAll();
    } catch (error) {
      this.#questions.delete(key);
      question.reject(error);
    }
  }

  /** Takes a question back: whoever looks at the task finds it no more. */
  #withdraw(question: Question): void {
    for (const [key, other] of this.#questions) {
      if (other !== question) continue;
      this.#questions.delete(key);
      this.#asked.get(key)?.controller.abort(question.signal?.reason);
      // Where it cannot be written down now, the next change does it.
      this.#changed().catch(() => {});
    }
  }

  #askAll(): void {
    const asker = [...this.#askers].at(-1);
    if (!asker) return;
    for (const [key, question] of this.#questions) {
      if (this.#asked.has(key)) continue;
      const controller = new AbortController();
      const asking = { asker, controller };
      this.#asked.set(key, asking);
      asker(question.request, controller.signal).then(
        (answer) => this.answer({ [key]: answer }),
        async (error) => {
          // The asker is gone, or another one has come: that one asks again.
          if (this.#asked.get(key) !== asking || !this.#questions.delete(key)) return;
          await this.#changed().finally(() => question.reject(error));
        },
      ).catch((error) => {
        // Who asked is told, so nobody waits for it any more.
        this.#questions.delete(key);
        question.reject(error);
      });
    }
  }

  #keyOf(name: string): string {
    let key = name;
    for (let count = 2; this.#used.has(key); count++) key = `${name}_${count}`;
    this.#used.add(key);
    return key;
  }
}
