/**
 * Many servers as one: what works is served, and what does not work is told.
 *
 * @module
 */
import type { Client } from "../client/client.ts";
import type { RequestOptions } from "../client/session/request.ts";
import { systemClock, systemRandom } from "../ports.ts";
import { ConnectionClosedError, InvalidParamsError } from "../protocol/errors.ts";
import type { ConstantJson } from "../protocol/json_rpc.ts";
import type { CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult } from "../protocol/types.ts";
import { View } from "./catalog/catalog.ts";
import { Connection } from "./connection/connection.ts";
import type { ConnectionHost, Work } from "./connection/host.ts";
import { Limiter } from "./connection/limiter.ts";
import { EventSource } from "./events.ts";
import type { HubEvents } from "./events.ts";
import { failedResult, failureKey } from "./failure.ts";
import type { HubCallOptions, HubOptions } from "./options.ts";
import type {
  Catalog,
  CatalogPrompt,
  CatalogResource,
  CatalogServer,
  CatalogTemplate,
  CatalogTool,
  ConnectServer,
  HubLike,
  QualifiedName,
  ResourceName,
  ServerConfig,
  ServerStatus,
} from "./seam.ts";

/** Something of a server, by the name that it has there. */
interface Found {
  readonly connection: Connection;
  readonly name: string;
}

/**
 * Many MCP servers as one. A server that is down, slow or hostile changes nothing for the others: each one is connected, tried
 * again, held back and listed on its own.
 *
 * Most programs call `openHub` instead of the constructor.
 */
export class Hub implements HubLike, AsyncDisposable {
  readonly #options: HubOptions;
  readonly #host: ConnectionHost;
  readonly #events = new EventSource();
  readonly #connections = new Map<string, Connection>();
  #view: View = new View([]);
  /** Calls that were not answered yet. */
  #calls = 0;
  #isOver = false;
  #drained: (() => void) | undefined;
  /** Servers that were removed, and have not come to their end. */
  #leaving: Promise<void> | undefined;

  /**
   * Makes a hub without servers; nothing is sent yet.
   *
   * @param connect What connects to one server: the `connect` of the entry in use.
   */
  constructor(connect: ConnectServer, options: HubOptions = {}) {
    const { auth, filter, listen = true, concurrency = 32, parallel = 64, ...shared } = options;
    const { clock = systemClock, random = systemRandom } = shared;
    this.#options = options;
    this.#host = {
      connect,
      clock,
      random,
      shared,
      concurrency,
      listen,
      connecting: new Limiter({ clock, most: parallel, queue: Infinity }),
      auth: (server) => typeof auth === "function" ? auth(server) : auth,
      keeps: (tool, server) => filter?.(tool, server) ?? true,
      emit: (event) => {
        if (this.#connections.has(event.server)) this.#events.emit(event);
      },
      listed: (server) => {
        if (this.#connections.has(server.name)) this.#view = this.#view.with(server);
      },
    };
  }

  /** What keeps servers from being used, by their names: those that are connected, or were not wanted yet, are not here. */
  get errors(): ReadonlyMap<string, Error> {
    const errors = new Map<string, Error>();
    for (const [name, { state, error }] of this.#connections) {
      if (error && state !== "connected") errors.set(name, error);
    }
    return errors;
  }

  /**
   * Adds a server and tries to connect to it. That it cannot be reached is no error here: `status()` and `errors` tell.
   *
   * @throws {TypeError} When there is a server of that name already, the hub is closed, or its `catalog` is none.
   */
  async add(name: string, config: ServerConfig): Promise<void> {
    if (this.#isOver) throw new TypeError(`Cannot add the server "${name}": the hub is closed`);
    if (this.#connections.has(name)) throw new TypeError(`Cannot add the server "${name}": it is there already`);
    const { catalog, lazy } = this.#options;
    if (catalog && catalog.kind !== "causeway.catalog") {
      throw new TypeError('Cannot use "catalog": expected one of readCatalog');
    }
    const stored = catalog?.servers.find((server) => server.name === name);
    const known: CatalogServer = stored ??
      { name, tools: [], resources: [], templates: [], prompts: [], listedAt: 0 };
    const connection = new Connection(name, config, known, this.#host);
    this.#connections.set(name, connection);
    this.#view = this.#view.with(connection.known);
    this.#events.emit({ type: "added", server: name });
    if (!lazy && !known.listedAt) await connection.open();
  }

  /**
   * Removes a server: its calls are ended.
   *
   * @returns Whether there was one of that name.
   */
  async remove(name: string): Promise<boolean> {
    const closed = this.#connections.get(name)?.close();
    if (!closed) return false;
    this.#connections.delete(name);
    this.#view = this.#view.without(name);
    // Before another one of its name is added.
    this.#events.emit({ type: "removed", server: name });
    const before = this.#leaving;
    await (this.#leaving = closed.then(() => before));
    return true;
  }

  /** The tools of all servers, in a stable order. */
  tools(): readonly CatalogTool[] {
    return this.#view.tools();
  }

  /** The resources of all servers, in a stable order. */
  resources(): readonly CatalogResource[] {
    return this.#view.resources();
  }

  /** The resource templates of all servers, in a stable order. */
  templates(): readonly CatalogTemplate[] {
    return this.#view.templates();
  }

  /** The prompts of all servers, in a stable order. */
  prompts(): readonly CatalogPrompt[] {
    return this.#view.prompts();
  }

  /** Finds a tool by its qualified name, as `server.tool`, or in two parts. */
  findTool(name: QualifiedName): CatalogTool | undefined {
    return this.#view.findTool(name);
  }

  /**
   * Calls a tool. Whatever keeps it from being called is a result with `isError` that names the server; `_meta` says what is
   * known, under `dev.causeway/error`. Only the caller's own signal rejects, with its reason.
   *
   * @param name `server__tool`, `server.tool`, or `{ server, name }`.
   * @param options `throws: true` rejects with the error itself.
   */
  async callTool(name: QualifiedName, args: ConstantJson = {}, options: HubCallOptions = {}): Promise<CallToolResult> {
    let server: string | undefined;
    try {
      return await this.#begin(async (isOver) => {
        const { connection, name: own } = await this.#find(name, "tool", options, isOver);
        server = connection.name;
        const work: Work<CallToolResult> = (client, rest) => client.callTool(own, args, rest);
        const result = await this.#use(connection, work, options, isOver);
        // The hub alone says it.
        delete result._meta?.[failureKey];
        return result;
      });
    } catch (error) {
      if (options.throws || options.signal?.aborted && error === options.signal.reason) throw error;
      return failedResult(error, server);
    }
  }

  /**
   * Reads a resource that is listed; `withTemplates` finds what only a template makes.
   *
   * @param name Its URI alone where one server lists it, or `{ server, uri }`.
   * @throws {InvalidParamsError} When no server lists it, or more than one.
   * @throws {McpError} When it cannot be read.
   */
  async readResource(name: ResourceName, options: RequestOptions = {}): Promise<ReadResourceResult> {
    const { server, uri } = this.#owner(name);
    return await this.#use(this.#connection(server), (client, rest) => client.readResource(uri, rest), options);
  }

  /**
   * A prompt with its arguments filled in.
   *
   * @throws {InvalidParamsError} When there is no such prompt.
   * @throws {McpError} When it cannot be got.
   */
  async getPrompt(
    name: QualifiedName,
    args: Record<string, string> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    return await this.#begin(async (isOver) => {
      const { name: own, connection } = await this.#find(name, "prompt", options, isOver);
      return await this.#use(connection, (client, rest) => client.getPrompt(own, args, rest), options, isOver);
    });
  }

  /**
   * Suggestions for the value of an argument of a prompt or of a resource template.
   *
   * @throws {McpError} When there are none to be had.
   */
  async complete(
    reference: Parameters<HubLike["complete"]>[0],
    argument: { readonly name: string; readonly value: string },
    options: RequestOptions & { readonly context?: Readonly<Record<string, string>> } = {},
  ): Promise<CompleteResult> {
    const { type } = reference;
    return await this.#begin(async (isOver) => {
      const { connection, name } = type === "ref/prompt"
        ? await this.#find(reference.name, "prompt", options, isOver)
        : { connection: this.#connection(reference.server), name: reference.uri };
      const its = type === "ref/prompt" ? { type, name } : { type, uri: name };
      // What is left of the options is all of them, the context too.
      const work: Work<CompleteResult> = (client, rest) => client.complete(its, argument, rest as typeof options);
      return await this.#use(connection, work, options, isOver);
    });
  }

  /**
   * The client of a server, connected: for what a hub does not do by itself. Do not close it.
   *
   * @throws {McpError} When it cannot be reached.
   */
  async client(server: string, options: RequestOptions = {}): Promise<Client> {
    const connection = this.#connection(server);
    return await this.#use(connection, async (client, rest) => {
      if (connection.state !== "connected") await client.ping(rest);
      return client;
    }, options);
  }

  /**
   * Watches a resource: a `resource` event tells each time that it may have changed, as long as its server is connected to.
   *
   * @param options `signal` ends it.
   * @throws {McpError} When its server cannot be reached.
   */
  async watchResource(name: ResourceName, options: RequestOptions = {}): Promise<void> {
    const { server, uri } = this.#owner(name);
    const changes = (await this.client(server, options)).subscribeResource(uri, options);
    const tell = async (): Promise<void> => {
      for await (const change of changes) {
        if (change.type === "resource") this.#events.emit({ type: "resource", server, uri: change.uri });
      }
    };
    void tell().catch((error) => {
      if (!options.signal?.aborted) this.#events.emit({ type: "error", server, error });
    });
  }

  /** Connects to a server again now, whatever happened: after a person has signed in, for one. One that is connected is listed, if it changed. */
  async retry(server: string): Promise<void> {
    await this.#connection(server).open();
  }

  /** How each server does, in the order in which they were added. */
  status(): readonly ServerStatus[] {
    return Array.from(this.#connections.values(), (connection) => connection.status());
  }

  /** What happens from now on; at most 1,000 events wait, and `dropped` counts those that did not. */
  events({ signal }: { readonly signal?: AbortSignal | undefined } = {}): HubEvents {
    const events = this.#events.listen(signal);
    if (this.#isOver) void events.return();
    return events;
  }

  /** All that was listed, as plain JSON that can be stored: the option `catalog` of another hub. Secret where it holds sessions. */
  catalog(): Catalog {
    const servers = this.#view.servers.filter(({ listedAt }) => listedAt).map((known) => {
      const snapshot = this.#connections.get(known.name)?.client?.snapshot();
      return snapshot ? { ...known, snapshot: { ...snapshot, tools: [] } } : known;
    });
    return { kind: "causeway.catalog", version: 1, servers };
  }

  /**
   * Takes no more calls, waits for those that are under way, and closes.
   *
   * @param options `timeout` is how long it waits, in milliseconds (30,000).
   */
  async drain({ timeout = 30_000 }: { readonly timeout?: number } = {}): Promise<void> {
    this.#isOver = true;
    if (this.#calls) {
      await new Promise<void>((resolve) => {
        const stop = this.#host.clock.schedule(resolve, timeout);
        const before = this.#drained;
        this.#drained = () => {
          before?.();
          stop();
          resolve();
        };
      });
    }
    await this.close();
  }

  /** Ends everything: calls, connections, processes. Idempotent. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(Array.from(this.#connections.values(), (connection) => connection.close()));
    await this.#leaving;
    this.#events.end();
  }

  /** The same as {@linkcode close}: for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #use<Value>(
    its: Connection,
    work: Work<Value>,
    options: RequestOptions,
    isOver = this.#isOver,
  ): Promise<Value> {
    if (isOver) throw new ConnectionClosedError("The hub is closed", { delivery: "not-sent", server: its.name });
    return await this.#begin(() => its.use(work, options));
  }

  /**
   * Counts a call from its beginning, also while its server is connected for it: a hub that is drained waits for it.
   *
   * @param work Is told whether the hub took no more calls when it began.
   */
  async #begin<Value>(work: (isOver: boolean) => Promise<Value>): Promise<Value> {
    this.#calls++;
    try {
      return await work(this.#isOver);
    } finally {
      if (!--this.#calls) this.#drained?.();
    }
  }

  #connection(server: string): Connection {
    return this.#connections.get(server) ?? wrongName(`Cannot find the server "${server}"`, server);
  }

  /** Whose a tool or prompt is. A server that nothing is known of is connected and listed first. */
  async #find(name: QualifiedName, kind: "tool" | "prompt", options: RequestOptions, isOver: boolean): Promise<Found> {
    const found = this.#listed(name, kind);
    if (found) return found;
    const { server, name: own } = typeof name === "object"
      ? name
      : this.#view.owner(name) ?? wrongName(`Cannot find "${name}": no server has it`);
    const connection = this.#connection(server);
    if (!connection.known.listedAt && !isOver) await connection.ready(options);
    const listed = this.#listed(name, kind);
    if (listed) return listed;
    // What is not listed is left to the server, unless somebody here chooses what there is.
    if (own && (kind === "prompt" || !(this.#options.filter ?? connection.config.tools))) {
      return { connection, name: own };
    }
    return wrongName(`Cannot find the ${kind} "${own ?? name}" at the server "${server}"`, server);
  }

  #listed(name: QualifiedName, kind: "tool" | "prompt"): Found | undefined {
    const found = kind === "tool" ? this.#view.findTool(name) : this.#view.findPrompt(name);
    const connection = found && this.#connections.get(found.server);
    return connection && { connection, name: found.name };
  }

  /** The server that is named, or else the one that lists the resource. */
  #owner(uri: ResourceName): { readonly server: string; readonly uri: string } {
    if (typeof uri === "object") return uri;
    const [first, second] = this.#view.findResource(uri);
    return first && !second ? { server: first.server, uri } : wrongName(
      `Cannot read "${uri}": ${second ? "more than one server has it: name the server" : "no server lists it"}`,
    );
  }
}

/** What a caller named is not there. The class stands for answers of servers; here none was asked. */
function wrongName(message: string, server?: string): never {
  const error = new InvalidParamsError(message, { server });
  error.delivery = "not-sent";
  throw error;
}
