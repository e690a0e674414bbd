/**
 * The ways to a tenant's object: by who asks, and by where a person comes back to.
 *
 * @module
 */
import { handOver, objectName } from "../../src/runner/mod.ts";
import type { HandedOverCall } from "../../src/runner/mod.ts";
import { isSameText } from "../../src/runner/access/keys.ts";
import { Refusal } from "../../src/runner/rest/problem.ts";
import { secretOf } from "../env.ts";
import type { RunnerEnv, TenantNamespace } from "../env.ts";

/** Sends a call to the object of its tenant, signed. */
export async function sendToTenant(call: HandedOverCall, env: RunnerEnv): Promise<Response> {
  const object = await objectOf(env, call.tenant);
  return await object.fetch(await handOver(call, { secret: secretOf(env) }));
}

/** The object of a tenant: whoever does not know the secret cannot name it. */
export async function objectOf(env: RunnerEnv, tenant: string): Promise<ReturnType<TenantNamespace["get"]>> {
  const name = await objectName(secretOf(env), tenant, "tenant");
  return env.TENANTS.get(env.TENANTS.idFromName(name));
}

/** Where a person comes back to a tenant from signing in: it tells the object, which tells nothing of the tenant. */
export async function callbackOf(
  env: RunnerEnv,
  tenant: string,
): Promise<{ readonly name: string; readonly redirectUri: string }> {
  const secret = secretOf(env);
  const name = await objectName(secret, tenant, "tenant");
  const redirectUri = `${env.PUBLIC_URL?.replace(/\/+$/, "")}/oauth/callback?to=${name}.${await proofOf(secret, name)}`;
  return { name, redirectUri };
}

/**
 * Sends a person who comes back to the object that they began at.
 *
 * @throws {Refusal} 400 when the address is none of {@linkcode callbackOf}: no object is woken.
 */
export async function sendBack(request: Request, env: RunnerEnv): Promise<Response> {
  const [name = "", proof = ""] = (new URL(request.url).searchParams.get("to") ?? "").split(".");
  if (!isSameText(proof, await proofOf(secretOf(env), name))) {
    throw new Refusal(400, "sign_in_unknown", "Nobody waits for this sign-in: its address is not whole");
  }
  return await env.TENANTS.get(env.TENANTS.idFromName(name)).fetch(request);
}

function proofOf(secret: string, name: string): Promise<string> {
  return objectName(secret, name, "callback");
}
