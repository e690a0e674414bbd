/**
 * What can be told apart about an authorization server. A test may turn each at any time.
 *
 * @module
 */
import type { Json } from "../jwt.ts";

/** Where the metadata can stand (RFC 8414, section 3; OpenID Connect Discovery). */
export interface Places {
  /** `/.well-known/oauth-authorization-server` before the issuer's path. */
  oauth: boolean;
  /** `/.well-known/openid-configuration` before the issuer's path. */
  openid: boolean;
  /** `/.well-known/openid-configuration` after the issuer's path. */
  openidAppended: boolean;
  /** `/.well-known/oauth-authorization-server` of the origin, whatever the path. */
  root: boolean;
}

/** How registration behaves. */
export interface RegistrationKnobs {
  /** Redirect URIs that are refused. */
  refuses: (redirectUri: string) => boolean;
  /** The method that clients get, whatever they ask for. */
  authMethod: string | undefined;
  /** For how long a secret is good, in seconds; 0: for ever. */
  secretLifetime: number;
  /** Whether a web client may not come back to this machine, and a native one only there (OpenID Connect Registration). */
  checksApplicationType: boolean;
  /** Whether a client may ask for the scopes alone that it named when it registered, as the Python SDK's routes have it. */
  limitsScopes: boolean;
  /** Added to the reply. */
  reply: Json;
}

/** How the device flow behaves. */
export interface DeviceKnobs {
  /** Seconds between two questions; undefined: not told (5). */
  interval: number | undefined;
  /** Seconds for which a code is good. */
  lifetime: number;
  /** Answers that are given first, whatever the person does: `authorization_pending`, `slow_down`, … */
  answers: string[];
  /** Whether `verification_uri_complete` is told. */
  isComplete: boolean;
}

/** Everything about a server. */
export interface ServerKnobs {
  places: Places;
  /** Laid over the metadata; undefined takes a field away. */
  metadata: Json;
  /** `iss` of the authorization reply: as it should be, missing, or this text. */
  iss: "present" | "absent" | { readonly wrong: string };
  /** The authorization endpoint answers with this error. */
  authorizationError: { readonly error: string; readonly error_description?: string } | undefined;
  /** Laid over the authorization reply; undefined takes a parameter away. */
  callback: Readonly<Record<string, string | undefined>>;
  scopes: string[];
  /** What is granted of what was asked for. Default: all of it; of nothing: `defaultScopes`. */
  grantsScopes: (asked: readonly string[]) => readonly string[];
  defaultScopes: string[];
  /** Whether the token reply names the scopes. */
  tellsScope: boolean;
  authMethods: string[];
  grantTypes: string[];
  /** Whether a `resource` is needed at both endpoints. */
  needsResource: boolean;
  /** The resources that it knows; undefined: any. */
  resources: string[] | undefined;
  /** Seconds for which access tokens are good. */
  lifetime: number;
  /** How `expires_in` is written. */
  expiresIn: "number" | "text" | "absent";
  tokenType: string | undefined;
  /** Refresh tokens: a new one each time, the same again, only with `offline_access` (a new one each time), or none. */
  refresh: "rotates" | "stays" | "offline" | "none";
  /** Seconds for which refresh tokens are good. */
  refreshLifetime: number;
  /** How token replies are written. */
  reply: "json" | "form";
  /** Refusals of the token endpoint come with status 200. */
  refusesWith200: boolean;
  /** Laid over sound token replies; undefined takes a field away. */
  tokenReply: Json;
  dpop: "off" | "taken" | "needed";
  /** Client ids that are URLs of documents. */
  clientDocuments: boolean;
  /** False: there is no registration. */
  registration: RegistrationKnobs | false;
  revocation: boolean;
  device: DeviceKnobs | false;
}

/** A server that does everything as it should. */
export function soundServer(): ServerKnobs {
  return {
    places: { oauth: true, openid: false, openidAppended: false, root: false },
    metadata: {},
    iss: "present",
    authorizationError: undefined,
    callback: {},
    scopes: ["mcp:use", "files:read", "files:write", "offline_access"],
    grantsScopes: (asked) => asked,
    defaultScopes: ["mcp:use"],
    tellsScope: true,
    authMethods: ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
    grantTypes: [
      "authorization_code",
      "refresh_token",
      "client_credentials",
      "urn:ietf:params:oauth:grant-type:jwt-bearer",
      "urn:ietf:params:oauth:grant-type:token-exchange",
      "urn:ietf:params:oauth:grant-type:device_code",
    ],
    needsResource: true,
    resources: undefined,
    lifetime: 300,
    expiresIn: "number",
    tokenType: undefined,
    refresh: "rotates",
    refreshLifetime: 86_400,
    reply: "json",
    refusesWith200: false,
    tokenReply: {},
    dpop: "taken",
    clientDocuments: true,
    registration: soundRegistration(),
    revocation: true,
    device: { interval: 5, lifetime: 600, answers: [], isComplete: true },
  };
}

/** Registration as it should be. */
export function soundRegistration(): RegistrationKnobs {
  return {
    refuses: () => false,
    authMethod: undefined,
    secretLifetime: 0,
    checksApplicationType: true,
    limitsScopes: false,
    reply: {},
  };
}
