/**
 * Values without half characters.
 *
 * @module
 */

/**
 * The same JSON value, with `\ufffd` for what is half of a character, as a server leaves it that cuts texts anywhere: endpoints refuse
 * a request with one in it as no JSON. What has none stays as it is.
 */
export function wellFormed<Value>(value: Value): Value {
  return clean(value) as Value;
}

function clean(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(clean);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const before = Object.entries(value);
  const entries = before.map(([name, held]) => [clean(name), clean(held)] as [string, unknown]);
  const isSame = entries.every(([name, held], at) => name === before[at]?.[0] && held === before[at]?.[1]);
  // fromEntries makes own properties of any name.
  return isSame ? value : Object.fromEntries(entries);
}
