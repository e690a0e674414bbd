/**
 * Matches ECMA-262 regular expressions (Unicode mode, with a few harmless leniences) in time that is linear in the text:
 * all alternatives are followed at once, so that no text makes it slow. Look-around is answered by a scan of its own
 * beforehand. What cannot be matched so, as back-references, or is not understood, is refused.
 *
 * @module
 */
import { type Budget, GROUPS, PROPERTY, spend } from "./budget.ts";
import { NONE, SOME, type State, type Test } from "./state.ts";

/** What the patterns of one schema share. */
export interface PatternBudget {
  /** How many states may still be made. */
  states: number;
  readonly classes: Map<string, Test>;
}

/** Makes the states of a part that goes on at `next`, to be run forwards (0) or backwards (1), and gives the first. */
type Part = (next: State, back: number) => State;

/** One character or class, but no quantifier: an escaped one and a plain one are told apart; the host reads all others. */
const ATOM =
  /(?![*+?]|\{\d+(?:,\d*)?\})(?:\.|\[(?:[^\\\]]|\\.)*\]|\\(?:([^\w])|\d+|[pPu]\{[\w=]+\}|u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|u\w{4}|x\w\w|c\w|\w)|([^[\\]))/suy;

/** What is asked of places. */
const PLACES: Readonly<Record<string, Test>> = {
  "^": (_, at) => !at,
  "$": (_, at, { length }) => at === length,
  "\\b": (_, at, codes) => isWord(codes[at - 1]) !== isWord(codes[at]),
  "\\B": (_, at, codes) => isWord(codes[at - 1]) === isWord(codes[at]),
};

/** A pattern as a non-deterministic automaton. */
export class Pattern {
  readonly #source: string;
  readonly #budget: PatternBudget;
  /** The automatons of look-arounds, those inside others first. */
  readonly #looks: [entry: State, back: number][] = [];
  readonly #entry: State;
  #place = 0;
  #groups = 0;
  #mark = 0;

  /**
   * Reads a pattern.
   *
   * @param budget Lowered by the states that the pattern needs.
   * @throws {SyntaxError} When it cannot be checked in linear time, is too large or is no pattern.
   */
  constructor(source: string, budget: PatternBudget) {
    this.#source = source;
    this.#budget = budget;
    const whole = this.#choice();
    check(this.#place === source.length);
    this.#entry = whole(this.#state(), 0);
  }

  /** True when the pattern is found anywhere. Takes five steps, and one for each 8 characters and each 8 visits of a state. */
  matches(text: string, budget: Budget): boolean {
    spend(budget, 5 + (text.length >> 3));
    const codes: number[] = [];
    const tables: Uint8Array[] = [];
    for (const character of text) codes.push(character.codePointAt(0) as number);
    for (const [entry, back] of this.#looks) {
      const table = new Uint8Array(codes.length + 1);
      this.#scan(entry, back, codes, tables, budget, table);
      tables.push(table);
    }
    return this.#scan(this.#entry, 0, codes, tables, budget);
  }

  /** Runs over all of the text. With a table: notes where a match ends; without: stops at the first. */
  #scan(
    entry: State,
    back: number,
    codes: number[],
    tables: Uint8Array[],
    budget: Budget,
    table?: Uint8Array,
  ): boolean {
    const { length } = codes;
    let open: State[] = [];
    let arrived: State[] = [];
    let visits = 0;
    for (let done = 0; done <= length; done++) {
      const at = back ? length - done : done;
      const code = codes[at - back];
      const mark = ++this.#mark;
      open.push(entry);
      for (let state = open.pop(); state; state = open.pop()) {
        if (state.mark === mark) continue;
        state.mark = mark;
        visits++;
        const { test, next, other, takes } = state;
        if (next) {
          if (takes < 0 ? test && !test(code, at, codes, tables) : takes !== code) continue;
          (takes > NONE ? arrived : open).push(next);
          if (other) open.push(other);
        } else if (table) table[at] = 1;
        else {
          spend(budget, visits >> 3);
          return true;
        }
      }
      if (visits > 99) {
        spend(budget, visits >> 3);
        visits = 0;
      }
      const empty = open;
      open = arrived;
      arrived = empty;
      if (!table && !open.length && entry.test === PLACES["^"]) break;
    }
    spend(budget, visits >> 3);
    return false;
  }

  #choice(): Part {
    const rows: Part[][] = [];
    check(++this.#groups <= GROUPS);
    do {
      const parts: Part[] = [];
      while (/[^|)]/.test(this.#source.charAt(this.#place))) parts.push(this.#repeat());
      rows.push(parts);
    } while (this.#take(/\|/y));
    this.#groups--;
    return (next, back) =>
      rows.map((parts) => parts[back ? "reduce" : "reduceRight"]((to, part) => part(to, back), next))
        .reduce((other, entry) => this.#state(undefined, entry, other));
  }

  #repeat(): Part {
    const part = this.#single();
    const found = this.#take(/(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y);
    if (!found) return part;
    const [, sign, least, more, most] = found;
    const min = Number(least ?? sign === "+");
    const max = Number(sign ? sign === "?" || Infinity : more ? most || Infinity : least);
    check(min <= max);
    return (next, back) => {
      let entry = next;
      let left = min;
      if (max === Infinity) {
        const loop = this.#state(undefined, undefined, next);
        loop.next = part(loop, back);
        entry = left-- ? loop.next : loop;
      } else for (let count = min; count < max; count++) entry = this.#state(undefined, part(entry, back), next);
      for (; left > 0; left--) {
        this.#pay(1);
        entry = part(entry, back);
      }
      return entry;
    };
  }

  #single(): Part {
    if (this.#take(/\(/y)) return this.#group();
    const asked = PLACES[String(this.#take(/[\^$]|\\[bB]/y))];
    if (asked) return (next) => this.#state(asked, next);
    const [atom, escaped, bare] = check(this.#take(ATOM));
    const plain = escaped ?? bare;
    if (plain) return (next) => this.#state(undefined, next, undefined, plain.codePointAt(0));
    const { classes } = this.#budget;
    const test = classes.get(atom) ?? classOf(atom);
    classes.set(atom, test);
    this.#pay(PROPERTY * (atom.split(/\\p/i).length - 1));
    return (next) => this.#state(test, next, undefined, SOME);
  }

  #group(): Part {
    const look = this.#take(/\?(<?)([=!])/y);
    if (!look) this.#take(/\?(?::|<[\w$\x80-\uffff]+>)/y);
    const part = this.#choice();
    check(this.#take(/\)/y));
    if (!look) return part;
    const back = Number(!look[1]);
    const holds = Number(look[2] === "=");
    const index = this.#looks.push([part(this.#state(), back), back]) - 1;
    return (next) => this.#state((_, at, __, tables) => tables[index]?.[at] === holds, next);
  }

  #state(test?: Test, next?: State, other?: State, takes = NONE): State {
    this.#pay(1);
    return { test, next, other, takes, mark: 0 };
  }

  #pay(states: number): void {
    check((this.#budget.states -= states) >= 0);
  }

  #take(what: RegExp): RegExpExecArray | null {
    what.lastIndex = this.#place;
    const found = what.exec(this.#source);
    if (found) this.#place = what.lastIndex;
    return found;
  }
}

function check<Value>(right: Value): NonNullable<Value> {
  if (!right) throw new SyntaxError();
  return right;
}

function isWord(code: number | undefined): boolean {
  return code !== undefined && /\w/.test(String.fromCodePoint(code));
}

/** Reads a dot, an escape, or a class in brackets; keeps the answers for ASCII. */
function classOf(atom: string): Test {
  const source = atom.replace(
    // What only strict Unicode mode forbids: dashes beside sets, and escapes that need not be.
    /(-?)\\(?:([dDwWsS]|[pP]\{[\w=]+\})(-?)|([^\w]))/gu,
    (_, before: string, set = "", after: string, other: string) =>
      set ? (before && "\\-") + "\\" + set + (after && "\\-") : `${before}\\u{${other.codePointAt(0)?.toString(16)}}`,
  );
  const test = new RegExp(/^[.[]/.test(atom) ? source : `[${source}]`, "u");
  const known: boolean[] = [];
  const has = (code: number): boolean => test.test(String.fromCodePoint(code));
  return (code) => code !== undefined && (code > 127 ? has(code) : known[code] ??= has(code));
}
