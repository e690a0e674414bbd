/**
 * A tenant as a Durable Object: its servers, its runs and all that is kept of it. Nothing of one tenant is in another's object.
 *
 * @module
 */
import type { RunnableAgent } from "../src/agent/loop/seam.ts";
import type { ObjectAlarm, ObjectRuns } from "../src/agent/runs/object_runs.ts";
import { objectName, principalOf, Refusal, tenantOfHandedOver } from "../src/runner/mod.ts";
import { closing, problemReply } from "../src/runner/rest/problem.ts";
import { agentBegunBy } from "../src/runner/tenants/agents.ts";
import { createObjectDatabase } from "../src/runtime/sql/object_database.ts";
import type { ObjectSqlStorage } from "../src/runtime/sql/object_database.ts";
import { secretOf } from "./env.ts";
import type { RunnerEnv } from "./env.ts";
import { directHeader, tenantOfDirect } from "./direct/loan.ts";
import { logger } from "./operator/log.ts";
import { offered } from "./offered.ts";
import { Operator } from "./operator/operator.ts";
import type { RoomParts, RoomStorage, TenantRoom } from "./tenant/room.ts";

/** The part of a Durable Object's state that is used. */
export interface TenantState {
  readonly id: { toString(): string };
  readonly storage: RoomStorage & ObjectSqlStorage & ObjectAlarm & {
    readonly sql: { readonly databaseSize: number };
    deleteAll(): Promise<void>;
  };
  blockConcurrencyWhile<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** Under this name the object knows whose it is. */
const tenantKey = "tenant";

/** The object: the class that `wrangler.toml` names. */
export class TenantObject {
  readonly #state: TenantState;
  readonly #env: RunnerEnv;
  readonly #operator: Operator;
  #tenant: string | undefined;
  #runs: ObjectRuns | undefined;
  #room: { readonly text: string; readonly opened: Promise<TenantRoom> } | undefined;
  /** The tenant is being forgotten: nobody else is let in. */
  #isEnding = false;

  constructor(state: TenantState, env: RunnerEnv) {
    this.#state = state;
    this.#env = env;
    this.#operator = new Operator(env, logger);
    void state.blockConcurrencyWhile(async () => {
      const tenant = await state.storage.get(tenantKey);
      if (typeof tenant === "string") await this.#begin(tenant);
    });
  }

  /** Answers one request of the tenant's: signed by the Worker, or of a person who comes back from signing in; or of the Worker's own. */
  async fetch(request: Request): Promise<Response> {
    try {
      return await this.#answer(request);
    } catch (error) {
      if (error instanceof Refusal) return problemReply(error, undefined);
      throw error;
    }
  }

  /** Goes on with the runs. */
  async alarm(): Promise<void> {
    await this.#runs?.alarm();
  }

  async #answer(request: Request): Promise<Response> {
    const direct = request.headers.get(directHeader);
    const tenant = direct === null
      ? await tenantOfHandedOver(request, { secret: secretOf(this.#env) })
      : await tenantOfDirect(direct, this.#env);
    if (tenant !== undefined && this.#tenant === undefined) await this.#settle(tenant);
    const isOwn = tenant === undefined
      ? direct === null && new URL(request.url).pathname === "/oauth/callback"
      : tenant === this.#tenant;
    if (this.#tenant === undefined || !isOwn) return new Response(null, { status: 404 });
    const room = await this.#open();
    return await (direct === null ? room.fetch(request) : room.lend(request));
  }

  /** Takes a tenant in whose name it is: only the holder of the secret can name one. */
  async #settle(tenant: string): Promise<void> {
    const { TENANTS } = this.#env;
    const id = TENANTS.idFromName(await objectName(secretOf(this.#env), tenant, "tenant"));
    if (id.toString() !== this.#state.id.toString()) return;
    await this.#state.storage.put(tenantKey, tenant);
    if (this.#tenant === undefined) await this.#begin(tenant);
  }

  /** What only an object needs is loaded here: an isolate that lets callers in does not read it. */
  async #begin(tenant: string): Promise<void> {
    const { createObjectRuns } = await import("../src/agent/runs/object_runs.ts");
    if (this.#tenant !== undefined) return;
    this.#tenant = tenant;
    const { storage } = this.#state;
    const watchdog = Number(this.#env.WATCHDOG) || undefined;
    this.#runs = createObjectRuns({
      database: createObjectDatabase(storage),
      storage,
      agents: (name, { principal }) =>
        offered.some((agent) => agent.name === name) ? this.#agent(name, principal) : undefined,
      logger,
      secret: secretOf(this.#env),
      tenant,
      ...(watchdog !== undefined && { watchdog }),
    });
  }

  /**
   * The room, by the config as it is now: when its servers are others, it is made anew.
   *
   * @throws {Refusal} 503 when the tenant is being forgotten: who comes again begins a new one.
   */
  async #open(): Promise<TenantRoom> {
    const tenant = this.#tenant;
    const runs = this.#runs;
    if (tenant === undefined || !runs) throw new Refusal(404, "not_found", "There is no such tenant");
    const settings = (await this.#operator.config()).tenant(tenant);
    // A room that is made now would stay with runs that are closed.
    this.#check(runs);
    const current = this.#room;
    if (current?.text === settings.text) return await current.opened;
    const parts = { env: this.#env, operator: this.#operator, storage: this.#state.storage, tenant, settings, runs };
    const opened = openRoom({ ...parts, forget: () => this.#forget(runs) });
    const room = this.#room = { text: settings.text, opened };
    opened.catch(() => {
      if (this.#room === room) this.#room = undefined;
    });
    void current?.opened.then((old) => old.retire()).catch(() => {});
    return await opened;
  }

  /** An agent that is made when its run begins: while the config cannot be read the run waits. */
  #agent(name: string, owner: string): RunnableAgent {
    return agentBegunBy(name, async () => {
      const principal = principalOf(owner, this.#tenant ?? "");
      return await (await this.#open()).begin(name, principal);
    });
  }

  /** @throws {Refusal} 503 when what was begun with these runs has ended, or ends. */
  #check(runs: ObjectRuns): void {
    if (this.#isEnding || this.#runs !== runs) throw closing("The tenant is being forgotten");
  }

  /** Ends the tenant whose runs these are. When it fails, it is asked for again. */
  async #forget(runs: ObjectRuns): Promise<void> {
    const { storage } = this.#state;
    this.#check(runs);
    this.#isEnding = true;
    try {
      const room = await this.#room?.opened;
      await room?.forget();
      try {
        // Who has come in before finds the runner closed, and then the runs.
        await room?.close();
        await runs.close();
      } finally {
        // What is closed serves nobody. From here on there are steps of the storage alone: while one is waited for nobody is let in.
        this.#room = undefined;
        this.#runs = undefined;
        this.#tenant = undefined;
      }
      await storage.deleteAlarm();
      await storage.deleteAll();
    } finally {
      this.#isEnding = false;
    }
  }
}

async function openRoom(parts: RoomParts): Promise<TenantRoom> {
  const { TenantRoom } = await import("./tenant/room.ts");
  return await TenantRoom.open(parts);
}
