/**
 * The client of a session: connected, used, closed.
 *
 * @module
 */
import type { Client } from "../../client/client.ts";
import { redactWords } from "../../egress/redact.ts";
import { createConnect } from "../../entry/connect.ts";
import type { ConnectOptions } from "../../entry/targets.ts";
import type { Spawn } from "../../ports.ts";
import { RpcError, SpawnError } from "../../protocol/errors.ts";
import { systemResolve } from "../../runtime/children/child.ts";
import { TextTail } from "../../transport/stdio_tail.ts";
import { createAsker } from "../ask/ask.ts";
import type { OAuth } from "../auth/oauth.ts";
import type { CommandLine } from "../command_line.ts";
import { UsageError } from "../failure.ts";
import { warnOfPlainHttp } from "../target/plain_http.ts";
import type { Destination } from "../target/target.ts";
import { createSpinner, isWatched, writeError } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";
import { runtimePorts } from "../wire/ports.ts";
import { lateError, strayError } from "./late.ts";
import type { BegunSession } from "./seam.ts";

/** How long a child may take to end by itself, and again after SIGTERM, in milliseconds. */
const closeTime = 1_000;
/** How much of what a program writes to its standard error is kept, in bytes. */
const keptWords = 4_096;

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
  { target, headers, hint, entry }: Destination,
  { timeout }: CommandLine,
  { signal, auth, options, redact, hear, child, isSilent }: KnownSession,
): Promise<Client> {
  const all = await runtimePorts();
  const words = new TextTail(keptWords);
  const ports = { ...all, spawn: overheard(child?.spawn ?? all.spawn, words) };
  const stray: string[] = [];
  const made: ConnectOptions = {
    ...options,
    signal,
    headers,
    ...(auth && { auth }),
    redact,
    ...(entry?.server.verdict && { verdict: entry.server.verdict }),
    handlers: createAsker(isSilent),
    timeouts: {
      ...(entry?.server.timeout !== undefined && { start: entry.server.timeout, ...entry.server.timeouts }),
      close: closeTime,
      ...(timeout !== undefined && { start: timeout, headers: timeout, idle: timeout, total: timeout, pages: timeout }),
    },
    logger({ level, message, fields }) {
      if (typeof fields?.line === "string") stray.push(fields.line);
      // What is left out of a list is told with it, and why.
      if (!isWatched() || fields?.reason !== undefined) return;
      if (level === "warning" || level === "error") void writeError(`causeway: ${oneLine(message)}\n`);
    },
  };
  const connect = createConnect(() => ports, systemResolve);
  try {
    if (!hear) return await connect(target, made);
    const { connectTapped } = await import("../wire/tapped.ts");
    return await connectTapped(target, made, { hear, ports, connect });
  } catch (error) {
    if (error instanceof SpawnError && hint !== "") throw new SpawnError(`${error.message}; ${hint}`, { cause: error });
    throw strayError(lateError(error, redactWords(words.text(), redact)), stray[0]);
  }
}

/** The same, with what programs write to their standard error kept. */
function overheard(spawn: Spawn, words: TextTail): Spawn {
  return (command, events) =>
    spawn(command, {
      output: (chunk) => events.output(chunk),
      outputEnd: () => events.outputEnd(),
      errorOutput(chunk) {
        words.push(chunk);
        return events.errorOutput(chunk);
      },
      exit: (status) => events.exit(status),
    });
}
