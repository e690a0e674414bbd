/**
 * Functions as tools, beside those of a hub.
 *
 * @module
 */
import type { RequestOptions } from "../../../client/session/request.ts";
import { unlessAborted } from "../../../client/core_client.ts";
import { HubLayer } from "../../../hub/layer.ts";
import type { CatalogTool, HubLike, QualifiedName } from "../../../hub/seam.ts";
import { systemClock } from "../../../ports.ts";
import type { Clock } from "../../../ports.ts";
import { InvalidParamsError, TimeoutError } from "../../../protocol/errors.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";
import { after } from "../../../protocol/promise.ts";
import type { CallToolResult } from "../../../protocol/types.ts";
import { checkStandard, isStandard } from "../../../server/catalog/schemas.ts";
import type { AnySchema } from "../../../server/definitions.ts";
import { toJsonSchema } from "../schemas.ts";

/** What a function is told beside its arguments. */
export interface AgentToolContext {
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal | undefined;
}

/** A function that an agent can call. */
export interface AgentTool {
  /** `[a-zA-Z0-9_-]`, at most 64 characters, and none that a tool of the hub has. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /**
   * What its arguments have to be, an object (any): a JSON Schema, or a schema of a library that speaks Standard Schema and tells the
   * JSON Schema of its own (zod from 4.2 on). They are checked first; of a library's schema it gets what that lets through, defaults
   * among it.
   */
  readonly input?: AnySchema | undefined;
  /** What it gives, an object: a JSON Schema, or one of a library, of which the JSON Schema counts. It is checked. */
  readonly output?: AnySchema | undefined;
  /** It changes nothing: nobody is asked before it is called (false). */
  readonly readOnly?: boolean | undefined;
  /** Calling it twice is the same as calling it once (false). */
  readonly idempotent?: boolean | undefined;
  /** Does it: gives a text, a JSON value, or a whole result. What it throws, the model reads. */
  run(args: JsonObject, context: AgentToolContext): AgentToolReturn | Promise<AgentToolReturn>;
}

/** What a function may give. */
export type AgentToolReturn = JsonValue | CallToolResult | undefined | void;

/** How long a slow server holds up a step at most, in milliseconds: a hub would list it after about as long. */
const longestRenewal = 5_000;

/** A hub with functions of its own. */
export class OwnTools extends HubLayer {
  readonly #own: ReadonlyMap<string, { readonly entry: CatalogTool; readonly tool: AgentTool }>;
  readonly #clock: Clock;
  #shown: { readonly all: readonly CatalogTool[]; readonly tools: readonly CatalogTool[] } | undefined;

  /** @throws {TypeError} When a tool has no sound name, no `run`, or the name of another one. */
  constructor(hub: HubLike | undefined, tools: readonly AgentTool[], clock: Clock = systemClock) {
    super(hub ?? new NoHub());
    this.#clock = clock;
    const own = new Map<string, { entry: CatalogTool; tool: AgentTool }>();
    for (const tool of tools) {
      const { name } = tool;
      if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name) || own.has(name) || this.hub.findTool(name)) {
        throw new TypeError(
          `Cannot use the tool ${
            JSON.stringify(name)
          }: expected a name of its own, of [a-zA-Z0-9_-], at most 64 characters`,
        );
      }
      if (typeof tool.run !== "function") throw new TypeError(`Cannot use the tool "${name}": it has no "run"`);
      own.set(name, { entry: entryOf(tool), tool });
    }
    this.#own = own;
  }

  /** Whether a tool is one of the functions. */
  isOwn(entry: CatalogTool): boolean {
    return this.#own.get(entry.name)?.entry === entry;
  }

  override tools(): readonly CatalogTool[] {
    const all = this.hub.tools();
    if (this.#own.size === 0) return all;
    if (this.#shown?.all !== all) {
      this.#shown = { all, tools: [...all, ...Array.from(this.#own.values(), ({ entry }) => entry)] };
    }
    return this.#shown.tools;
  }

  override findTool(name: QualifiedName): CatalogTool | undefined {
    return this.#find(name)?.entry ?? this.hub.findTool(name);
  }

  /**
   * Has servers that told of changes be listed now: the hub does so only every few seconds, and who has just brought a tool wants
   * it to be used.
   *
   * @throws {unknown} The reason of the signal.
   */
  async renew(clock: Clock, signal: AbortSignal): Promise<void> {
    const connected = this.status().filter(({ state }) => state === "connected");
    if (connected.length === 0) return;
    let stop = (): void => {};
    const late = new Promise<void>((resolve) => stop = clock.schedule(resolve, longestRenewal));
    const listed = Promise.allSettled(connected.map(({ name }) => this.retry(name)));
    try {
      await unlessAborted(Promise.race([listed, late]), signal);
    } finally {
      stop();
    }
  }

  override async callTool(...[name, args = {}, options]: Parameters<HubLike["callTool"]>): Promise<CallToolResult> {
    const own = this.#find(name);
    if (!own) return await this.hub.callTool(name, args, options);
    const { signal: caller, timeout } = options ?? {};
    caller?.throwIfAborted();
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = (): void => controller.abort(caller?.reason);
    caller?.addEventListener("abort", aborted, { once: true });
    const late = (): void => controller.abort(new TimeoutError("call", timeout ?? 0));
    const stop = timeout === undefined ? undefined : this.#clock.schedule(late, timeout);
    try {
      return toResult(
        await unlessAborted(Promise.resolve().then(() => run(own.tool, args as JsonObject, signal)), signal),
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return {
        content: [{ type: "text", text: error instanceof Error ? error.message : String(error) }],
        isError: true,
      };
    } finally {
      stop?.();
      caller?.removeEventListener("abort", aborted);
    }
  }

  #find(name: QualifiedName): { readonly entry: CatalogTool; readonly tool: AgentTool } | undefined {
    if (typeof name === "string") return this.#own.get(name);
    return name.server === "" ? this.#own.get(name.name) : undefined;
  }
}

/** Does it, with what its schema lets through where that is a library's. */
function run(tool: AgentTool, args: JsonObject, signal: AbortSignal): AgentToolReturn | Promise<AgentToolReturn> {
  return after(isStandard(tool.input) ? checkStandard(tool.input, args) : { value: args }, (checked) => {
    if (checked.problems) throw new TypeError(`The arguments do not fit: ${checked.problems.join("; ")}`);
    // It may have taken its time, and nobody waits any more.
    signal.throwIfAborted();
    return tool.run(checked.value as JsonObject, { signal });
  });
}

function entryOf(tool: AgentTool): CatalogTool {
  const { name, description, input = { type: "object" }, output, readOnly, idempotent } = tool;
  const what = `the tool "${name}"`;
  return {
    server: "",
    name,
    qualifiedName: name,
    tool: {
      name,
      description,
      inputSchema: toJsonSchema(what, "input", input),
      ...(output && { outputSchema: toJsonSchema(what, "output", output) }),
      annotations: { readOnlyHint: readOnly === true, idempotentHint: readOnly === true || idempotent === true },
    },
  };
}

function toResult(given: AgentToolReturn): CallToolResult {
  if (given === undefined) return { content: [] };
  if (typeof given === "string") return { content: [{ type: "text", text: given }] };
  if (isWholeResult(given)) return given as unknown as CallToolResult;
  const text = JSON.stringify(given);
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) as JsonValue };
}

const blockTypes: readonly unknown[] = ["text", "image", "audio", "resource", "resource_link"];
const resultFields: readonly string[] = ["content", "structuredContent", "isError", "_meta"];

/** Whether it is a result as it is, and no value that has some `content` of its own, as documents do. */
function isWholeResult(given: AgentToolReturn): boolean {
  if (!isObject(given) || !Array.isArray(given.content)) return false;
  const { content } = given;
  return content.length > 0
    ? content.every((block) => isObject(block) && blockTypes.includes(block.type))
    : Object.keys(given).every((name) => resultFields.includes(name));
}

/** A hub without servers. */
class NoHub implements HubLike {
  tools(): readonly [] {
    return [];
  }
  resources(): readonly [] {
    return [];
  }
  templates(): readonly [] {
    return [];
  }
  prompts(): readonly [] {
    return [];
  }
  findTool(): undefined {
    return undefined;
  }
  callTool(name: QualifiedName, _args?: JsonObject, _options?: RequestOptions): Promise<CallToolResult> {
    return Promise.reject(nothing(JSON.stringify(name)));
  }
  readResource(): Promise<never> {
    return Promise.reject(nothing("a resource"));
  }
  getPrompt(): Promise<never> {
    return Promise.reject(nothing("a prompt"));
  }
  complete(): Promise<never> {
    return Promise.reject(nothing("an argument"));
  }
  status(): readonly [] {
    return [];
  }
  async *events(): AsyncIterable<never> {}
  catalog(): ReturnType<HubLike["catalog"]> {
    return { kind: "causeway.catalog", version: 1, servers: [] };
  }
}

function nothing(what: string): InvalidParamsError {
  return new InvalidParamsError(`Cannot find ${what}: the agent has no hub`, { delivery: "not-sent" });
}
