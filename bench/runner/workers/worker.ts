/** The runner's Worker as it is deployed, with a config in memory in the place of KV. */
import worker, { TenantObject as Tenant } from "../../../workers/runner.ts";
import type { RunnerEnv } from "../../../workers/runner.ts";
import { type Env as Settings, quotas, rules } from "./parts.ts";

type Env = RunnerEnv & Settings;

/** The object of a tenant. */
export class TenantObject extends Tenant {
  constructor(state: ConstructorParameters<typeof Tenant>[0], env: Env) {
    super(state, filled(env));
  }
}

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    return worker.fetch(request, filled(env));
  },
};

let kept: Env | undefined;

function filled(env: Env): Env {
  return kept ??= {
    ...env,
    RUNNER_SECRET: "0123456789abcdef0123456789abcdef",
    CONFIG: { get: () => Promise.resolve(null), put: () => Promise.resolve(), delete: () => Promise.resolve() },
    CONFIG_JSON: JSON.stringify({
      keys: [{ hash: env.KEY_HASH, principal: "ada", tenant: "acme" }],
      rules,
      quotas,
      servers: { up: { url: env.UPSTREAM } },
    }),
  };
}
