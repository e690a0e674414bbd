/**
 * The questions of a workflow that wait, kept in the object of its run.
 *
 * @module
 */
import type { AgentAnswer, AgentQuestion } from "../../src/agent/loop/seam.ts";
import { systemClock } from "../../src/ports.ts";
import type { Clock, Store } from "../../src/ports.ts";

/** Under this name they are kept. */
const questionsKey = "question";
/** How long the platform waits for an answer, in milliseconds. */
export const patience: number = 30 * 86_400_000;
/** What the clocks of this machine and of the platform may differ, in milliseconds. */
const clockRoom = 60_000;
/** How long an object that cannot be reached is left before it is asked again, in milliseconds: a deployment starts all of them anew. */
const pauses = [100, 500, 2_500, 12_500] as const;

/** The questions that wait, oldest first: calls side by side ask each for itself. */
export async function questionsOf(store: Pick<Store, "get">): Promise<readonly AgentQuestion[]> {
  return readQuestions(await store.get(questionsKey));
}

/** The questions of one run. */
export class RunQuestions {
  readonly #store: Required<Store>;
  readonly #clock: Clock;
  /** Those that are answered: one that could not be taken out goes with the next change, or it would hide those after it. */
  readonly #over = new Set<string>();

  constructor(store: Required<Store>, clock: Clock = systemClock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Has one answered, and keeps it meanwhile. What nobody has answered when the platform waits no longer is cancelled.
   *
   * @param answered Waits for the answer.
   * @throws What ends the waiting before its time, such as a pause: the question waits for who goes on with the run.
   */
  async ask(question: AgentQuestion, answered: () => Promise<AgentAnswer>): Promise<AgentAnswer> {
    await this.begin(question);
    const answer = await answered().catch((error: unknown): AgentAnswer => {
      if (this.#clock.now() < question.askedAt + patience - clockRoom) throw error;
      return { action: "cancel" };
    });
    await this.end(question);
    return answer;
  }

  /** Keeps one that waits from now on. */
  async begin(question: AgentQuestion): Promise<void> {
    await this.#change((waiting) => [...waiting.filter(({ id }) => id !== question.id), question]);
  }

  /** One is answered. It takes no other answer, also where it cannot be taken out now. */
  async end({ id }: AgentQuestion): Promise<void> {
    this.#over.add(id);
    await this.#change((waiting) => waiting).catch(() => {});
  }

  #change(change: Parameters<typeof changeQuestions>[1]): Promise<void> {
    const left = (waiting: readonly AgentQuestion[]) => waiting.filter(({ id }) => !this.#over.has(id));
    return changeQuestions(this.#store, (waiting) => change(left(waiting)), this.#clock);
  }
}

/**
 * Changes the questions that wait. What fails is tried again: it would be the end of the run.
 *
 * @param change Called again with each try: done twice, it has to come to the same.
 * @throws What the store throws, when it does so again and again.
 */
export async function changeQuestions(
  store: Required<Store>,
  change: (waiting: readonly AgentQuestion[]) => readonly AgentQuestion[],
  clock: Clock = systemClock,
): Promise<void> {
  for (const pause of pauses) {
    try {
      return await changeOnce(store, change);
    } catch {
      await new Promise<void>((resolve) => void clock.schedule(resolve, pause));
    }
  }
  await changeOnce(store, change);
}

async function changeOnce(...[store, change]: Parameters<typeof changeQuestions>): Promise<void> {
  for (;;) {
    const text = await store.get(questionsKey);
    const waiting = change(readQuestions(text));
    const next = waiting.length ? JSON.stringify(waiting) : undefined;
    if (await store.compareAndSet(questionsKey, text, next)) return;
  }
}

/** One alone is what an older version of this Worker has kept. */
function readQuestions(text: string | undefined): readonly AgentQuestion[] {
  return text === undefined ? [] : [JSON.parse(text) as AgentQuestion | readonly AgentQuestion[]].flat();
}
