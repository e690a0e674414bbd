/**
 * Characters that a model reads and a person does not see: found, counted and written out.
 *
 * @module
 */

/** What a hidden character does: what it is for, as far as that tells. */
export type HiddenKind =
  | "tag"
  | "bidi"
  | "zero-width"
  | "variation"
  | "format"
  | "control"
  | "blank"
  | "private"
  | "unassigned"
  | "surrogate";

/** Hidden characters of one text. */
export interface Hidden {
  /** How many there are. */
  readonly count: number;
  /** How many of each kind. */
  readonly kinds: Readonly<Partial<Record<HiddenKind, number>>>;
  /** Each code point that occurs, as `U+200B`, with how often. At most 64 of them. */
  readonly codePoints: Readonly<Record<string, number>>;
  /** What the characters of the tag block spell: text that no screen shows. At most 2,048 characters. */
  readonly spelled: string;
}

const mostCodePoints = 64;
const mostSpelled = 2_048;

/**
 * What no screen shows, or shows as something else: controls but for line ends and tabs, format characters (bidirectional
 * ones, joiners, tags), half surrogate pairs, private and unassigned ones, whatever Unicode lets a screen ignore (variation
 * selectors, fillers), and blanks that are not the space.
 */
const hidden = /[\p{C}\p{DI}\p{Zl}\p{Zp}\u{2800}]|(?! )\p{Zs}/gu;

const kinds: readonly (readonly [HiddenKind, RegExp])[] = [
  ["tag", /[\u{e0000}-\u{e007f}]/u],
  ["bidi", /[\u{61c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u],
  ["zero-width", /[\u{200b}-\u{200d}\u{2060}\u{feff}\u{180e}]/u],
  ["variation", /[\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}\u{180b}-\u{180d}\u{180f}]/u],
  ["surrogate", /\p{Cs}/u],
  ["private", /\p{Co}/u],
  ["control", /\p{Cc}/u],
  ["blank", /[\p{Zs}\p{Zl}\p{Zp}\u{2800}\u{34f}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{3164}\u{ffa0}]/u],
  ["format", /[\p{Cf}\p{DI}]/u],
];

/**
 * Finds what is hidden in a text.
 *
 * @example A sentence that no screen shows
 * ```ts
 * import { findHidden } from "@causeway/mcp/hub";
 *
 * const tags = [..."obey"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
 * const { count, spelled } = findHidden(`Adds two numbers${tags}`);
 * if (count !== 4 || spelled !== "obey") throw new Error("it was not found");
 * ```
 */
export function findHidden(text: string): Hidden {
  const found = { count: 0, kinds: {} as Partial<Record<HiddenKind, number>>, spelled: "" };
  const codePoints = new Map<string, number>();
  for (const [character] of text.matchAll(hidden)) {
    if (character === "\n" || character === "\t") continue;
    const point = character.codePointAt(0) ?? 0;
    const kind = kindOf(character);
    found.count++;
    found.kinds[kind] = (found.kinds[kind] ?? 0) + 1;
    if (kind === "tag" && point >= 0xe0020 && point < 0xe007f && found.spelled.length < mostSpelled) {
      found.spelled += String.fromCharCode(point - 0xe0000);
    }
    const name = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
    if (codePoints.has(name) || codePoints.size < mostCodePoints) codePoints.set(name, (codePoints.get(name) ?? 0) + 1);
  }
  return { ...found, codePoints: Object.fromEntries(codePoints) };
}

/**
 * Writes a text so that all of it can be seen: each hidden character as `\u{…}` with its code point in hexadecimal digits. A
 * `\` before `u{` becomes `\u{5c}`, so that {@linkcode restore} gives back exactly the text.
 *
 * @example Left to right, and back
 * ```ts
 * import { restore, visible } from "@causeway/mcp/hub";
 *
 * const text = "safe\u202e.exe";
 * if (visible(text) !== "safe\\u{202e}.exe" || restore(visible(text)) !== text) throw new Error("it is another text");
 * ```
 */
export function visible(text: string): string {
  return text.replace(/\\(?=u\{)/g, "\\u{5c}").replace(
    hidden,
    (character) => character === "\n" || character === "\t" ? character : escape(character),
  );
}

/** The text that {@linkcode visible} was given, from what it made. */
export function restore(shown: string): string {
  return shown.replace(/\\u\{([\da-f]{1,6})\}/g, (whole, digits: string) => {
    const point = parseInt(digits, 16);
    return point > 0x10ffff ? whole : String.fromCodePoint(point);
  });
}

function escape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function kindOf(character: string): HiddenKind {
  return kinds.find(([, pattern]) => pattern.test(character))?.[0] ?? "unassigned";
}
