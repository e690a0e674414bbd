/**
 * Matches regular expressions in time that is linear in the text: all alternatives are followed at once, so that no
 * text makes it slow. Look-around is answered by a scan of its own beforehand; back-references are refused.
 *
 * @module
 */
import {
  BEGIN,
  END,
  LOOK,
  MATCH,
  type PatternBudget,
  PatternParser,
  SPLIT,
  type State,
  WORD,
} from "./pattern_parser.ts";
import type { Look } from "./pattern_parser.ts";

/** Takes steps from a budget; throws when none are left. */
export type Spend = (steps: number) => void;

/** So many visits of states make one step: 2 to the power of this. */
const VISITS = 3;

/** A pattern as a non-deterministic automaton. */
export class Pattern {
  readonly #looks: readonly Look[];
  readonly #entry: State;
  #mark = 0;

  /**
   * Reads a pattern.
   *
   * @param source ECMA-262, in Unicode mode.
   * @param budget Lowered by the states that the pattern needs.
   * @throws {SyntaxError} When it cannot be checked in linear time, is too large or is no pattern.
   */
  constructor(source: string, budget: PatternBudget) {
    const parser = new PatternParser(source, budget);
    this.#entry = parser.parse();
    this.#looks = parser.looks;
  }

  /** True when the pattern is found anywhere in the text. Takes four steps, and one for each 8 characters and each 8 visits of a state. */
  matches(text: string, spend: Spend): boolean {
    spend(4 + (text.length >> 3));
    const codes: number[] = [];
    for (const character of text) codes.push(character.codePointAt(0) ?? 0);
    const tables: Uint8Array[] = [];
    for (const { entry, behind } of this.#looks) {
      const table = new Uint8Array(codes.length + 1);
      this.#scan(entry, { codes, tables, spend, back: !behind, table });
      tables.push(table);
    }
    return this.#scan(this.#entry, { codes, tables, spend, back: false });
  }

  /** Runs over all of the text. With a table: notes where a match ends; without: stops at the first. */
  #scan(entry: State, { codes, tables, spend, back, table }: Scan): boolean {
    const { length } = codes;
    let pending: (State | undefined)[] = [];
    let visits = 0;
    for (let done = 0; done <= length; done++) {
      const position = back ? length - done : done;
      const code = codes[back ? position - 1 : position];
      const mark = ++this.#mark;
      const arrived: (State | undefined)[] = [];
      pending.push(entry);
      for (let state = pending.pop(); state; state = pending.pop()) {
        if (state.mark === mark) continue;
        state.mark = mark;
        visits++;
        const { sign, set, next } = state;
        if (sign >= 0) {
          if (code !== undefined && (set ? set.has(code) : sign === code)) arrived.push(next);
        } else if (sign === SPLIT) pending.push(next, state.other);
        else if (sign !== MATCH) {
          if (this.#holds(sign, position, { codes, tables })) pending.push(next);
        } else if (table) table[position] = 1;
        else {
          spend(visits >> VISITS);
          return true;
        }
      }
      pending = arrived;
      if (!table && !pending.length && entry.sign === BEGIN) break;
      if (visits > 999) {
        spend(visits >> VISITS);
        visits = 0;
      }
    }
    spend(visits >> VISITS);
    return false;
  }

  #holds(sign: number, position: number, { codes, tables }: Pick<Scan, "codes" | "tables">): boolean {
    if (sign === BEGIN) return position === 0;
    if (sign === END) return position === codes.length;
    if (sign > LOOK) return (isWord(codes[position - 1]) !== isWord(codes[position])) === (sign === WORD);
    return (tables[LOOK - sign]?.[position] === 1) !== this.#looks[LOOK - sign]?.negative;
  }
}

interface Scan {
  readonly codes: readonly number[];
  readonly tables: readonly Uint8Array[];
  readonly spend: Spend;
  readonly back: boolean;
  readonly table?: Uint8Array;
}

function isWord(code: number | undefined): boolean {
  return code !== undefined && /^\w/.test(String.fromCodePoint(code));
}
