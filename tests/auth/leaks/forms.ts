/**
 * Finds secrets in text, whichever way they are written there. It undoes writings instead of making them, so that it shares
 * nothing with what takes secrets out.
 *
 * @module
 */

/** The ways in which a secret may be written. */
export type Form = "raw" | "base64" | "base64url" | "URL" | "JSON" | "hex";

/** All of them. */
export const forms: readonly Form[] = ["raw", "base64", "base64url", "URL", "JSON", "hex"];

/** So many characters of a longer secret in one piece are a leak too: what was cut before it was looked for. */
const part = 16;

/** The forms in which a text tells a secret, or 16 characters of it in one piece. Base64 and hex also inside of longer ones. */
export function formsFound(text: string, secret: string): Form[] {
  return readText(text).formsOf(secret);
}

/** A text, read in all ways. */
export interface Reading {
  /** The forms in which it tells a secret. */
  formsOf(secret: string): Form[];
  /** Whether it may tell any of the secrets whose signs these are: a quick look. */
  mayTell(signs: Signs): boolean;
}

/** What secrets are found by at a quick look. */
export interface Signs {
  /** Eight characters of a secret each, side by side: whatever holds 16 of its characters in one piece holds one of these. */
  readonly all: ReadonlySet<string>;
  /** Not 0 where one of them may begin, by the number of its first four characters: most places are seen to be none. */
  readonly starts: Uint8Array;
}

/** The signs of secrets. */
export function signsOf(secrets: Iterable<string>): Signs {
  const all = new Set<string>();
  const starts = new Uint8Array(0x1_0000);
  for (const bytes of Array.from(secrets, binary)) {
    for (let at = 0; at + sign <= bytes.length; at += sign) {
      all.add(bytes.slice(at, at + sign));
      starts[startAt(bytes, at)] = 1;
    }
  }
  return { all, starts };
}

const sign = 8;

/** A number of 16 bits for the four characters there. */
function startAt(text: string, at: number): number {
  const first = (text.charCodeAt(at) << 9) ^ (text.charCodeAt(at + 1) << 6);
  return (first ^ (text.charCodeAt(at + 2) << 3) ^ text.charCodeAt(at + 3)) & 0xffff;
}

/** Reads a text in all ways, once. */
export function readText(text: string): Reading {
  const own = binary(text);
  const read = forms.map((form) => [form, form === "raw" ? own : [...readings[form](own)].join("\n")] as const);
  return {
    formsOf(secret) {
      if (secret.length < 6) throw new RangeError("Cannot look for a secret that is shorter than 6 characters");
      const pieces = Array.from(
        { length: Math.max(1, secret.length - part + 1) },
        (_, at) => binary(secret.slice(at, at + part)),
      );
      const found = read.filter(([, reading]) => pieces.some((piece) => reading.includes(piece))).map(([form]) => form);
      return found.includes("raw") ? ["raw"] : found;
    },
    mayTell: ({ all, starts }) =>
      read.some(([, reading]) => {
        for (let at = 0; at + sign <= reading.length; at++) {
          if (starts[startAt(reading, at)] && all.has(reading.slice(at, at + sign))) return true;
        }
        return false;
      }),
  };
}

/** A text as its bytes, each of them one character. */
function binary(text: string): string {
  // What is ASCII is its own bytes.
  if (/^[\0-\x7f]*$/.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** What a text of bytes says when it is read in one of the ways. */
const readings: Readonly<Record<Exclude<Form, "raw">, (text: string) => Iterable<string>>> = {
  base64: (text) => base64Readings(text, /[A-Za-z0-9+/]{8,}/g),
  base64url: (text) => base64Readings(text, /[A-Za-z0-9_-]{8,}/g),
  *URL(text) {
    for (const plain of [text, text.replaceAll("+", " ")]) {
      yield plain.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
    }
  },
  *JSON(text) {
    // What stands in a JSON text that stands in a JSON text is escaped twice.
    let reading = text;
    for (let depth = 0; depth < 3; depth++) yield reading = withoutEscapes(reading);
  },
  *hex(text) {
    for (const [digits] of text.matchAll(/[0-9a-f]{12,}/gi)) {
      for (const start of [0, 1]) {
        yield digits.slice(start).replace(
          /(..)|.$/g,
          (_, pair?: string) => pair === undefined ? "" : String.fromCharCode(parseInt(pair, 16)),
        );
      }
    }
  },
};

/** A secret inside of a longer text begins at one of three places of a group of digits; where the groups begin is not known. */
function* base64Readings(text: string, run: RegExp): Generator<string> {
  for (const [found] of text.matchAll(run)) {
    const digits = found.replaceAll("-", "+").replaceAll("_", "/");
    for (const start of [0, 1, 2, 3]) {
      const length = digits.length - start;
      yield atob(digits.slice(start, start + length - (length % 4 === 1 ? 1 : 0)));
    }
  }
}

const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

function withoutEscapes(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-f]{4})|(.))/gis,
    (_, digits: string | undefined, character: string) =>
      digits === undefined ? escapes[character] ?? character : binary(String.fromCharCode(parseInt(digits, 16))),
  );
}
