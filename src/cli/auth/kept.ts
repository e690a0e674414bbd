/**
 * The list of servers that someone signed in to, and as which client: a record beside the tokens, without secrets.
 *
 * @module
 */
import type { Store } from "../../ports.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";

/** How a sign-in was made, so that it can be used again. */
export interface KeptSignIn {
  /** The server, as it is called in the record of its tokens. */
  readonly server: string;
  /** The client that the person named. */
  readonly clientId?: string | undefined;
  /** The whole path of the file with its secret. */
  readonly clientSecretFile?: string | undefined;
  readonly clientMetadataUrl?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Where the browser came back to: the client may be registered with it. */
  readonly redirectUri?: string | undefined;
}

const key = "cli/sign-ins";
/** How often a list that others change at the same time is read anew. */
const attempts = 20;

/** The sign-ins that are kept, in the order in which they were made. What cannot be read is left out. */
export async function readKept(store: Store): Promise<readonly KeptSignIn[]> {
  return parse(await store.get(key));
}

/** Keeps a sign-in, in the place of an earlier one to the same server. */
export function keepSignIn(store: Store, kept: KeptSignIn): Promise<void> {
  return change(store, (list) => [...list.filter(({ server }) => server !== kept.server), kept]);
}

/** Forgets the sign-in to a server. */
export function forgetSignIn(store: Store, server: string): Promise<void> {
  return change(store, (list) => list.filter((kept) => kept.server !== server));
}

async function change(store: Store, next: (list: readonly KeptSignIn[]) => readonly KeptSignIn[]): Promise<void> {
  for (let attempt = 1;; attempt++) {
    const before = await store.get(key);
    const list = next(parse(before));
    const after = list.length === 0 ? undefined : JSON.stringify(list);
    if (after === before) return;
    if (store.compareAndSet && attempt < attempts) {
      if (await store.compareAndSet(key, before, after)) return;
    } else return await (after === undefined ? store.delete(key) : store.set(key, after));
  }
}

function parse(text: string | undefined): readonly KeptSignIn[] {
  if (text === undefined) return [];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(value: unknown): value is KeptSignIn {
  if (!isObject(value) || typeof value.server !== "string" || !URL.canParse(value.server)) return false;
  const texts = [value.clientId, value.clientSecretFile, value.clientMetadataUrl, value.redirectUri];
  return texts.every((text) => text === undefined || typeof text === "string") &&
    (value.scopes === undefined || isTexts(value.scopes));
}
