/**
 * What the runner's Worker is given: bindings, variables and secrets.
 *
 * @module
 */
import type { WorkersAiBinding } from "../src/agent/mod.ts";
import type { KvNamespace } from "../src/runtime/stores/kv_store.ts";
import type { R2Bucket } from "../src/runtime/stores/r2_store.ts";
import type { NamesEnv } from "./names.ts";

/** What the operator sets. */
export interface RunnerEnv extends NamesEnv {
  /** The objects of tenants: one for each. */
  readonly TENANTS: TenantNamespace;
  /** The operator's config, under `config`, and API keys. */
  readonly CONFIG: KvNamespace;
  /** Results that are too large for a model, whole (sealed, in the object of the tenant). */
  readonly RESULTS?: R2Bucket | undefined;
  /** Models of Workers AI (none). */
  readonly AI?: WorkersAiBinding | undefined;
  /** Starts of runs that wait (they are made at once). */
  readonly STARTS?: OrderQueue | undefined;
  /** Starts of runs that were refused for good (the queue's own). */
  readonly DEAD_LETTERS?: OrderQueue | undefined;
  /** Names objects, signs who asks, seals what is kept, runs too (flag `nodejs_compat`): a secret of 32 characters or more. With another one all tenants begin anew. */
  readonly RUNNER_SECRET?: string | undefined;
  /** The operator's config where KV has none: for a first deployment, and for tests. */
  readonly CONFIG_JSON?: string | undefined;
  /** Where the Worker is: `https://runner.example.com`. Without it nobody can sign in to servers. */
  readonly PUBLIC_URL?: string | undefined;
  /** Whose signed access tokens are taken, beside API keys: `https://auth.example.com` (none are). They are meant for `PUBLIC_URL` and `/mcp`. */
  readonly TOKEN_ISSUER?: string | undefined;
  /** The claim of a token that says whose tenant's caller it is. */
  readonly TOKEN_TENANT_CLAIM?: string | undefined;
  /** What tokens are meant for, where the issuer has another name for this runner. */
  readonly TOKEN_AUDIENCE?: string | undefined;
  /** What tokens look like: `rfc9068` (the default), or `jwt` for issuers that do not know it. */
  readonly TOKEN_PROFILE?: string | undefined;
  /** Which model of Workers AI (`@cf/meta/llama-3.3-70b-instruct-fp8-fast`). */
  readonly AI_MODEL?: string | undefined;
  /** The key of an endpoint with OpenAI's chat completions: a secret. */
  readonly OPENAI_API_KEY?: string | undefined;
  /** Where that endpoint is (OpenAI's own). */
  readonly OPENAI_BASE_URL?: string | undefined;
  /** Which of its models. */
  readonly OPENAI_MODEL?: string | undefined;
  /** Within how many milliseconds runs go on after a fault (5000). */
  readonly WATCHDOG?: string | undefined;
}

/** The part of a Durable Object namespace that is used. */
export interface TenantNamespace {
  idFromName(name: string): { toString(): string };
  get(id: unknown): { fetch(request: Request): Promise<Response> };
}

/** The part of a queue's producer that is used. */
export interface OrderQueue {
  send(message: unknown): Promise<unknown>;
}

/** The secret, or why there is none. */
export function secretOf({ RUNNER_SECRET = "" }: RunnerEnv): string {
  if (RUNNER_SECRET.length >= 32) return RUNNER_SECRET;
  throw new TypeError(
    `RUNNER_SECRET has ${RUNNER_SECRET.length} characters, expected 32 or more: wrangler secret put RUNNER_SECRET`,
  );
}
