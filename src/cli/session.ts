/**
 * From a target on the command line to a connected client, and back to nothing.
 *
 * @module
 */
import type { Client } from "../client/mod.ts";
import { isLoopbackHost } from "../egress/address.ts";
import { Redactor } from "../egress/redact.ts";
import { connect } from "../entry/local.ts";
import type { ConnectOptions } from "../entry/targets.ts";
import { PeerExitedError, SpawnError } from "../protocol/mod.ts";
import { createAsker } from "./ask/ask.ts";
import type { AuthWorld, OAuth } from "./auth/oauth.ts";
import { findSignIn, withAdvice } from "./auth/use.ts";
import { systemWorld } from "./auth/world.ts";
import type { CommandLine } from "./command_line.ts";
import { withDeadline } from "./deadline.ts";
import { DeadlineError } from "./failure.ts";
import { resolveTarget } from "./target/target.ts";
import type { Destination } from "./target/target.ts";
import { createSpinner, isWatched, writeError } from "./terminal.ts";
import { firstLine, oneLine } from "./text/plain.ts";
import { hearWire } from "./wire/hear.ts";

/** How long a child may take to end by itself, and again after SIGTERM, in milliseconds. */
const closeTime = 1_000;

/** What a command does with a client. */
export type Use = (client: Client, signal: AbortSignal, destination: Destination) => Promise<number>;

/** What is done with the client, and what it is made with. */
export interface Session {
  /** Interrupts. */
  readonly signal: AbortSignal;
  /** Gets a signal that ends with `--timeout` too. */
  readonly use: Use;
  /** Has the sign-ins (the person's own). */
  readonly world?: AuthWorld;
  readonly options?: Pick<ConnectOptions, "tasks">;
  /** Whether somebody else says that it is under way. */
  readonly isSilent?: boolean;
  /** What the lines of the wire call the server, where there are several. */
  readonly name?: string;
}

/**
 * Connects, runs `use`, and closes whatever happens.
 *
 * @param target The target as the user wrote it.
 * @param line The options.
 * @throws {UsageError} When the target is none.
 * @throws {McpError} When the server cannot be reached, or fails.
 */
export async function withClient(target: string, line: CommandLine, given: Session): Promise<number> {
  return await withDestination(await resolveTarget(target, line), line, given);
}

/**
 * The same for a target that was resolved already.
 *
 * @throws {McpError} When the server cannot be reached, or fails.
 */
export async function withDestination(destination: Destination, line: CommandLine, given: Session): Promise<number> {
  const { world = systemWorld } = given;
  return await withDeadline(given.signal, line.timeout, async (signal) => {
    const used = await findSignIn(world, destination);
    const spinner = given.isSilent ? undefined : createSpinner("connects");
    try {
      await using client = await open(destination, line, {
        signal,
        auth: used?.oauth,
        options: given.options,
        name: given.name,
      })
        .finally(() => spinner?.clear());
      // On a terminal the client's own warning is shown.
      if (!isWatched()) await warnOfPlainHttp(destination);
      return await given.use(client, signal, destination);
    } catch (error) {
      throw await withAdvice(error, destination, used);
    }
  });
}

/** What knows the secrets of a target. */
export function redactorFor({ target, headers, entry }: Destination): Redactor {
  const redactor = new Redactor();
  const secrets = [...Object.values(headers), ...Object.values(typeof target === "string" ? {} : target.env ?? {})];
  for (const secret of entry?.server.secrets ?? []) redactor.add(secret);
  for (const secret of secrets) for (const part of [secret, ...secret.split(" ")]) redactor.add(part);
  return redactor;
}

async function open(
  { target, headers, entry, hint }: Destination,
  line: CommandLine,
  { signal, auth, options, name }: {
    signal: AbortSignal;
    auth: OAuth | undefined;
    options: Pick<ConnectOptions, "tasks"> | undefined;
    name: string | undefined;
  },
): Promise<Client> {
  const redactor = redactorFor({ target, headers, entry, hint });
  const { timeout } = line;
  const stray: string[] = [];
  const made: ConnectOptions = {
    ...options,
    signal,
    headers,
    ...(auth && { auth }),
    redact: (text) => redactor.redact(text),
    handlers: createAsker(),
    timeouts: {
      close: closeTime,
      ...(timeout !== undefined && { start: timeout, headers: timeout, idle: timeout, total: timeout, pages: timeout }),
    },
    logger({ level, message, fields }) {
      if (typeof fields?.line === "string") stray.push(fields.line);
      if (!isWatched()) return;
      if (level === "warning" || level === "error") void writeError(`causeway: ${oneLine(message)}\n`);
    },
  };
  try {
    const heard = hearWire(line, (text) => redactor.redact(text));
    if (!heard) return await connect(target, made);
    const { connectTapped } = await import("./wire/connect.ts");
    return await connectTapped(target, made, name === undefined ? heard : (wire) => heard({ ...wire, server: name }));
  } catch (error) {
    if (error instanceof SpawnError) throw await spawnError(error, target, hint);
    throw strayError(error, stray[0]);
  }
}

/** What cannot be started, and what it may have been meant as. */
async function spawnError(error: SpawnError, target: Destination["target"], hint: string): Promise<SpawnError> {
  const command = typeof target === "string" ? "" : target.command;
  const { stat } = await import("node:fs/promises");
  const isFolder = await stat(command).then((found) => found.isDirectory(), () => false);
  const message = isFolder ? `Cannot start "${command}": it is a folder; name a program in it` : error.message;
  return hint === "" && !isFolder
    ? error
    : new SpawnError(isFolder ? message : `${message}; ${hint}`, { cause: error });
}

/** A program that talks to people, and not as a server, says so in its output. */
function strayError(error: unknown, line: string | undefined): unknown {
  if (line === undefined) return error;
  const said = `its output began with ${JSON.stringify(firstLine(line, 80))}, which is no MCP message`;
  if (error instanceof DeadlineError) return new DeadlineError(`${error.message}; ${said}`);
  return error instanceof PeerExitedError ? new PeerExitedError(`${error.message}; ${said}`, { cause: error }) : error;
}

async function warnOfPlainHttp({ target }: Destination): Promise<void> {
  const { protocol, hostname } = new URL(typeof target === "string" ? target : "https://localhost");
  if (protocol === "https:" || protocol === "wss:" || isLoopbackHost(hostname)) return;
  await writeError(
    `causeway: warning: "${hostname}" is reached without encryption; use ${protocol.replace(":", "s:")}\n`,
  );
}
