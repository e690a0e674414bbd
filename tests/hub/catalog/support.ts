/** Servers for the tests of the catalog. */
import type { CatalogServer } from "../../../src/hub/seam.ts";
import type { Tool } from "../../../src/protocol/types.ts";

/** A tool of this name. */
export function toolOf(name: string, more: Partial<Tool> = {}): Tool {
  return { name, inputSchema: { type: "object" }, ...more };
}

/** A server with tools of these names. */
export function serverOf(
  name: string,
  tools: readonly string[] = [],
  more: Partial<CatalogServer> = {},
): CatalogServer {
  return {
    name,
    listedAt: 0,
    tools: tools.map((tool) => toolOf(tool)),
    resources: [],
    templates: [],
    prompts: [],
    ...more,
  };
}
