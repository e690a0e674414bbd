/**
 * From how a config wants one to sign in to what signs in.
 *
 * @module
 */
import type { OAuthOptions } from "../../auth/options.ts";
import type { OAuthClient } from "../../auth/seam.ts";
import type { Authorizer } from "../../ports.ts";
import type { ReadServer, SignIn } from "./types.ts";

/** What a config says of one sign-in, as `createOAuth` takes it: only what is there. */
export interface SignInSettings extends Pick<OAuthOptions, "clientMetadataUrl" | "redirectUri" | "scopes"> {
  /** The client that the authorization server knows. */
  client?: OAuthClient;
}

/** A server of a config, as far as signing in goes. */
export type SignedInServer = Pick<ReadServer, "headers" | "signIn">;

/**
 * Signs in to each server as its config says: the `auth` of `openHub`. Servers whose config says nothing of a client share what
 * `create` makes for `{}`; each other one has its own. Nobody signs in to a server whose config says "none", or that is sent a
 * header `Authorization`.
 *
 * @param servers What `readHubConfig` found.
 * @param create Makes what signs in, once for each: `createOAuth`, with your own options in front.
 * @returns What signs in to a server, by its name; the same each time, so that it can finish what it began.
 *
 * @example A client that the authorization server knows
 * ```ts
 * import { createOAuth } from "@causeway/mcp/auth";
 * import { authForConfig, readHubConfig } from "@causeway/mcp/hub";
 *
 * const text = `{ "mcpServers": { "wiki": {
 *   "url": "https://wiki.example.com/mcp",
 *   "oauth": { "clientId": "my-app", "clientSecret": "\${SECRET}", "callbackPort": 8085 }
 * } } }`;
 * const { servers } = readHubConfig(text, { environment: { SECRET: "s3cret" } });
 * const redirectUri = "http://127.0.0.1:8086/callback";
 * const auth = authForConfig(servers, (own) => createOAuth({ redirectUri, ...own }));
 * // await openHub(servers, { auth })
 * if (auth("wiki") === undefined || auth("wiki") !== auth("wiki")) throw new Error("one signs in");
 * ```
 */
export function authForConfig<Auth extends Authorizer>(
  servers: Readonly<Record<string, SignedInServer>>,
  create: (own: SignInSettings, server: string) => Auth,
): (server: string) => Auth | undefined {
  const made = new Map<string, Auth>();
  return (name) => {
    const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
    const own = signInSettings(server?.signIn);
    if (!own || hasCredentials(server?.headers)) return undefined;
    // What is the same for all is under no server's name.
    const key = Object.keys(own).length > 0 ? `server ${name}` : "";
    const auth = made.get(key) ?? create(own, name);
    made.set(key, auth);
    return auth;
  };
}

/**
 * What a config says of a sign-in, as `createOAuth` takes it; undefined where nobody is to sign in.
 *
 * @param signIn Nothing of it: as the server wants it.
 */
export function signInSettings(signIn: SignIn = { type: "oauth" }): SignInSettings | undefined {
  if (signIn.type === "none") return undefined;
  const { clientId, clientSecret, issuer, scopes, clientMetadataUrl, callbackPort } = signIn;
  // `localhost` is what the clients of editors with such a port are registered with.
  const redirectUri = signIn.redirectUri ??
    (callbackPort === undefined ? undefined : `http://localhost:${callbackPort}/callback`);
  return {
    ...(clientId !== undefined && { client: { clientId, clientSecret, issuer } }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(redirectUri !== undefined && { redirectUri }),
    ...(scopes && { scopes }),
  };
}

/** Whether a header says already who one is. */
export function hasCredentials(headers: ReadServer["headers"] = {}): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}
