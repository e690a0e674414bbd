/**
 * The rounds of one call: which answers are there, and which questions go out (specification 2026-07-28: multi
 * round-trip requests).
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import type { ClientCapabilities, InputRequest } from "../../protocol/types.ts";
import type { AuthInfo } from "../definitions.ts";
import type { StateSealer } from "../seam.ts";
import type { QuestionKind } from "./questions/kind.ts";

/** The methods whose result may ask for input (S-087). */
export const inputMethods: readonly string[] = ["tools/call", "prompts/get", "resources/read"];

/**
 * What a question throws that has no answer yet: it ends this run of the handler, and the client is asked. It is no
 * error and nothing went wrong: a handler lets it pass.
 */
export class InputNeeded {
  /** Which question waits. */
  readonly key: string;

  /** @param key Which question waits. */
  constructor(key: string) {
    this.key = key;
  }

  /** For whoever prints what was thrown. */
  toString(): string {
    return `The client is asked for "${this.key}" first: let this pass`;
  }
}

/** Opens the rounds of one request. */
export interface RoundsRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly auth: AuthInfo | undefined;
}

/** The questions and answers of one run of a handler. */
export class Rounds {
  readonly #request: RoundsRequest;
  readonly #sealer: StateSealer;
  /** Answers of earlier rounds. */
  readonly #answers: Map<string, JsonValue>;
  /** What was asked in earlier rounds and in this one: the key, and the print of the question's words. */
  readonly #prints: Map<string, string>;
  readonly #responses: Record<string, unknown>;
  readonly #asked = new Set<string>();
  readonly #questions = new Map<string, InputRequest>();
  readonly #counts = { elicit: 0, sample: 0, roots: 0 };

  private constructor(request: RoundsRequest, sealer: StateSealer, state: JsonObject) {
    this.#request = request;
    this.#sealer = sealer;
    this.#answers = new Map(entries(state.answers));
    this.#prints = new Map(entries(state.prints) as [string, string][]);
    const { inputResponses } = request.params;
    this.#responses = isObject(inputResponses) ? inputResponses : {};
    for (const [key, response] of entries(this.#responses)) {
      // What was asked for is kept, also when this run ends before its question comes up again.
      if (this.#prints.has(key) && !this.#answers.has(key)) this.#answers.set(key, response);
    }
  }

  /**
   * Begins a round.
   *
   * @throws {InvalidParamsError} When the request's state is not ours (S-089).
   */
  static async open(request: RoundsRequest, sealer: StateSealer): Promise<Rounds> {
    const { requestState } = request.params;
    if (requestState === undefined) return new Rounds(request, sealer, {});
    const state = typeof requestState === "string" && await sealer.open(requestState, await boundTo(request));
    if (state) return new Rounds(request, sealer, state);
    throw new InvalidParamsError(`"params.requestState" is not valid here, or no more: send the call without it`, {
      rpcCode: -32602,
    });
  }

  /** Whether an answer was brought along: such a result is nobody else's. */
  get answered(): boolean {
    return this.#answers.size > 0 || Object.keys(this.#responses).length > 0;
  }

  /** Whether the client has to be asked. */
  get waiting(): boolean {
    return this.#questions.size > 0;
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
    const key = name ?? `${kind.name}_${++this.#counts[kind.name]}`;
    if (this.#asked.has(key)) throw new TypeError(`The key "${key}" names two questions: expected one`);
    this.#asked.add(key);
    const params = kind.params(request, capabilities);
    const print = kind.exact && name === undefined ? printOf(JSON.stringify(params)) : "";
    const answer = this.#find(key, print);
    const reply = answer === undefined ? undefined : kind.read(answer, request);
    this.#prints.set(key, print);
    if (reply !== undefined) {
      this.#answers.set(key, answer as JsonValue);
      return reply;
    }
    this.#answers.delete(key);
    this.#questions.set(key, params ? { method: kind.method, params } : { method: kind.method });
    return new InputNeeded(key);
  }

  /** The result that asks. */
  async result(): Promise<JsonObject> {
    const bound = await boundTo(this.#request);
    const state = { answers: Object.fromEntries(this.#answers), prints: Object.fromEntries(this.#prints) };
    const requestState = await this.#sealer.seal(state, bound);
    const inputRequests = Object.fromEntries(this.#questions) as unknown as JsonObject;
    return { resultType: "input_required", inputRequests, requestState };
  }

  #find(key: string, print: string): unknown {
    if ((this.#prints.get(key) ?? print) !== print) return undefined;
    return this.#answers.get(key) ?? (Object.hasOwn(this.#responses, key) ? this.#responses[key] : undefined);
  }
}

/** The parameters as the author's handler sees them. */
export function withoutAnswers({ inputResponses: _, requestState: __, ...params }: JsonObject): JsonObject {
  return params;
}

/** Who asks what: a state is good for this alone (S-090). */
async function boundTo({ method, params, auth }: RoundsRequest): Promise<string> {
  const { _meta: _, ...asked } = withoutAnswers(params);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(asked)));
  return JSON.stringify([auth ? auth.principal : null, method, [...new Uint8Array(digest)]]);
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
