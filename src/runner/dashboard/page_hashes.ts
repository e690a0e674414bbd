// deno-fmt-ignore-file
/**
 * What the paths of the page's script and style have of them. Made of `page/` by `bun tools/run.ts build_dashboard`: nothing here is
 * written by hand.
 *
 * @module
 */

/** Of the script. */
export const scriptHash: string = "6cee00ed5de7412b";

/** Of the style. */
export const styleHash: string = "8df9782678b5758f";
