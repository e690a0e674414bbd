/**
 * The runner's API, as the page asks it.
 *
 * @module
 */
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../../protocol/json_rpc.ts";
import { readText } from "./stream.ts";
import { parsed } from "./text.ts";

/** Bytes of a reply that are read. */
const mostBytes = 16_000_000;

/** What the runner refused, or why it could not be asked. */
export class ApiProblem extends Error {
  /** The HTTP status; 0: there was no reply. */
  readonly status: number;
  /** What is wrong, in one word. */
  readonly code: string;
  /** The members of the problem. */
  readonly body: JsonObject;
  /** When to come back, in seconds. */
  readonly retryAfter: number | undefined;

  constructor(status: number, body: JsonObject, retryAfter?: number) {
    super(typeof body.detail === "string" ? body.detail : "The runner gave no reason");
    this.name = "ApiProblem";
    this.status = status;
    this.code = typeof body.code === "string" ? body.code : "unreadable";
    this.body = body;
    this.retryAfter = retryAfter;
  }
}

/** What is asked. */
export interface AskOptions {
  readonly method?: "GET" | "POST" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** There is no answer, or no whole one. */
export function unreachable(): ApiProblem {
  return new ApiProblem(0, { code: "unreachable", title: "No answer", detail: "The runner cannot be reached" });
}

/** How the page asks its runner. */
export type Ask = (path: string, options?: AskOptions) => Promise<Response>;

/**
 * Makes what asks the runner. Refusals are thrown.
 *
 * @param send The page's `fetch`.
 */
export function createAsk(send: typeof fetch): Ask {
  return async (path, { method = "GET", body, headers, signal } = {}) => {
    let response: Response;
    try {
      response = await send(path, {
        method,
        credentials: "same-origin",
        redirect: "error",
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
    } catch (error) {
      throw signal?.aborted ? error : unreachable();
    }
    if (response.ok) return response;
    throw await problemOf(response);
  };
}

/**
 * Asks for an object.
 *
 * @throws {ApiProblem} When the runner refuses, or gives something else.
 */
export async function askJson(ask: Ask, path: string, options?: AskOptions): Promise<JsonObject> {
  const response = await ask(path, options);
  if (response.status === 204) return {};
  const { text, isCut } = await readText(response.body, mostBytes).catch((error: unknown) => {
    throw options?.signal?.aborted ? error : unreachable();
  });
  const value = isCut ? undefined : parsed(text);
  if (isObject(value)) return value;
  const detail = isCut ? "The answer is longer than this page reads" : "The answer is no JSON object";
  throw new ApiProblem(response.status, { code: "unreadable", title: "Unreadable", detail });
}

/** The objects of a list in a reply; what is none is left out. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item): item is JsonObject => isObject(item)) : [];
}

/** A member that is a text, else the other one. */
export function textOf(value: unknown, otherwise: string = ""): string {
  return typeof value === "string" ? value : otherwise;
}

/** A member that is a number, else 0. */
export function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** A member that is an object, else an empty one. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

async function problemOf(response: Response): Promise<ApiProblem> {
  // Of one that breaks off the status is known.
  const { text } = await readText(response.body, 65_536).catch(() => ({ text: "" }));
  const body = parsed(text);
  const seconds = Number(response.headers.get("retry-after"));
  const { status } = response;
  const plain = { code: "unreadable", title: `Status ${status}`, detail: `The runner answered with status ${status}` };
  return new ApiProblem(status, isObject(body) ? body : plain, seconds > 0 ? seconds : undefined);
}
