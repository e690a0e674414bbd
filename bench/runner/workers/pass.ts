/** The bare Hono proxy in a Durable Object: what the way there and back costs by itself. */
import proxy from "./proxy.ts";

interface Env {
  readonly UPSTREAM: string;
  readonly TENANTS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

/** The object. */
export class TenantObject {
  readonly #env: Env;

  constructor(_: unknown, env: Env) {
    this.#env = env;
  }

  async fetch(request: Request): Promise<Response> {
    return await proxy.fetch(request, this.#env);
  }
}

export default {
  fetch(request: Request, { TENANTS }: Env): Promise<Response> {
    return TENANTS.get(TENANTS.idFromName("acme")).fetch(request);
  },
};
