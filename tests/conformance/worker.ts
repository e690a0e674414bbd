/**
 * The conformance client in a Worker: a request brings the run as JSON; the answer is 204, or 500 with what went wrong.
 * `tests/hosts/conformance_worker.ts` is the program around it.
 */
import { connect } from "../../src/entry/workers.ts";
import { runScenario } from "./scenarios.ts";
import type { ScenarioRun } from "./run.ts";

const worker: { fetch(request: Request): Promise<Response> } = {
  async fetch(request) {
    try {
      const run: ScenarioRun = await request.json();
      await runScenario(connect, run);
      return new Response(null, { status: 204 });
    } catch (error) {
      return new Response(error instanceof Error ? error.stack ?? error.message : String(error), { status: 500 });
    }
  },
};

export default worker;
