/**
 * What goes wrong between us and a provider, as one class of error.
 *
 * @module
 */
import { plain, type Redactor } from "../../../egress/redact.ts";
import { LimitExceededError, McpError, TimeoutError } from "../../../protocol/errors.ts";
import { excerpt } from "../../../protocol/excerpt.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import { LanguageModelError } from "../seam.ts";

/** What a provider says in place of an answer. */
export interface Fault {
  readonly message: string;
  /** The HTTP status that it names itself, as in the middle of a stream. */
  readonly status?: number | undefined;
  /** The kind of error, in its own word. */
  readonly kind?: string | undefined;
}

/** What names a model in errors, and what takes secrets out of them. */
export interface FailureOptions {
  /** The model, for people. */
  readonly label: string;
  /** Knows the secrets. */
  readonly redactor: Redactor;
}

const retryableStatuses: readonly number[] = [408, 409, 425, 429];
const retryableKinds = /rate_?limit|overload|too_many|server_error|internal|unavailable|time_?out|exhausted/i;
/** The model, not the question, was at fault, though the status says otherwise. */
const modelKinds = /tool_use_failed|output_parse_failed/;
/** Waiting does not help: somebody has to pay. */
const paidKinds = /insufficient_quota|billing/i;
/** A provider may ask to wait for a day. */
const longestWait = 86_400_000;

/**
 * The fault in a JSON value, undefined where there is none. It is looked for where OpenAI and those who share its shapes put
 * it: `{ error }`, `[{ error }]`, `{ object: "error" }`, `{ errors: [] }`.
 *
 * @param isRefusal The value came with an HTTP status that says so: then `{ message }`, `{ detail }` and `{ title }` count too.
 */
export function faultOf(value: unknown, isRefusal = false): Fault | undefined {
  if (Array.isArray(value)) return value.length > 0 ? faultOf(value[0], isRefusal) : undefined;
  if (!isObject(value)) return undefined;
  const { error, errors, object, type } = value;
  if (isFilled(error)) return readFault(error);
  if (Array.isArray(errors) && errors.length > 0) return readFault(errors[0]);
  return isRefusal || object === "error" || type === "error" ? readFault(value) : undefined;
}

/**
 * The error that a fault is.
 *
 * @param said What the reply itself tells: its status, how long to wait, whether asking again may help, and where it was asked.
 */
export function faultError(
  fault: Fault,
  options: FailureOptions,
  said: {
    readonly status?: number;
    readonly retryAfter?: number | undefined;
    readonly retryable?: boolean | undefined;
    /** Where it was asked, when that may be wrong. */
    readonly at?: string | undefined;
  } = {},
): LanguageModelError {
  const { kind = "", status = said.status } = fault;
  const retryable = said.retryable !== undefined
    ? said.retryable
    : modelKinds.test(kind)
    ? true
    : paidKinds.test(kind)
    ? false
    : status === undefined
    ? retryableKinds.test(kind)
    : retryableStatuses.includes(status) || status >= 500;
  const where = said.at === undefined ? "" : ` at "${said.at}"`;
  const what = status === undefined ? "refused" : `answered ${status}${where}`;
  return new LanguageModelError(`The ${shown(options)} ${what}${spoken(fault.message, options)}`, {
    status,
    retryable,
    retryAfter: said.retryAfter,
  });
}

/** Any failure of a question as the one class that callers know. What has this class already stays as it is. */
export function toLanguageModelError(error: unknown, options: FailureOptions): LanguageModelError {
  if (error instanceof LanguageModelError) return error;
  const cause = options.redactor.clean(error);
  const said = spoken(cause instanceof Error ? cause.message : String(cause), options);
  if (cause instanceof LimitExceededError) {
    return new LanguageModelError(`The answer of the ${shown(options)} is too large${said}`, { cause });
  }
  if (cause instanceof TimeoutError) {
    return new LanguageModelError(`The ${shown(options)} took too long${said}`, { cause, retryable: true });
  }
  if (cause instanceof McpError) {
    return new LanguageModelError(`Cannot ask the ${shown(options)}${said}`, { cause, retryable: cause.retryable });
  }
  return new LanguageModelError(`The connection to the ${shown(options)} broke${said}`, { cause, retryable: true });
}

/** An answer that ended before it was whole. */
export function endedEarly(options: FailureOptions): LanguageModelError {
  return new LanguageModelError(`The answer of the ${shown(options)} ended early: it gave no reason to stop`, {
    retryable: true,
  });
}

/** An answer that cannot be understood. */
export function notUnderstood(what: string, text: string, options: FailureOptions): LanguageModelError {
  return new LanguageModelError(`The ${shown(options)} answered ${what}${spoken(text.slice(0, 4_096), options, 200)}`);
}

/** How long a provider asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` as seconds or as a date. */
export function retryAfterOf(headers: { get(name: string): string | null }, now: number): number | undefined {
  const exact = headers.get("retry-after-ms") ?? "";
  const again = headers.get("retry-after") ?? "";
  const number = /^\d+(\.\d+)?$/;
  const wait = number.test(exact)
    ? Number(exact)
    : number.test(again)
    ? Number(again) * 1_000
    : Date.parse(again) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(Math.ceil(wait), 0), longestWait);
}

/** Whether an endpoint says itself that asking again may help: an agent behind it may have made calls. */
export function againOf(headers: { get(name: string): string | null }): boolean | undefined {
  const again = headers.get("x-should-retry");
  return again === "true" || (again === "false" ? false : undefined);
}

/** The fault in the text of a refusal; undefined where that is no JSON: proxies answer in HTML. */
export function faultIn(text: string): Fault | undefined {
  try {
    return faultOf(JSON.parse(text), true);
  } catch {
    return undefined;
  }
}

function readFault(value: unknown): Fault {
  if (!isObject(value)) return { message: String(value) };
  const { message, detail, title, msg, type, code, status, status_code: httpStatus } = value;
  const inner = isObject(value.error) ? value.error.message : undefined;
  const details = Array.isArray(detail) ? detail.map((item) => isObject(item) ? item.msg : item) : [detail];
  const text = [message, inner, msg, ...details, title].find((item) => typeof item === "string" && item !== "");
  const number = [status, httpStatus, code].map(Number).find((item) =>
    Number.isInteger(item) && item >= 400 && item < 600
  );
  const kind = [code, type, status].filter((item) => typeof item === "string").join(" ");
  return { message: typeof text === "string" ? text : JSON.stringify(value), status: number, kind };
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

function shown({ label }: FailureOptions): string {
  return `model "${label}"`;
}

/** What was said, with a colon before it: without secrets first, then short. */
function spoken(text: string, { redactor }: FailureOptions, length = 2_000): string {
  const said = plain(redactor.redact(text), length).trim();
  return said === "" ? "" : `: ${excerpt(said)}`;
}
