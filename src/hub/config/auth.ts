/**
 * From how a config wants one to sign in to what signs in.
 *
 * @module
 */
import type { ConfiguredProgram } from "../../auth/grants/configured.ts";
import type { KnownServer } from "../../auth/discovery/known_servers.ts";
import type { ServerDiscovery } from "../../auth/options.ts";
import type { Grant } from "../../auth/seam.ts";
import type { Authorizer } from "../../ports.ts";
import { hasCredentials, signInSettings } from "./sign_in_settings.ts";
import type { SignedInServer, SignInSettings } from "./sign_in_settings.ts";

/**
 * Signs in to each server as its config says: the `auth` of `openHub`. Servers whose config says nothing of a client share what
 * `create` makes for `{}`; each other one has its own. Nobody signs in to a server whose config says "none", or that is sent a
 * header `Authorization`. For `client_credentials` the settings have the `grant` of that program.
 *
 * @param servers What `readHubConfig` found.
 * @param create Makes what signs in, once for each: `createOAuth`, with your own options in front.
 * @param options `grant` makes the grant of a program (`"type": "client_credentials"`): `configuredGrant` of `@causeway/mcp/auth`.
 * `discover` makes something of `resource`, `metadata` and `metadataUrl` (`authServerMetadataUrl`): `knownServers` of it.
 * @returns What signs in to a server, by its name; the same each time, so that it can finish what it began. It throws a `TypeError`
 * for a program whose secret or key cannot be used, and for what there is no `options.grant` or `options.discover`.
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
  { grant, discover }: {
    readonly grant?: ((program: ConfiguredProgram) => Grant) | undefined;
    readonly discover?: ((servers: Readonly<Record<string, KnownServer>>) => ServerDiscovery) | undefined;
  } = {},
): (server: string) => Auth | undefined {
  const made = new Map<string, Auth>();
  return (name) => {
    const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
    const settings = signInSettings(server?.signIn);
    if (!settings || hasCredentials(server?.headers)) return undefined;
    // What is the same for all is under no server's name.
    const key = Object.keys(settings).length > 0 ? `server ${name}` : "";
    const { program, known, ...own } = settings;
    const need = (what: string, option: string) =>
      new TypeError(`Cannot sign in to "${name}" ${what}: give authForConfig "${option}" of @causeway/mcp/auth`);
    if (program && !grant) throw need("as a program", "grant: configuredGrant");
    if (known && !discover) throw need("at the authorization server of its config", "discover: knownServers");
    const whole = {
      ...own,
      ...(program && { grant: grant?.(program) }),
      ...(known && { discover: discover?.({ [server?.url ?? ""]: known }) }),
    };
    const auth = made.get(key) ?? create(whole, name);
    made.set(key, auth);
    return auth;
  };
}
