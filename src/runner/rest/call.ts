/**
 * One request on its way through a route: who asks, for what, and what they may.
 *
 * @module
 */
import { readObject, watchCaller } from "../../agent/http/front.ts";
import type { Leaving } from "../../agent/http/front.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Caller, Judge } from "../access/access.ts";
import { scopeHubOnce } from "../access/scoped_hub.ts";
import type { ScopedHub } from "../access/scoped_hub.ts";
import { denyAll } from "../access/policy.ts";
import type { Action, Can, DecisionOptions, Effect, Principal } from "../access/types.ts";
import type { RunnerParts } from "../parts.ts";
import type { Lease } from "../tenants/hub_pool.ts";
import type { Dressing } from "./dress.ts";
import { Refusal, wrongField } from "./problem.ts";
import { RequestTimer } from "./request_timer.ts";
import type { RouteInput } from "./route_input.ts";
import { isPromise } from "../../protocol/promise.ts";

/** What a call is made of. */
export interface CallOptions {
  readonly parts: RunnerParts;
  readonly route: RouteInput;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly dressing: Dressing;
  /** Who asks; undefined on public routes. */
  readonly caller: Caller | undefined;
  /** Whose servers and runs are meant. */
  readonly tenant: string;
  readonly judge: Judge | undefined;
}

/** The hub of the tenant, whole and as the caller may use it. */
export interface CallHub {
  readonly lease: Lease;
  readonly scoped: ScopedHub;
}

/** One request. */
export class Call {
  /** The request. */
  readonly request: Request;
  /** The parameters of its path. */
  readonly params: Readonly<Record<string, string>>;
  /** Its `X-Request-Id`. */
  readonly requestId: string;
  /** Whose servers and runs are meant. */
  readonly tenant: string;
  /**
   * What all routes work with.
   *
   * @internal
   */
  readonly parts: RunnerParts;
  /** The parameters of the query. */
  readonly query: Readonly<Record<string, string>>;
  readonly #options: CallOptions;
  #can: Can | Promise<Can> | undefined;
  #hub: CallHub | Promise<CallHub> | undefined;
  #leaving: Leaving | undefined;
  #timer: RequestTimer | undefined;
  #wasAsked = false;
  #bytes = 0;
  #isCounted = false;
  #work: Promise<unknown> | undefined;

  /**
   * Made by the runner.
   *
   * @internal
   */
  constructor(options: CallOptions) {
    this.#options = options;
    this.request = options.request;
    this.params = options.params;
    this.requestId = options.requestId;
    this.tenant = options.tenant;
    this.parts = options.parts;
    this.query = readQuery(options.route, options.request.url);
  }

  /** Who asks. */
  get principal(): Principal {
    return this.judge.principal;
  }

  /** How the caller showed who it is; undefined on public routes. */
  get way(): Caller["way"] | undefined {
    return this.#options.caller?.way;
  }

  /** The hash of the API key that the caller has shown; undefined where it has shown something else. */
  get key(): string | undefined {
    return this.#options.caller?.key;
  }

  /**
   * Who decides.
   *
   * @internal
   */
  get judge(): Judge {
    const { judge } = this.#options;
    if (!judge) throw new TypeError("Nobody is signed in on a public route");
    return judge;
  }

  /** Whether the route counts what goes by itself. */
  get isCounted(): boolean {
    return this.#isCounted;
  }

  /** The bytes of it that were counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Counts bytes that go, for whoever asks: nobody has none.
   *
   * @internal
   */
  count(bytes: number): void {
    this.#isCounted = true;
    this.#add(bytes);
  }

  /**
   * Counts the body by what it says of its length. What is said to be too long is not read.
   *
   * @internal
   */
  countBody(): void {
    const length = Number(this.request.headers.get("content-length"));
    if (length > 0 && length <= this.parts.limits.messageBytes) this.#add(length);
  }

  /**
   * The request, for who reads it: where its body does not say how long it is, that is counted as it comes.
   *
   * @internal
   */
  counted(): Request {
    const { request } = this;
    const body = request.headers.has("content-length") ? undefined : request.body;
    if (!body) return request;
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    const counting = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        // Not before: what is refused unread is read away.
        reader ??= body.getReader();
        const { done, value } = await reader.read();
        if (done) return controller.close();
        this.#add(value.length);
        controller.enqueue(value);
      },
      cancel: (reason) => (reader ?? body).cancel(reason),
    }, { highWaterMark: 0 });
    return new Request(request, { body: counting, duplex: "half" } as RequestInit);
  }

  /** Whether the policy was asked. */
  get wasAsked(): boolean {
    return this.#wasAsked;
  }

  /**
   * Tells that the caller is gone.
   *
   * @internal
   */
  get leaving(): Leaving {
    return this.#leaving ??= watchCaller(this.request);
  }

  /**
   * What is waited for until the call is over.
   *
   * @internal
   */
  get timer(): RequestTimer {
    return this.#timer ??= new RequestTimer(this.parts.clock);
  }

  /** A whole number of the query. */
  number(name: string, otherwise: number): number {
    const text = this.query[name];
    return text === undefined ? otherwise : Number(text);
  }

  /** What the caller may do, as the policy says now. */
  can(): Can | Promise<Can> {
    this.#wasAsked = true;
    return this.#can ??= this.judge.open();
  }

  /** Decides, and writes it down. */
  async decide(
    action: Action,
    { server = "", tool = "", ...rest }: { readonly server?: string; readonly tool?: string } & DecisionOptions,
  ): Promise<Effect> {
    const outcome = (await this.can())(server, tool, action);
    await this.judge.record({ server, tool, action, outcome, ...rest });
    return outcome;
  }

  /**
   * The hub of the tenant; it is held until the call is over.
   *
   * @internal
   */
  hub(): CallHub | Promise<CallHub> {
    this.#wasAsked = true;
    return this.#hub ??= this.#lease();
  }

  /**
   * Has it done with this hub, in the place of the tenant's.
   *
   * @internal
   */
  useHub(lease: Lease, can: Can): void {
    this.#hub ??= this.#scoped(lease, can);
  }

  /**
   * The body, held against the schema of the route.
   *
   * @param most The most bytes that it may have (`limits.messageBytes`). Give one where nobody is known: each holds as much memory.
   * @throws {Refusal} When it does not fit.
   */
  async body(most: number = Infinity): Promise<JsonObject> {
    const { parts: { limits, check }, route } = this.#options;
    const messageBytes = Math.min(most, limits.messageBytes);
    const value = await readObject(this.counted(), { limits: { ...limits, messageBytes }, clock: this.timer });
    const checked = route.body && check(route.body, value);
    if (!checked || checked.valid) return value;
    const [first] = checked.issues;
    const errors = checked.issues.slice(0, 20).map(({ path, message }) => ({ pointer: path, detail: message }));
    const where = first?.path ? `"${first.path}"` : "The body";
    throw new Refusal(400, "invalid_request", `${where}: ${first?.message ?? "it does not fit"}`, { more: { errors } });
  }

  /** A reply with JSON for its body. */
  json(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
    const text = JSON.stringify(body);
    this.count(text.length);
    return this.#options.dressing.json(text, status, headers);
  }

  /**
   * Tells that it has begun what may go on when nobody reads its reply any more: its place is held as long.
   *
   * @internal
   */
  goesOn(work: Promise<unknown>): void {
    this.#work = work;
  }

  /**
   * Lets go of what was held.
   *
   * @param leave Gives its place back.
   * @internal
   */
  finish(leave: () => void): void {
    if (this.#work) void this.#work.then(leave, leave);
    else leave();
    this.#leaving?.done();
    this.#timer?.end();
    const hub = this.#hub;
    if (isPromise(hub)) void hub.then(({ lease }) => lease.release()).catch(() => {});
    else hub?.lease.release();
  }

  #add(bytes: number): void {
    const { caller } = this.#options;
    this.#bytes += bytes;
    if (caller) this.parts.quotas.count(caller.principal.tenant, bytes);
  }

  async #lease(): Promise<CallHub> {
    const { pool } = this.parts;
    const can = await this.can();
    // A tenant that one has no business in is not even looked for.
    return this.#scoped(can === denyAll ? pool.nothing() : await pool.lease(this.tenant), can);
  }

  #scoped(lease: Lease, can: Can): CallHub {
    return { lease, scoped: scopeHubOnce(lease.hub, this.judge, can) };
  }
}

function readQuery({ query }: RouteInput, url: string): Readonly<Record<string, string>> {
  const read: Record<string, string> = {};
  if (!query || !url.includes("?")) return read;
  for (const [name, value] of new URL(url).searchParams) {
    const schema = Object.hasOwn(query, name) ? query[name]?.schema : undefined;
    if (!schema) throw wrongField(name.slice(0, 100), `it is not known, expected ${listed(Object.keys(query))}`);
    if (Object.hasOwn(read, name)) throw wrongField(name, "it is there twice");
    if (schema.type === "integer") {
      const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
      if (!/^\d{1,16}$/.test(value) || Number(value) < minimum || Number(value) > maximum) {
        throw wrongField(name, `expected a whole number from ${minimum} to ${maximum}`);
      }
    } else if (value.length > (schema.maxLength ?? 1_000)) {
      throw wrongField(name, `it has more than ${schema.maxLength ?? 1_000} characters`);
    } else if (schema.enum && !schema.enum.includes(value)) {
      throw wrongField(name, `expected ${listed(schema.enum)}`);
    }
    read[name] = value;
  }
  return read;
}

function listed(names: readonly string[]): string {
  return names.length ? names.map((name) => `"${name}"`).join(", ") : "no parameters";
}
