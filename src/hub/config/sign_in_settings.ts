/**
 * What a config says of signing in, as settings.
 *
 * @module
 */
import type { OAuthOptions } from "../../auth/options.ts";
import type { OAuthClient } from "../../auth/seam.ts";
import type { ReadServer, SignIn } from "./types.ts";

/** What a config says of one sign-in, as `createOAuth` takes it: only what is there. */
export interface SignInSettings
  extends Pick<OAuthOptions, "clientMetadataUrl" | "grant" | "issuers" | "redirectUri" | "scopes"> {
  /** The client that the authorization server knows. */
  client?: OAuthClient;
}

/** A server of a config, as far as signing in goes. */
export type SignedInServer = Pick<ReadServer, "headers" | "signIn">;

/** A program that signs in by itself. */
export type ProgramSignIn = Extract<SignIn, { readonly type: "client_credentials" }>;

/**
 * What a config says of a sign-in, as `createOAuth` takes it; undefined where nobody is to sign in.
 *
 * @param signIn Nothing of it: as the server wants it.
 */
export function signInSettings(
  signIn: SignIn = { type: "oauth" },
): SignInSettings & { program?: ProgramSignIn } | undefined {
  if (signIn.type === "none") return undefined;
  // What makes a grant of it is loaded by who needs it.
  if (signIn.type === "client_credentials") return { program: signIn, ...(signIn.scopes && { scopes: signIn.scopes }) };
  const { clientId, clientSecret, issuer, scopes, clientMetadataUrl, callbackPort } = signIn;
  // `localhost` is what the clients of editors with such a port are registered with.
  const redirectUri = signIn.redirectUri ??
    (callbackPort === undefined ? undefined : `http://localhost:${callbackPort}/callback`);
  return {
    ...(clientId !== undefined && { client: { clientId, clientSecret, issuer } }),
    ...(clientId === undefined && issuer !== undefined && { issuers: [issuer] }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(redirectUri !== undefined && { redirectUri }),
    ...(scopes && { scopes }),
  };
}

/** Whether a header says already who one is. */
export function hasCredentials(headers: ReadServer["headers"] = {}): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}
