/**
 * URI templates (RFC 6570, level 4): expansion, and matching in linear time. No RegExp is built from a template, and
 * nothing here backtracks.
 *
 * @module
 */

/** A value for a template: text, a list, or pairs. Undefined and null count as absent, and so do they inside lists and pairs. */
export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly (string | number | boolean | null | undefined)[]
  | { readonly [key: string]: string | number | boolean | null | undefined };

/** How an expression begins, what parts its values, whether names are written, and whether reserved characters stand. */
interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  readonly reserved: boolean;
  /** What follows a name whose value is empty. */
  readonly empty: string;
}

/** A variable of an expression. */
interface Variable {
  readonly name: string;
  readonly explode: boolean;
  /** How many characters of the value are used; 0: all. */
  readonly length: number;
}

/** A literal, already encoded, or an expression. */
type Part = string | { readonly operator: Operator; readonly variables: readonly Variable[] };

const longestTemplate = 4_096;
const longestUri = 65_536;
const mostExpressions = 64;
const mostVariables = 256;

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
 * @param template At most 4,096 characters, 64 expressions and 256 variables.
 * @throws {RangeError} When the template is larger than that.
 * @throws {TypeError} When the template is malformed, a prefix (`{a:3}`) meets a list or pairs, or a value has half a surrogate pair.
 */
export function expandUriTemplate(template: string, values: Readonly<Record<string, TemplateValue>>): string {
  let uri = "";
  for (const part of parse(template)) {
    if (typeof part === "string") {
      uri += part;
      continue;
    }
    const { operator, variables } = part;
    const pieces: string[] = [];
    for (const variable of variables) {
      const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
      pieces.push(...expandVariable(variable, value, operator));
    }
    if (pieces.length) uri += operator.first + pieces.join(operator.separator);
  }
  return uri;
}

/**
 * The opposite of expansion: what the variables have to be for a URI to come out, or undefined when none can be found.
 * Texts come back as text; lists as arrays, and so does everything that the template explodes (`{/path*}`). Where several
 * readings are right, an earlier variable takes as much as it can. Pairs are not recovered. In `{?a,b}` names may come in
 * any order and be left out; `{a}` and `{+a}` need at least one character. Takes time in proportion to both lengths.
 *
 * @param uri At most 65,536 characters.
 * @throws {RangeError} When the template or the URI is larger than what is taken.
 * @throws {TypeError} When the template is malformed.
 */
export function matchUriTemplate(template: string, uri: string): Record<string, string | string[]> | undefined {
  limit("characters", longestUri, uri.length);
  const parts = parse(template);
  if (!uri.isWellFormed()) return undefined;
  const text = upperTriplets(encode(uri, true));
  // From the end: from which places does the rest of the template lead to the end of the text?
  let reach: Uint8Array = new Uint8Array(text.length + 1);
  reach[text.length] = 1;
  const takes: Take[] = [];
  for (const step of parts.flatMap(steps).reverse()) {
    const made = step(text, reach);
    takes.push(made.take);
    reach = made.reach;
  }
  if (!reach[0]) return undefined;
  // From the start: only places that lead to the end are chosen, so that nothing is ever taken back.
  const found: Found = { values: new Map(), prefixes: new Set() };
  let at = 0;
  for (const take of takes.reverse()) {
    at = take(at, found);
    if (at < 0) return undefined;
  }
  return Object.fromEntries(found.values);
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
  const pairs = Object.entries(value).filter(([, inner]) => present(inner)).map((
    [key, inner],
  ) => [write(key), write(inner)]);
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
  limit("characters", longestTemplate, template.length);
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
    limit("expressions", mostExpressions, ++expressions);
    const operator = operators[template.charAt(open + 1)];
    const variables = template.slice(open + (operator ? 2 : 1), close).split(",").map((text) =>
      parseVariable(text, template)
    );
    limit("variables", mostVariables, total += variables.length);
    parts.push({ operator: operator ?? plain, variables });
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

function limit(what: string, most: number, seen: number): void {
  if (seen > most) {
    throw new RangeError(`Cannot read the URI template: it has ${seen} ${what}, at most ${most} are taken`);
  }
}

/** Reads its part of the text from a place on and returns where it ends; -1 when the values contradict each other. */
type Take = (at: number, found: Found) => number;
/** The values so far, and the names of which only a prefix is known. */
interface Found {
  readonly values: Map<string, string | string[]>;
  readonly prefixes: Set<string>;
}
/** A piece of a template, made ready for a text: `next` has a 1 where what follows may begin, `reach` where this may. */
type Step = (text: string, next: Uint8Array) => { reach: Uint8Array; take: Take };

function steps(part: Part): Step[] {
  if (typeof part === "string") return [literalStep(upperTriplets(part))];
  const { operator, variables } = part;
  if (operator.named) return [namedStep(operator, variables)];
  return variables.map((variable, index) =>
    valueStep(operator, variable, index ? operator.separator : operator.first, index === variables.length - 1)
  );
}

function literalStep(literal: string): Step {
  return (text, next) => {
    const reach = new Uint8Array(next.length);
    for (const start of occurrences(text, literal)) reach[start] = next[start + literal.length] ?? 0;
    return { reach, take: (at) => at + literal.length };
  };
}

/** One variable without its name; `lead` stands before it when it is there. */
function valueStep(operator: Operator, variable: Variable, lead: string, isLast: boolean): Step {
  const { separator, reserved } = operator;
  const { explode } = variable;
  // A separator inside belongs to a list; where none can be, the next variable begins there.
  const allowed = characters(reserved, explode ? separator : ",", explode || isLast ? "" : separator);
  return (text, next) => {
    const size = text.length;
    const rest = new Uint8Array(size + 1);
    const reach = new Uint8Array(size + 1);
    for (let at = size; at >= 0; at--) {
      const on = rest[step(text, at, allowed)] ?? 0;
      rest[at] = (next[at] ?? 0) | on;
      reach[at] = lead ? (next[at] ?? 0) | (text[at] === lead ? rest[at + 1] ?? 0 : 0) : on;
    }
    const take: Take = (at, found) => {
      if (lead && !(text[at] === lead && rest[at + 1])) return at;
      const start = at + lead.length;
      const end = farthest(text, start, allowed, next, !lead);
      const value = text.slice(start, end);
      const parts = explode ? value.split(separator) : !reserved && value.includes(",") ? value.split(",") : value;
      return keep(found, variable, parts, reserved) ? end : -1;
    };
    return { reach, take };
  };
}

/** All of a `{?a,b}`: pairs of a name and a value. */
function namedStep({ first, separator, reserved }: Operator, variables: readonly Variable[]): Step {
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  const allowed = characters(true, "", "&#" + (first === ";" ? ";/?" : ""));
  return (text, next) => {
    const size = text.length;
    const reach = new Uint8Array(size + 1);
    /** Where a value may end, and from where it may go on to its end. */
    const ends = new Uint8Array(size + 1);
    const rest = new Uint8Array(size + 1);
    /** Where the name that begins at a place ends. */
    let nameEnd = size;
    const names = new Map<number, string>();
    for (let at = size; at >= 0; at--) {
      const mark = text[at];
      let pair = 0;
      if (mark === first || mark === separator) {
        const name = text.slice(at + 1, nameEnd);
        if (byName.has(name)) {
          pair = (text[nameEnd] === "=" ? rest[nameEnd + 1] : ends[nameEnd]) ?? 0;
          if (pair) names.set(at, name);
        }
      }
      if (!isNameCharacter(text.charCodeAt(at))) nameEnd = at;
      const after = next[at] ?? 0;
      ends[at] = after | (mark === separator ? pair : 0);
      rest[at] = (ends[at] ?? 0) | (rest[step(text, at, allowed)] ?? 0);
      reach[at] = after | (mark === first ? pair : 0);
    }
    const take: Take = (at, found) => {
      const lists = new Map<string, string[]>();
      for (let mark = first; text[at] === mark && names.has(at); mark = separator) {
        const name = names.get(at) ?? "";
        at += 1 + name.length;
        let value = "";
        if (text[at] === "=") {
          const end = farthest(text, at + 1, allowed, ends, false);
          value = text.slice(at + 1, end);
          at = end;
        }
        const list = lists.get(name);
        if (list) list.push(value);
        else lists.set(name, [value]);
      }
      for (const [name, list] of lists) {
        const variable = byName.get(name);
        const [only = ""] = list;
        const parts = variable?.explode || list.length > 1 ? list : only.includes(",") ? only.split(",") : only;
        if (variable && !keep(found, variable, parts, reserved)) return -1;
      }
      return at;
    };
    return { reach, take };
  };
}

/** The last place where what follows may begin, over allowed characters only. */
function farthest(text: string, start: number, allowed: Uint8Array, next: Uint8Array, needsOne: boolean): number {
  let end = start;
  for (let at = start; at >= 0; at = step(text, at, allowed)) {
    if (next[at] && (at > start || !needsOne)) end = at;
  }
  return end;
}

/** The place after an allowed character or triplet, or -1. */
function step(text: string, at: number, allowed: Uint8Array): number {
  const code = text.charCodeAt(at);
  if (code === 37) return at + 3;
  return allowed[code] ? at + 1 : -1;
}

/** Decodes a value and keeps it; false when it is not UTF-8, too long for its prefix, or contradicts an earlier one. */
function keep(
  { values, prefixes }: Found,
  { name, length }: Variable,
  raw: string | string[],
  reserved: boolean,
): boolean {
  const decode = reserved ? decodeURI : decodeURIComponent;
  let value: string | string[];
  try {
    value = typeof raw === "string" ? decode(raw) : raw.map((text) => decode(text));
  } catch {
    return false;
  }
  if (length && (typeof value !== "string" || prefix(value, length, false) !== value)) return false;
  const before = values.get(name);
  if (before === undefined || (prefixes.has(name) && value.length > before.length)) {
    if (typeof before === "string" && !(typeof value === "string" && value.startsWith(before))) return false;
    values.set(name, value);
    if (length) prefixes.add(name);
    else prefixes.delete(name);
    return true;
  }
  // `{a:1}` after `{a}` says only how the value begins.
  if (length) return typeof before === "string" && typeof value === "string" && before.startsWith(value);
  return JSON.stringify(before) === JSON.stringify(value);
}

/** Which ASCII characters a value may have. */
function characters(reserved: boolean, plus: string, minus: string): Uint8Array {
  const allowed = new Uint8Array(128);
  for (let code = 33; code < 127; code++) {
    const character = String.fromCharCode(code);
    const isAllowed = /[\w.~-]/.test(character) || (reserved && /[:/?#[\]@!$&'()*+,;=]/.test(character)) ||
      plus.includes(character);
    allowed[code] = Number(isAllowed && !minus.includes(character));
  }
  return allowed;
}

function isNameCharacter(code: number): boolean {
  return /[\w.%]/.test(String.fromCharCode(code));
}

function upperTriplets(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (triplet) => triplet.toUpperCase());
}

/** Where the literal stands in the text, overlapping too: Knuth, Morris and Pratt, as a naive search is quadratic. */
function occurrences(text: string, literal: string): number[] {
  const fallback = [0];
  for (let at = 1, length = 0; at < literal.length; at++) {
    while (length && literal[at] !== literal[length]) length = fallback[length - 1] ?? 0;
    if (literal[at] === literal[length]) length++;
    fallback.push(length);
  }
  const found: number[] = [];
  for (let at = 0, length = 0; at < text.length; at++) {
    while (length && text[at] !== literal[length]) length = fallback[length - 1] ?? 0;
    if (text[at] === literal[length]) length++;
    if (length < literal.length) continue;
    found.push(at + 1 - length);
    length = fallback[length - 1] ?? 0;
  }
  return found;
}
