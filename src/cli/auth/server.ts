/**
 * The server that a sign-in is for.
 *
 * @module
 */
import { hasCredentials, signInSettings } from "../../hub/config/sign_in_settings.ts";
import type { SignInSettings, UnmadeSettings } from "../../hub/config/sign_in_settings.ts";
import type { CommandLine } from "../command_line.ts";
import { UsageError } from "../failure.ts";
import { resolveTarget } from "../target/target.ts";

/** Its address, in the form in which sign-ins are kept. */
export function serverAddress(url: string): string {
  const address = new URL(url);
  address.hash = "";
  return address.href;
}

/** The address for people: a query may hold a secret. */
export function shownAddress(server: string): string {
  return server.replace(/\?.*$/s, "?…");
}

/** A server, and what its config says of signing in. */
export interface ServerTarget {
  /** Its address, as sign-ins call it. */
  readonly server: string;
  readonly own: SignInSettings & Pick<UnmadeSettings, "known">;
}

/**
 * The one target of a command that has to do with signing in.
 *
 * @throws {UsageError} When there is none, more than one, or one that nobody signs in to.
 */
export async function readServerTarget(line: CommandLine): Promise<ServerTarget> {
  const [target, ...rest] = line.words;
  if (target === undefined) throw new UsageError(`The target is missing: write causeway ${line.command} <target>`);
  checkRest(rest);
  const destination = await resolveTarget(target, { config: line.config, headers: {} });
  if (typeof destination.target !== "string") {
    const { command } = destination.target;
    throw new UsageError(
      `Cannot sign in to the program "${command}": only servers at a URL have sign-ins${
        destination.hint && `; ${destination.hint}`
      }`,
    );
  }
  if (line.command === "login" && hasCredentials(destination.headers)) {
    throw new UsageError(
      `Cannot sign in to "${target}": its config sends a header "Authorization", which wins; take it out first`,
    );
  }
  const own = signInSettings(destination.entry?.server.signIn);
  if (line.command === "login" && !own) {
    throw new UsageError(`Cannot sign in to "${target}": its config says that nobody does; correct its "auth" first`);
  }
  if (own?.program) {
    const program = `the program ${JSON.stringify(own.program.clientId)}`;
    throw new UsageError(
      `Nobody signs in to "${target}": by its config ${program} does, each time that it is used, and nothing is kept`,
    );
  }
  return { server: serverAddress(destination.target), own: own ?? {} };
}

/** @throws {UsageError} When anything stands behind the target. */
function checkRest(rest: readonly string[]): void {
  if (rest.length > 0) {
    throw new UsageError(`Unexpected ${JSON.stringify(rest[0])} after the target: leave it out`);
  }
}
