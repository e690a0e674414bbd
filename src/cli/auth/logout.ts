/**
 * `causeway logout <target>`: withdraws and forgets a sign-in.
 *
 * @module
 */
import type { CommandLine } from "../command_line.ts";
import { withDeadline } from "../deadline.ts";
import { DeadlineError, exitCodes } from "../failure.ts";
import { writeOut } from "../terminal.ts";
import { oneLine, plainJson } from "../text/plain.ts";
import { forgetSignIn, readKept } from "./kept.ts";
import type { AuthWorld } from "./oauth.ts";
import { readServerTarget, shownAddress } from "./server.ts";
import { openKept, openWithoutSecret } from "./settings.ts";

/** Signs out, says what happened, and answers the exit code. */
export async function logout(line: CommandLine, given: AbortSignal, world: AuthWorld): Promise<number> {
  const { server, own } = await readServerTarget(line);
  return await withDeadline(given, line.timeout, async (signal) => {
    const store = world.openStore();
    const kept = (await readKept(store)).find((kept) => kept.server === server) ?? { server };
    // Without its secret a client can at least forget.
    const oauth = await openKept(world, store, kept, { own }).catch(() => openWithoutSecret(world, store, kept));
    const status = await oauth.status(server);
    const shown = shownAddress(server);
    const gone = await oauth.signOut(server, { signal }).catch(async (error: unknown) => {
      if (!status || !signal.aborted || await oauth.status(server)) throw error;
      // It was forgotten before anybody was asked to revoke it.
      await forgetSignIn(store, server);
      throw error instanceof DeadlineError ? late(shown, status.issuer, line.timeout) : error;
    });
    await forgetSignIn(store, server);
    await writeOut(
      line.json
        ? plainJson({ server: shown, signedOut: gone !== undefined, revoked: gone?.revoked ?? false }) + "\n"
        : `${outcome(shown, gone, status?.issuer)}\n`,
    );
    return exitCodes.ok;
  });
}

function late(server: string, issuer: string, timeout: number | undefined): DeadlineError {
  return new DeadlineError(
    `Signed out of ${server} without an answer of ${oneLine(issuer)} within ${timeout} ms: ` +
      "the tokens are forgotten here, and may not be revoked",
  );
}

function outcome(server: string, gone: { revoked: boolean } | undefined, issuer: string | undefined): string {
  if (!gone) return `Not signed in to ${server}: there was nothing to forget`;
  const at = issuer === undefined ? "the authorization server" : oneLine(issuer);
  return `Signed out of ${server}: the tokens are forgotten here${
    gone.revoked ? `, and revoked at ${at}` : `; ${at} did not revoke them, so they end by themselves`
  }`;
}
