/**
 * The object of a tenant over a database in memory, with one server in the place of the network.
 *
 * @module
 */
import { handOver, objectName } from "../../../src/runner/mod.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import type { RunnerEnv } from "../../../workers/env.ts";
import { TenantObject, type TenantState } from "../../../workers/tenant_object.ts";
import { openAnyDatabase } from "../../agent/runs/support/database.ts";
import { gate } from "../../server/http/support.ts";

const secret = "a secret of at least thirty-two characters";
const tenant = "acme";

/** Where something waits until a test lets it go on. */
export interface Stop {
  /** Resolves when somebody has come to it. */
  readonly reached: Promise<void>;
  /** Lets them go on. */
  go(): void;
}

interface Barrier extends Stop {
  pass(): Promise<void>;
}

/** An object, and what is behind it. Until it is disposed of, all that is fetched goes to its server. */
export class PlayedObject implements AsyncDisposable {
  readonly object: TenantObject;
  readonly #dispose: () => void;
  #leaving: Barrier | undefined;
  #config: Barrier | undefined;
  /** How far the time of day is ahead, in milliseconds. */
  #ahead = 0;

  private constructor(state: TenantState, dispose: () => void) {
    const fetch = globalThis.fetch;
    const now = Date.now;
    const server = new McpServer({ name: "data", version: "1.0.0" });
    server.tool("look", {}, () => "seen");
    const handler = createHandler(server, { eras: ["legacy"], allowedHosts: "*" });
    globalThis.fetch = Object.assign(async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const request = new Request(input, init);
      if (request.method === "DELETE") await this.#leaving?.pass();
      return await handler(request);
    }, fetch);
    Date.now = () => now() + this.#ahead;
    this.#dispose = () => {
      globalThis.fetch = fetch;
      Date.now = now;
      dispose();
    };
    this.object = new TenantObject(state, this.#env());
  }

  static async open(): Promise<PlayedObject> {
    const database = await openAnyDatabase(":memory:");
    const rows = new Map<string, unknown>();
    let alarm: number | null = null;
    const cell = (value: string | number | null | ArrayBuffer) =>
      value instanceof ArrayBuffer ? new Uint8Array(value) : value;
    const storage: TenantState["storage"] = {
      get: (key) => Promise.resolve(rows.get(key)),
      put: (key, value) => Promise.resolve(void rows.set(key, value)),
      delete: (key) => Promise.resolve(rows.delete(key)),
      getAlarm: () => Promise.resolve(alarm),
      setAlarm: (at) => Promise.resolve(void (alarm = at)),
      deleteAlarm: () => Promise.resolve(void (alarm = null)),
      async deleteAll() {
        await Promise.resolve();
        rows.clear();
        const tables = database.all("select name from sqlite_master where type = 'table' and name not like 'sqlite%'");
        for (const { name } of tables) database.run(`drop table "${name}"`);
      },
      sql: {
        databaseSize: 0,
        exec: (sql, ...parameters) => ({
          toArray: () => database.all(sql, ...parameters.map(cell)) as Record<string, string | number | null>[],
        }),
      },
      // What is given is no promise: it was looked at.
      transactionSync: (work) => database.transaction(work as () => never),
    };
    const id = await objectName(secret, tenant, "tenant");
    const state: TenantState = { id, storage, blockConcurrencyWhile: (work) => work() };
    return new PlayedObject(state, () => database.close?.());
  }

  /** From now on whoever leaves the server waits there. */
  stopLeaving(): Stop {
    return this.#leaving = barrier();
  }

  /** The next one who needs the config waits for it: what was read of it before is old. */
  stopConfig(): Stop {
    this.#ahead += 6_000;
    return this.#config = barrier();
  }

  /** Asks as somebody of the tenant. */
  async ask(method: string, path: string, body?: object): Promise<Response> {
    const headers = { "content-type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const request = new Request(`https://runner.example.com${path}`, init);
    const principal = { id: "ada", tenant };
    return await this.object.fetch(await handOver({ request, principal, tenant }, { secret }));
  }

  /** Starts a run. */
  async start(): Promise<Response> {
    return await this.ask("POST", "/api/runs", { agent: "helper", input: "say: hello" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving?.go();
    this.#config?.go();
    await this.ask("DELETE", "/api/tenant");
    this.#dispose();
  }

  #env(): RunnerEnv {
    const config = { rules: [{ effect: "allow" }], servers: { data: { url: "https://data.example.com/mcp" } } };
    const nobody = { fetch: () => Promise.reject(new Error("there is no other object")) };
    return {
      RUNNER_SECRET: secret,
      CONFIG_JSON: JSON.stringify(config),
      TENANTS: { idFromName: (name) => name, get: () => nobody },
      CONFIG: {
        get: async () => {
          const stop = this.#config;
          this.#config = undefined;
          await stop?.pass();
          return null;
        },
        put: () => Promise.resolve(),
        delete: () => Promise.resolve(),
      },
    };
  }
}

function barrier(): Barrier {
  const [reached, free] = [gate(), gate()];
  return {
    reached: reached.promise,
    go: () => free.open(),
    pass() {
      reached.open();
      return free.promise;
    },
  };
}
