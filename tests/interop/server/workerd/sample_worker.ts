/**
 * The sample in workerd: `/both/…`, `/modern/…` and `/legacy/…`, each path an object of its own that answers everything, since
 * legacy sessions live in its memory.
 */
import { createHandler } from "../../../../src/server/mod.ts";
import type { Handler } from "../../../../src/server/mod.ts";
import { erasOf } from "../eras.ts";
import { createSample } from "../sample.ts";

/** workerd may find out that a client is gone only when it writes to it: the first comment on a silent stream does. */
const keepAlive = 200;

interface Environment {
  readonly SAMPLE: { idFromName(name: string): unknown; get(id: unknown): Pick<Sample, "fetch"> };
}

/** The object that holds one sample. */
export class Sample {
  #handler: Handler | undefined;

  /** Answers one request. */
  fetch(request: Request): Promise<Response> {
    this.#handler ??= createHandler(createSample(), { eras: erasOf(wordOf(request)), keepAlive });
    return this.#handler(request);
  }
}

export default {
  fetch(request: Request, { SAMPLE }: Environment): Promise<Response> {
    return SAMPLE.get(SAMPLE.idFromName(new URL(request.url).pathname)).fetch(request);
  },
};

function wordOf({ url }: Request): string {
  return new URL(url).pathname.split("/")[1] ?? "";
}
