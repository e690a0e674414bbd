/**
 * Which scopes to ask for (specification: Authorization, Scope Selection Strategy, Step-Up).
 *
 * @module
 */

/** A `scope` parameter as a list. */
export function readScopes(text: string | undefined): string[] {
  return text?.split(" ").filter((name) => name !== "") ?? [];
}

/** Everything that is in one of the lists, once. */
export function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}
