/**
 * Looking once in a turn: who names very many things names them all at once.
 *
 * @module
 */

/** Gives a function that looks once in a turn, and says the same for the rest of it. */
export type InTurns = <Value>(look: () => Value) => () => Value;

/** Makes such functions: what they have seen is forgotten at the same time. */
export function inTurns(): InTurns {
  const seen = new Map<() => unknown, unknown>();
  return <Value>(look: () => Value) => (): Value => {
    if (!seen.size) queueMicrotask(() => seen.clear());
    if (!seen.has(look)) seen.set(look, look());
    return seen.get(look) as Value;
  };
}
