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

/**
 * Every template that can make this URI, in the order of the view. A template that is malformed or too large makes none.
 *
 * @param view What has the templates: a view, or a hub.
 * @param uri A URI of more than 16,384 characters fits none.
 */
export function findTemplates(view: Pick<HubLike, "templates">, uri: string): FoundTemplate[] {
  return view.templates().flatMap((found) => {
    const variables = match(found.template.uriTemplate, uri);
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
