/**
 * The list of servers that someone signed in to, and as which client: a record beside the tokens, without secrets.
 *
 * @module
 */
import type { Store } from "../../ports.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import { KeptList } from "../kept_list.ts";
import { readUrl } from "../../egress/url.ts";

/** How a sign-in was made, so that it can be used again. */
export interface KeptSignIn {
  /** The server, as it is called in the record of its tokens. */
  readonly server: string;
  /** The client that the person named. */
  readonly clientId?: string | undefined;
  /** The whole path of the file with its secret. */
  readonly clientSecretFile?: string | undefined;
  /** Whether its secret is that of the environment: there may be one for another client. Of older sign-ins nobody knows: it is used. */
  readonly secretInEnvironment?: boolean | undefined;
  readonly clientMetadataUrl?: string | undefined;
  /** The issuer that the authorization server may name itself by. */
  readonly issuer?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** The server may be its own authorization server. */
  readonly legacy?: boolean | undefined;
  /** Where the browser came back to: the client may be registered with it. */
  readonly redirectUri?: string | undefined;
}

const signIns: KeptList<KeptSignIn> = new KeptList("cli/sign-ins", isKept);

/** The sign-ins that are kept, in the order in which they were made. What cannot be read is left out. */
export function readKept(store: Store): Promise<readonly KeptSignIn[]> {
  return signIns.read(store);
}

/** Keeps a sign-in, in the place of an earlier one to the same server. */
export function keepSignIn(store: Store, kept: KeptSignIn): Promise<void> {
  return signIns.change(store, (list) => [...list.filter(({ server }) => server !== kept.server), kept]);
}

/** Forgets the sign-in to a server. */
export function forgetSignIn(store: Store, server: string): Promise<void> {
  return signIns.change(store, (list) => list.filter((kept) => kept.server !== server));
}

function isKept(value: unknown): value is KeptSignIn {
  if (!isObject(value) || typeof value.server !== "string" || !readUrl(value.server)) return false;
  const texts = [value.clientId, value.clientSecretFile, value.clientMetadataUrl, value.redirectUri, value.issuer];
  return texts.every((text) => text === undefined || typeof text === "string") &&
    (value.scopes === undefined || isTexts(value.scopes));
}
