/**
 * A world in memory behind one `fetch`: protected resources, authorization servers, documents on the web, a person.
 *
 * @module
 */
import type { Fetch } from "../../../src/ports.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import type { Fault } from "./faults.ts";
import { Person } from "./person.ts";
import { isMeant, RequestLog, type SeenRequest, type Which } from "./request_log.ts";
import { Resource, type ResourceKnobs, type ResourceParts } from "./resource/resource.ts";
import type { ServerKnobs } from "./server/knobs.ts";
import { AuthorizationServer } from "./server/server.ts";

/** Where things are, unless a test says otherwise. */
export const resourceUrl = "https://mcp.example.com/mcp";
export const issuer = "https://auth.example.com";
/** Where the person comes back to. */
export const redirectUri = "https://app.example.com/callback";

/** What a test chooses. */
export interface WorldOptions extends Pick<ResourceParts, "handler" | "eras"> {
  readonly url?: string | undefined;
  readonly issuer?: string | undefined;
  readonly resource?: Partial<ResourceKnobs> | undefined;
  readonly server?: Partial<ServerKnobs> | undefined;
  readonly clock?: VirtualClock | undefined;
}

/** A site: it answers what is its own. */
interface Site {
  handle(seen: SeenRequest): Promise<Response | undefined>;
}

/** Makes a world of one resource and one authorization server; more can be added. */
export function createWorld(options: WorldOptions = {}): Promise<World> {
  const clock = options.clock ?? new VirtualClock();
  const documents = new Map<string, unknown>();
  const place = options.issuer ?? issuer;
  const server = new AuthorizationServer({ issuer: place, clock, knobs: options.server, documents });
  const { url = resourceUrl, handler, eras } = options;
  const resource = new Resource({ url, clock, servers: [server], knobs: options.resource, handler, eras });
  return Promise.resolve(new World({ clock, documents, server, resource }));
}

/** The world. */
export class World {
  readonly clock: VirtualClock;
  readonly log: RequestLog = new RequestLog();
  readonly resource: Resource;
  readonly server: AuthorizationServer;
  readonly person: Person;
  /** Documents on the web by URL, such as those of clients. */
  readonly documents: Map<string, unknown>;
  readonly #sites: Site[];
  readonly #faults: { which: Which; fault: Fault; times: number }[] = [];

  constructor({ clock, documents, server, resource }: Pick<World, "clock" | "documents" | "server" | "resource">) {
    this.clock = clock;
    this.documents = documents;
    this.server = server;
    this.resource = resource;
    this.#sites = [resource, server];
    this.person = new Person((url, init) => this.#send("person", url, init));
  }

  /** The way into the world, for what is tested. */
  readonly fetch: Fetch = (url, init) => this.#send("client", url, init);

  /** All secrets that were given out so far. */
  get secrets(): string[] {
    return this.#sites.flatMap((site) => site instanceof AuthorizationServer ? site.issued.secrets : []);
  }

  /** Adds an authorization server. */
  addServer(place: string, knobs?: Partial<ServerKnobs>): Promise<AuthorizationServer> {
    const { clock, documents } = this;
    const server = new AuthorizationServer({ issuer: place, clock, knobs, documents });
    this.#sites.push(server);
    return Promise.resolve(server);
  }

  /** Adds a resource that takes the tokens of some servers. */
  addResource(parts: Omit<ResourceParts, "clock">): Resource {
    const resource = new Resource({ ...parts, clock: this.clock });
    this.#sites.push(resource);
    return resource;
  }

  /** Lets something go wrong with the next so many requests that are meant. Faults of one request stand one before another. */
  fault(which: Which, fault: Fault, times: number = 1): void {
    this.#faults.push({ which, fault, times });
  }

  async #send(by: SeenRequest["by"], url: string, init: RequestInit = {}): Promise<Response> {
    // A request is made of it, as a runtime would: some refuse options that they do not know.
    const request = new Request(url, init);
    const signal = init.signal ?? undefined;
    signal?.throwIfAborted();
    // Before the body is read: Bun forgets the content type of a form with it.
    const { method } = request;
    const headers = new Headers(request.headers);
    const body = await request.text();
    const isForm = headers.get("content-type")?.startsWith("application/x-www-form-urlencoded");
    const form = new URLSearchParams(isForm ? body : "");
    const at = this.clock.now();
    const seen: SeenRequest = { by, method, url: new URL(url), headers, body, form, signal, at };
    this.log.all.push(seen);
    try {
      const response = await orAbort(this.#answer(seen), signal);
      seen.status = response.status;
      return response;
    } catch (error) {
      seen.status = 0;
      throw error;
    }
  }

  #answer(seen: SeenRequest): Promise<Response> {
    const faults = this.#faults.filter(({ which, times }) => times > 0 && isMeant(seen, which));
    let go = () => this.#visit(seen);
    for (const planned of faults.toReversed()) {
      planned.times--;
      const next = go;
      go = async () => await planned.fault(seen, next);
    }
    return go();
  }

  async #visit(seen: SeenRequest): Promise<Response> {
    for (const site of this.#sites) {
      const response = await site.handle(seen);
      if (response) return response;
    }
    const document = this.documents.get(seen.url.href);
    return document === undefined ? new Response("nothing here", { status: 404 }) : Response.json(document);
  }
}

/** What work gives, unless it is called off before. */
function orAbort<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return work;
  return new Promise<Value>((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
