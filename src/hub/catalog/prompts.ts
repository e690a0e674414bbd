/**
 * Which prompt a name means.
 *
 * @module
 */
import type { CatalogPrompt, QualifiedName } from "../seam.ts";

/** The prompt of this name: its qualified one, `server.name`, or both apart; undefined where there is none. */
export function findPrompt(prompts: readonly CatalogPrompt[], name: QualifiedName): CatalogPrompt | undefined {
  return prompts.find((entry) =>
    typeof name === "string"
      ? entry.qualifiedName === name || `${entry.server}.${entry.name}` === name
      : entry.server === name.server && entry.name === name.name
  );
}
