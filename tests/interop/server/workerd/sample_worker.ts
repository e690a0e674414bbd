/**
 * The sample in workerd: `/both/…`, `/modern/…` and `/legacy/…`, each path an object of its own that answers everything, since
 * legacy sessions live in its memory.
 */
import { createHandler } from "../../../../src/server/mod.ts";
import type { Handler } from "../../../../src/server/mod.ts";
import { erasOf } from "../eras.ts";
import { createSample } from "../sample.ts";

interface Environment {
  readonly SAMPLE: { idFromName(name: string): unknown; get(id: unknown): Pick<Sample, "fetch"> };
}

/** The object that holds one sample. */
export class Sample {
  #handler: Handler | undefined;

  /** Answers one request. */
  fetch(request: Request): Promise<Response> {
    this.#handler ??= createHandler(createSample(), { eras: erasOf(wordOf(request)) });
    return this.#handler(request);
  }
}

export default {
  async fetch(request: Request, { SAMPLE }: Environment): Promise<Response> {
    const object = SAMPLE.get(SAMPLE.idFromName(new URL(request.url).pathname));
    // A body that is still passed on when the object replies costs workerd the connection.
    return await object.fetch(request.body ? new Request(request, { body: await request.arrayBuffer() }) : request);
  },
};

function wordOf({ url }: Request): string {
  return new URL(url).pathname.split("/")[1] ?? "";
}
