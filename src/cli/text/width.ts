/**
 * How many columns of a terminal a text takes: most characters take one, those of East Asia and pictures two, marks none.
 *
 * @module
 */

const ascii = /^[ -~]*$/;
const none = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;
const two =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

/** The columns that a text on one line takes. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** The beginning of a text that fits in so many columns. */
export function cut(text: string, width: number): string {
  let end = 0;
  let left = width;
  for (const character of text) {
    left -= columnsOf(character);
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** A text with spaces behind it, up to so many columns. */
export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

function columnsOf(character: string): number {
  if (ascii.test(character)) return 1;
  return none.test(character) ? 0 : two.test(character) ? 2 : 1;
}
