/**
 * Reads ECMA-262 regular expressions (Unicode mode, with a few harmless leniences) into automatons. What cannot be
 * matched in linear time, or is not understood, is refused.
 *
 * @module
 */

/** Signs of states that take no character. From `LOOK` down they stand for look-arounds. */
export const SPLIT = -1;
/** The end of the pattern. */
export const MATCH = -2;
/** `^` */
export const BEGIN = -3;
/** `$` */
export const END = -4;
/** `\b` */
export const WORD = -5;
/** `\B` */
export const NOT_WORD = -6;
/** The first look-around; the others follow downwards. */
export const LOOK = -7;

/** A state of an automaton. */
export interface State {
  /** The code point that it takes, or one of the signs. */
  readonly sign: number;
  /** Takes a character of a class instead. */
  readonly set?: CharacterClass | undefined;
  next?: State | undefined;
  /** The second way on from a split. */
  readonly other?: State | undefined;
  /** When it was last visited. */
  mark: number;
}

/** A look-ahead or look-behind; those inside others come first in their list. */
export interface Look {
  readonly entry: State;
  readonly behind: boolean;
  readonly negative: boolean;
}

/** What the patterns of one schema share. */
export interface PatternBudget {
  /** How many states may still be made. */
  states: number;
  readonly classes: Map<string, CharacterClass>;
}

/** Makes the states of a part that goes on at `next`, to be run forwards or backwards, and gives the first. */
type Part = (next: State, back: boolean) => State;

const GROUPS = 100;
/** How many states a Unicode property counts for: hosts take half a millisecond to find its characters. */
const PROPERTY = 200;

/** One character or class, but no quantifier: an escaped one and a plain one are told apart; the host reads all others. */
const ATOM =
  /(?![*+?]|\{\d+(?:,\d*)?\})(?:\.|\[(?:[^\\\]]|\\.)*\]|\\(?:([^\w])|\d+|[pPu]\{[\w=]+\}|u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|u\w{4}|x\w\w|c\w|\w)|([^[\\]))/suy;
/** In a class, what only strict Unicode mode forbids: dashes beside sets, and escapes that need not be. */
const LENIENT = /(-?)\\(?:([dDwWsS]|[pP]\{[\w=]+\})(-?)|([^\w]))/gu;

/** Reads one pattern. */
export class PatternParser {
  /** The look-arounds that were found. */
  readonly looks: Look[] = [];
  readonly #source: string;
  readonly #budget: PatternBudget;
  #at = 0;
  #groups = 0;

  constructor(source: string, budget: PatternBudget) {
    this.#source = source;
    this.#budget = budget;
  }

  /**
   * Gives the first state.
   *
   * @throws {SyntaxError} When the pattern is wrong, too large, has back-references, or uses what is not supported.
   */
  parse(): State {
    const whole = this.#choice();
    check(this.#at === this.#source.length);
    return whole(this.#state(MATCH), false);
  }

  #choice(): Part {
    const rows: Part[] = [];
    check(++this.#groups <= GROUPS);
    do {
      const parts: Part[] = [];
      while (/[^|)]/.test(this.#source.charAt(this.#at))) parts.push(this.#repeat());
      rows.push((next, back) => parts[back ? "reduce" : "reduceRight"]((to, part) => part(to, back), next));
    } while (this.#take(/\|/y));
    this.#groups--;
    return (next, back) =>
      rows.map((row) => row(next, back)).reduce((other, entry) => this.#state(SPLIT, entry, other));
  }

  #repeat(): Part {
    const part = this.#single();
    const found = this.#take(/(?:([*+?])|\{(\d+)(,(\d*))?\})\??/y);
    if (!found) return part;
    const [, sign, least = sign === "+" ? 1 : 0, more, most = sign === "?" ? 1 : ""] = found;
    const min = Number(least);
    const max = sign || more ? Number(most || Infinity) : min;
    check(min <= max);
    return (next, back) => {
      let entry = next;
      let left = min;
      if (max === Infinity) {
        const loop = this.#state(SPLIT, undefined, next);
        loop.next = part(loop, back);
        entry = left-- ? loop.next : loop;
      } else {
        for (let count = min; count < max; count++) entry = this.#state(SPLIT, part(entry, back), next);
      }
      for (; left > 0; left--) {
        this.#pay(1);
        entry = part(entry, back);
      }
      return entry;
    };
  }

  #single(): Part {
    if (this.#take(/\(/y)) return this.#group();
    const special = this.#take(/[\^$]|\\[bB]/y)?.[0];
    if (special) return (next) => this.#state(-3 - ["^", "$", "\\b", "\\B"].indexOf(special), next);
    const [atom, escaped, bare] = check(this.#take(ATOM));
    const plain = escaped ?? bare;
    if (plain) return (next) => this.#state(plain.codePointAt(0) as number, next);
    const { classes } = this.#budget;
    const set = classes.get(atom) ?? new CharacterClass(atom);
    classes.set(atom, set);
    this.#pay(PROPERTY * (atom.split(/\\p/i).length - 1));
    return (next) => this.#state(0, next, undefined, set);
  }

  #group(): Part {
    const look = this.#take(/\?(<?)([=!])/y);
    if (!look) this.#take(/\?(?::|<[\p{L}\p{N}_$]+>)/uy);
    const part = this.#choice();
    check(this.#take(/\)/y));
    if (!look) return part;
    const behind = look[1] !== "";
    const number = this.looks.push({ entry: part(this.#state(MATCH), !behind), behind, negative: look[2] === "!" });
    return (next) => this.#state(LOOK + 1 - number, next);
  }

  #state(sign: number, next?: State, other?: State, set?: CharacterClass): State {
    this.#pay(1);
    return { sign, next, set, other, mark: 0 };
  }

  #pay(states: number): void {
    check((this.#budget.states -= states) >= 0);
  }

  #take(what: RegExp): RegExpExecArray | null {
    what.lastIndex = this.#at;
    const found = what.exec(this.#source);
    if (found) this.#at = what.lastIndex;
    return found;
  }
}

function check<Value>(right: Value): NonNullable<Value> {
  if (!right) throw new SyntaxError();
  return right;
}

/** Tells whether one character belongs to a class; the answers for ASCII are kept. */
export class CharacterClass {
  readonly #test: RegExp;
  readonly #ascii: Uint8Array = new Uint8Array(128);

  /**
   * @param atom A dot, an escape, or a class in brackets.
   * @throws {SyntaxError} When the host does not know it.
   */
  constructor(atom: string) {
    const source = atom.replace(
      LENIENT,
      (_, before: string, set = "", after: string, other: string) =>
        set ? (before && "\\-") + "\\" + set + (after && "\\-") : `${before}\\u{${other.codePointAt(0)?.toString(16)}}`,
    );
    this.#test = new RegExp(/^[.[]/.test(atom) ? source : `[${source}]`, "u");
  }

  /** True when the class has the character. */
  has(code: number): boolean {
    const known = this.#ascii[code];
    if (known) return known > 1;
    const answer = this.#test.test(String.fromCodePoint(code));
    this.#ascii[code] = answer ? 2 : 1;
    return answer;
  }
}
