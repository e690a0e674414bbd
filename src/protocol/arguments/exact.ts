/**
 * Numbers that cannot be sent as they were written.
 *
 * @module
 */

/**
 * Refuses JSON with a whole number that would be sent as another one: it may be the id of something else.
 *
 * @param json JSON, or one number.
 * @throws {TypeError} When there is one; the message names it.
 */
export function refuseInexact(json: string): void {
  // Digits within texts are texts. A pattern for these has no end on a stack where they are long.
  for (let at = 0; at < json.length;) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    for (const [number] of json.slice(at, end).matchAll(/(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g)) refuseOne(number);
    at = quote < 0 ? end : endOfText(json, quote + 1);
  }
}

function refuseOne(number: string): void {
  const sent = Number(number);
  if (!Number.isFinite(sent) || BigInt(number) === BigInt(sent)) return;
  throw new TypeError(
    `Cannot send the number ${number}: it would arrive as ${BigInt(sent)}; send it as a text, if the tool takes one`,
  );
}

/** Where a text that begins at `at` has ended. */
function endOfText(json: string, at: number): number {
  for (let quote = json.indexOf('"', at); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (json[quote - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return json.length;
}
