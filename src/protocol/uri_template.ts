/**
 * URI templates (RFC 6570, level 4): expansion, and matching in linear time. No RegExp is built from a template, and
 * nothing here backtracks.
 *
 * @module
 */

/** One value, written as text. Undefined and null count as absent. */
export type TemplateScalar = string | number | boolean | null | undefined;

/** A value for a template: one, a list, or pairs. */
export type TemplateValue = TemplateScalar | readonly TemplateScalar[] | { readonly [key: string]: TemplateScalar };

/** How an expression begins, what parts its values, whether names are written (`empty` follows one whose value is), and whether reserved characters stand. */
interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  readonly reserved: boolean;
  readonly empty: string;
}

/** A variable of an expression; `length` is how many characters of its value are used, 0: all. */
interface Variable {
  readonly name: string;
  readonly explode: boolean;
  readonly length: number;
}

/** A literal, already encoded, or an expression. */
type Part = string | { readonly operator: Operator; readonly variables: readonly Variable[] };

const most = { template: 4_096, uri: 16_384, expressions: 64, variables: 128 };

const plain: Operator = { first: "", separator: ",", named: false, reserved: false, empty: "" };
const operators: Readonly<Record<string, Operator>> = {
  "+": { ...plain, reserved: true },
  "#": { ...plain, first: "#", reserved: true },
  ".": { ...plain, first: ".", separator: "." },
  "/": { ...plain, first: "/", separator: "/" },
  ";": { ...plain, first: ";", separator: ";", named: true },
  "?": { first: "?", separator: "&", named: true, reserved: false, empty: "=" },
  "&": { first: "&", separator: "&", named: true, reserved: false, empty: "=" },
};

/**
 * Fills a template in (RFC 6570, section 3.2).
 *
 * @param template At most 4,096 characters, 64 expressions and 128 variables.
 * @throws {RangeError} When the template is larger than that.
 * @throws {TypeError} When the template is malformed, a prefix (`{a:3}`) meets a list or pairs, or a value has half a surrogate pair.
 */
export function expandUriTemplate(template: string, values: Readonly<Record<string, TemplateValue>>): string {
  let uri = "";
  for (const part of parse(template)) {
    if (typeof part === "string") uri += part;
    else {
      const { operator, variables } = part;
      const pieces = variables.flatMap((variable) =>
        expandVariable(variable, Object.hasOwn(values, variable.name) ? values[variable.name] : undefined, operator)
      );
      if (pieces.length) uri += operator.first + pieces.join(operator.separator);
    }
  }
  return uri;
}

/**
 * The opposite of expansion: what the variables have to be for a URI to come out, or undefined when none can be found.
 * Texts come back as text; lists as arrays, and so does everything that the template explodes (`{/path*}`). Where several
 * readings are right, an earlier variable takes as much as it can. Pairs are not recovered. In `{?a,b}` names may come in
 * any order and be left out; `{a}` and `{+a}` need at least one character. Takes time in proportion to both lengths.
 *
 * @param uri At most 16,384 characters.
 * @throws {RangeError} When the template or the URI is larger than what is taken.
 * @throws {TypeError} When the template is malformed.
 */
export function matchUriTemplate(template: string, uri: string): Record<string, string | string[]> | undefined {
  limit("characters in the URI", most.uri, uri.length);
  const parts = parse(template);
  if (!uri.isWellFormed()) return undefined;
  const source = prepare(uri);
  const [head] = parts;
  if (typeof head === "string" && !source.text.startsWith(upperTriplets(head))) return undefined;
  // From the end: from which places does the rest of the template lead to the end of the text?
  let reach: Uint8Array = new Uint8Array(source.codes.length + 1);
  reach[source.codes.length] = 1;
  const takes: Take[] = [];
  for (const step of parts.flatMap(steps).reverse()) {
    const made = step(source, reach);
    takes.push(made.take);
    reach = made.reach;
    if (!reach.includes(1)) return undefined;
  }
  if (!reach[0]) return undefined;
  // From the start: only places that lead to the end are chosen, so that nothing is ever taken back.
  const found: Found = { values: new Map(), prefixes: [], absent: new Set() };
  let at = 0;
  for (const take of takes.reverse()) {
    at = take(at, found);
    if (at < 0) return undefined;
  }
  for (const [name, value] of found.prefixes.sort(([, one], [, other]) => other.length - one.length)) {
    const whole = found.values.get(name) ?? value;
    if (typeof whole !== "string" || !whole.startsWith(value)) return undefined;
    found.values.set(name, whole);
  }
  // What is there in one place cannot be absent in another.
  for (const name of found.absent) if (found.values.has(name)) return undefined;
  return Object.fromEntries(found.values);
}

/** The names of a template's variables; throws as {@linkcode expandUriTemplate} does. */
export function uriTemplateVariables(template: string): string[] {
  return parse(template).flatMap((part) => typeof part === "string" ? [] : part.variables.map(({ name }) => name));
}

/** The pieces that a variable adds, each to be parted by the operator's separator. */
function expandVariable({ name, explode, length }: Variable, value: TemplateValue, operator: Operator): string[] {
  if (value === undefined || value === null) return [];
  const write = (text: unknown): string => encode(String(text), operator.reserved);
  const label = (key: string, text: string): string =>
    operator.named ? key + (text ? "=" + text : operator.empty) : text;
  if (typeof value !== "object") {
    const text = String(value);
    return [label(name, write(length ? prefix(text, length, operator.reserved) : text))];
  }
  if (length) {
    throw new TypeError(`Cannot expand "${name}:${length}": expected text, as a prefix of a list means nothing`);
  }
  const present = (inner: unknown): boolean => inner !== undefined && inner !== null;
  if (Array.isArray(value)) {
    const items = value.filter(present).map(write);
    if (!items.length) return [];
    return explode ? items.map((item) => label(name, item)) : [label(name, items.join(","))];
  }
  const pairs: [string, string][] = [];
  for (const [key, inner] of Object.entries(value)) if (present(inner)) pairs.push([write(key), write(inner)]);
  if (!pairs.length) return [];
  if (!explode) return [label(name, pairs.flat().join(","))];
  return pairs.map(([key, text]) => operator.named && !text ? key + operator.empty : `${key}=${text}`);
}

/** The first characters (code points) of a text; where triplets like `%20` stand as they are, one is a character. */
function prefix(text: string, length: number, reserved: boolean): string {
  return (text.match(reserved ? /%[0-9a-f]{2}|[^]/giu : /[^]/gu) ?? []).slice(0, length).join("");
}

/** Percent-encodes all but unreserved characters; with `reserved` also those and triplets stand. */
function encode(text: string, reserved: boolean): string {
  if (!text.isWellFormed()) throw new TypeError("Cannot expand the template: expected values of well-formed Unicode");
  if (!reserved) {
    return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => "%" + mark.charCodeAt(0).toString(16).toUpperCase());
  }
  return text.replace(
    /%[0-9a-f]{2}|[^%]+|%/gi,
    (run) => run.length === 3 && run.startsWith("%") ? run : encodeURI(run).replace(/%5B/g, "[").replace(/%5D/g, "]"),
  );
}

function parse(template: string): Part[] {
  limit("characters", most.template, template.length);
  const parts: Part[] = [];
  let expressions = 0;
  let total = 0;
  for (let at = 0; at < template.length;) {
    const open = template.indexOf("{", at);
    const literal = template.slice(at, open < 0 ? undefined : open);
    if (literal.includes("}")) throw malformed(template, 'a "}" without its "{"');
    if (literal) parts.push(encode(literal, true));
    if (open < 0) break;
    const close = template.indexOf("}", open);
    if (close < 0) throw malformed(template, 'a "{" without its "}"');
    limit("expressions", most.expressions, ++expressions);
    const operator = operators[template.charAt(open + 1)];
    const names = template.slice(open + (operator ? 2 : 1), close).split(",");
    limit("variables", most.variables, total += names.length);
    parts.push({ operator: operator ?? plain, variables: names.map((text) => parseVariable(text, template)) });
    at = close + 1;
  }
  return parts;
}

function parseVariable(text: string, template: string): Variable {
  const [, name, explode, length] =
    /^((?:\w|%[0-9a-f]{2})(?:\.?(?:\w|%[0-9a-f]{2}))*)(?:(\*)|:([1-9]\d{0,3}))?$/i.exec(text) ?? [];
  if (name === undefined) throw malformed(template, `the variable "${text}"`);
  return { name, explode: explode !== undefined, length: Number(length ?? 0) };
}

function malformed(template: string, what: string): TypeError {
  return new TypeError(`Cannot read the URI template "${template.slice(0, 200)}": it has ${what.slice(0, 200)}`);
}

function limit(what: string, value: number, seen: number): void {
  if (seen > value) {
    throw new RangeError(`Cannot read the URI template: at most ${value} ${what} are taken, got ${seen}`);
  }
}

/** A URI made ready: its characters' codes (all ASCII), and a 0 inside an encoded character, where nothing may begin. */
interface Source {
  readonly text: string;
  readonly codes: Uint8Array;
  readonly outside: Uint8Array;
}

/** The values so far, those of which only the beginning is known, and the names that were left out somewhere. */
interface Found {
  readonly values: Map<string, string | string[]>;
  readonly prefixes: [name: string, value: string][];
  readonly absent: Set<string>;
}

/** Reads its part of the text from a place on and returns where it ends; -1 when the values contradict each other. */
type Take = (at: number, found: Found) => number;
/** A piece of a template, made ready for a text: `next` has a 1 where what follows may begin, `reach` where this may. */
type Step = (source: Source, next: Uint8Array) => { reach: Uint8Array; take: Take };

function prepare(uri: string): Source {
  const text = upperTriplets(encode(uri, true));
  const codes = new TextEncoder().encode(text);
  const outside = new Uint8Array(codes.length + 1).fill(1);
  for (const { index, 0: { length } } of text.matchAll(/%..(?:%[89AB].)*/g)) outside.fill(0, index + 1, index + length);
  return { text, codes, outside };
}

function steps(part: Part, place: number, parts: readonly Part[]): Step[] {
  if (typeof part === "string") return [literalStep(upperTriplets(part))];
  const { operator, variables } = part;
  if (operator.named) return [namedStep(operator, variables, place === parts.length - 1)];
  return variables.map((variable, index) =>
    valueStep(operator, variable, index ? operator.separator : operator.first, index === variables.length - 1)
  );
}

function literalStep(literal: string): Step {
  const needle = new TextEncoder().encode(literal);
  return ({ codes, outside }, next) => {
    const reach = new Uint8Array(next.length);
    for (const start of occurrences(codes, needle)) {
      reach[start] = (outside[start] ?? 0) & (next[start + needle.length] ?? 0);
    }
    return { reach, take: (at) => at + needle.length };
  };
}

/** One variable without its name; `lead` stands before it when it is there. */
function valueStep(operator: Operator, variable: Variable, lead: string, isLast: boolean): Step {
  const { separator, reserved } = operator;
  const { explode } = variable;
  // A separator inside belongs to a list; where none can be, the next variable begins there.
  const allowed = characters(reserved, explode ? separator : ",", explode || isLast ? "" : separator);
  return ({ text, codes, outside }, next) => {
    const leadCode = lead ? lead.charCodeAt(0) : 0;
    // Where what follows may begin after any number of allowed characters.
    const rest = new Uint8Array(next.length);
    const reach = new Uint8Array(next.length);
    for (let at = codes.length, after = 0; at >= 0; at--) {
      const code = codes[at] ?? 0;
      const here = next[at] ?? 0;
      const on = after & (allowed[code] ?? 0);
      reach[at] = leadCode ? here | (code === leadCode ? after : 0) : on & (outside[at] ?? 0);
      rest[at] = after = here | on;
    }
    const take: Take = (at, found) => {
      if (lead && !(codes[at] === leadCode && rest[at + 1])) {
        found.absent.add(variable.name);
        return at;
      }
      const start = at + lead.length;
      const end = farthest(codes, lead ? start : start + 1, allowed, next);
      const value = text.slice(start, end);
      const raw = explode ? value.split(separator) : reserved ? value : listed(value);
      return keep(found, variable, raw, reserved) ? end : -1;
    };
    return { reach, take };
  };
}

/** All of a `{?a,b}`: pairs of a name and a value. */
function namedStep({ first, separator }: Operator, variables: readonly Variable[], isEnd: boolean): Step {
  const nameCharacters = characters(false, "", "-~");
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  // Where nothing follows, values that were written by hand (`?at=10:30`) are read too.
  const allowed = characters(isEnd, ",", "&;#");
  return ({ text, codes }, next) => {
    const [firstCode, separatorCode] = [first.charCodeAt(0), separator.charCodeAt(0)];
    // Where a value may end or go on to its end, and where a pair begins that can be read.
    const reach = new Uint8Array(next.length);
    const ends = new Uint8Array(next.length);
    const rest = new Uint8Array(next.length);
    const pairs = new Uint8Array(next.length);
    for (let at = codes.length, nameEnd = at; at >= 0; at--) {
      const code = codes[at] ?? 0;
      let pair = 0;
      if (code === firstCode || code === separatorCode) {
        pair = (codes[nameEnd] === 61 ? rest[nameEnd + 1] : ends[nameEnd]) ?? 0;
        if (pair) pairs[at] = pair = Number(byName.has(text.slice(at + 1, nameEnd)));
      }
      if (!nameCharacters[code]) nameEnd = at;
      const here = next[at] ?? 0;
      const end = here | (code === separatorCode ? pair : 0);
      ends[at] = end;
      rest[at] = end | ((rest[at + 1] ?? 0) & (allowed[code] ?? 0));
      reach[at] = here | (code === firstCode ? pair : 0);
    }
    const take: Take = (at, found) => {
      const lists = new Map<string, string[]>();
      for (let mark = firstCode; codes[at] === mark && pairs[at]; mark = separatorCode) {
        const start = ++at;
        while (nameCharacters[codes[at] ?? 0]) at++;
        const name = text.slice(start, at);
        let value = "";
        if (codes[at] === 61) {
          const end = farthest(codes, at + 1, allowed, ends);
          value = text.slice(at + 1, end);
          at = end;
        }
        const list = lists.get(name);
        if (list) list.push(value);
        else lists.set(name, [value]);
      }
      for (const variable of byName.values()) {
        const list = lists.get(variable.name);
        const [only = ""] = list ?? [];
        if (!list) found.absent.add(variable.name);
        else if (!keep(found, variable, variable.explode || list.length > 1 ? list : listed(only), false)) return -1;
      }
      return at;
    };
    return { reach, take };
  };
}

/** A comma that is not encoded parts the items of a list. */
function listed(value: string): string | string[] {
  return value.includes(",") ? value.split(",") : value;
}

/** The last place, from `at` on, where what follows may begin, over allowed characters only. */
function farthest(codes: Uint8Array, at: number, allowed: Uint8Array, next: Uint8Array): number {
  let end = at;
  for (;; at++) {
    if (next[at]) end = at;
    if (!allowed[codes[at] ?? 0]) return end;
  }
}

/** Decodes a value and keeps it; false when it is not UTF-8, too long for its prefix, or contradicts an earlier one. */
function keep(found: Found, { name, length }: Variable, raw: string | string[], reserved: boolean): boolean {
  const decode = reserved ? decodeURI : decodeURIComponent;
  try {
    const value = typeof raw === "string" ? decode(raw) : raw.map((text) => decode(text));
    if (length) {
      return typeof value === "string" && found.prefixes.push([name, value]) > 0 &&
        prefix(value, length, false) === value;
    }
    const before = found.values.get(name) ?? value;
    found.values.set(name, value);
    return JSON.stringify(before) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/** Which ASCII characters a value may have. */
function characters(reserved: boolean, plus: string, minus: string): Uint8Array {
  const allowed = new Uint8Array(128);
  for (let code = 33; code < 127; code++) {
    const character = String.fromCharCode(code);
    const isAllowed = /[\w.~%-]/.test(character) || (reserved && /[:/?#[\]@!$&'()*+,;=]/.test(character)) ||
      plus.includes(character);
    allowed[code] = Number(isAllowed && !minus.includes(character));
  }
  return allowed;
}

function upperTriplets(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (triplet) => triplet.toUpperCase());
}

/** Where the needle stands, overlapping too: Knuth, Morris and Pratt, as a naive search is quadratic. */
function occurrences(codes: Uint8Array, needle: Uint8Array): number[] {
  const fallback = [0];
  const found: number[] = [];
  // The length of what matches so far, after one code more.
  const longer = (length: number, code: number | undefined): number => {
    while (length && code !== needle[length]) length = fallback[length - 1] ?? 0;
    return code === needle[length] ? length + 1 : length;
  };
  for (let at = 1, length = 0; at < needle.length; at++) fallback.push(length = longer(length, needle[at]));
  for (let at = 0, length = 0; at < codes.length; at++) {
    length = longer(length, codes[at]);
    if (length < needle.length) continue;
    found.push(at + 1 - length);
    length = fallback[length - 1] ?? 0;
  }
  return found;
}
