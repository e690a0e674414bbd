/** Runs through the runner's API: the first event, the cost of a step, and many at once. */
import { median } from "../results.ts";
import { apiKey, residentOf, type Served } from "./workerd.ts";

/** Milliseconds; MiB for memory, undefined where the system does not tell. */
export interface RunFigures {
  /** From the start of a run to its first event. */
  readonly first: number;
  /** A step that is done once, its intent and its result kept. */
  readonly step: number;
  /** Until the last of many runs has ended. */
  readonly crowd: number;
  /** Of them, those that succeeded. */
  readonly succeeded: number;
  /** By how much the process grew at most while they ran, and by how much it is larger afterwards. */
  readonly grown: number | undefined;
  readonly left: number | undefined;
}

/** How many runs there are at once. */
export const crowd = 1_000;
const steps = [100, 500] as const;

/** Measures a runner in an object. */
export async function measureRunsApi({ port, pid }: Served, quick: boolean): Promise<RunFigures> {
  const api = new Api(`http://127.0.0.1:${port}`);
  const rounds = quick ? 5 : 15;
  await api.finish("steps", "10");
  const first = await medianOf(rounds, () => api.firstEvent());
  const few = await medianOf(5, () => api.finish("steps", String(steps[0])));
  const many = await medianOf(5, () => api.finish("steps", String(steps[1])));
  const before = residentOf(pid);
  let most = before ?? 0;
  const watch = setInterval(() => most = Math.max(most, residentOf(pid) ?? 0), 50);
  const began = performance.now();
  const ids = await inParts(crowd, 50, () => api.start("helper", "call up.noop"));
  const ends = await inParts(ids.length, 50, async (at) => await api.endOf(ids[at] ?? ""));
  const took = performance.now() - began;
  clearInterval(watch);
  const after = residentOf(pid);
  return {
    first,
    step: (many - few) / (steps[1] - steps[0]),
    crowd: took,
    succeeded: ends.filter((state) => state === "succeeded").length,
    grown: before === undefined ? undefined : most - before,
    left: before === undefined || after === undefined ? undefined : after - before,
  };
}

/** The API of runs, as a program uses it. */
class Api {
  readonly #origin: string;
  readonly #headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };

  constructor(origin: string) {
    this.#origin = origin;
  }

  async start(agent: string, input: string): Promise<string> {
    const response = await this.#send("/api/runs", { method: "POST", body: JSON.stringify({ agent, input }) });
    const { id }: { id: string } = await response.json();
    return id;
  }

  /** Starts a run, and reads its events to the end; answers the milliseconds. */
  async finish(agent: string, input: string): Promise<number> {
    const began = performance.now();
    const text = await (await this.#send(`/api/runs/${await this.start(agent, input)}/events`)).text();
    if (!text.includes("event: succeeded")) throw new Error(`The run did not succeed: ${text.slice(-500)}`);
    return performance.now() - began;
  }

  /** Starts a run, and waits for its first event; answers the milliseconds. */
  async firstEvent(): Promise<number> {
    const began = performance.now();
    const id = await this.start("helper", "call up.noop");
    const { body } = await this.#send(`/api/runs/${id}/events`);
    let text = "";
    let took = NaN;
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (Number.isNaN(took) && text.includes("event: ")) took = performance.now() - began;
    }
    if (!text.includes("event: succeeded")) throw new Error(`The run did not succeed: ${text.slice(-500)}`);
    return took;
  }

  /** The state in which a run ends. */
  async endOf(id: string): Promise<string> {
    await (await this.#send(`/api/runs/${id}/events`)).text();
    const { state }: { state: string } = await (await this.#send(`/api/runs/${id}`)).json();
    return state;
  }

  async #send(path: string, init: RequestInit = {}): Promise<Response> {
    // workerd closes connections that were idle for five seconds, in the moment in which one may be used again.
    const response = await fetch(`${this.#origin}${path}`, { ...init, headers: this.#headers, keepalive: false });
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
    return response;
  }
}

async function medianOf(rounds: number, work: () => Promise<number>): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) samples.push(await work());
  return median(samples) ?? NaN;
}

/** Does something so many times, some of them at a time. */
async function inParts<Value>(count: number, atOnce: number, work: (at: number) => Promise<Value>): Promise<Value[]> {
  const values: Value[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) {
      const at = next++;
      values[at] = await work(at);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return values;
}
