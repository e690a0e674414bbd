/**
 * What a config says of signing in, as settings.
 *
 * @module
 */
import type { KnownServer } from "../../auth/discovery/known_servers.ts";
import type { OAuthOptions } from "../../auth/options.ts";
import type { OAuthClient } from "../../auth/seam.ts";
import type { ReadServer, SignIn } from "./types.ts";

/** What a config says of one sign-in, as `createOAuth` takes it: only what is there. */
export interface SignInSettings
  extends Pick<OAuthOptions, "clientMetadataUrl" | "discover" | "grant" | "issuers" | "redirectUri" | "scopes"> {
  /** The client that the authorization server knows. */
  client?: OAuthClient;
}

/** A server of a config, as far as signing in goes. */
export type SignedInServer = Pick<ReadServer, "headers" | "signIn"> & {
  /** Its address: a program has none. */
  readonly url?: string | undefined;
};

/** A program that signs in by itself. */
export type ProgramSignIn = Extract<SignIn, { readonly type: "client_credentials" }>;

/** What has to be made something of before `createOAuth` takes it: who needs it loads what does. */
export interface UnmadeSettings {
  /** The program that a grant is made for. */
  program?: ProgramSignIn;
  /** The authorization server that a discovery is made for. */
  known?: KnownServer;
}

/**
 * What a config says of a sign-in, as `createOAuth` takes it; undefined where nobody is to sign in.
 *
 * @param signIn Nothing of it: as the server wants it.
 */
export function signInSettings(
  signIn: SignIn = { type: "oauth" },
): SignInSettings & UnmadeSettings | undefined {
  if (signIn.type === "none") return undefined;
  const { issuer, scopes, metadataUrl, metadata, resource } = signIn;
  const isKnown = (metadataUrl ?? metadata ?? resource) !== undefined;
  const usual = { ...(scopes && { scopes }), ...(isKnown && { known: { issuer, metadataUrl, metadata, resource } }) };
  if (signIn.type === "client_credentials") return { program: signIn, ...usual };
  const { clientId, clientSecret, clientMetadataUrl, callbackPort } = signIn;
  // `localhost` is what the clients of editors with such a port are registered with.
  const redirectUri = signIn.redirectUri ??
    (callbackPort === undefined ? undefined : `http://localhost:${callbackPort}/callback`);
  return {
    ...(clientId !== undefined && { client: { clientId, clientSecret, issuer } }),
    ...(clientId === undefined && issuer !== undefined && { issuers: [issuer] }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(redirectUri !== undefined && { redirectUri }),
    ...usual,
  };
}

/** Whether a header says already who one is. */
export function hasCredentials(headers: ReadServer["headers"] = {}): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}
