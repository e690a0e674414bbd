/**
 * What the Worker and the object of a tenant say to each other, so that tools are called without a way through the object: the Worker
 * borrows a part of the quotas and the tools that it may call, and leaves large results with the object.
 *
 * @module
 */
import type { CatalogServer } from "../../src/hub/seam.ts";
import { isSameText } from "../../src/runner/access/keys.ts";
import { objectName } from "../../src/runner/mod.ts";
import type { Allowance } from "../../src/runner/mod.ts";
import { secretOf } from "../env.ts";
import type { RunnerEnv } from "../env.ts";
import { objectOf } from "../tenant/door.ts";

/** How long a loan is good, in milliseconds. */
export const loanTime = 10_000;

/** What a Worker asks. */
export type DirectRequest =
  | {
    readonly ask: "lend";
    /** So much at most. */
    readonly wanted: Allowance;
    /** What of the loan before was not used. */
    readonly left: Pick<Allowance, "requests" | "bytes">;
    /** The version of the tools that it has. */
    readonly known: string | undefined;
  }
  | { readonly ask: "get" | "delete"; readonly key: string }
  | { readonly ask: "set"; readonly key: string; readonly value: string };

/** What is lent. */
export interface Loan {
  readonly allowance: Allowance;
  /** The hash of what the servers are set up with: with other settings it is good for nothing. */
  readonly settings: string;
  /** Names the state of `tools`. */
  readonly version: string;
  /** Missing when the Worker has this version. */
  readonly tools?: DirectTools;
}

/** Tools that can be called without the object. */
export interface DirectTools {
  readonly servers: readonly CatalogServer[];
  /** What they are called among all tools of the tenant: name, server, name at the server. */
  readonly names: readonly (readonly [string, string, string])[];
}

/** Nothing. */
export const nothingLent: Allowance = { requests: 0, bytes: 0, concurrent: 0 };

/** The header that proves that the Worker asks. What a caller sends in it proves nothing. */
export const directHeader = "causeway-direct";

/** How long a proof is good, in milliseconds. */
const proofTime = 60_000;

/**
 * Asks the object of a tenant.
 *
 * @returns Its JSON.
 * @throws {Error} When it does not answer as it should.
 */
export async function askTenant(env: RunnerEnv, tenant: string, asked: DirectRequest): Promise<unknown> {
  const until = Date.now() + proofTime;
  const proof = await proofOf(secretOf(env), tenant, until);
  const object = await objectOf(env, tenant);
  const response = await object.fetch(
    new Request("http://tenant/direct", {
      method: "POST",
      headers: { [directHeader]: `${until}.${proof}.${encodeURIComponent(tenant)}` },
      body: JSON.stringify(asked),
    }),
  );
  if (response.ok) return await response.json();
  await response.body?.cancel();
  throw new Error(`The object of the tenant answered ${response.status}`);
}

/** For which tenant the Worker asks; undefined when it does not. */
export async function tenantOfDirect(given: string, env: RunnerEnv): Promise<string | undefined> {
  // A tenant may have dots in its name.
  const [, until = "", proof = "", name = ""] = /^(\d{1,16})\.([^.]*)\.(.*)$/.exec(given) ?? [];
  if (!(Number(until) > Date.now())) return undefined;
  const tenant = decoded(name);
  if (tenant === undefined) return undefined;
  return isSameText(proof, await proofOf(secretOf(env), tenant, Number(until))) ? tenant : undefined;
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** No object has such a name: a proof is good for nothing else. */
function proofOf(secret: string, tenant: string, until: number): Promise<string> {
  return objectName(secret, tenant, `direct until ${until}`);
}
