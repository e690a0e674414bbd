/**
 * What a gateway answers: lists from the hub's catalog, and everything else by the server that it belongs to.
 *
 * @module
 */
import type { SessionRequestOptions } from "../../client/session/request.ts";
import type { Logger } from "../../ports.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type {
  CacheHints,
  CompleteResult,
  ContentBlock,
  Implementation,
  ReadResourceResult,
  ServerCapabilities,
  Tool,
} from "../../protocol/types.ts";
import { InvalidParamsError, MethodNotFoundError } from "../../protocol/errors.ts";
import { EraSignal } from "../../server/common/era_signal.ts";
import type { RequestContext } from "../../server/definitions.ts";
import type { Methods, ServerChange, TaskTerms } from "../../server/seam.ts";
import { failedResult } from "../failure.ts";
import type { CatalogPrompt, CatalogTool } from "../seam.ts";
import { Changes } from "./changes.ts";
import { FirstLists } from "./lists/first_lists.ts";
import { Follows } from "./follows.ts";
import { inTurns } from "./in_turns.ts";
import type { GatewayHub } from "./options.ts";
import { absentOwner, absentServers } from "./lists/absent.ts";
import { joinInstructions } from "./lists/instructions.ts";
import { Names } from "./lists/names.ts";
import { type Entry, pageOf } from "./lists/pages.ts";
import { isAnswer, passedError, readable, readText, unknownName } from "./calls/passing.ts";
import { type PassageParts, Passages } from "./calls/passages.ts";
import { Servers } from "./lists/servers.ts";
import { Uris } from "./lists/uris.ts";
import { ownResult, withoutNull } from "./said.ts";

/** What the methods work with. */
export interface GatewayParts extends PassageParts {
  readonly info: Implementation;
  readonly instructions: string | undefined;
  readonly names: "qualified" | "own";
  readonly pageSize: number;
  readonly logger: Logger | undefined;
}

/** A request, and what it is answered with. */
interface Asked {
  readonly params: JsonObject;
  readonly context: RequestContext;
}

/** The methods of a gateway. */
export class GatewayMethods implements Methods {
  readonly info: Implementation;
  /** What is listed may change at any time, and is nobody else's. */
  readonly cache: CacheHints = { ttlMs: 0, cacheScope: "private" };
  readonly #hub: GatewayHub;
  readonly #parts: GatewayParts;
  readonly #passages: Passages;
  readonly #uris: Uris;
  readonly #changes: Changes;
  readonly #follows: Follows;
  readonly #firstLists: FirstLists;
  readonly #servers: Servers;
  readonly #tools: Names<CatalogTool>;
  readonly #prompts: Names<CatalogPrompt>;
  /** Looks anew at what may be used: once for all that one request wants to watch. */
  readonly #renewed = inTurns()(() => this.#hub.renew?.());

  constructor(hub: GatewayHub, parts: GatewayParts) {
    this.info = parts.info;
    this.#hub = hub;
    this.#parts = parts;
    const isOwn = parts.names === "own";
    this.#tools = new Names(() => hub.tools(), isOwn);
    this.#prompts = new Names(() => hub.prompts(), isOwn);
    this.#changes = new Changes(hub, parts.logger);
    this.#firstLists = new FirstLists(hub, parts.clock);
    const servers = this.#servers = new Servers(hub);
    this.#passages = new Passages(parts, (server) => servers.isVague(server));
    this.#uris = new Uris({
      resources: () => hub.resources(),
      templates: () => hub.templates(),
      servers: () => hub.status().map(({ name }) => name),
      withResources: () => {
        const having = hub.catalog().servers.filter(({ capabilities }) => capabilities?.resources);
        // Where nobody is known to have some, those that are down may.
        return (having.length || !isOwn ? having : absentServers(hub)).map(({ name }) => name);
      },
    });
    this.#follows = new Follows({
      clock: parts.clock,
      client: hub.client && ((server, options) => this.#client(server, options)),
      find: (uri) => this.#uris.find(uri),
      having: (uri) => this.#uris.having(uri),
      watch: (listener) =>
        this.#changes.watch(({ type }) => {
          if (type === "resources") listener();
        }),
      may: ({ server, uri }) => hub.mayWatch?.(server, uri) ?? true,
      still: async ({ server, uri }) => {
        // Who listens alone sends no request that would do it.
        await hub.renew?.();
        return hub.mayWatch?.(server, uri) ?? true;
      },
      listed: (signal) => {
        const wait = (): Promise<unknown> | undefined => this.#firstLists.wait(signal);
        const renewed = this.#renewed();
        return renewed ? renewed.then(wait) : wait();
      },
      changed: ({ server, uri }) => {
        for (const known of this.#uris.known(server, uri)) this.#changes.tell({ type: "resource", uri: known });
      },
    });
  }

  get instructions(): string | undefined {
    return joinInstructions(this.#parts.instructions, this.#hub.catalog().servers, absentServers(this.#hub));
  }

  /** Servers come and go: whoever connects now is told of all that there may be later. */
  capabilities(): ServerCapabilities {
    return { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} };
  }

  tool(name: string): Tool | undefined {
    const found = this.#find(name);
    return found && listedTool(name, found);
  }

  /** A task in front is one behind as well: it begins when the server's does. Nobody has to ask for one. */
  task(name: string): TaskTerms | undefined {
    const found = this.#parts.relay && this.#find(name);
    return found && this.#servers.taskManner(found) && { support: "optional", later: true };
  }

  watch(listener: (change: ServerChange) => void): () => void {
    return this.#changes.watch(listener);
  }

  watched(): Set<string> {
    return this.#follows.watched();
  }

  /** Servers that want to know the roots of a client in front ask again when there is one, and when they change. */
  heard(...[method, session, outlet]: Parameters<NonNullable<Methods["heard"]>>): void {
    const sees = (server: string): boolean => this.#hub.status().some(({ name }) => name === server);
    const asksAgain = this.#parts.relay?.fronts.heard(method, session, { outlet, sees });
    if (!asksAgain) return;
    for (const { name, state } of this.#hub.status()) {
      if (state !== "connected" || !asksAgain(name)) continue;
      // One that has gone meanwhile asks when it is back.
      void this.#hub.client?.(name).then((client) => client.rootsChanged()).catch(() => {});
    }
  }

  /** Ends what goes on by itself. */
  close(): void {
    this.#passages.close();
    this.#follows.close();
    this.#changes.close();
  }

  run(method: string, params: JsonObject, context: RequestContext): Promise<JsonObject> | undefined {
    switch (method) {
      case "tools/list":
        return this.#list("tools", () => this.#listedTools(), { params, context });
      case "tools/call":
        return this.#callTool(params, context);
      case "resources/list":
        return this.#list("resources", () => this.#uris.resources(), { params, context });
      case "resources/templates/list":
        return this.#list("resourceTemplates", () => this.#uris.templates(), { params, context });
      case "resources/read":
        return this.#readResource(params, context);
      case "prompts/list":
        return this.#list("prompts", () => this.#listedPrompts(), { params, context });
      case "prompts/get":
        return this.#getPrompt(params, context);
      case "completion/complete":
        return this.#complete(params, context);
    }
    return undefined;
  }

  async #list(kind: string, entries: () => readonly Entry[], { params, context }: Asked): Promise<JsonObject> {
    // A connection may be older than what its caller may use now.
    await this.#hub.renew?.();
    await this.#firstLists.wait(context.signal);
    const servers = this.#hub.status().map(({ name }) => name);
    return withoutNull(pageOf(entries(), params.cursor, { kind, size: this.#parts.pageSize, servers }));
  }

  /**
   * Finds what a caller names. What is not there may be allowed since, be with a server that was never listed, or have come a moment
   * ago.
   */
  async #look<Found>({ signal }: RequestContext, find: () => Found): Promise<Found> {
    const lists = this.#firstLists;
    for (const work of [() => this.#hub.renew?.(), () => lists.wait(signal), () => lists.renew(signal)]) {
      try {
        const found = find();
        if (found !== undefined) return found;
      } catch {
        // It may come yet.
      }
      await work();
    }
    return find();
  }

  #listedTools(): readonly Entry[] {
    return this.#tools.entries((name, found) =>
      this.#isCallable(found) ? [{ server: found.server, key: found.name, listed: listedTool(name, found) }] : []
    );
  }

  #listedPrompts(): readonly Entry[] {
    return this.#prompts.entries((name, { server, name: key, prompt }) => [
      { server, key, listed: { ...prompt, name } },
    ]);
  }

  #find(name: string): CatalogTool | undefined {
    const found = this.#tools.find(name);
    return found && this.#isCallable(found) ? found : undefined;
  }

  /** Without a relay nobody asks a server for a task. */
  #isCallable(found: CatalogTool): boolean {
    const manner = this.#parts.relay ? undefined : this.#servers.taskManner(found);
    return manner?.by !== "asked" || !manner.isRequired;
  }

  async #callTool(params: JsonObject, context: RequestContext): Promise<JsonObject> {
    const name = readText(params, "name");
    const { arguments: args = {} } = params;
    const listed = await this.#look(context, () => this.#find(name));
    // What a server that is down would have is asked of it all the same: the call waits, tries it anew, or says why it is down.
    const found = listed ?? this.#absent(name);
    if (!found) throw unknownName("tool", name);
    if (!isObject(args)) throw wrongParameter("arguments", "an object");
    const { server } = found;
    try {
      const manner = listed && this.#servers.taskManner(listed);
      // With a context that can go on as a task, the caller wants one, or can follow it.
      const wantsTask = manner?.by === "asked" && (manner.isRequired || context.continueAsTask !== undefined);
      const result = await this.#passages.run(context, { server, wantsTask }, (options) => {
        const asked = { ...options, throws: true };
        return this.#hub.callTool({ server, name: found.name }, args as JsonObject, asked);
      });
      const link = this.#uris.linker(server);
      const content = result.content.map((block) => linked(block, link));
      const said = ownResult({ ...result, content });
      // What a schema promises is a value, null too.
      const isNull = result.structuredContent === null && (listed ?? this.#find(name))?.tool.outputSchema;
      return isNull ? { ...said, structuredContent: null } : said;
    } catch (failure) {
      const error = readable(failure, context);
      if (isForEra(error, context)) throw error;
      if (isAnswer(error)) throw passedError(error, server);
      return failedResult(error, server) as unknown as JsonObject;
    }
  }

  async #readResource(params: JsonObject, context: RequestContext): Promise<JsonObject> {
    const asked = readText(params, "uri");
    const { server, uri } = await this.#look(context, () => this.#uris.find(asked));
    const read = (options: SessionRequestOptions): Promise<ReadResourceResult> =>
      this.#hub.readResource({ server, uri }, options);
    const result = await this.#pass(context, server, read);
    const contents = result.contents.map((part) => part.uri === uri ? { ...part, uri: asked } : part);
    // What the hub may read is not for everybody, whatever the server says of it.
    return { ...ownResult({ ...result, contents }), cacheScope: "private" };
  }

  async #getPrompt(params: JsonObject, context: RequestContext): Promise<JsonObject> {
    const name = readText(params, "name");
    const { arguments: args = {} } = params;
    const found = await this.#prompt(name, context);
    if (!isObject(args) || !isTexts(Object.values(args))) throw wrongParameter("arguments", "texts by their names");
    const { server, name: own } = found;
    const result = await this.#pass(
      context,
      server,
      (options) => this.#hub.getPrompt({ server, name: own }, args as Record<string, string>, options),
    );
    const link = this.#uris.linker(server);
    const messages = result.messages.map((message) => ({ ...message, content: linked(message.content, link) }));
    return ownResult({ ...result, messages });
  }

  async #complete({ ref, argument, context: given }: JsonObject, context: RequestContext): Promise<JsonObject> {
    if (!isObject(ref)) throw wrongParameter("ref", "an object");
    if (!isObject(argument)) throw wrongParameter("argument", "an object");
    const asked = { name: readText(argument as JsonObject, "name"), value: readText(argument as JsonObject, "value") };
    const known = isObject(given) && isObject(given.arguments) ? given.arguments : {};
    if (!isTexts(Object.values(known))) throw wrongParameter("context.arguments", "texts by their names");
    const reference = await this.#reference(ref as JsonObject, context);
    const { server } = reference.type === "ref/prompt" ? reference.name : reference;
    const result = await this.#pass(
      context,
      server,
      (options) =>
        this.#hub.complete(reference, asked, { ...options, context: known as Record<string, string> }).catch(
          nothingKnown,
        ),
    );
    return ownResult(result);
  }

  /** Something of a server that is down, by what it is called here. */
  #absent(name: string): { readonly server: string; readonly name: string } | undefined {
    return absentOwner(this.#hub, name, this.#parts.names === "own");
  }

  async #reference(ref: JsonObject, context: RequestContext) {
    if (ref.type === "ref/prompt") {
      const { server, name } = await this.#prompt(readText(ref, "name"), context);
      return { type: "ref/prompt", name: { server, name } } as const;
    }
    if (ref.type !== "ref/resource") throw wrongParameter("ref.type", '"ref/prompt" or "ref/resource"');
    const uri = readText(ref, "uri");
    return { type: "ref/resource", ...await this.#look(context, () => this.#uris.findTemplate(uri)) } as const;
  }

  async #prompt(name: string, context: RequestContext): Promise<Pick<CatalogPrompt, "server" | "name">> {
    const found = await this.#look(context, () => this.#prompts.find(name)) ?? this.#absent(name);
    return found ?? refuse(unknownName("prompt", name));
  }

  /** Has a server answer what cannot be answered by a result that says what failed. */
  async #pass<Result>(
    context: RequestContext,
    server: string,
    send: (options: SessionRequestOptions) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.#passages.run(context, { server }, send);
    } catch (error) {
      throw isForEra(error, context) ? error : passedError(readable(error, context), server);
    }
  }

  async #client(...[server, options]: Parameters<NonNullable<GatewayHub["client"]>>) {
    const client = await this.#hub.client?.(server, options);
    return client ?? refuse(unknownName("server", server));
  }
}

/** A tool as it is here: whether it can be a task is up to who serves it. */
function listedTool(name: string, { tool }: CatalogTool): Tool {
  const { execution: _, ...rest } = tool as Tool & { readonly execution?: unknown };
  return { ...rest, name };
}

/** A block of content; where it is a link, what it leads to can be read here. */
function linked(block: ContentBlock, link: (uri: string) => string): ContentBlock {
  return block.type === "resource_link" && typeof block.uri === "string" ? { ...block, uri: link(block.uri) } : block;
}

/** Whether it goes on as it is: a question in front, or the caller's own end. */
function isForEra(error: unknown, { signal }: RequestContext): boolean {
  return error instanceof EraSignal || (signal.aborted && error === signal.reason);
}

function wrongParameter(field: string, expected: string): InvalidParamsError {
  return new InvalidParamsError(`Cannot read the parameters: "${field}" is not ${expected}`, { rpcCode: -32602 });
}

function refuse(error: Error): never {
  throw error;
}

/** A server that completes nothing knows nothing: the gateway offers completions for all. */
function nothingKnown(error: unknown): CompleteResult {
  if (error instanceof MethodNotFoundError) return { completion: { values: [] } };
  throw error;
}
