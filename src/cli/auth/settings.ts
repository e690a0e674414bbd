/**
 * How OAuth is opened for a server: as the options of the sign-in say, now and later.
 *
 * @module
 */
import { resolve } from "node:path";
import type { OAuthClient } from "../../auth/seam.ts";
import type { SignInSettings } from "../../hub/config/sign_in_settings.ts";
import type { Store } from "../../ports.ts";
import { UsageError } from "../failure.ts";
import { readText } from "../read.ts";
import type { KeptSignIn } from "./kept.ts";
import type { AuthWorld, OAuth, OAuthSettings } from "./oauth.ts";
import type { SignInOptions } from "./options.ts";
import type { ServerTarget } from "./server.ts";

/**
 * What of the options is to be remembered.
 *
 * @param options Where they say nothing, the config counts.
 * @param earlier The last sign-in to this server: where neither names a client, it is that one again.
 * @param environment A secret in it belongs to the client that is named now, and to no other that is signed in.
 */
export function toKeep(
  { server, own }: ServerTarget,
  options: SignInOptions,
  earlier: KeptSignIn | undefined,
  environment: AuthWorld["environment"],
): KeptSignIn {
  const { clientSecretFile: file } = options;
  const isGiven = options.clientId !== undefined || options.clientMetadataUrl !== undefined;
  const { clientId, clientMetadataUrl } = isGiven ? options : { clientId: own.client?.clientId, ...own };
  const scopes = options.scopes.length > 0 ? options.scopes : own.scopes ?? [];
  const isTheirs = clientId === own.client?.clientId && own.client?.clientSecret !== undefined;
  const isOpen = clientId === undefined || file !== undefined;
  const secretInEnvironment = isOpen ? undefined : !isTheirs && !!environment.CAUSEWAY_CLIENT_SECRET;
  const clientSecretFile = file === undefined ? undefined : resolve(file);
  const named = { clientId, clientSecretFile, clientMetadataUrl, secretInEnvironment };
  const isNamed = clientId !== undefined || clientMetadataUrl !== undefined;
  const client = isNamed || !earlier ? named : earlier;
  // A config's issuer counts, but the client of an earlier sign-in stays with the one that was named with it, unless the config names both.
  const isEarlier = client.clientId !== undefined && client.clientId === earlier?.clientId;
  const isConfigured = (own.client?.issuer ?? own.issuers) !== undefined &&
    (!isEarlier || client.clientId === own.client?.clientId);
  const issuer = options.issuer ?? (isConfigured ? undefined : earlier?.issuer);
  return {
    server,
    clientId: client.clientId,
    clientSecretFile: client.clientSecretFile,
    clientMetadataUrl: client.clientMetadataUrl,
    ...(client.secretInEnvironment !== undefined && { secretInEnvironment: client.secretInEnvironment }),
    ...(issuer !== undefined && { issuer }),
    ...((options.legacy || earlier?.legacy === true) && { legacy: true }),
    ...(scopes.length > 0 && { scopes }),
  };
}

/**
 * Opens OAuth as the sign-in was made.
 *
 * @throws {UsageError} When the file with the client's secret cannot be read.
 */
export async function openKept(
  world: AuthWorld,
  store: Store,
  kept: KeptSignIn,
  { own, ...extra }: Partial<OAuthSettings> & { readonly own?: ServerTarget["own"] } = {},
): Promise<OAuth> {
  const { clientMetadataUrl, scopes, redirectUri, issuer, legacy } = kept;
  const client = await clientOf(world, kept, own);
  return await world.openOAuth({
    store,
    ...(client && { client }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(scopes && { scopes }),
    ...(redirectUri !== undefined && { redirectUri }),
    ...((issuer ?? own?.issuers) !== undefined && { issuers: [issuer ?? [], own?.issuers ?? []].flat() }),
    ...(legacy === true && { legacy }),
    ...(own?.known && { known: { [kept.server]: own.known } }),
    ...extra,
  });
}

/** The same where the client need not prove who it is: its secret may be gone. */
export function openWithoutSecret(world: AuthWorld, store: Store, kept: KeptSignIn): Promise<OAuth> {
  return openKept(world, store, { ...kept, clientSecretFile: undefined, secretInEnvironment: false });
}

/**
 * The client that was named; what the config says of it counts, unless a file has its secret. That goes to the issuer that was named
 * with it, and to no other.
 */
async function clientOf(
  world: AuthWorld,
  kept: KeptSignIn,
  own: SignInSettings | undefined,
): Promise<OAuthClient | undefined> {
  const { clientId, issuer } = kept;
  if (clientId === undefined) return undefined;
  const known = own?.client?.clientId === clientId ? own?.client : undefined;
  const isTheirs = known?.clientSecret !== undefined && kept.clientSecretFile === undefined;
  const secret = isTheirs ? known.clientSecret : await readSecret(world, kept);
  // A config may have another one since it was signed in.
  const isBound = issuer !== undefined && !(isTheirs && known.issuer !== undefined);
  return { ...known, clientId, clientSecret: secret, ...(isBound && { issuer }) };
}

/** The secret of the client: of the file, or of the environment unless that has another one's. No message shows it. */
async function readSecret({ environment }: AuthWorld, kept: KeptSignIn): Promise<string | undefined> {
  const { clientSecretFile: file } = kept;
  const found = kept.secretInEnvironment === false ? undefined : environment.CAUSEWAY_CLIENT_SECRET || undefined;
  const [text, where] = file === undefined
    ? [found, "the variable CAUSEWAY_CLIENT_SECRET"]
    : [await readText(file, `the file "${file}"`), `the file "${file}"`];
  if (text === undefined && file !== undefined) {
    throw new UsageError(
      `Cannot read ${where}: there is no such file; causeway login --client-secret-file names another`,
    );
  }
  const secret = text?.trim();
  if (secret === undefined || /^[\x20-\x7e]{1,4096}$/.test(secret)) return secret;
  throw new UsageError(`Cannot use ${where}: it has to hold the client's secret alone, on one line`);
}
