/**
 * One legacy session as a Durable Object: what lasts of it is kept, so that the session outlives the memory of the object.
 *
 * @module
 */
import { randomHex, systemRandom } from "../src/ports.ts";
import { workersLimits } from "../src/protocol/limits.ts";
import { createObjectStore } from "../src/runtime/stores/object_store.ts";
import type { ObjectStorage } from "../src/runtime/stores/object_store.ts";
import { createHandler, createSessionStore } from "../src/server/mod.ts";
import type { Handler, SessionStore } from "../src/server/mod.ts";
import { createSample } from "./sample.ts";
import { createAuth } from "./auth.ts";
import { namesOf } from "./names.ts";
import type { NamesEnv } from "./names.ts";

/** What the operator sets. */
export interface ServerEnv extends NamesEnv {
  /** Seals what modern clients carry between the rounds of one call, at least 16 characters: a secret. */
  readonly STATE_SECRET?: string;
  /** The objects of the legacy sessions. */
  readonly SESSIONS: SessionNamespace;
  /** The objects of the WebSockets: one for each. */
  readonly SOCKETS: SessionNamespace;
}

/** The part of a Durable Object namespace that is used. */
export interface SessionNamespace {
  newUniqueId(): unknown;
  idFromString(id: string): unknown;
  get(id: unknown): { fetch(request: Request): Promise<Response> };
}

/** The part of a Durable Object's state that is used. */
interface ObjectState {
  readonly id: { toString(): string };
  readonly storage: ObjectStorage & {
    setAlarm(time: number): Promise<void>;
    deleteAlarm(): Promise<void>;
    deleteAll(): Promise<void>;
  };
}

/** How long a session may be idle, in milliseconds: the alarm forgets it. */
const idle = 1_800_000;
/** How often the alarm is put off at most, in milliseconds: each time is a write. */
const alarmPause = 60_000;

/** The object: the class that `workers/server.toml` names. */
export class SessionObject {
  readonly #state: ObjectState;
  readonly #env: ServerEnv;
  readonly #store: SessionStore;
  #handler: Handler | undefined;
  #alarm = 0;
  /** Requests that have no answer yet, and streams that are open. */
  #underWay = 0;

  constructor(state: ObjectState, env: ServerEnv) {
    this.#state = state;
    this.#env = env;
    // Nobody else serves this session: what was read once is good.
    this.#store = createSessionStore(createObjectStore(state.storage), { fresh: Infinity });
  }

  /** Answers one request of the session. */
  async fetch(request: Request): Promise<Response> {
    this.#underWay++;
    try {
      const response = await this.#serve()(request);
      if (!response.ok) return response;
      if (request.method === "DELETE") await this.#forget();
      else await this.#putOff();
      return this.#watched(response);
    } finally {
      this.#underWay--;
    }
  }

  /** The session was idle for too long, unless something of it is under way. */
  async alarm(): Promise<void> {
    if (this.#underWay > 0) await this.#state.storage.setAlarm(Date.now() + idle);
    else await this.#forget();
  }

  /** The same reply; while a stream goes on, the session is in use. */
  #watched(response: Response): Response {
    const reader = response.headers.get("content-type") === "text/event-stream" && response.body?.getReader();
    if (!reader) return response;
    this.#underWay++;
    let open = true;
    const end = (): void => {
      if (open) this.#underWay--;
      open = false;
    };
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          end();
          controller.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    }, { highWaterMark: 0 });
    return new Response(body, response);
  }

  #serve(): Handler {
    return this.#handler ??= createHandler(createSample(), {
      ...namesOf(this.#env),
      auth: createAuth(this.#env),
      eras: ["legacy"],
      limits: workersLimits,
      sessions: { max: 1, idle, newId: () => this.#newId(), store: this.#store },
    });
  }

  /** The first part finds the object, the second is known to the client alone. */
  #newId(): string {
    return `${this.#state.id}.${randomHex(systemRandom, 16)}`;
  }

  async #putOff(): Promise<void> {
    const now = Date.now();
    if (now - this.#alarm < alarmPause) return;
    this.#alarm = now;
    try {
      await this.#state.storage.setAlarm(now + idle);
    } catch {
      // What was asked has been done: the next request tries again.
      this.#alarm = 0;
    }
  }

  async #forget(): Promise<void> {
    this.#handler?.close();
    this.#handler = undefined;
    this.#alarm = 0;
    await this.#state.storage.deleteAlarm();
    await this.#state.storage.deleteAll();
  }
}
