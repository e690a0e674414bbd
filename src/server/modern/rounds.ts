/**
 * The rounds of one call: which answers are there, and which questions go out (specification 2026-07-28: multi
 * round-trip requests).
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import { own } from "../../protocol/json_schema/node.ts";
import type { ClientCapabilities, InputRequest } from "../../protocol/types.ts";
import type { AuthInfo } from "../definitions.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { EraSignal } from "../common/era_signal.ts";
import type { StateSealer } from "../seam.ts";
import type { QuestionKind } from "./questions/kind.ts";

/**
 * What a question throws that has no answer yet: it ends this run of the handler, and the client is asked. It is no
 * error and nothing went wrong: a handler lets it pass.
 */
export class InputNeeded extends EraSignal {
  /** Which question waits. */
  readonly key: string;

  /** @param key Which question waits. */
  constructor(key: string) {
    super();
    this.key = key;
  }

  /** For whoever prints what was thrown. */
  override toString(): string {
    return `The client is asked for "${this.key}" first: let this pass`;
  }
}

/** Opens the rounds of one request. */
export interface RoundsRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly auth: AuthInfo | undefined;
}

/** What a run remembers. */
interface Kept {
  /** Answers of earlier rounds. */
  readonly answers: Map<string, JsonValue>;
  /** What was asked in earlier rounds and in this one: the key, and the print of the question's words. */
  readonly prints: Map<string, string>;
  readonly asked: Set<string>;
  readonly questions: Map<string, InputRequest>;
  readonly counts: { elicit: number; sample: number; roots: number };
}

/** The questions and answers of one run of a handler. */
export class Rounds {
  readonly #request: RoundsRequest;
  readonly #sealer: () => StateSealer;
  readonly #responses: Record<string, unknown> | undefined;
  /** What the handler keeps for the next round. */
  declare carried: JsonValue | undefined;
  /** Made when it is needed: most calls bring nothing along and ask nothing. */
  #kept: Kept | undefined;

  private constructor(request: RoundsRequest, sealer: () => StateSealer, state?: JsonObject) {
    this.#request = request;
    this.#sealer = sealer;
    const { inputResponses } = request.params;
    if (isObject(inputResponses)) this.#responses = inputResponses;
    if (!state) return;
    this.carried = state.carried;
    const { answers, prints } = this.#kept = keep(state);
    for (const [key, response] of entries(this.#responses)) {
      // What was asked for is kept, also when this run ends before its question comes up again.
      if (prints.has(key) && !answers.has(key)) answers.set(key, response);
    }
  }

  /**
   * Begins a round.
   *
   * @param sealer Gives what seals its state.
   * @throws {InvalidParamsError} When the request's state is not ours (S-089).
   */
  static open(request: RoundsRequest, sealer: () => StateSealer): Rounds | Promise<Rounds> {
    return request.params.requestState === undefined ? new Rounds(request, sealer) : Rounds.#reopen(request, sealer);
  }

  static async #reopen(request: RoundsRequest, sealer: () => StateSealer): Promise<Rounds> {
    const { requestState } = request.params;
    const state = typeof requestState === "string" && await sealer().open(requestState, await boundTo(request));
    if (state) return new Rounds(request, sealer, state);
    throw new InvalidParamsError(`"params.requestState" is not valid here, or no more: send the call without it`, {
      rpcCode: -32602,
    });
  }

  /** Whether an answer was brought along: such a result is nobody else's. */
  get answered(): boolean {
    return (this.#kept?.answers.size ?? 0) > 0 || Object.keys(this.#responses ?? {}).length > 0;
  }

  /** Whether the client has to be asked. */
  get waiting(): boolean {
    return (this.#kept?.questions.size ?? 0) > 0;
  }

  /**
   * Asks one question.
   *
   * @returns The client's answer, or what is to be thrown because it is not there yet. Questions that are asked until the
   * state is sealed go out with it.
   * @throws {TypeError} When the key is used already.
   */
  ask<Request, Reply>(
    kind: QuestionKind<Request, Reply>,
    request: Request,
    capabilities: ClientCapabilities,
    name: string | undefined,
  ): Reply | InputNeeded {
    const { answers, prints, asked, questions, counts } = this.#kept ??= keep({});
    const key = name ?? `${kind.name}_${++counts[kind.name]}`;
    if (asked.has(key)) throw new TypeError(`The key "${key}" names two questions: expected one`);
    asked.add(key);
    const params = kind.params(request, capabilities);
    const print = kind.exact && name === undefined ? printOf(JSON.stringify(params)) : "";
    const known = (prints.get(key) ?? print) === print;
    const answer = known ? answers.get(key) ?? own(this.#responses ?? {}, key) : undefined;
    const reply = answer === undefined ? undefined : kind.read(answer, request);
    prints.set(key, print);
    if (reply !== undefined) {
      answers.set(key, answer as JsonValue);
      return reply;
    }
    answers.delete(key);
    questions.set(key, params ? { method: kind.method, params } : { method: kind.method });
    return new InputNeeded(key);
  }

  /** The result that asks. */
  async result(): Promise<JsonObject> {
    const bound = await boundTo(this.#request);
    const { answers, prints, questions } = this.#kept ?? keep({});
    const { carried } = this;
    const state = { answers: Object.fromEntries(answers), prints: Object.fromEntries(prints), carried };
    const requestState = await this.#sealer().seal(state, bound);
    const inputRequests = Object.fromEntries(questions) as unknown as JsonObject;
    return { resultType: "input_required", inputRequests, requestState };
  }
}

/** The parameters as the author's handler sees them. */
export function withoutAnswers(given: JsonObject): JsonObject {
  if (!("inputResponses" in given || "requestState" in given)) return given;
  const { inputResponses: _, requestState: __, ...params } = given;
  return params;
}

function keep({ answers, prints }: JsonObject): Kept {
  return {
    answers: new Map(entries(answers)),
    prints: new Map(entries(prints) as [string, string][]),
    asked: new Set(),
    questions: new Map(),
    counts: { elicit: 0, sample: 0, roots: 0 },
  };
}

/** Who asks what: a state is good for this alone (S-090). */
async function boundTo({ method, params, auth }: RoundsRequest): Promise<string> {
  const { _meta: _, ...asked } = withoutAnswers(params);
  return JSON.stringify([auth ? auth.principal : null, method, await sha256(canonical(asked))]);
}

/** One text for one value, however its members are ordered. */
function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).filter((name) => value[name] !== undefined).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name] as JsonValue)}`)}}`;
}

function entries(value: unknown): [string, JsonValue][] {
  return isObject(value) ? Object.entries(value) as [string, JsonValue][] : [];
}

/** Tells one wording from another (FNV-1a); it keeps no secret and stops no attacker. */
function printOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}
