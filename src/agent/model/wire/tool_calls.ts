/**
 * Tool calls that come in pieces, put together.
 *
 * @module
 */
import { LimitExceededError } from "../../../protocol/errors.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import { parseJson } from "../../../protocol/limits/json_scan.ts";
import { randomHex } from "../../../ports.ts";
import type { Random } from "../../../ports.ts";
import type { LanguageModelMessage, LanguageModelToolCall } from "../seam.ts";
import type { FilledLimits } from "./body.ts";

/** A call that is not whole yet. */
interface Gathered {
  id: string;
  name: string;
  /** The text of its arguments, in the pieces in which it came. */
  readonly texts: string[];
  /** Its arguments, where they came as a value. */
  value: JsonObject | undefined;
  /** What the provider wants to see again with it. */
  extra: unknown;
}

/**
 * Gathers pieces of calls. A piece belongs to the call that has its `id`, else to the one at its `index`; endpoints that leave
 * both out, or give all their calls the same ones, begin the next call by naming its tool.
 */
export class ToolCallPieces {
  readonly #limits: FilledLimits;
  readonly #random: Random;
  readonly #taken: ReadonlySet<string>;
  readonly #calls: Gathered[] = [];
  readonly #byId = new Map<string, Gathered>();
  readonly #byIndex = new Map<number, Gathered>();

  /**
   * @param random Makes ids where the provider gives none, or one that is taken.
   * @param taken The ids of the conversation so far.
   */
  constructor(limits: FilledLimits, random: Random, taken: ReadonlySet<string> = new Set()) {
    this.#limits = limits;
    this.#random = random;
    this.#taken = taken;
  }

  /** How many calls there are so far. */
  get count(): number {
    return this.#calls.length;
  }

  /**
   * Takes the `tool_calls` of one delta or message; what is no list of objects is passed over.
   *
   * @throws {LimitExceededError} When there are more calls than `limits.toolCalls`.
   */
  take(pieces: unknown): void {
    for (const piece of Array.isArray(pieces) ? pieces : []) if (isObject(piece)) this.#takeOne(piece);
  }

  /**
   * The calls, in the order in which they began, and what the provider wants to see again of them, by their ids.
   *
   * @param isCut Whether the answer was cut off: then a last call without arguments is one whose arguments are missing.
   * @throws {LimitExceededError} When arguments nest too deep or hold too many values.
   */
  end(isCut: boolean = false): { calls: LanguageModelToolCall[]; extras: JsonObject } {
    const extras: [string, JsonObject][] = [];
    const named = this.#calls.filter(({ name }) => name !== "");
    const taken = new Set(this.#taken);
    const calls = named.map((call): LanguageModelToolCall => {
      const id = call.id !== "" && !taken.has(call.id) ? call.id : `call_${randomHex(this.#random, 12)}`;
      taken.add(id);
      if (isObject(call.extra)) extras.push([id, { extra_content: call.extra as JsonObject }]);
      // What translates Claude's streams may put an empty object before the arguments.
      const text = call.texts.join("").replace(/^\s*\{\s*\}(?=\s*\{)/, "");
      // A text that is no JSON, as that of all others that were cut off.
      const isMissing = isCut && call === named.at(-1) && text.trim() === "";
      const value = text.trim() !== "" && isEmpty(call.value) ? undefined : call.value;
      const given = value ?? readArguments(isMissing ? "{" : text, this.#limits);
      const read = typeof given === "string" ? readArguments(once(given), this.#limits) : given;
      return { id, name: call.name, arguments: read };
    });
    return { calls, extras: Object.fromEntries(extras) };
  }

  #takeOne(piece: Record<string, unknown>): void {
    const { index, extra_content: extra } = piece;
    const id = typeof piece.id === "string" ? piece.id : "";
    const about = isObject(piece.function) ? piece.function : piece;
    const name = typeof about.name === "string" ? about.name : "";
    const call = this.#find(id, typeof index === "number" ? index : undefined, name);
    call.id ||= id;
    call.name ||= name;
    call.extra ??= extra;
    if (call.id !== "") this.#byId.set(call.id, call);
    if (typeof index === "number") this.#byIndex.set(index, call);
    const { arguments: given } = about;
    if (typeof given === "string") call.texts.push(given);
    else if (isObject(given)) call.value = given as JsonObject;
  }

  #find(id: string, index: number | undefined, name: string): Gathered {
    const there = index === undefined ? undefined : this.#byIndex.get(index);
    // Another name is another call, whatever else they share.
    const isOther = (call: Gathered): boolean => name !== "" && call.name !== "" && name !== call.name;
    if (there && id !== "" && there.id === id && !isOther(there)) return there;
    const known = id === "" ? undefined : this.#byId.get(id);
    // With a number and a name of its own: another call, though some give them all one id.
    const isNumbered = index !== undefined && name !== "" && known && (name !== known.name || isWhole(known));
    if (known) return isNumbered || isOther(known) ? this.#begin() : known;
    // Another id and a name: another call, whatever its number. Another id alone: some make a new one for each piece.
    const isNew = (call: Gathered): boolean => isOther(call) || (id === "" ? isWhole(call) : call.id !== "");
    if (there && (name === "" || there.name === "" || !isNew(there))) return there;
    const last = this.#calls.at(-1);
    if (index === undefined && name === "" && last) return last;
    return this.#begin();
  }

  #begin(): Gathered {
    const { toolCalls } = this.#limits;
    if (this.#calls.length >= toolCalls) {
      throw new LimitExceededError("limits.toolCalls", toolCalls, this.#calls.length + 1);
    }
    const call: Gathered = { id: "", name: "", texts: [], value: undefined, extra: undefined };
    this.#calls.push(call);
    return call;
  }
}

/** The ids of the calls in a conversation: what a provider says of a call is known by its id, so that none may stand twice. */
export function callIdsOf(messages: readonly LanguageModelMessage[]): Set<string> {
  const calls = messages.flatMap((message) => message.role === "assistant" ? message.toolCalls ?? [] : []);
  return new Set(calls.map(({ id }) => id));
}

function isEmpty(value: JsonObject | undefined): boolean {
  return Object.keys(value ?? {}).length === 0;
}

/** What is no JSON, without what stands in it again: some tell the arguments of a call once more when they are whole. */
function once(text: string): string {
  const units = [2, 3].map((times) => ({ times, unit: text.slice(0, text.length / times) }));
  const said = units.find(({ times, unit }) => /^\s*\{/.test(unit) && unit.repeat(times) === text);
  return said ? said.unit : text;
}

/** Whether a call has all it needs. It is looked at only while it has few pieces, as calls that come whole do. */
function isWhole({ name, texts, value }: Gathered): boolean {
  if (name === "" || texts.length > 4) return false;
  if (value) return true;
  try {
    return isObject(JSON.parse(texts.join("")));
  } catch {
    return false;
  }
}

/** Arguments as an object, or the text itself where it is none. Nothing is an empty object. */
export function readArguments(
  text: string,
  limits: Pick<FilledLimits, "jsonDepth" | "jsonNodes">,
): JsonObject | string {
  if (text.trim() === "") return {};
  try {
    const value = parseJson(text, limits);
    return isObject(value) ? value as JsonObject : text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** The arguments of a call as JSON that every endpoint can parse: what was no object goes back inside of one. */
export function argumentsObject({ arguments: given }: LanguageModelToolCall): JsonObject {
  return typeof given === "string" ? { malformed_arguments: given } : given;
}
