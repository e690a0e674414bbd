/**
 * What the automaton of a pattern is made of.
 *
 * @module
 */

/** What a state asks: of the character that comes next, or of the place in the text; `tables` say where look-arounds hold. */
export type Test = (
  code: number | undefined,
  at: number,
  codes: readonly number[],
  tables: readonly Uint8Array[],
) => boolean;

/** A state of an automaton; where nothing comes next a match ends. */
export interface State {
  readonly test: Test | undefined;
  next: State | undefined;
  /** The second way on. */
  readonly other: State | undefined;
  /** The code point that it takes; or `SOME`, as its test says, or `NONE`. */
  readonly takes: number;
  /** When it was last visited. */
  mark: number;
}

/** It takes a character of which its test is true. */
export const SOME = -1;
/** It takes no character. */
export const NONE = -2;
