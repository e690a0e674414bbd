/**
 * A hub without servers: it has what a test gives it, and remembers what was asked of it.
 *
 * @module
 */
import { InvalidParamsError } from "../../../src/protocol/errors.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from "../../../src/protocol/types.ts";
import type { RequestOptions } from "../../../src/client/session/request.ts";
import type {
  Catalog,
  CatalogPrompt,
  CatalogResource,
  CatalogTemplate,
  CatalogTool,
  HubEvent,
  HubLike,
  QualifiedName,
  ResourceName,
  ServerStatus,
} from "../../../src/hub/seam.ts";

/** A tool of a fake hub: what its server lists, and what a call gives. */
export interface FakeTool extends Partial<Omit<Tool, "name">> {
  /** Default: says which arguments it got. */
  readonly run?: (args: JsonObject, options: RequestOptions) => CallToolResult | Promise<CallToolResult>;
}

/** A server of a fake hub. */
export interface FakeServer {
  /** By name. */
  readonly tools?: Readonly<Record<string, FakeTool>>;
  /** By URI: the text. */
  readonly resources?: Readonly<Record<string, string>>;
  readonly templates?: readonly string[];
  /** By name. */
  readonly prompts?: Readonly<Record<string, GetPromptResult["messages"]>>;
}

/** A call as it arrived. */
export interface FakeCall {
  readonly server: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly options: RequestOptions;
}

/** A hub of servers that are said, not reached. Qualified names are `server__name`. */
export class FakeHub implements HubLike {
  /** The calls of tools that came through. */
  readonly calls: FakeCall[] = [];
  /** The resources that were read: `server uri`. */
  readonly reads: string[] = [];
  readonly #servers: Readonly<Record<string, FakeServer>>;
  readonly #tools: readonly CatalogTool[];

  constructor(servers: Readonly<Record<string, FakeServer>>) {
    this.#servers = servers;
    this.#tools = Object.entries(servers).flatMap(([server, { tools = {} }]) =>
      Object.entries(tools).map(([name, { run: _, ...tool }]) => ({
        server,
        name,
        qualifiedName: `${server}__${name}`,
        tool: { inputSchema: { type: "object" }, ...tool, name },
      }))
    );
  }

  tools(): readonly CatalogTool[] {
    return this.#tools;
  }

  resources(): readonly CatalogResource[] {
    return this.#each(({ resources = {} }, server) =>
      Object.keys(resources).map((uri) => ({ server, resource: { uri, name: uri } as Resource }))
    );
  }

  templates(): readonly CatalogTemplate[] {
    return this.#each(({ templates = [] }, server) =>
      templates.map((uriTemplate) => ({ server, template: { uriTemplate, name: uriTemplate } as ResourceTemplate }))
    );
  }

  prompts(): readonly CatalogPrompt[] {
    return this.#each(({ prompts = {} }, server) =>
      Object.keys(prompts).map((name) => (
        { server, name, qualifiedName: `${server}__${name}`, prompt: { name } as Prompt }
      ))
    );
  }

  findTool(name: QualifiedName): CatalogTool | undefined {
    return this.#tools.find((tool) => isNamed(tool, name));
  }

  async callTool(name: QualifiedName, args: JsonObject = {}, options: RequestOptions = {}): Promise<CallToolResult> {
    options.signal?.throwIfAborted();
    const found = this.findTool(name);
    if (!found) {
      return { content: [{ type: "text", text: `Cannot call ${JSON.stringify(name)}: unknown` }], isError: true };
    }
    this.calls.push({ server: found.server, name: found.name, args, options });
    const run = this.#servers[found.server]?.tools?.[found.name]?.run;
    if (run) return await run(args, options);
    return { content: [{ type: "text", text: `${found.qualifiedName} got ${JSON.stringify(args)}` }] };
  }

  readResource(name: ResourceName): Promise<ReadResourceResult> {
    const uri = typeof name === "string" ? name : name.uri;
    const owner = typeof name === "string"
      ? this.resources().find(({ resource }) => resource.uri === uri)?.server
      : name.server;
    const text = owner === undefined ? undefined : this.#servers[owner]?.resources?.[uri];
    if (text === undefined) {
      return Promise.reject(new InvalidParamsError(`Cannot read "${uri}": there is no such resource`));
    }
    this.reads.push(`${owner} ${uri}`);
    return Promise.resolve({ contents: [{ uri, text }] });
  }

  getPrompt(name: QualifiedName): Promise<GetPromptResult> {
    const found = this.prompts().find((prompt) => isNamed(prompt, name));
    const messages = found && this.#servers[found.server]?.prompts?.[found.name];
    if (!messages) {
      return Promise.reject(new InvalidParamsError(`Cannot get ${JSON.stringify(name)}: there is no such prompt`));
    }
    return Promise.resolve({ messages });
  }

  complete(): Promise<CompleteResult> {
    return Promise.resolve({ completion: { values: ["completed"] } });
  }

  status(): readonly ServerStatus[] {
    return this.#each((_, name) => [{
      name,
      state: "connected" as const,
      tools: 0,
      resources: 0,
      prompts: 0,
      retries: 0,
      active: 0,
      queued: 0,
      isOpen: false,
    }]);
  }

  async *events(): AsyncIterable<HubEvent> {
    yield* Object.keys(this.#servers).map((server): HubEvent => ({ type: "added", server }));
  }

  catalog(): Catalog {
    const of = <Entry extends { server: string }>(entries: readonly Entry[], server: string) =>
      entries.filter((entry) => entry.server === server);
    return {
      kind: "causeway.catalog",
      version: 1,
      servers: Object.keys(this.#servers).map((name) => ({
        name,
        listedAt: 0,
        tools: of(this.#tools, name).map(({ tool }) => tool),
        resources: of(this.resources(), name).map(({ resource }) => resource),
        templates: of(this.templates(), name).map(({ template }) => template),
        prompts: of(this.prompts(), name).map(({ prompt }) => prompt),
      })),
    };
  }

  #each<Item>(list: (server: FakeServer, name: string) => readonly Item[]): readonly Item[] {
    return Object.entries(this.#servers).flatMap(([name, server]) => list(server, name));
  }
}

function isNamed(entry: { server: string; name: string; qualifiedName: string }, name: QualifiedName): boolean {
  if (typeof name !== "string") return name.server === entry.server && name.name === entry.name;
  return name === entry.qualifiedName || name === `${entry.server}.${entry.name}`;
}
