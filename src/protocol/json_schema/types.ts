/**
 * The types of values as bits.
 *
 * @module
 */

export const TEXT = 1;
/** An integer has its own bit, a number is both. */
export const NUMBER = 6;
export const RECORD = 32;
export const LIST = 64;
/** All types, and what is no JSON. */
export const ANY = 511;
/** Beside types: to be checked last, and only where all else fits. */
export const LATE = 512;

/** The bits of each type, by its name. */
export const TYPES: Readonly<Record<string, number>> = {
  string: TEXT,
  number: NUMBER,
  integer: 4,
  boolean: 8,
  null: 16,
  object: RECORD,
  array: LIST,
};
