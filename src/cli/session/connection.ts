/**
 * The client of a session: connected, used, closed.
 *
 * @module
 */
import type { Client } from "../../client/client.ts";
import { isLoopbackHost } from "../../egress/address.ts";
import { createConnect } from "../../entry/connect.ts";
import type { ConnectOptions } from "../../entry/targets.ts";
import { RpcError, SpawnError } from "../../protocol/errors.ts";
import { systemResolve } from "../../runtime/child.ts";
import { createAsker } from "../ask/ask.ts";
import type { OAuth } from "../auth/oauth.ts";
import type { CommandLine } from "../command_line.ts";
import { UsageError } from "../failure.ts";
import type { Destination } from "../target/target.ts";
import { createSpinner, isWatched, writeError } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";
import { runtimePorts } from "../wire/ports.ts";
import type { BegunSession } from "./seam.ts";

/** How long a child may take to end by itself, and again after SIGTERM, in milliseconds. */
const closeTime = 1_000;

/**
 * Connects, runs `use`, and closes whatever happens.
 *
 * @throws {McpError} When the server cannot be reached, or fails.
 */
export async function useConnection(destination: Destination, line: CommandLine, begun: BegunSession): Promise<number> {
  // Nobody signs in to a program.
  if (typeof destination.target !== "string") return await useClient(destination, line, { ...begun, auth: undefined });
  const { findSignIn, withAdvice } = await import("../auth/use.ts");
  const used = await findSignIn(begun.world ?? (await import("../auth/world.ts")).systemWorld, destination);
  try {
    return await useClient(destination, line, { ...begun, auth: used?.oauth });
  } catch (error) {
    throw await withAdvice(error, destination, used);
  }
}

/** With the sign-in that is used. */
type KnownSession = BegunSession & { readonly auth: OAuth | undefined };

async function useClient(destination: Destination, line: CommandLine, known: KnownSession): Promise<number> {
  const { signal, use, child } = known;
  const spinner = known.isSilent ? undefined : createSpinner("connects");
  await using client = await open(destination, line, known).finally(() => spinner?.clear());
  // On a terminal the client's own warning is shown.
  if (!isWatched()) await warnOfPlainHttp(destination);
  // A task may be in work although nothing is asked any more.
  const rest = (): void => known.options?.tasks ? undefined : child?.rest();
  try {
    const code = await use(client, signal, destination);
    rest();
    return code;
  } catch (error) {
    // What was asked was answered, or nothing was asked.
    if (error instanceof UsageError || error instanceof RpcError) rest();
    throw error;
  }
}

async function open(
  { target, headers, hint }: Destination,
  { timeout }: CommandLine,
  { signal, auth, options, redact, hear, child }: KnownSession,
): Promise<Client> {
  const ports = await runtimePorts();
  const made: ConnectOptions = {
    ...options,
    signal,
    headers,
    ...(auth && { auth }),
    ...(child && { spawn: child.spawn }),
    redact,
    handlers: createAsker(),
    timeouts: {
      close: closeTime,
      ...(timeout !== undefined && { start: timeout, headers: timeout, idle: timeout, total: timeout, pages: timeout }),
    },
    ...(isWatched() && {
      logger: ({ level, message }) => {
        if (level === "warning" || level === "error") void writeError(`causeway: ${oneLine(message)}\n`);
      },
    }),
  };
  const connect = createConnect(() => ports, systemResolve);
  try {
    if (!hear) return await connect(target, made);
    // The same connection, with somebody who hears what goes over it.
    const [{ makeTransport }, { tapTransport }] = await Promise.all([
      import("../wire/transports.ts"),
      import("../wire/tap.ts"),
    ]);
    const { auth: _, ...rest } = made;
    const { transport, fallback } = makeTransport(target, made, { ...ports, ...(child && { spawn: child.spawn }) });
    return await connect(tapTransport(transport, hear), {
      ...rest,
      ...(fallback && { fallback: () => tapTransport(fallback(), hear) }),
    });
  } catch (error) {
    if (!(error instanceof SpawnError) || hint === "") throw error;
    throw new SpawnError(`${error.message}; ${hint}`, { cause: error });
  }
}

async function warnOfPlainHttp({ target }: Destination): Promise<void> {
  const { protocol, hostname } = new URL(typeof target === "string" ? target : "https://localhost");
  if (protocol === "https:" || protocol === "wss:" || isLoopbackHost(hostname)) return;
  await writeError(
    `causeway: warning: "${hostname}" is reached without encryption; use ${protocol.replace(":", "s:")}\n`,
  );
}
