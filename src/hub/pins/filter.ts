/**
 * Which tools, prompts and resources of a hub there are: the rest is as if it were not there.
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import { findPrompt } from "../catalog/prompts.ts";
import { HubLayer } from "../layer.ts";
import type { Catalog, CatalogTool, HubLike, QualifiedName, ResourceName } from "../seam.ts";
import { climbs } from "./climbs.ts";
import { createMatcher, type Matcher } from "./glob.ts";

/** What there is. Patterns are explained at {@linkcode withFilter}. */
export interface FilterOptions {
  /** Only what fits one of these. Default: everything. An empty list: nothing. */
  readonly allow?: readonly string[] | undefined;
  /** Nothing that fits one of these, whatever `allow` says. */
  readonly deny?: readonly string[] | undefined;
}

/**
 * Wraps a hub so that only a part of it is there: listed, found, called, read, completed and in the catalog. What is hidden is
 * refused like what is not known, and tools and prompts that are not listed are refused too: only the list knows their
 * qualified names. Status and events stay as they are.
 *
 * A pattern is a server (`github`), a tool, a prompt or a resource of one (`github.create_issue`, `docs.file:///a.txt`), or the
 * qualified name (`github__create_issue`); `*` stands for any run of characters. `github` means all of that server,
 * `*.delete_*` all of that name everywhere. Case counts. URIs are compared as texts: a server may know one thing by several,
 * so allow rather than deny them; those with `..` as a step are refused.
 *
 * Order of wrappers, from the inside: `withFilter`, `withApproval`, `withResultBudget`, and progressive discovery outermost.
 *
 * @throws {TypeError} When a pattern is no text, or empty, or an option is not known: nothing would be hidden.
 *
 * @example Reading alone
 * ```ts
 * import { withFilter } from "@causeway/mcp/hub";
 * import type { HubLike } from "@causeway/mcp/hub";
 *
 * const readOnly = (hub: HubLike) => withFilter(hub, { allow: ["github.get_*", "docs"], deny: ["*.*secret*"] });
 * console.log(typeof readOnly);
 * ```
 */
export function withFilter(hub: HubLike, options: FilterOptions): HubLike {
  const { allow, deny = [], ...rest } = options;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new TypeError(`Cannot filter: "${unknown}" is not known, expected allow or deny`);
  return new FilteredHub(hub, allow === undefined ? undefined : createMatcher(allow), createMatcher(deny));
}

class FilteredHub extends HubLayer {
  readonly #allow: Matcher | undefined;
  readonly #deny: Matcher;
  #shown: { readonly all: readonly CatalogTool[]; readonly tools: readonly CatalogTool[] } | undefined;

  constructor(hub: HubLike, allow: Matcher | undefined, deny: Matcher) {
    super(hub);
    this.#allow = allow;
    this.#deny = deny;
  }

  override tools(): readonly CatalogTool[] {
    const all = this.hub.tools();
    if (this.#shown?.all !== all) this.#shown = { all, tools: all.filter((tool) => this.#hasNamed(tool)) };
    return this.#shown.tools;
  }

  override resources(): ReturnType<HubLike["resources"]> {
    return this.hub.resources().filter(({ server, resource }) => this.#has(server, resource.uri));
  }

  override templates(): ReturnType<HubLike["templates"]> {
    return this.hub.templates().filter(({ server, template }) => this.#has(server, template.uriTemplate));
  }

  override prompts(): ReturnType<HubLike["prompts"]> {
    return this.hub.prompts().filter((prompt) => this.#hasNamed(prompt));
  }

  override findTool(name: QualifiedName): CatalogTool | undefined {
    const found = this.hub.findTool(name);
    return found && this.#hasNamed(found) ? found : undefined;
  }

  override callTool(...[name, args, options]: Parameters<HubLike["callTool"]>): Promise<CallToolResult> {
    const found = this.hub.findTool(name);
    if (found && this.#hasNamed(found)) {
      return this.hub.callTool({ server: found.server, name: found.name }, args, options);
    }
    const shown = typeof name === "string" ? name : `${name.server}.${name.name}`;
    const text = `Cannot call "${shown}": there is no such tool, or it is not allowed here`;
    return Promise.resolve({ content: [{ type: "text", text }], isError: true });
  }

  override async readResource(
    ...[name, options]: Parameters<HubLike["readResource"]>
  ): ReturnType<HubLike["readResource"]> {
    const uri = typeof name === "string" ? name : name.uri;
    if (climbs(uri) || !this.#owners(name).every((server) => this.#has(server, uri))) {
      throw new InvalidParamsError(`Cannot read "${uri}": there is no such resource, or it is not allowed here`);
    }
    return await this.hub.readResource(name, options);
  }

  override async getPrompt(
    ...[name, args, options]: Parameters<HubLike["getPrompt"]>
  ): ReturnType<HubLike["getPrompt"]> {
    return await this.hub.getPrompt(this.#promptName(name), args, options);
  }

  override async complete(
    ...[reference, argument, options]: Parameters<HubLike["complete"]>
  ): ReturnType<HubLike["complete"]> {
    if (reference.type === "ref/prompt") {
      const name = this.#promptName(reference.name);
      return await this.hub.complete({ type: "ref/prompt", name }, argument, options);
    }
    if (!this.#has(reference.server, reference.uri)) {
      throw new InvalidParamsError(
        `Cannot complete "${reference.uri}": there is no such resource, or it is not allowed here`,
      );
    }
    return await this.hub.complete(reference, argument, options);
  }

  override catalog(): Catalog {
    const { servers, ...rest } = this.hub.catalog();
    const tools = named(this.tools());
    const prompts = named(this.prompts());
    return {
      ...rest,
      servers: servers.map((server) => ({
        ...server,
        tools: server.tools.filter(({ name }) => tools.has(key(server.name, name))),
        prompts: server.prompts.filter(({ name }) => prompts.has(key(server.name, name))),
        resources: server.resources.filter(({ uri }) => this.#has(server.name, uri)),
        templates: server.templates.filter(({ uriTemplate }) => this.#has(server.name, uriTemplate)),
      })),
    };
  }

  #hasNamed({ server, name, qualifiedName }: { server: string; name: string; qualifiedName: string }): boolean {
    return this.#has(server, name, qualifiedName);
  }

  #has(server: string, name: string, qualifiedName = `${server}.${name}`): boolean {
    const names = [server, `${server}.${name}`, qualifiedName];
    return (this.#allow?.(names) ?? true) && !this.#deny(names);
  }

  /** Whose a resource is, or may be: where nobody lists it, anybody may have it by a template. */
  #owners(name: ResourceName): readonly string[] {
    if (typeof name !== "string") return [name.server];
    const listed = this.hub.resources().filter(({ resource }) => resource.uri === name);
    const owners = listed.length > 0 ? listed : this.hub.status().map((status) => ({ server: status.name }));
    return owners.map(({ server }) => server);
  }

  /** A prompt that is listed, by its server and its name. */
  #promptName(name: QualifiedName): QualifiedName {
    const found = findPrompt(this.hub.prompts(), name);
    if (found && this.#hasNamed(found)) return { server: found.server, name: found.name };
    const shown = typeof name === "string" ? name : `${name.server}.${name.name}`;
    throw new InvalidParamsError(`Cannot use the prompt "${shown}": it does not exist, or it is not allowed here`);
  }
}

function named(entries: readonly { readonly server: string; readonly name: string }[]): ReadonlySet<string> {
  return new Set(entries.map(({ server, name }) => key(server, name)));
}

function key(server: string, name: string): string {
  return JSON.stringify([server, name]);
}
