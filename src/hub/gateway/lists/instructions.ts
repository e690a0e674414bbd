/**
 * What the servers say about their use, as one text.
 *
 * @module
 */
import { excerpt } from "../../../protocol/excerpt.ts";
import type { CatalogServer } from "../../seam.ts";
import { type AbsentServer, whyAbsent } from "./absent.ts";

/** The most characters of one server's words, and of all together. */
const most = { one: 2_000, all: 16_000 };

/**
 * The instructions of all servers, each under its name, cut where there are too many.
 *
 * @param own Comes first.
 * @param absent Those that are down: it is said why.
 * @returns undefined when nobody says anything.
 */
export function joinInstructions(
  own: string | undefined,
  servers: readonly CatalogServer[],
  absent: readonly AbsentServer[] = [],
): string | undefined {
  const parts = own === undefined ? [] : [own];
  let length = own?.length ?? 0;
  let left = 0;
  const missing = absent.map((server) => ({ name: server.name, instructions: whyAbsent(server) }));
  for (const { name, instructions } of [...servers, ...missing]) {
    if (!instructions?.trim()) continue;
    const part = `# ${excerpt(name, 100)}\n${excerpt(underName(instructions.trim()), most.one)}`;
    if (length + part.length > most.all) left++;
    else {
      parts.push(part);
      length += part.length;
    }
  }
  if (left) {
    parts.push(`(${left} more ${left === 1 ? "server has" : "servers have"} instructions that found no room here)`);
  }
  return parts.length ? parts.join("\n\n") : undefined;
}

/** With its headings one level deeper: none may look like the name of another server, with that one's words below it. */
function underName(text: string): string {
  const underlined = text.replace(/^[ \t]*=+[ \t]*$/gm, (line) => line.replaceAll("=", "-"));
  return underlined.replace(/^[ \t]*#{1,5}(?=\s)/gm, "$&#");
}
