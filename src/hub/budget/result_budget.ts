/**
 * Results that are too large for a model: cut, told, and kept as a whole.
 *
 * @module
 */
import { attempt } from "../../egress/attempt.ts";
import { type Clock, type Random, type Store, systemClock, systemRandom } from "../../ports.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import { HubLayer } from "../layer.ts";
import type { CatalogTool, HubLike, QualifiedName } from "../seam.ts";
import { type Budget, type Cut, cutResult } from "./cut.ts";
import { KeptResults } from "./kept_results.ts";
import { createReadTool, isReadTool, readToolName, runReadTool } from "./read_tool.ts";
import { parseResultUri, readResult, resultsUri, unknown } from "./result_resource.ts";

/** Options of {@linkcode withResultBudget}. */
export interface ResultBudgetOptions {
  /** Where whole results are kept, under `results/…`. */
  readonly store: Store;
  /** The most text of a result, in `unit` (40,000 characters or 10,000 tokens). */
  readonly limit?: number | undefined;
  /** What `limit` counts (`characters`); tokens are estimated, rather too many than too few. */
  readonly unit?: "characters" | "tokens" | undefined;
  /** The most bytes of pictures, sounds and files of a result together (4 MiB). */
  readonly mediaLimit?: number | undefined;
  /** The most characters that a tool may claim for itself by `_meta["anthropic/maxResultSizeChars"]` (500,000). 0: none. */
  readonly mostClaimed?: number | undefined;
  /** How long a whole result is kept, in milliseconds (an hour). */
  readonly lifetime?: number | undefined;
  /** The most characters of whole results that are kept at a time (134,217,728): with more, the oldest are forgotten before their time. */
  readonly mostKept?: number | undefined;
  /** How long the store may take, in milliseconds (10,000). */
  readonly timeout?: number | undefined;
  /** The most characters under one key of the store (40,000: at most 120,000 bytes, which Durable Objects take). */
  readonly chunkSize?: number | undefined;
  /** Gives the model a tool `read_result`, for programs whose model cannot read resources otherwise (false). */
  readonly readTool?: boolean | undefined;
  /** Is told when a result could not be kept: then it is given uncut, since nothing may be lost. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** The system's own. */
  readonly clock?: Clock | undefined;
  /** The system's own. */
  readonly random?: Random | undefined;
}

/** Under this key of `_meta` a cut result says to programs what was cut: `uri`, `shown`, `total`, `expiresAt`. */
export const cutKey = "dev.causeway/cut";

const claimKey = "anthropic/maxResultSizeChars";

/**
 * Wraps a hub so that results of tools fit a budget. What is too large is cut, and its last line says how much is shown and
 * where the rest is: the whole result is kept in a store and read by `readResource("causeway://results/<id>")`, parts by
 * `…/<id>/0`, pieces by `…/<id>/0?from=40000&to=80000`, here or in any isolate with the same store, until its time is over.
 * Who knows the id may read it: it is 128 random bits, and no list has it.
 *
 * Keep it outside of `withFilter` and `withApproval`, which know nothing of these resources. What a store still holds of
 * isolates that are gone is deleted when it is read, not before: give the store's keys a life of their own where it can.
 *
 * @throws {RangeError} When an option is no number of its kind.
 * @throws {TypeError} When there is no store, or `unit` is none.
 *
 * @example At most 20,000 characters
 * ```ts
 * import { withResultBudget } from "@causeway/mcp/hub";
 * import type { HubLike } from "@causeway/mcp/hub";
 * import type { Store } from "@causeway/mcp/auth";
 *
 * const forModel = (hub: HubLike, store: Store) => withResultBudget(hub, { store, limit: 20_000 });
 * console.log(typeof forModel);
 * ```
 */
export function withResultBudget(hub: HubLike, options: ResultBudgetOptions): HubLike {
  return new BudgetedHub(hub, options);
}

class BudgetedHub extends HubLayer {
  readonly #budget: Budget;
  readonly #kept: KeptResults;
  readonly #clock: Clock;
  readonly #timeout: number;
  readonly #mostClaimed: number;
  readonly #onError: (error: unknown) => void;
  readonly #readTool: CatalogTool | undefined;
  #shown: { readonly all: readonly CatalogTool[]; readonly tools: readonly CatalogTool[] } | undefined;

  constructor(hub: HubLike, options: ResultBudgetOptions) {
    super(hub);
    const { store, unit = "characters", clock = systemClock, random = systemRandom } = options;
    // Without one nothing could be kept, and so nothing would be cut.
    if (typeof store?.set !== "function") throw new TypeError('Cannot use the store: expected one with "set"');
    if (unit !== "characters" && unit !== "tokens") {
      throw new TypeError(`Cannot use the unit ${JSON.stringify(unit)}: expected "characters" or "tokens"`);
    }
    this.#budget = {
      unit,
      limit: amount("limit", options.limit ?? (unit === "tokens" ? 10_000 : 40_000), 1),
      mediaLimit: amount("mediaLimit", options.mediaLimit ?? 4 * 1024 * 1024, 0),
    };
    this.#mostClaimed = amount("mostClaimed", options.mostClaimed ?? 500_000, 0);
    this.#timeout = amount("timeout", options.timeout ?? 10_000, 1);
    this.#onError = options.onError ?? (() => {});
    this.#clock = clock;
    this.#readTool = options.readTool ? createReadTool() : undefined;
    const lifetime = amount("lifetime", options.lifetime ?? 3_600_000, 1);
    const chunkSize = amount("chunkSize", options.chunkSize ?? 40_000, 16);
    const most = amount("mostKept", options.mostKept ?? 134_217_728, 0);
    this.#kept = new KeptResults({ store, clock, random, lifetime, chunkSize, most });
  }

  override tools(): readonly CatalogTool[] {
    const all = this.hub.tools();
    if (!this.#readTool) return all;
    if (this.#shown?.all !== all) this.#shown = { all, tools: [...all, this.#readTool] };
    return this.#shown.tools;
  }

  override findTool(name: QualifiedName): CatalogTool | undefined {
    return this.#readTool && isReadTool(name) ? this.#readTool : this.hub.findTool(name);
  }

  override async callTool(...[name, args, options]: Parameters<HubLike["callTool"]>): Promise<CallToolResult> {
    if (this.#readTool && isReadTool(name)) {
      options?.signal?.throwIfAborted();
      return await runReadTool(
        (args ?? {}) as JsonObject,
        this.#budget,
        (id) => this.#within(this.#kept.read(id), options?.signal),
      );
    }
    const tool = this.hub.findTool(name);
    const result = await this.hub.callTool(name, args, options);
    const cut = cutResult(result, this.#budgetOf(tool, result));
    if (!cut) return result;
    try {
      const { id, expiresAt } = await this.#within(this.#kept.keep(result), options?.signal);
      return tell(cut, { uri: resultsUri + id, expiresAt, hasTool: this.#readTool !== undefined });
    } catch (error) {
      options?.signal?.throwIfAborted();
      attempt(() => this.#onError(error));
      return result;
    }
  }

  override async readResource(
    ...[name, options]: Parameters<HubLike["readResource"]>
  ): ReturnType<HubLike["readResource"]> {
    const uri = typeof name === "string" ? name : name.uri;
    const asked = parseResultUri(uri);
    if (!asked) return await this.hub.readResource(name, options);
    const result = await this.#within(this.#kept.read(asked.id), options?.signal);
    if (!result) throw unknown(uri);
    return readResult(result, asked, uri);
  }

  /** A tool, or its result, may claim how much of its text is to be shown. */
  #budgetOf(tool: CatalogTool | undefined, result: CallToolResult): Budget {
    const claimed = result._meta?.[claimKey] ?? tool?.tool._meta?.[claimKey];
    if (typeof claimed !== "number" || !(claimed >= 1) || this.#mostClaimed === 0) return this.#budget;
    return { ...this.#budget, unit: "characters", limit: Math.min(Math.floor(claimed), this.#mostClaimed) };
  }

  /** Waits for the store, but not for ever. */
  async #within<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
    let stop = () => {};
    const end = new Promise<never>((_, reject) => {
      const abort = () => reject(signal?.reason);
      const unschedule = this.#clock.schedule(
        () => reject(new Error(`Cannot reach the store of results: it did not answer within ${this.#timeout} ms`)),
        this.#timeout,
      );
      signal?.addEventListener("abort", abort, { once: true });
      stop = () => {
        unschedule();
        signal?.removeEventListener("abort", abort);
      };
      if (signal?.aborted) abort();
    });
    try {
      return await Promise.race([work, end]);
    } finally {
      stop();
    }
  }
}

/** The cut result, with a line for the model and the same for programs. */
function tell(
  { result, shown, total, media, structured, next }: Cut,
  { uri, expiresAt, hasTool }: { uri: string; expiresAt: number; hasTool: boolean },
): CallToolResult {
  const facts: string[] = [];
  if (next) facts.push(`${shown} of ${total} characters are shown`);
  if (media > 0) {
    facts.push(`${media} ${media === 1 ? "picture, sound or file is" : "pictures, sounds or files are"} left out`);
  }
  if (structured && !next) facts.push("the structured content is left out");
  // No date is later.
  const until = new Date(Math.min(expiresAt, 8.64e15)).toISOString();
  const where = hasTool ? `with the tool ${readToolName} by its uri ${uri}` : `as the resource ${uri}`;
  const place = next && `${uri}/${next.part}`;
  const rest = !next
    ? ""
    : hasTool
    ? `; the text goes on with ${JSON.stringify({ uri: place, from: next.from })}`
    : `; the text goes on at ${place}?from=${next.from}`;
  const line = `[This result is too large: ${facts.join(", ")}. All of it can be read ${where} until ${until}${rest}]`;
  return {
    ...result,
    content: [...result.content, { type: "text", text: line }],
    _meta: { ...result._meta, [cutKey]: { uri, shown, total, expiresAt } },
  };
}

function amount(option: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least) return value;
  throw new RangeError(`Cannot use the ${option} ${value}: expected a whole number, ${least} or more`);
}
