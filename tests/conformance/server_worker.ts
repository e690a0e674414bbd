/**
 * The conformance server in workerd: one Durable Object answers everything, since legacy sessions live in its memory.
 * `tests/hosts/conformance_server_worker.ts` is the program around it.
 */
import { createAnswer } from "./host/answer.ts";

interface Environment {
  readonly EVERYTHING: { idFromName(name: string): unknown; get(id: unknown): typeof worker };
}

/** The object that holds the server. */
export class Everything {
  readonly #answer = createAnswer();

  /** Answers one request. */
  fetch(request: Request): Promise<Response> {
    return this.#answer(request);
  }
}

const worker: { fetch(request: Request, environment: Environment): Promise<Response> } = {
  async fetch(request, environment) {
    const { EVERYTHING } = environment;
    const object = EVERYTHING.get(EVERYTHING.idFromName("everything"));
    // A body that is still passed on when the object replies costs workerd the connection.
    const whole = request.body ? new Request(request, { body: await request.arrayBuffer() }) : request;
    return await object.fetch(whole, environment);
  },
};

export default worker;
