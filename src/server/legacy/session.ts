/**
 * One client of the handshake revisions, from `initialize` to its end.
 *
 * @module
 */
import { InvalidParamsError, InvalidRequestError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcNotification, JsonRpcResponse, RequestId } from "../../protocol/json_rpc.ts";
import { legacyRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { LoggingLevel } from "../../protocol/types.ts";
import type { AuthInfo } from "../definitions.ts";
import type { Answer, Incoming, LegacyOutlet, LegacyServing, LegacyTasks, ServerParts } from "../seam.ts";
import { errorAnswer, resultAnswer } from "./answers.ts";
import { Asks } from "./asks.ts";
import { declared } from "../common/declared.ts";
import { loggingLevels } from "../common/logging_levels.ts";
import { isOver, unknownMethod } from "../common/requests.ts";
import { ChangeNotices } from "./changes.ts";
import { readClient } from "./client_side.ts";
import { LegacyContext } from "./context.ts";
import type { ContextParts } from "./context.ts";
import { dressCapabilities, dressInfo, dressResult } from "./dress.ts";
import { isPromise } from "../../protocol/promise.ts";

/** Options of {@linkcode createLegacySession}. */
export interface LegacySessionOptions {
  /** How long the client may take to answer what it is asked, in milliseconds. Default: 300,000 (5 minutes). */
  askTimeout?: number | undefined;
}

/**
 * Serves one client of 2024-11-05 to 2025-11-25.
 *
 * @param parts What it serves and works with.
 * @param outlet How it reaches its client outside of answers. Must not throw.
 */
export function createLegacySession(
  parts: ServerParts,
  outlet: LegacyOutlet,
  options: LegacySessionOptions = {},
): LegacyServing {
  return new LegacySession(parts, outlet, options.askTimeout ?? 300_000);
}

class LegacySession implements LegacyServing {
  readonly #parts: ServerParts;
  readonly #outlet: LegacyOutlet;
  readonly #asks: Asks;
  /** The requests in work. */
  #working = new Map<RequestId, LegacyContext>();
  #worked = 0;
  #shared: ContextParts | undefined;
  #changes: ChangeNotices | undefined;
  #closed: boolean | undefined;
  #level = loggingLevels.indexOf("info");

  constructor(parts: ServerParts, outlet: LegacyOutlet, timeout: number) {
    this.#parts = parts;
    this.#outlet = outlet;
    this.#asks = new Asks({ clock: parts.clock, random: parts.random, timeout }, outlet);
  }

  get revision(): Revision {
    return this.#shared?.client.revision ?? newest();
  }

  get open(): boolean {
    return !!this.#shared && !this.#closed;
  }

  answer(incoming: Incoming): Answer | undefined | Promise<Answer | undefined> {
    const { id, method, params = {} } = incoming.message;
    if (this.#closed || isOver(incoming)) return undefined;
    try {
      const result = this.#answerAtOnce(method, params, incoming.auth);
      return result ? resultAnswer(id, result) : this.#work(incoming);
    } catch (error) {
      return this.#failure(incoming, error);
    }
  }

  notified({ method, params }: JsonRpcNotification): void {
    if (method === "notifications/cancelled") this.#working.get(params?.requestId as RequestId)?.callOff();
    if (method === "notifications/initialized" && this.open) {
      this.#asks.open();
      this.#changes?.open();
    }
    this.#tell(method);
  }

  /** Whoever serves others is told of its client. */
  #tell(method?: string): void {
    this.#parts.methods.heard?.(method, this.#shared, this.#outlet);
  }

  answered(response: JsonRpcResponse): boolean {
    return this.#asks.answered(response);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#changes?.close();
    this.#tell();
    for (const context of [...this.#working.values()]) context.callOff();
  }

  /** What the session answers itself; undefined: it is for the methods. */
  #answerAtOnce(method: string, params: JsonObject, auth: AuthInfo | undefined): JsonObject | undefined {
    if (method === "ping") return {};
    if (method === "initialize") return this.#initialize(params, auth);
    if (!this.#shared) throw refused('Send "initialize" first');
    switch (method) {
      case "logging/setLevel":
        return this.#setLevel(params);
      case "resources/subscribe":
        this.#demandResources(method).watch(params);
        return {};
      case "resources/unsubscribe":
        this.#demandResources(method).unwatch(params);
        return {};
      default:
        return undefined;
    }
  }

  #initialize(params: JsonObject, auth: AuthInfo | undefined): JsonObject {
    if (this.#shared) throw refused('"initialize" was answered already');
    const { protocolVersion } = params;
    if (typeof protocolVersion !== "string") {
      throw new InvalidParamsError('"protocolVersion" has to be text', { rpcCode: -32602 });
    }
    const { methods, limits, clock, random } = this.#parts;
    const revision = legacyRevisions.find((known) => known === protocolVersion) ?? newest();
    const capabilities = declared(methods.capabilities());
    this.#changes = new ChangeNotices(methods, capabilities, limits.items, (notice) => this.#outlet.send(notice));
    const client = readClient(params, revision);
    this.#shared = {
      client,
      asks: this.#asks,
      clock,
      random,
      wants: (level) => loggingLevels.indexOf(level) >= this.#level,
    };
    const tasks = this.#tasks?.declare(auth);
    return {
      protocolVersion: revision,
      capabilities: { ...dressCapabilities(capabilities as JsonObject, revision), ...(tasks && { tasks }) },
      serverInfo: dressInfo(methods.info as unknown as JsonObject, revision),
      ...(methods.instructions !== undefined && { instructions: methods.instructions }),
    };
  }

  #setLevel({ level }: JsonObject): JsonObject {
    const rank = loggingLevels.indexOf(level as LoggingLevel);
    if (rank < 0) {
      throw new InvalidParamsError(`"level" has to be one of ${loggingLevels.join(", ")}`, { rpcCode: -32602 });
    }
    this.#level = rank;
    return {};
  }

  #demandResources(method: string): ChangeNotices {
    if (this.#changes && this.#parts.methods.capabilities().resources) return this.#changes;
    throw unknownMethod(method);
  }

  /** Tasks, where they are served and this client's revision has them. */
  get #tasks(): LegacyTasks | undefined {
    return this.revision >= "2025-11-25" ? this.#parts.tasks?.legacy : undefined;
  }

  /** What tasks answer; undefined: it is for the methods. */
  #tasked(incoming: Incoming, context: LegacyContext): Promise<JsonObject> | undefined {
    const { method, params = {} } = incoming.message;
    const { client: { capabilities }, wants } = this.#shared as ContextParts;
    return this.#tasks?.run(method, params, {
      context,
      capabilities,
      ask: (asked, about, signal) => {
        context.follow();
        return this.#asks.ask(asked, about, incoming, signal);
      },
      tell: (notification) => {
        if (!this.#closed) this.#outlet.send(notification);
      },
      wants,
    });
  }

  /** A result of the methods as this client can read it. */
  #dress(method: string, result: JsonObject): JsonObject {
    const dressed = dressResult(method, result, this.revision);
    return method === "tools/list" ? this.#tasks?.list(dressed) ?? dressed : dressed;
  }

  /** Has a method run: its answer at once where it can be. */
  #work(incoming: Incoming): Answer | undefined | Promise<Answer | undefined> {
    const { id, method, params = {} } = incoming.message;
    if (this.#working.has(id)) throw refused("A request with this id is in work");
    let stopped = (_?: undefined): void => {};
    const context = new LegacyContext(this.#shared as ContextParts, incoming, () => {
      this.#working.delete(id);
      stopped();
    });
    // V8 keeps what was in the tables that a map has had, once one of them is old. Another map, now and then, has none.
    if (!(++this.#worked % 1_000)) this.#working = new Map(this.#working);
    this.#working.set(id, context);
    let tasked: Promise<JsonObject> | undefined;
    const end = (): boolean => {
      if (context.open) {
        context.end();
        return this.#working.delete(id);
      }
      context.callOff();
      return false;
    };
    const finish = (plain: JsonObject): Answer | undefined => {
      const answer = resultAnswer(id, tasked ? plain : this.#dress(method, plain));
      return end() ? answer : undefined;
    };
    const fail = (error: unknown): Answer | undefined => end() ? this.#failure(incoming, error) : undefined;
    try {
      tasked = this.#tasked(incoming, context);
      const running = tasked ?? this.#parts.methods.run(method, params, context);
      if (!running) throw unknownMethod(method);
      return isPromise(running)
        ? new Promise((resolve) => {
          stopped = resolve;
          running.then((plain) => resolve(finish(plain))).catch((error) => resolve(fail(error)));
          // It may have been called off while it began.
          if (!context.open) stopped();
        })
        : finish(running);
    } catch (error) {
      return fail(error);
    }
  }

  #failure({ message: { id, method } }: Incoming, error: unknown): Answer {
    return errorAnswer(error, { id, method, revision: this.revision }, this.#parts.logger);
  }
}

function newest(): Revision {
  return legacyRevisions[0] as Revision;
}

function refused(message: string): InvalidRequestError {
  return new InvalidRequestError(message, { rpcCode: -32600 });
}
