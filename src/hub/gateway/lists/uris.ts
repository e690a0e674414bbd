/**
 * Resources of many servers in one list: which URI is whose.
 *
 * A URI stays as its server wrote it, where one server has it. Where several have it, each is listed as
 * `hub://<server>/<its URI>`; that form is understood for any URI of any server, and means that one alone: what another calls
 * so is listed in that form, too. The same holds for URI templates.
 *
 * @module
 */
import { InvalidParamsError } from "../../../protocol/errors.ts";
import { excerpt } from "../../../protocol/excerpt.ts";
import { findAmong } from "../../catalog/templates.ts";
import type { TemplateWork } from "../../catalog/templates.ts";
import type { CatalogResource, CatalogTemplate } from "../../seam.ts";
import { inTurns } from "../in_turns.ts";
import { Heads } from "./heads.ts";
import type { Entry } from "./pages.ts";

const scheme = "hub://";
/** How many links of results are remembered; the oldest go first. */
const mostLinks = 2_000;
/** How long a link may be that is held against templates: longer ones only against how those begin. */
const longestMatched = 2_000;

/** Whose a resource is, by its own URI there. */
export interface FoundResource {
  readonly server: string;
  readonly uri: string;
}

/** What there is to look in. */
export interface UriSources {
  resources(): readonly CatalogResource[];
  templates(): readonly CatalogTemplate[];
  /** The names of all servers. */
  servers(): readonly string[];
  /** The servers that have resources at all. */
  withResources(): readonly string[];
}

/** The one list, made anew when the catalog has changed. */
export class Uris {
  readonly #sources: ReturnType<typeof lookedAt>;
  /** Links in results: they need not be listed, and can be read all the same. Of several servers that gave one the first has it. */
  readonly #links = new Map<string, string>();
  #resources: { readonly of: unknown; readonly entries: readonly Entry[] } | undefined;
  #templates: { readonly of: unknown; readonly entries: readonly Entry[] } | undefined;
  #owners: { readonly of: unknown; readonly byUri: ReadonlyMap<string, Set<string>> } | undefined;
  #heads: { readonly of: unknown; readonly servers: ReadonlyMap<string, Heads> } | undefined;
  /** The list that one resource was looked for in. */
  #seen: unknown;

  constructor(sources: UriSources) {
    this.#sources = lookedAt(sources);
  }

  /** All resources, under the URIs that they have here. */
  resources(): readonly Entry[] {
    const of = this.#sources.resources();
    if (this.#resources?.of !== of) {
      const called = this.#calling(of.map(({ resource }) => resource.uri));
      const entries = of.map(({ server, resource }) => {
        const { uri } = resource;
        return { server, key: uri, listed: { ...resource, uri: called(server, uri) } };
      });
      this.#resources = { of, entries };
    }
    return this.#resources.entries;
  }

  /** All templates, as they are here. */
  templates(): readonly Entry[] {
    const of = this.#sources.templates();
    if (this.#templates?.of !== of) {
      const called = this.#calling(of.map(({ template }) => template.uriTemplate));
      const entries = of.map(({ server, template }) => {
        const { uriTemplate } = template;
        return { server, key: uriTemplate, listed: { ...template, uriTemplate: called(server, uriTemplate) } };
      });
      this.#templates = { of, entries };
    }
    return this.#templates.entries;
  }

  /**
   * Remembers the links that one result of a server has in it. There may be very many: what is listed is not gone through for each.
   *
   * @returns Says how a link is called here: as it is listed, where another server has what it leads to.
   */
  linker(server: string): (uri: string) => string {
    let hasOther: ((uri: string) => boolean) | undefined;
    const isAddress = this.#addresses();
    return (uri) => {
      hasOther ??= this.#others(server);
      if ((this.#links.get(uri) ?? server) !== server || isAddress(uri) || hasOther(uri)) return prefixed(server, uri);
      this.#links.delete(uri);
      this.#links.set(uri, server);
      for (const oldest of this.#links.keys()) {
        if (this.#links.size <= mostLinks) break;
        this.#links.delete(oldest);
      }
      return uri;
    };
  }

  /**
   * Whose a resource is: who is named in it, else who lists it, else whose template makes it (of several the one whose result
   * linked to it), else whose result linked to it, else the only server that has resources.
   *
   * @throws {InvalidParamsError} When it is nobody's, or nobody knows whose.
   */
  find(uri: string): FoundResource {
    const named = this.#named(uri);
    if (named) return named;
    const link = this.#links.get(uri);
    const having = this.#having(uri);
    if (having.length) return only(uri, having, link);
    const [server, another] = link === undefined ? this.#sources.withResources() : [link];
    if (server !== undefined && another === undefined) return { server, uri };
    throw notFound(uri);
  }

  /**
   * Whose a template is, by how it is listed here.
   *
   * @throws {InvalidParamsError} When there is none.
   */
  findTemplate(uriTemplate: string): FoundResource {
    const named = this.#named(uriTemplate);
    if (named) return named;
    const own = this.#sources.templates().filter(({ template }) => template.uriTemplate === uriTemplate);
    return own.length ? only(uriTemplate, own) : this.find(uriTemplate);
  }

  /** Who is known to have a resource. With none, `find` can only guess. */
  having(uri: string): readonly { readonly server: string }[] {
    const named = this.#named(uri);
    return named ? [named] : this.#having(uri);
  }

  /** Who lists a resource, else whose templates make it. */
  #having(uri: string): readonly { readonly server: string }[] {
    const listed = this.#listing(uri);
    return listed.length ? listed : this.#making(uri);
  }

  /** All URIs under which callers may have come to know a resource of a server. */
  known(server: string, uri: string): readonly string[] {
    const address = prefixed(server, uri);
    return this.#addresses()(uri) ? [address] : [uri, address];
  }

  /** Who lists a resource. One is looked for; for a second one of the same list all are written down by their URIs. */
  #listing(uri: string): readonly { readonly server: string }[] {
    const of = this.#sources.resources();
    if (this.#owners?.of !== of && this.#seen !== of) {
      this.#seen = of;
      return of.filter(({ resource }) => resource.uri === uri);
    }
    return Array.from(this.#listers().get(uri) ?? [], (server) => ({ server }));
  }

  /** Whose templates make a resource. All that is named in one turn shares the work: where that is too much, nobody is known. */
  #making(uri: string): readonly { readonly server: string }[] {
    const work = this.#sources.work();
    // One whose work is used up is not gone through any more.
    const near = [...this.#headsByServer()].flatMap(([server, heads]) =>
      (work.get(server) ?? 0) < 0 ? [] : heads.near(uri)
    );
    return findAmong(near, uri, work);
  }

  /** How the templates of each server begin. */
  #headsByServer(): ReadonlyMap<string, Heads> {
    const of = this.#sources.templates();
    if (this.#heads?.of !== of) {
      const servers = new Map<string, Heads>();
      for (const found of of) {
        const own = servers.get(found.server) ?? new Heads();
        own.add(found);
        servers.set(found.server, own);
      }
      this.#heads = { of, servers };
    }
    return this.#heads.servers;
  }

  /** Which servers list each resource. */
  #listers(): ReadonlyMap<string, ReadonlySet<string>> {
    const of = this.#sources.resources();
    if (this.#owners?.of !== of) {
      const byUri = new Map<string, Set<string>>();
      for (const { server, resource } of of) {
        byUri.set(resource.uri, (byUri.get(resource.uri) ?? new Set()).add(server));
      }
      this.#owners = { of, byUri };
    }
    return this.#owners.byUri;
  }

  /** Says whether another server has what a link leads to. */
  #others(server: string): (uri: string) => boolean {
    const byUri = this.#listers();
    const others = [...this.#headsByServer()].filter(([name]) => name !== server);
    const work: TemplateWork = new Map();
    return (uri) => {
      const owners = byUri.get(uri);
      if (owners) return owners.size > 1 || !owners.has(server);
      return others.some(([name, heads]) => {
        const near = heads.near(uri);
        const isTooMuch = (): boolean => uri.length > longestMatched || (work.get(name) ?? 0) < 0;
        // Where one has too many it is not known: what is read at its own server is right in any case.
        if (isTooMuch()) return near.length > 0;
        return findAmong(near, uri, work).length > 0 || isTooMuch();
      });
    };
  }

  /** Says how something of a server is called here that calls it so itself. All that is listed is given. */
  #calling(all: readonly string[]): (server: string, own: string) => string {
    const counts = new Map<string, number>();
    for (const own of all) counts.set(own, (counts.get(own) ?? 0) + 1);
    const isAddress = this.#addresses();
    return (server, own) => counts.get(own) === 1 && !isAddress(own) ? own : prefixed(server, own);
  }

  /** Says whether a URI is what something of a server is called here: whoever calls something of its own so would be in its place. */
  #addresses(): (uri: string) => boolean {
    let known: ReadonlyMap<string, string> | undefined;
    return (uri) => uri.startsWith(scheme) && (known ??= this.#sources.heads()).has(headOfName(uri));
  }

  #named(uri: string): FoundResource | undefined {
    if (!uri.startsWith(scheme)) return undefined;
    const head = headOfName(uri);
    const server = this.#sources.heads().get(head);
    return server === undefined ? undefined : { server, uri: uri.slice(head.length) };
  }
}

/** `hub://<server>/`: a name has no slash there. */
function headOfName(uri: string): string {
  return uri.slice(0, uri.indexOf("/", scheme.length) + 1);
}

function prefixed(server: string, uri: string): string {
  return `${scheme}${encodeURIComponent(server)}/${uri}`;
}

/** What there is, looked at once in a turn. */
function lookedAt(sources: UriSources) {
  const once = inTurns();
  const resources = once(() => sources.resources());
  const templates = once(() => sources.templates());
  return {
    resources,
    templates,
    withResources: once(() => sources.withResources()),
    /** The servers by what their names begin with here. One may have something to read and not be seen itself. */
    heads: once((): ReadonlyMap<string, string> => {
      const owners = [...resources(), ...templates()].map(({ server }) => server);
      return new Map([...new Set([...sources.servers(), ...owners])].map((name) => [prefixed(name, ""), name]));
    }),
    work: once((): TemplateWork => new Map()),
  };
}

function only(uri: string, found: readonly { readonly server: string }[], link?: string): FoundResource {
  const servers = [...new Set(found.map(({ server }) => server))];
  const server = servers.length > 1 ? servers.find((name) => name === link) : servers[0];
  if (server !== undefined) return { server, uri };
  const names = servers.slice(0, 5).map((name) => `"${prefixed(name, excerpt(uri, 200))}"`).join(", ");
  throw new InvalidParamsError(
    `Cannot read "${excerpt(uri, 200)}": more than one server has it, ask for one of ${names}`,
    {
      rpcCode: -32602,
      data: { uri: excerpt(uri, 500) },
    },
  );
}

function notFound(uri: string): InvalidParamsError {
  const shown = excerpt(uri, 500);
  return new InvalidParamsError(`Resource not found: ${shown}`, { rpcCode: -32602, data: { uri: shown } });
}
