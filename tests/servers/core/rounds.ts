/**
 * Multi round-trip requests of 2026-07-28. Nothing is kept between rounds but a book of the states that were handed out, so
 * that an altered, foreign or invented `requestState` is found out.
 *
 * @module
 */
import type { Ledger } from "./ledger.ts";
import { isJsonObject, type JsonObject, type JsonRpcRequest, objectAt, type RequestId, RpcFailure } from "./wire.ts";

/** Thrown by a tool that needs more: the request is answered with `result`. */
export class InputRequired extends Error {
  readonly result: JsonObject;
  constructor(result: JsonObject) {
    super("input required");
    this.result = { ...result, resultType: "input_required" };
  }
}

/** One round of one request. */
export interface Round {
  /** True when the request did not come back from an earlier round. */
  readonly first: boolean;
  /** Gives the answers, or throws {@link InputRequired} for those that are missing. */
  inputs(requests: Record<string, JsonObject>): Promise<Record<string, JsonObject>>;
  /** Throws {@link InputRequired} with a state alone until the client came back `times` times. */
  comeBack(times: number): void;
}

/** Makes rounds out of requests. */
export interface Rounds {
  of(request: JsonRpcRequest): Round;
}

interface Handed {
  readonly digest: string;
  readonly answers: Record<string, JsonObject>;
  readonly waits: number;
  readonly ids: Set<RequestId>;
  readonly tokens: Set<unknown>;
  readonly asked: string[];
}

/** Makes the book of states. */
export function createRounds(ledger: Ledger): Rounds {
  const book = new Map<string, Handed>();
  let count = 0;
  const hand = (handed: Handed) => {
    if (book.size > 10_000) book.clear();
    // Whatever survives this unchanged was not trimmed, parsed, normalised or re-encoded on its way.
    const state = ` {"n":${++count},"salt":"${crypto.randomUUID()}"}\t\u00e9\u0065\u0301 \u{1F600} \\u0041 %20+=\n `;
    book.set(state, handed);
    return state;
  };
  return {
    of(request) {
      const { id, method, params = {} } = request;
      const { requestState, inputResponses } = params;
      const digest = digestOf(method, params);
      const token = objectAt(params, "_meta").progressToken;
      const first = requestState === undefined && inputResponses === undefined;
      const before = requestState === undefined ? undefined : known(book, requestState, digest);
      const ids = before?.ids ?? new Set<RequestId>();
      if (ids.has(id)) throw new RpcFailure(-32600, "The id of an earlier round was used again");
      const tokens = before?.tokens ?? new Set<unknown>();
      if (token !== undefined && tokens.has(token)) ledger.violation(`${method}: a retry reuses its progress token`);
      const given = isJsonObject(inputResponses) ? inputResponses : {};
      const answers: Record<string, JsonObject> = { ...before?.answers };
      for (const [key, value] of Object.entries(given)) if (isJsonObject(value)) answers[key] = value;
      if (before !== undefined) {
        compareKeys(before.asked, Object.keys(given), (text) => ledger.violation(`${method}: ${text}`));
      }
      const stateless = objectAt(params, "arguments").state === false;
      const next = (waits: number, asked: string[] = []) => {
        if (stateless) return {};
        const used = new Set(token === undefined ? tokens : [...tokens, token]);
        return { requestState: hand({ digest, answers, waits, asked, ids: new Set([...ids, id]), tokens: used }) };
      };
      const waits = before?.waits ?? 0;
      return {
        first,
        inputs(requests) {
          const missing = Object.entries(requests).filter(([key]) => answers[key] === undefined);
          if (missing.length === 0) return Promise.resolve(answers);
          const asked = missing.map(([key]) => key);
          const state = next(waits, asked);
          return Promise.reject(new InputRequired({ inputRequests: Object.fromEntries(missing), ...state }));
        },
        comeBack(times) {
          if (waits < times) throw new InputRequired(next(waits + 1));
        },
      };
    },
  };
}

function known(book: Map<string, Handed>, state: unknown, digest: string): Handed {
  const handed = typeof state === "string" ? book.get(state) : undefined;
  if (handed === undefined) throw new RpcFailure(-32602, "requestState is not one that was handed out");
  if (handed.digest !== digest) throw new RpcFailure(-32602, "requestState belongs to another request");
  return handed;
}

function compareKeys(asked: string[], given: string[], complain: (text: string) => void): void {
  for (const key of asked) if (!given.includes(key)) complain(`input "${key}" was not answered`);
  for (const key of given) if (!asked.includes(key)) complain(`input "${key}" was answered without being asked`);
}

function digestOf(method: string, params: JsonObject): string {
  return JSON.stringify([method, params.name, params.uri, params.arguments]);
}
