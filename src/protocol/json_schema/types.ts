/**
 * The types of values as bits.
 *
 * @module
 */

/** An integer has its own bit, `number` is both. */
export const TYPES: Readonly<Record<string, number>> = {
  string: 1,
  number: 6,
  integer: 4,
  boolean: 8,
  null: 16,
  object: 32,
  array: 64,
};

/** All types, and what is no JSON. */
export const ANY = 511;
/** Beside types: to be checked last, and only where all else fits. */
export const LATE = 512;
