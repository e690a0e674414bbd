/**
 * A Worker with an object that keeps runs, for workerd alone, to be killed. Where it is told a point, it says so there and stands
 * still, until it is killed.
 */
import { createObjectRuns } from "../../../../src/agent/mod.ts";
import type { ObjectAlarm, ObjectRuns } from "../../../../src/agent/mod.ts";
import { createObjectDatabase, type ObjectSqlStorage } from "../../../../src/runtime/sql/object_database.ts";
import { meddleWith } from "../support/database.ts";
import { findPoints, type Point } from "../support/points.ts";
import { createScriptedAgent } from "../support/scripted_agent.ts";
import { callLedger, rounds, version } from "./plan.ts";

interface Env {
  readonly RUNS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
  readonly LEDGER: string;
  readonly POINT: string;
  readonly NTH: string;
  readonly SECRET: string;
}

interface State {
  readonly storage: ObjectSqlStorage & ObjectAlarm & { sync(): Promise<void> };
  abort(reason: string): void;
}

/** The object. */
export class RunsObject {
  readonly #state: State;
  readonly #runs: ObjectRuns;
  #left: number;

  constructor(state: State, { LEDGER, POINT, NTH, SECRET }: Env) {
    this.#state = state;
    this.#left = Number(NTH);
    const reached = (point: Point): void => {
      if (point !== POINT || --this.#left !== 0) return;
      console.log(`POINT ${point}`);
      for (;;);
    };
    const database = createObjectDatabase(state.storage);
    const finder = findPoints((point) => {
      // Written, and not on the disk yet: the call and the alarm see to these two.
      if (point !== "after the intent" && point !== "alarm arm") reached(point);
    });
    const watched = meddleWith(database, finder);
    const call = async (key: string, signal: AbortSignal): Promise<string> => {
      if (POINT === "after the intent") {
        await state.storage.sync();
        reached("after the intent");
      }
      const answer = callLedger(LEDGER, key, signal);
      if (POINT === "during the call") setTimeout(() => reached("during the call"), 4);
      return await answer;
    };
    const agent = createScriptedAgent({ rounds, askAfter: 3, call, isLonger: version > 1 });
    const { storage } = state;
    this.#runs = createObjectRuns({
      database: watched,
      ...SECRET === "" ? {} : { secret: SECRET },
      storage: {
        getAlarm: () => storage.getAlarm(),
        deleteAlarm: () => storage.deleteAlarm(),
        async setAlarm(time) {
          await storage.setAlarm(time);
          reached("alarm arm");
        },
      },
      agents: { agent },
      watchdog: 1_000,
      // More processes die here than in a run of anybody's.
      limits: { resumes: 1_000 },
      logger: ({ message, fields }) => console.log(message, JSON.stringify(fields)),
    });
  }

  /** `start`, `get`, `events` and `answer` by their paths, with the run's id. */
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const id = searchParams.get("id") ?? "";
    if (pathname === "/evict") this.#state.abort("evicted");
    if (pathname === "/start") {
      return Response.json(await this.#runs.start({ agent: "agent", principal: "ada", input: "go", id }));
    }
    if (pathname === "/answer") {
      const run = await this.#runs.get(id);
      for (const { id: question } of run?.questions ?? []) await this.#runs.answer(id, question, { action: "accept" });
      return Response.json(run ?? null);
    }
    if (pathname === "/events") {
      const events: unknown[] = [];
      for await (const event of this.#runs.events(id)) events.push(event);
      return Response.json(events);
    }
    return Response.json(await this.#runs.get(id) ?? null);
  }

  alarm(): Promise<void> {
    return this.#runs.alarm();
  }
}

export default {
  fetch(request: Request, { RUNS }: Env): Promise<Response> {
    return RUNS.get(RUNS.idFromName("runs")).fetch(request);
  },
};
