/**
 * What a fake peer remembers: every request, every execution of a tool, every cancellation, and what the client did wrong
 * although the specification lets a server overlook it.
 *
 * @module
 */
import type { JsonObject, RequestId } from "./wire.ts";

/** One HTTP request, frame or line as it came in. */
export interface RecordedRequest {
  /** `POST`, `GET`, …; `PIPE` on a pipe. */
  readonly httpMethod: string;
  readonly url: string;
  /** Header names in lower case. */
  readonly headers: Record<string, string>;
  /** The parsed body, when it was a JSON object. */
  readonly message: JsonObject | undefined;
}

/** One run of a tool. An `input_required` retry is not a new one. */
export interface Execution {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly id: RequestId;
}

/** A request that was called off before its answer. */
export interface Cancellation {
  readonly id: RequestId;
  readonly method: string;
  readonly reason: string;
}

/** What a test may look at. */
export interface LedgerView {
  /** The newest requests, oldest first. */
  readonly log: readonly RecordedRequest[];
  readonly executions: readonly Execution[];
  readonly cancellations: readonly Cancellation[];
  /** What the client did wrong and the server overlooked. Empty for a correct client. */
  readonly violations: readonly string[];
  /** How often a tool was executed. */
  calls(tool: string): number;
  /** How often a method arrived (as `method` of a request or notification). */
  count(method: string): number;
}

/** Keeps the books of one fake peer. */
export class Ledger implements LedgerView {
  readonly log: RecordedRequest[] = [];
  readonly executions: Execution[] = [];
  readonly cancellations: Cancellation[] = [];
  readonly violations: string[] = [];
  readonly #calls = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  readonly #keep: number;

  /** @param keep How many entries each list keeps; 0 for a bench, where only the counters run. */
  constructor(keep: number = 10_000) {
    this.#keep = keep;
  }

  calls(tool: string): number {
    return this.#calls.get(tool) ?? 0;
  }

  count(method: string): number {
    return this.#counts.get(method) ?? 0;
  }

  /** What a test may look at, to be spread into a server. */
  view(): LedgerView {
    const { log, executions, cancellations, violations } = this;
    return {
      log,
      executions,
      cancellations,
      violations,
      calls: (tool) => this.calls(tool),
      count: (method) => this.count(method),
    };
  }

  /** Notes an HTTP request. */
  http(request: Request, message: JsonObject | undefined): void {
    if (typeof message?.method === "string") this.#raise(this.#counts, message.method);
    if (this.#keep === 0) return;
    const headers = Object.fromEntries(request.headers);
    this.#add(this.log, { httpMethod: request.method, url: request.url, headers, message });
  }

  /** Notes a message of a pipe. */
  pipe(message: JsonObject): void {
    if (typeof message.method === "string") this.#raise(this.#counts, message.method);
    if (this.#keep > 0) this.#add(this.log, { httpMethod: "PIPE", url: "", headers: {}, message });
  }

  /** Notes that a tool runs. */
  execution(execution: Execution): void {
    this.#raise(this.#calls, execution.tool);
    if (this.#keep > 0) this.#add(this.executions, execution);
  }

  /** Notes that a request was called off. */
  cancellation(cancellation: Cancellation): void {
    this.#add(this.cancellations, cancellation);
  }

  /** Notes a mistake of the client. */
  violation(text: string): void {
    this.#add(this.violations, text);
  }

  #add<Entry>(list: Entry[], entry: Entry): void {
    if (list.length >= Math.max(this.#keep, 100)) list.splice(0, list.length >> 1);
    list.push(entry);
  }

  #raise(counts: Map<string, number>, key: string): void {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}
