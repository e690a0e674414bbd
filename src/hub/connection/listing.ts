/**
 * What a server has, as it lists it.
 *
 * @module
 */
import type { Client } from "../../client/client.ts";
import { MethodNotFoundError } from "../../protocol/errors.ts";
import type { Clock } from "../../ports.ts";
import type { Tool } from "../../protocol/types.ts";
import type { CatalogPart, CatalogServer, ToolFilter } from "../seam.ts";

/** All parts of a catalog. */
export const allParts: readonly CatalogPart[] = ["tools", "resources", "templates", "prompts"];

/** What a server is listed with. */
export interface ListingParts {
  readonly clock: Clock;
  /** Whether a tool belongs into the catalog. */
  keeps(tool: Tool): boolean;
  /** Hears of lists that failed: what was known of them stays. */
  failed(error: unknown): void;
}

/**
 * Lists parts of what a server has.
 *
 * @param timeout Milliseconds that each list may take.
 * @param missed Called with what could not be listed.
 * @returns What is known now.
 * @throws {McpError} When the tools cannot be listed, and that is not the server's own word.
 */
export async function list(
  client: Client,
  known: CatalogServer,
  parts: readonly CatalogPart[],
  timeout: number,
  { clock, keeps, failed }: ListingParts,
  missed: (part: CatalogPart) => void,
): Promise<CatalogServer> {
  const { capabilities = {}, instructions } = client.info ?? {};
  const lists = {
    tools: async () => (await client.listTools({ timeout })).tools.filter(keeps),
    resources: async () => (await client.listResources({ timeout })).resources,
    templates: async () => (await client.listResourceTemplates({ timeout })).resourceTemplates,
    prompts: async () => (await client.listPrompts({ timeout })).prompts,
  };
  const listed = await Promise.all(parts.map(async (part) => {
    // A server whose tools are not known is not listed: a catalog that is stored leaves it out.
    const told = part === "tools" && { listedAt: clock.now() };
    try {
      // Templates come with resources, and many servers have none of them.
      return { [part]: capabilities[part === "templates" ? "resources" : part] ? await lists[part]() : [], ...told };
    } catch (error) {
      if (error instanceof MethodNotFoundError) return told;
      if (part === "tools" && (error as { delivery?: unknown }).delivery !== "answered") throw error;
      missed(part);
      failed(error);
      return {};
    }
  }));
  return Object.assign({}, known, { capabilities, instructions }, ...listed);
}

/** Whether the name of a tool passes a filter. */
export function passes(name: string, { allow, deny }: ToolFilter): boolean {
  return (!allow || matches(name, allow)) && !(deny && matches(name, deny));
}

function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const [first = "", ...rest] = pattern.split("*");
    const last = rest.pop();
    if (last === undefined) return name === pattern;
    if (!name.startsWith(first) || !name.endsWith(last)) return false;
    let at = first.length;
    for (const piece of rest) {
      const found = name.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return at <= name.length - last.length;
  });
}
