// deno-fmt-ignore-file
/**
 * What the paths of the page's script and style have of them. Made of `page/` by `bun tools/run.ts build_dashboard`: nothing here is
 * written by hand.
 *
 * @module
 */

/** Of the script. */
export const scriptHash: string = "018974f826e11d6b";

/** Of the style. */
export const styleHash: string = "79983d5151c22dfa";
