/** Which eras a sample serves, by one word. */
import type { Era } from "../../../mod.ts";

/** What a sample speaks. */
export type Served = "both" | Era;

/** The eras of a word. */
export function erasOf(word: string): Era[] {
  return word === "modern" || word === "legacy" ? [word] : ["modern", "legacy"];
}
