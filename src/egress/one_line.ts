/**
 * JSON in one line, whoever reads it.
 *
 * @module
 */

/**
 * JSON without the characters that some take for the end of a line: httpx, and so clients in Python, cut events there in two,
 * although only CR and LF end a line of theirs. Outside of texts they cannot stand.
 */
export function inOneLine(json: string): string {
  return json.replace(/[\x85\u2028\u2029]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
