/**
 * The Worker of the runner: it lets callers in and hands what they ask to the object of their tenant. `wrangler deploy` deploys it.
 *
 * @module
 */
import { createDashboard, createRunner, createSealedSessions } from "../src/runner/mod.ts";
import type { Runner } from "../src/runner/mod.ts";
import { sendBack, sendToTenant } from "./tenant/door.ts";
import { secretOf } from "./env.ts";
import type { RunnerEnv } from "./env.ts";
import { DirectCalls } from "./direct/direct_calls.ts";
import { audit, logger } from "./operator/log.ts";
import { namesOf } from "./names.ts";
import { offered } from "./offered.ts";
import { Operator } from "./operator/operator.ts";
import { startBatch, startDue } from "./operator/starts.ts";
import { createTokens } from "./operator/tokens.ts";
import type { OrderMessage } from "./operator/starts.ts";
import { TenantObject } from "./tenant_object.ts";
import { tenantRoutes } from "./tenant/routes.ts";

export { TenantObject };
export type { RunnerEnv };

/** What the runtime calls. */
export interface RunnerWorker {
  /** Answers one request. */
  fetch(request: Request, env: RunnerEnv): Promise<Response>;
  /** Starts what is due by the clock. */
  scheduled(event: { readonly cron: string; readonly scheduledTime: number }, env: RunnerEnv): Promise<void>;
  /** Starts what waits in the queue. */
  queue(batch: { readonly messages: readonly OrderMessage[] }, env: RunnerEnv): Promise<void>;
}

const worker: RunnerWorker = createWorker();
export default worker;

function createWorker(): RunnerWorker {
  // One for the life of the isolate: it keeps nothing of a request, and the config for some seconds.
  let front: { readonly runner: Runner; readonly operator: Operator } | undefined;
  const open = (env: RunnerEnv): NonNullable<typeof front> => front ??= openFront(env);
  return {
    async fetch(request, env) {
      try {
        return await open(env).runner.fetch(request);
      } catch (error) {
        // Only what is not set up comes here.
        logger({ level: "error", message: "The runner cannot be set up", fields: { error } });
        const body = { type: "about:blank", title: "Not set up", status: 500, code: "not_set_up" };
        const headers = { "content-type": "application/problem+json" };
        return new Response(JSON.stringify({ ...body, detail: "The runner is not set up: see its log" }), {
          status: 500,
          headers,
        });
      }
    },
    scheduled: (event, env) => startDue(event, { env, operator: open(env).operator }),
    queue: ({ messages }, env) => startBatch(messages, env),
  };
}

/** @throws {TypeError} When a setting is missing or makes no sense. */
function openFront(env: RunnerEnv): { readonly runner: Runner; readonly operator: Operator } {
  const secret = secretOf(env);
  const operator = new Operator(env, logger);
  const direct = new DirectCalls(env, operator);
  const runner = createRunner({
    ...namesOf(env),
    access: {
      keys: operator.keys,
      policy: operator.policy,
      sessions: createSealedSessions({ secret }),
      tokens: createTokens(env, logger),
      // Of what is decided here; what is sent on is written down in the object.
      audit,
    },
    agents: offered,
    quotas: (tenant) => operator.quotas(tenant),
    forward: (call) => call.way === undefined ? sendBack(call.request, env) : sendToTenant(call, env),
    direct: (call) => direct.lease(call),
    // What is about a tenant is answered in the object: these rows are its place in the table. The page is answered here.
    routes: [
      ...tenantRoutes(() => Promise.reject(new TypeError("Nothing of a tenant is kept here"))),
      ...createDashboard(),
    ],
    logger,
  });
  return { runner, operator };
}
