/**
 * Finds whose a resource is that no server lists: by the templates of URIs. A module of its own, for its weight.
 *
 * @module
 */
import { matchUriTemplate } from "../../protocol/uri_template.ts";
import type { CatalogTemplate, HubLike } from "../seam.ts";

/** A template that a URI fits, and the values of its variables. */
export interface FoundTemplate extends CatalogTemplate {
  /** The values that make this URI of it, by the names of its variables. */
  readonly variables: Readonly<Record<string, string | string[]>>;
}

/** How much of the URI is read for the templates of one server, in characters for each variable: well below 0.1 s. */
const mostWork = 3_000_000;
/** What a template costs beside, and how much of it is looked at: a longer one is not read. */
const least = 100;
const longest = 4_096;

/** What is left of the work for each server: what one lists costs the others nothing. */
export type TemplateWork = Map<string, number>;

/**
 * Every template that can make this URI, in the order of the view. A template that is malformed or too large makes none; neither do
 * those of a server that are too many for a long URI.
 *
 * @param view What has the templates: a view, or a hub.
 * @param uri A URI of more than 16,384 characters fits none.
 */
export function findTemplates(view: Pick<HubLike, "templates">, uri: string): FoundTemplate[] {
  return findAmong(view.templates(), uri, new Map());
}

/** The same for some templates. The work is shared by several URIs. */
export function findAmong(templates: readonly CatalogTemplate[], uri: string, work: TemplateWork): FoundTemplate[] {
  return templates.flatMap((found) => {
    const { server, template: { uriTemplate } } = found;
    const left = work.get(server) ?? mostWork;
    if (left < 0) return [];
    work.set(server, left - uriTemplate.slice(0, longest).split(/[{,]/).length * (uri.length + least));
    const variables = match(uriTemplate, uri);
    return variables ? [{ ...found, variables }] : [];
  });
}

function match(template: string, uri: string): Record<string, string | string[]> | undefined {
  try {
    return matchUriTemplate(template, uri);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}
