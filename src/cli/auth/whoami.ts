/**
 * `causeway whoami [target]`: which servers someone is signed in to, and as what.
 *
 * @module
 */
import { AuthorizationError } from "../../protocol/mod.ts";
import type { CommandLine } from "../command_line.ts";
import { exitCodes } from "../failure.ts";
import { writeError, writeOut } from "../terminal.ts";
import { plainJson } from "../text/plain.ts";
import { readKept } from "./kept.ts";
import type { AuthWorld, SignInStatus } from "./oauth.ts";
import { statusJson, statusText } from "./report.ts";
import { readServerTarget, shownAddress } from "./server.ts";
import { openWithoutSecret } from "./settings.ts";

/** Tells of one server, or of all, and answers the exit code. */
export async function whoami(line: CommandLine, _signal: AbortSignal, world: AuthWorld): Promise<number> {
  if (line.words.length === 0) return await tellAll(line, world);
  const { server } = await readServerTarget(line);
  const store = world.openStore();
  const kept = (await readKept(store)).find((kept) => kept.server === server) ?? { server };
  const status = await (await openWithoutSecret(world, store, kept)).status(server);
  if (!status) {
    throw new AuthorizationError(`Not signed in to "${shownAddress(server)}": causeway login ${shownAddress(server)}`);
  }
  await writeOut(line.json ? plainJson(statusJson(status)) + "\n" : `${statusText(status)}\n`);
  return exitCodes.ok;
}

async function tellAll(line: CommandLine, world: AuthWorld): Promise<number> {
  const store = world.openStore();
  const found: SignInStatus[] = [];
  for (const kept of await readKept(store)) {
    const status = await (await openWithoutSecret(world, store, kept)).status(kept.server);
    if (status) found.push(status);
  }
  await writeOut(
    line.json ? plainJson(found.map(statusJson)) + "\n" : found.map((status) => `${statusText(status)}\n`).join(""),
  );
  if (found.length === 0) await writeError("causeway: not signed in anywhere\n");
  return exitCodes.ok;
}
