/**
 * A conversation that fits what a model can read: old results make room for what is new.
 *
 * @module
 */
import { costOf, type Cut, cutResult, textOf } from "../../../hub/budget/cut.ts";
import { resultsUri } from "../../../hub/budget/result_resource.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../../protocol/types.ts";
import type { LanguageModelMessage } from "../../model/seam.ts";

/** What a picture or a sound is counted as, in tokens. */
const mediaTokens = 1_000;

/** The least that is shown of a result, and what says that it was cut, in tokens. */
const least = 50;
const noteTokens = 100;

/** What a call gave. */
export type ToolMessage = Extract<LanguageModelMessage, { role: "tool" }>;

/** About how many tokens a value is as JSON: rather too many than too few. */
export function tokensOf(value: unknown): number {
  const holders = mediaIn(value);
  let media = 0;
  const text = JSON.stringify(value, function (this: unknown, key: string, inner: unknown) {
    if ((key !== "data" && key !== "blob") || typeof inner !== "string" || inner.length < 4 * mediaTokens) return inner;
    // In structured content, and in arguments, it is text like all the rest.
    if (!holders.has(this)) return inner;
    media++;
    return "";
  });
  return Math.ceil(costOf(text ?? "", "tokens")) + media * mediaTokens;
}

/** What holds the bytes of pictures, sounds and files in a message, or in one block. */
function mediaIn(value: unknown): ReadonlySet<unknown> {
  const contentOf = (held: unknown): unknown[] => isObject(held) && Array.isArray(held.content) ? held.content : [];
  const blocks = isObject(value) ? [value, ...contentOf(value), ...contentOf(value.result)] : [];
  return new Set(
    blocks.filter(isObject).flatMap((block) => {
      if (block.type === "resource") return [block.resource];
      return block.type === "image" || block.type === "audio" ? [block] : [];
    }),
  );
}

/** Counts the tokens of values that never change, and cuts them, each of them once: for one run. */
export class TokenCounter {
  readonly #known = new WeakMap<object, number>();
  readonly #cuts = new WeakMap<ToolMessage, ToolMessage>();
  readonly #recall: (() => string) | undefined;
  readonly #idOf: (message: ToolMessage) => string;

  /**
   * @param recall Names the tool that gives back what was cut (there is none).
   * @param idOf Names a result for it (by the id of its call).
   */
  constructor(recall?: () => string, idOf: (message: ToolMessage) => string = ({ id }) => id) {
    this.#recall = recall;
    this.#idOf = idOf;
  }

  /** As {@linkcode tokensOf}. */
  count(value: object): number {
    const known = this.#known.get(value) ?? tokensOf(value);
    this.#known.set(value, known);
    return known;
  }

  /** The message in whose place one line stands. What may be called again stays so. */
  cut(message: ToolMessage, isRepeatable: (id: string) => boolean): ToolMessage {
    const known = this.#cuts.get(message);
    if (known) return known;
    const result = lineFor(message, this.howTo(message), isRepeatable(message.id));
    const cut = { ...message, result };
    this.#cuts.set(message, cut);
    return cut;
  }

  /** How a result is had back, from a character on; undefined where there is nothing for that, or it was itself had back so. */
  howTo(message: ToolMessage, from?: number): string | undefined {
    const recall = this.#recall?.();
    if (recall === undefined || recall === message.name) return undefined;
    const id = this.#idOf(message);
    return `call ${recall} with ${JSON.stringify({ id, ...(from !== undefined && { from }) })}`;
  }

  /** The tokens of some values together. */
  sum(values: readonly object[]): number {
    return values.reduce<number>((sum, value) => sum + this.count(value), 0);
  }
}

/**
 * Fits a conversation into so many tokens. The oldest tool results give way first, each to one line that says what was there and
 * how it is read again; those of the last turn are only cut, and system and user messages stay. Each call keeps its answer.
 *
 * @param isRepeatable Whether the call of this id may be made again.
 * @param counter One for all that is asked of a conversation: a message is counted once then, and not with each question.
 */
export function fitContext(
  messages: readonly LanguageModelMessage[],
  limit: number,
  isRepeatable: (id: string) => boolean,
  counter: TokenCounter = new TokenCounter(),
): readonly LanguageModelMessage[] {
  const costs = messages.map((message) => counter.count(message));
  let total = costs.reduce((sum, cost) => sum + cost, 0);
  if (total <= limit) return messages;
  const fitted = [...messages];
  const lastTurn = fitted.findLastIndex(({ role }) => role === "assistant");
  for (let at = 0; at < lastTurn && total > limit; at++) {
    const message = fitted[at];
    if (message?.role !== "tool") continue;
    const cut = counter.cut(message, isRepeatable);
    const cost = counter.count(cut);
    const before = costs[at] ?? 0;
    if (cost >= before) continue;
    fitted[at] = cut;
    total -= before - cost;
  }
  if (total > limit) shorten(fitted, { from: lastTurn + 1, costs, over: total - limit, counter });
  return fitted;
}

/** Cuts the results of the last turn: each to its share of the room that they have together. */
function shorten(
  messages: LanguageModelMessage[],
  { from, costs, over, counter }: {
    readonly from: number;
    readonly costs: readonly number[];
    readonly over: number;
    readonly counter: TokenCounter;
  },
): void {
  const places = messages.flatMap(({ role }, at) => at >= from && role === "tool" ? [at] : []);
  const all = places.reduce((sum, at) => sum + (costs[at] ?? 0), 0);
  const share = Math.max(least, (all - over) / Math.max(1, places.length) - noteTokens);
  for (const at of places) {
    const message = messages[at];
    if (message?.role === "tool") messages[at] = shortened(message, share, counter);
  }
}

/** A message whose result has about so many tokens. */
function shortened(message: ToolMessage, share: number, counter: TokenCounter): ToolMessage {
  // What is escaped in JSON costs more than its characters.
  for (let limit = share;; limit *= 0.8) {
    const cut = cutResult(message.result, { limit, unit: "tokens", mediaLimit: 0 });
    if (!cut) {
      if (limit < least || tokensOf(message) <= share + noteTokens) return message;
      continue;
    }
    const how = counter.howTo(message, placeOf(message.result, cut.next));
    const note = `(cut to fit: ${cut.shown} of ${cut.total} characters are shown${
      cut.media ? ", media are left out" : ""
    }${how === undefined ? "" : `; ${how} for the rest`})`;
    const content = [...cut.result.content, { type: "text" as const, text: note }];
    const short = { ...message, result: { ...cut.result, content } };
    if (limit < least || tokensOf(short) <= share + noteTokens) return short;
  }
}

/** Where the rest begins in the text that all texts of a result make together, with a line break between two. */
function placeOf({ content }: CallToolResult, next: Cut["next"]): number {
  if (!next || next.part === "structured") return next?.from ?? 0;
  const before = content.slice(0, next.part).map(textOf).filter((text) => text !== undefined);
  return before.reduce((sum, text) => sum + text.length + 1, next.from);
}

function lineFor({ name, result }: ToolMessage, recall: string | undefined, isRepeatable: boolean): CallToolResult {
  const json = JSON.stringify(result);
  const kept = json.split(resultsUri)[1]?.match(/^[\w-]+/)?.[0];
  const how = kept !== undefined
    ? `${recall === undefined ? "" : `${recall}, or `}read ${resultsUri}${kept} to see it again`
    : recall !== undefined
    ? `${recall} to see it again`
    : isRepeatable
    ? `call ${name} again with the same arguments to see it again`
    : `${name} was called and is not to be called again for it`;
  const text = `(the result of ${name}, ${json.length} characters, was cut to make room: ${how})`;
  return { content: [{ type: "text", text }], ...(result.isError && { isError: true }) };
}
