/**
 * The sign-in of a server, used by the commands that talk to it.
 *
 * @module
 */
import { AuthorizationError, AuthorizationRequiredError, UnauthorizedError } from "../../protocol/errors.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import { hasCredentials, signInSettings } from "../../hub/config/sign_in_settings.ts";
import type { Store } from "../../ports.ts";
import { UsageError } from "../failure.ts";
import type { Destination } from "../target/target.ts";
import { writeError } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";
import { readKept } from "./kept.ts";
import type { KeptSignIn } from "./kept.ts";
import type { AuthWorld, OAuth, OAuthSettings } from "./oauth.ts";
import { serverAddress, shownAddress } from "./server.ts";
import { openKept } from "./settings.ts";

/** A sign-in that is kept, and how it was made. */
export interface UsedSignIn {
  readonly oauth: OAuth;
  /** The id of the program that signs in by itself, where a config names one: nothing of it is kept. */
  readonly program?: string | undefined;
  readonly kept: KeptSignIn;
}

/**
 * The sign-in that is kept for a server, unless its config says that nobody signs in. Credentials that someone gave win over it. Nobody is asked about a server without one:
 * what it costs is the look at one file.
 *
 * @throws {UsageError} When the secret of its client cannot be read, or the key of a program cannot be used.
 */
export async function findSignIn(
  world: AuthWorld,
  { target, headers, entry }: Destination,
): Promise<UsedSignIn | undefined> {
  const own = signInSettings(entry?.server.signIn);
  if (typeof target !== "string" || hasCredentials(headers) || !own) return undefined;
  const server = serverAddress(target);
  const { program, scopes, known } = own;
  if (program) {
    const name = entry?.words.replace(/ --config .*$/s, "") ?? server;
    const oauth = await openProgram(
      world,
      { program, ...(scopes && { scopes }), ...(known && { known: { [server]: known } }) },
      name,
    );
    return { oauth, program: program.clientId, kept: { server } };
  }
  let found: { kept: KeptSignIn; store: Store } | undefined;
  try {
    const store = world.openStore();
    const kept = (await readKept(store)).find((kept) => kept.server === server);
    found = kept && { kept, store };
  } catch (error) {
    // Most servers need none.
    await writeError(
      `causeway: no sign-in is used: ${oneLine(error instanceof Error ? error.message : String(error))}\n`,
    );
  }
  return found && { oauth: await openKept(world, found.store, found.kept, { own }), kept: found.kept };
}

/**
 * The error, or for one that a sign-in would help against: what to do.
 *
 * @param otherwise What else would help, where nobody has signed in.
 */
export async function withAdvice(
  error: unknown,
  { target, headers, entry }: Destination,
  used: UsedSignIn | undefined,
  otherwise = "send credentials with --header 'Authorization: Bearer …'",
): Promise<unknown> {
  if (typeof target !== "string" || hasCredentials(headers)) return error;
  if (used?.program !== undefined) return ofProgram(error, used.program);
  // Without an address to come back to it was made by a code: then nothing is begun here.
  const isByCode = used !== undefined && used.kept.redirectUri === undefined;
  // By its name where the config says as what; only plain names, since the line may be copied.
  const { words = "" } = Object.keys(signInSettings(entry?.server.signIn) ?? {}).length > 0 ? entry ?? {} : {};
  const shown = /^\w[\w.-]*( --config [\w./][\w./-]*)?$/.test(words) ? words : shownAddress(serverAddress(target));
  const command = `causeway login ${shown}${isByCode ? " --device" : ""}`;
  if (error instanceof AuthorizationRequiredError) {
    const more = used ? await missingScopes(error, used) : "";
    const why = typeof error.cause === "string" ? `; ${error.cause}` : "";
    return new AuthorizationError(`Sign in first: ${command}${more}${why}`, { cause: error });
  }
  if (error instanceof UnauthorizedError && error.status === 401) {
    const other = used ? "" : `, or ${otherwise}`;
    return new AuthorizationError(`Sign in first: ${command}${other}`, { cause: error });
  }
  if (used && error instanceof AuthorizationError) {
    const isUnfinished = isByCode && error.error === undefined;
    const message = isUnfinished ? `Sign in first: ${command}` : `${error.message}; sign in again: ${command}`;
    return new AuthorizationError(message, { cause: error });
  }
  return error;
}

async function openProgram(world: AuthWorld, settings: OAuthSettings, name: string): Promise<OAuth> {
  try {
    return await world.openOAuth(settings);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`Cannot sign in to "${oneLine(name)}" as its config says: ${error.message}`, { cause: error });
  }
}

/** Nobody can sign in in its place. */
function ofProgram(error: unknown, program: string): unknown {
  if (!(error instanceof AuthorizationError) && !(error instanceof UnauthorizedError)) return error;
  const what = `the config signs in as the program ${JSON.stringify(program)}`;
  return new AuthorizationError(`${error.message}; ${what}: correct its "auth"`, { cause: error });
}

/** The options that ask for what the server wants beside what is allowed already. The line may be copied: plain names only. */
async function missingScopes({ pending }: AuthorizationRequiredError, { oauth, kept }: UsedSignIn): Promise<string> {
  const status = await oauth.status(kept.server);
  const wanted = isObject(pending) && isTexts(pending.scopes) ? pending.scopes : [];
  if (!status) return "";
  return wanted
    .filter((scope) => /^\w[\w:./-]*$/.test(scope) && !status.scopes?.includes(scope))
    .map((scope) => ` --scope ${scope}`)
    .join("");
}
