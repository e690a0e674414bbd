/**
 * Tokens that an enterprise's identity provider decides on (SEP-990): an ID token is exchanged for a grant there, and the grant
 * for an access token at the authorization server. The person who signed in to the enterprise is not asked again.
 *
 * @module
 */
import { AuthorizationError } from "../../protocol/errors.ts";
import type { Grant, GrantContext, OAuthClient } from "../seam.ts";
import { checkClient } from "./check_client.ts";
import { checkSource, readToken, type TokenSource } from "./given_token.ts";
import { exchangeForGrant, type IdentityProvider, isSafeEndpoint } from "./token_exchange.ts";
import { jwtBearer } from "./workload_identity.ts";

/** What the application is asked for. */
export interface SubjectTokenRequest {
  /** The identity provider that it goes to: its issuer, or its token endpoint where no issuer was given. */
  readonly identityProvider: string;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Options of {@linkcode enterpriseAuthorization}. */
export interface EnterpriseAuthorizationOptions extends OAuthClient {
  /** Where the person signed in, and who we are there. It is asked as given, in an intranet too. */
  identityProvider: IdentityProvider;
  /** The person's ID token, or what gets one: it is called for each token. Secret. Either this or `subjectToken`. */
  idToken?: TokenSource<SubjectTokenRequest> | undefined;
  /** Another token that stands for the person, of the kind `subjectTokenType`. Secret. */
  subjectToken?: TokenSource<SubjectTokenRequest> | undefined;
  /** The kind of `subjectToken` ("id_token"). */
  subjectTokenType?: "id_token" | "refresh_token" | "saml2" | undefined;
}

const profile = "urn:ietf:params:oauth:grant-profile:id-jag";

/**
 * Gets tokens that the identity provider of an enterprise grants: the `grant` of `createOAuth`. The browser is never sent to the
 * authorization server, and no client is registered there.
 *
 * @param options The client at the authorization server, the identity provider, and the person's token.
 * @throws {TypeError} When an option makes no sense.
 *
 * @example The ID token of a session
 * ```ts
 * import { enterpriseAuthorization } from "@causeway/mcp/auth";
 *
 * const session = { idToken: "eyJhbGciOiJFUzI1NiJ9.e30.c2ln" };
 * const grant = enterpriseAuthorization({
 *   clientId: "assistant",
 *   clientSecret: "a secret from the environment",
 *   identityProvider: { issuer: "https://login.example.com", clientId: "assistant-at-login" },
 *   idToken: () => session.idToken,
 * });
 * console.assert(grant.grantTypes.length === 1);
 * ```
 *
 * @see https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization
 */
export function enterpriseAuthorization(options: EnterpriseAuthorizationOptions): Grant {
  const { identityProvider, idToken, subjectToken, subjectTokenType = "id_token", ...client } = options;
  checkClient(client, "enterpriseAuthorization");
  const operator = checkProvider(identityProvider);
  const source = idToken ?? subjectToken;
  if (source === undefined || (idToken !== undefined && subjectToken !== undefined)) {
    throw new TypeError('Cannot use "enterpriseAuthorization": expected either "idToken" or "subjectToken"');
  }
  if (!["id_token", "refresh_token", "saml2"].includes(subjectTokenType)) {
    throw new TypeError('Cannot use "subjectTokenType": expected "id_token", "refresh_token" or "saml2"');
  }
  if (idToken !== undefined && subjectTokenType !== "id_token") {
    throw new TypeError(`Cannot use "subjectTokenType" "${subjectTokenType}": expected "subjectToken" with it`);
  }
  const name = idToken === undefined ? '"subjectToken"' : '"idToken"';
  checkSource(source, name);
  const provider = { ...identityProvider };
  return {
    client: { ...client },
    grantTypes: [jwtBearer],
    allow: [provider.issuer, provider.tokenEndpoint].filter((url) => url !== undefined).map((url) =>
      new URL(url).origin
    ),
    async obtain(context) {
      checkProfile(context);
      const { metadata, resource, scopes, signal } = context;
      const token = await readToken(source, { identityProvider: operator, signal }, name);
      context.secret(token);
      const grant = await exchangeForGrant(context, provider, {
        audience: metadata.issuer,
        ...(resource === undefined ? {} : { resource }),
        ...(scopes.length ? { scope: scopes.join(" ") } : {}),
        subject_token: token,
        subject_token_type: `urn:ietf:params:oauth:token-type:${subjectTokenType}`,
      });
      context.secret(grant);
      return await context.request(jwtBearer, { assertion: grant });
    },
  };
}

/** Refuses a server that says what grants it takes, and not this one: before anything is sent to the identity provider. */
function checkProfile({ metadata }: GrantContext): void {
  const { issuer, authorization_grant_profiles_supported: profiles } = metadata;
  if (!profiles || profiles.includes(profile)) return;
  throw new AuthorizationError(
    `Cannot sign in at "${issuer}": expected "authorization_grant_profiles_supported" of its metadata to hold "${profile}"`,
  );
}

/** Checks the identity provider, and gives the address that stands for it. */
function checkProvider(provider: IdentityProvider): string {
  if (typeof provider !== "object" || provider === null) {
    throw new TypeError('Cannot use "identityProvider": expected "clientId", and "issuer" or "tokenEndpoint"');
  }
  checkClient({ ...provider, issuer: undefined }, "identityProvider");
  for (const field of ["issuer", "tokenEndpoint"] as const) {
    const url = provider[field];
    if (url !== undefined && (typeof url !== "string" || !isSafeEndpoint(url, url))) {
      throw new TypeError(
        `Cannot use "identityProvider": expected "${field}" to be an https URL, or http on this machine`,
      );
    }
  }
  const operator = provider.issuer ?? provider.tokenEndpoint;
  if (operator === undefined) {
    throw new TypeError('Cannot use "identityProvider": expected "issuer" or "tokenEndpoint"');
  }
  return operator;
}
