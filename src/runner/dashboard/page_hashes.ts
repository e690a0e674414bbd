// deno-fmt-ignore-file
/**
 * What the paths of the page's script and style have of them. Made of `page/` by `bun tools/run.ts build_dashboard`: nothing here is
 * written by hand.
 *
 * @module
 */

/** Of the script. */
export const scriptHash: string = "bfa6505b9530fc0a";

/** Of the style. */
export const styleHash: string = "6b4bc1f6473abc39";
