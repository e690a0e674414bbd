/**
 * Takes secrets out of text that leaves the house: error messages, logs, events.
 *
 * Redact first and cut to length afterwards: a secret that was cut in half is not found.
 *
 * @module
 */

import { excerpt } from "../protocol/excerpt.ts";
export { urlWithoutQuery } from "../protocol/excerpt.ts";

const mark = "[redacted]";

/**
 * How texts are read once more: without the escapes of JSON, then without those of URLs too, which leave bytes. Every writer
 * escapes other characters, so what a secret looks like cannot be listed. The end counts as an escape of nothing.
 */
const escapes = [/\\(?:u[\da-fA-F]{4}|["\\/bfnrt])|$/g, /%[\da-fA-F]{2}|$/g];

/**
 * So many characters are read so at a time, and as many again, for what begins in one part and ends in the next: the place of each
 * is kept meanwhile, and a text may fill a tenth of the memory.
 */
const part = 65_536;

/**
 * Knows the secrets in use and finds them in text: as they are, in base64 and base64url (also inside a longer encoded
 * text, as in `Basic` credentials), URL-encoded, JSON-escaped and in hexadecimal. Besides, it takes out what looks like a
 * credential: `Bearer …`, `authorization: …`, `access_token=…`. Work grows linearly with the text.
 */
export class Redactor {
  readonly #forms = new Map<string, Set<string>>();

  /**
   * Makes a secret known.
   *
   * @param secret Ignored when shorter than 6 characters: those would be found all over ordinary text.
   * @param most How many are kept, those that were added last: a long run with rotating tokens stays bounded.
   */
  add(secret: string, most: number = 200): void {
    const shortest = 6;
    if (secret.length < shortest) return;
    this.#forms.delete(secret);
    this.#forms.set(secret, formsOf(secret));
    if (this.#forms.size > most) this.#forms.delete([...this.#forms.keys()][0] ?? "");
  }

  /** The text with `[redacted]` in the place of every secret; secrets that overlap become one mark. */
  redact(text: string): string {
    const found: [start: number, end: number][] = [];
    const look = (view: string, place: (at: number) => number): void => {
      for (const forms of this.#forms.values()) {
        for (const form of forms) {
          for (let at = view.indexOf(form); at >= 0; at = view.indexOf(form, at + form.length)) {
            found.push([place(at), place(at + form.length)]);
          }
        }
      }
    };
    look(text, (at) => at);
    const known: Record<string, string> = {};
    for (let from = 0; from < text.length; from += part) {
      let view = text.slice(from, from + 2 * part);
      let place = (at: number): number => from + at;
      for (const units of /[\\%]/.test(view) ? escapes : []) {
        const before = place;
        const starts: number[] = [];
        let at = 0;
        view = view.replace(units, (unit, start) => {
          while (at <= start) starts.push(at++);
          at = start + unit.length;
          return known[unit] ??= JSON.parse(`"${unit.replace("%", "\\u00")}"`);
        });
        place = (at) => before(starts[at] as number);
        look(view, place);
      }
    }
    found.sort((one, other) => one[0] - other[0]);
    let result = "";
    let done = 0;
    for (const [start, end] of found) {
      if (start >= done) result += text.slice(done, start) + mark;
      if (end > done) done = end;
    }
    return redactPatterns(result + text.slice(done));
  }

  /** Takes the secrets out of the texts of an error, its causes and those of its group, where they stand: it stays the same error. */
  clean<Failure>(error: Failure, depth: number = 9): Failure {
    if (Array.isArray(error) && depth) {
      for (const each of error) this.clean(each, depth - 1);
    } else if (error instanceof Error && depth) {
      for (const key of Object.getOwnPropertyNames(error)) {
        const value: unknown = Reflect.get(error, key);
        Reflect.set(error, key, typeof value === "string" ? this.redact(value) : this.clean(value, depth - 1));
      }
    }
    return error;
  }
}

/** Takes out what looks like a credential, without knowing any: for text that no {@linkcode Redactor} has seen. */
export function redactPatterns(text: string): string {
  return text
    .replace(
      /((?:authorization|cookie|api[-_]?key(?!=[^\\"'])|mcp-session-id)[\\"']*\s*[:=]\s*[\\"']*)[^\\"'\r\n]+/gi,
      "$1" + mark,
    )
    .replace(/\b(bearer|dpop|basic(?=\s+\S*[\d=]))\s+(?!\w+=["\w])[\w.~+/=-]+/gi, "$1 " + mark)
    .replace(
      /((?:(?:access|refresh|id|security)[-_]?token|client_?(?:secret|assertion)|code_?verifier|device_?code|api[-_]?key|password|-signature|[?&](?:code|state|token|key|sig))[\\"']*\s*[:=]\s*[\\"']*)[^\s\\"'&,;#]+/gi,
      "$1" + mark,
    );
}

/**
 * Takes the secrets out of what a program says to a person, who has to be able to follow a link to sign in: the `state` of an
 * authorization request (RFC 6749, section 4.1.1) is no credential, and without it its answer would not be known.
 */
export function redactWords(text: string, redact: ((text: string) => string) | undefined): string {
  if (!redact) return text;
  const shielded = text.replace(
    /\S+/g,
    (word) => /[?&]response_type=/.test(word) ? word.replace(/([?&]state)=/g, "$1\0=") : word,
  );
  return redact(shielded).replaceAll("state\0=", "state=");
}

/** The start of a foreign text in one line that a terminal can show: nothing in it moves the cursor or turns text around. */
export function plain(text: string, length = 499): string {
  return excerpt(text, length).replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
}

/** The ways in which a secret may be written without escapes; a set, since for most tokens some of them are the same. */
function formsOf(secret: string): Set<string> {
  const bytes = [...new TextEncoder().encode(secret)];
  const binary = bytes.map((byte) => String.fromCharCode(byte)).join("");
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  // Forms have plus signs for spaces.
  const forms = [secret, binary, binary.replaceAll(" ", "+"), hex, hex.toUpperCase()];
  // Inside a longer text the secret begins at one of three places of a group: the digits that it alone decides do not change.
  for (const shift of [0, 1, 2]) {
    const digits = btoa("\0".repeat(shift) + binary).slice(
      Math.ceil(shift * 4 / 3),
      Math.floor((shift + bytes.length) * 4 / 3),
    );
    forms.push(digits, digits.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return new Set(forms);
}
