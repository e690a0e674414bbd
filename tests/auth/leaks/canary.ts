/**
 * Looks for secrets wherever they might get out: errors, what the runtimes show of values, log lines, telemetry, the
 * console, URLs, and requests to those whom the secrets are none of the business of.
 *
 * A test makes a canary with its secrets, puts the canary's ports into what it tries, hands over what came back, and asserts
 * that `leaks` is empty.
 *
 * @module
 */
import { inspect } from "node:util";
import type { TelemetryEvent } from "../../../mod.ts";
import type { Fetch, Logger } from "../../../src/ports.ts";
import { type Form, forms, readText, signsOf } from "./forms.ts";

/** A secret that was found where it must not be. */
export interface Leak {
  /** Its name among the secrets. */
  readonly secret: string;
  readonly form: Form;
  /** Where, such as `error.cause.stack`. */
  readonly sink: string;
  /** Some of what stands there, for whoever has to find it. */
  readonly text: string;
}

/** Who looks. */
export interface Canary {
  /** What of all secrets that are known by now is in what was looked at so far. */
  readonly leaks: readonly Leak[];
  /** How many secrets are looked for, in how many forms, in how many different texts. */
  readonly counts: { readonly secrets: number; readonly forms: number; readonly texts: number };
  /** Looks at a text. */
  text(sink: string, text: string): void;
  /** Looks at what is shown of a value: by `JSON`, `String`, and what the runtime inspects values with, hidden fields too. */
  value(sink: string, value: unknown): void;
  /** Looks at an error: message, stack, fields, JSON, all that is shown of it, and the same of its causes. */
  error(sink: string, error: unknown): void;
  /** Takes log lines. */
  readonly logger: Logger;
  /** Takes events of the telemetry. */
  readonly onEvent: (event: TelemetryEvent) => void;
  /** Looks at what is written to the console while `run` runs. Nothing of it comes out. */
  console<Result>(run: () => Promise<Result>): Promise<Result>;
  /**
   * Looks at requests: their URLs, and all of those that go to other origins.
   *
   * @param origins Who may be told the secrets.
   */
  fetch(inner: Fetch, origins: readonly string[]): Fetch;
  /** Makes one more secret known, such as a token that was renewed meanwhile. */
  add(name: string, secret: string): void;
}

/**
 * Makes a canary.
 *
 * @param secrets What must not get out, by names that may be told. At least 6 characters each.
 */
export function createCanary(secrets: Readonly<Record<string, string>>): Canary {
  const known = new Map(Object.entries(secrets));
  // What becomes a secret later is looked for in what was said before as well.
  const sinks = new Map<string, Set<string>>();
  const text = (sink: string, text: string): void => {
    if (text !== "") sinks.set(text, (sinks.get(text) ?? new Set()).add(sink));
  };
  const value = (sink: string, value: unknown): void => {
    for (const [way, shown] of shownOf(value)) text(`${sink} by ${way}`, shown);
  };
  const error = (sink: string, error: unknown): void => {
    value(sink, error);
    const seen = new Set<unknown>();
    for (let at = error, where = sink; at instanceof Error && !seen.has(at); at = at.cause, where += ".cause") {
      seen.add(at);
      text(`${where}.message`, at.message);
      text(`${where}.stack`, at.stack ?? "");
      text(`${where}.toString()`, String(at));
      for (const key of Object.getOwnPropertyNames(at)) {
        const field: unknown = Reflect.get(at, key);
        if (typeof field === "string") text(`${where}.${key}`, field);
        else if (typeof field === "object" && field !== at.cause) value(`${where}.${key}`, field);
      }
    }
  };
  return {
    get leaks() {
      return findLeaks(known, sinks);
    },
    get counts() {
      return { secrets: known.size, forms: forms.length, texts: sinks.size };
    },
    text,
    value,
    error,
    logger: (record) => value("logger", record),
    onEvent: (event) => value("telemetry", event),
    console: (run) => watchConsole(run, value),
    fetch: (inner, origins) => watchRequests(inner, origins, { text, value }),
    add: (name, secret) => void known.set(name, secret),
  };
}

/** Looks for the secrets in all texts; `sinks` has where each of them stands. */
function findLeaks(known: ReadonlyMap<string, string>, sinks: ReadonlyMap<string, ReadonlySet<string>>): Leak[] {
  const leaks: Leak[] = [];
  const signs = signsOf(known.values());
  // Those are not long enough to have signs in whatever holds a piece of them.
  const isShort = [...known.values()].some(({ length }) => length < 16);
  for (const [text, places] of sinks) {
    const reading = readText(text);
    if (!isShort && !reading.mayTell(signs)) continue;
    for (const [secret, value] of known) {
      for (const form of reading.formsOf(value)) {
        for (const sink of places) leaks.push({ secret, form, sink, text: text.slice(0, 400) });
      }
    }
  }
  return leaks;
}

const everything = { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity } as const;

/** What is shown of a value in each way that there is here. */
function shownOf(value: unknown): [way: string, text: string][] {
  const { Bun, Deno } = globalThis as {
    Bun?: { inspect(value: unknown, options: object): string };
    Deno?: { inspect(value: unknown, options: object): string };
  };
  const ways: [string, () => string | undefined][] = [
    ["String", () => String(value)],
    ["JSON", () => JSON.stringify(value)],
    ["util.inspect", () => inspect(value, everything)],
    ["util.inspect of all", () => inspect(value, { ...everything, showHidden: true })],
    ["Bun.inspect", () => Bun?.inspect(value, { depth: 100 })],
    ["Deno.inspect", () => Deno?.inspect(value, { depth: 100, strAbbreviateSize: Infinity, iterableLimit: Infinity })],
    ["Deno.inspect of all", () => Deno?.inspect(value, { depth: 100, strAbbreviateSize: Infinity, showHidden: true })],
  ];
  return ways.map(([way, show]) => {
    try {
      return [way, show() ?? ""];
    } catch {
      // What cannot be shown tells nothing: a circle is no JSON.
      return [way, ""];
    }
  });
}

const levels = ["debug", "error", "info", "log", "trace", "warn"] as const;

async function watchConsole<Result>(run: () => Promise<Result>, look: Canary["value"]): Promise<Result> {
  const kept = levels.map((level) => [level, console[level]] as const);
  for (const level of levels) {
    console[level] = (...values: unknown[]) => values.forEach((value) => look(`console.${level}`, value));
  }
  try {
    return await run();
  } finally {
    for (const [level, write] of kept) console[level] = write;
  }
}

function watchRequests(inner: Fetch, origins: readonly string[], look: Pick<Canary, "text" | "value">): Fetch {
  return async (url, init) => {
    look.text("URL", url);
    const { origin } = new URL(url);
    if (!origins.includes(origin)) {
      new Headers(init.headers).forEach((value, name) => look.text(`header ${name} to ${origin}`, value));
      // A body that is read here is gone: texts, forms and bytes are not.
      look.text(`body to ${origin}`, await new Response(init.body).text());
    }
    return await inner(url, init);
  };
}
