/**
 * Tokens for a program whose platform says who it is: the jwt-bearer grant (RFC 7523, section 2.1; SEP-1933).
 *
 * @module
 */
import type { Grant, OAuthClient } from "../seam.ts";
import { checkClient } from "./check_client.ts";
import { checkSource, readToken, type TokenSource } from "./given_token.ts";

/** `grant_type` of assertions. */
export const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** What a platform is asked for. */
export interface AssertionRequest {
  /** Whom the assertion has to be meant for: the issuer of the authorization server. */
  readonly audience: string;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Options of {@linkcode workloadIdentity}. */
export interface WorkloadIdentityOptions extends Partial<Omit<OAuthClient, "clientId">> {
  /** The client's id, where the server wants one. */
  clientId?: string | undefined;
  /**
   * The JWT of the platform (Kubernetes, a cloud, a CI system), or what gets one for an audience: it is called for each token.
   * With a text, give `issuer` as well: it is good for whoever gets it first. Secret.
   */
  assertion: TokenSource<AssertionRequest>;
}

/**
 * Gets tokens for what a platform says of this program: the `grant` of `createOAuth`. Nobody signs in, nothing is registered, and
 * when the server refuses, nothing else is tried.
 *
 * @param options The assertion; `clientId` where the server wants one, and how that client authenticates.
 * @throws {TypeError} When an option makes no sense.
 *
 * @example A token that Kubernetes renews
 * ```ts
 * import { workloadIdentity } from "@causeway/mcp/auth";
 *
 * const tokens = new Map([["https://auth.example.com", "eyJhbGciOiJFUzI1NiJ9.e30.c2ln"]]);
 * const grant = workloadIdentity({ clientId: "nightly-report", assertion: ({ audience }) => tokens.get(audience) ?? "" });
 * console.assert(grant.client?.clientId === "nightly-report");
 * ```
 */
export function workloadIdentity(options: WorkloadIdentityOptions): Grant {
  const { assertion, clientId, issuer, ...client } = options;
  checkSource(assertion, '"assertion"');
  if (clientId === undefined && Object.values(client).some((value) => value !== undefined)) {
    throw new TypeError('Cannot use "workloadIdentity": expected "clientId" beside what belongs to a client');
  }
  // The assertion alone says who asks, where no client is named.
  const named = clientId === undefined ? { clientId: "workload", authenticate: () => {} } : { ...client, clientId };
  const asked = { ...named, issuer };
  checkClient(asked, "workloadIdentity");
  return {
    client: asked,
    grantTypes: [jwtBearer],
    async obtain(context) {
      const { metadata, signal } = context;
      const token = await readToken(assertion, { audience: metadata.issuer, signal }, '"assertion"');
      context.secret(token);
      return await context.request(jwtBearer, { assertion: token });
    },
  };
}
