/**
 * Requests on their way from the runner that let their callers in to the one in the tenant's object, which decides again.
 *
 * @module
 */
import type { Caller } from "./access.ts";
import { type EnvelopeOptions, readAccess, signAccess } from "./envelope.ts";
import type { Principal } from "./types.ts";

/** The header that says who asks. What a caller sends in it is overwritten. */
const accessHeader = "causeway-access";
const tenantHeader = "causeway-tenant";

/** Who asks for what: a call of a runner's route fits. */
export interface HandedOverCall {
  /** The request as it came. */
  readonly request: Request;
  /** Who asks. */
  readonly principal: Principal;
  /** For whose tenant. */
  readonly tenant: string;
  /** How it showed who it is (`key`). */
  readonly way?: Caller["way"] | undefined;
  /** The hash of the API key that it has shown: with it `access.keys` beside `handedOver` can see that it was withdrawn (none). */
  readonly key?: string | undefined;
  /** The request's id (a new one). */
  readonly requestId?: string | undefined;
}

/**
 * Makes the request that an object of the tenant is sent: signed, for a minute, and without the caller's key or token (a cookie goes along: what it may do depends on the page).
 *
 * @throws {RangeError} When the secret is shorter than 16 bytes.
 *
 * @example From a Worker to the object of a tenant
 * ```ts
 * import { createHandedOver, handOver } from "@causeway/mcp/runner";
 *
 * const secret = "a secret of 16 bytes or more";
 * const request = new Request("http://localhost/api/tools", { headers: { authorization: "Bearer a key" } });
 * const principal = { id: "ada", tenant: "acme" };
 * const handed = await handOver({ request, principal, tenant: "acme" }, { secret });
 * console.assert(handed.headers.get("authorization") === null);
 * const caller = await createHandedOver({ secret, tenant: "acme" }).find(handed);
 * console.assert(caller?.principal.id === "ada");
 * ```
 */
export async function handOver(call: HandedOverCall, options: EnvelopeOptions): Promise<Request> {
  const { request, principal, tenant, way, key, requestId } = call;
  const headers = new Headers(request.headers);
  headers.delete("authorization");
  headers.set(accessHeader, await signAccess({ principal, tenant, way, key }, options));
  if (tenant === principal.tenant) headers.delete(tenantHeader);
  else headers.set(tenantHeader, tenant);
  if (requestId !== undefined) headers.set("x-request-id", requestId);
  return new Request(request, { headers });
}

/** For which tenant a request was handed over; undefined when it was not, or too late. */
export async function tenantOfHandedOver({ headers }: Request, options: EnvelopeOptions): Promise<string | undefined> {
  return (await readAccess(headers.get(accessHeader), options))?.tenant;
}

/**
 * Finds who asks in requests of {@linkcode handOver}: the `handedOver` of a runner's `access`. Requests for another tenant, from
 * elsewhere or of more than a minute ago are nobody's.
 *
 * @param options `tenant` is the one whose object this is.
 * @throws {RangeError} When the secret is shorter than 16 bytes (by `find`).
 */
export function createHandedOver(
  options: EnvelopeOptions & { readonly tenant: string },
): { find(request: Request): Promise<Caller | undefined> } {
  return {
    async find({ headers }) {
      const envelope = await readAccess(headers.get(accessHeader), options);
      const { principal, tenant, way = "key", key } = envelope ?? {};
      if (!principal || tenant !== options.tenant) return undefined;
      // What the routes take for the tenant is what was signed.
      return (headers.get(tenantHeader) ?? principal.tenant) === tenant ? { principal, way, key } : undefined;
    },
  };
}
