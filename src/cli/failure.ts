/**
 * What can go wrong on the command line: one exit code and one line for each.
 *
 * @module
 */
import {
  AuthorizationError,
  AuthorizationRequiredError,
  ConnectError,
  ConnectionClosedError,
  EgressDeniedError,
  HttpStatusError,
  InvalidParamsError,
  LimitExceededError,
  McpError,
  OutcomeUnknownError,
  OverloadedError,
  PeerExitedError,
  ProtocolViolationError,
  RedirectRefusedError,
  RpcError,
  SessionLostError,
  SpawnError,
  TimeoutError,
  UnauthorizedError,
} from "../protocol/errors.ts";
import { oneLine } from "./text/plain.ts";

/** The exit codes of the command: a contract. */
export const exitCodes: Readonly<
  Record<"ok" | "toolFailed" | "usage" | "authorization" | "unreachable" | "protocol" | "interrupted", number>
> = { ok: 0, toolFailed: 1, usage: 2, authorization: 3, unreachable: 4, protocol: 5, interrupted: 130 };

/** Wrong use of the command: the message says what, where and what to do. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The user, or the system, asked the command to stop. */
export class InterruptedError extends Error {
  override name = "InterruptedError";
  /** 128 and the number of the signal. */
  readonly exitCode: number;

  constructor(exitCode: number) {
    super("interrupted");
    this.exitCode = exitCode;
  }
}

/** The whole command took longer than `--timeout` allows. */
export class DeadlineError extends Error {
  override name = "DeadlineError";
}

/** What was asked for is there, and cannot be written. */
export class OutputError extends Error {
  override name = "OutputError";
}

/** What to tell of a failure. */
export interface Failure {
  readonly exitCode: number;
  /** One line without control characters. */
  readonly line: string;
}

/** What is said where the folder that the command was started in cannot be reached by its name. */
export const goneFolder =
  "The folder that you are in is not there any more, or has a name that is not UTF-8: go to another";

const longestLine = 1_000;
const unreachable = [
  ConnectError,
  ConnectionClosedError,
  EgressDeniedError,
  HttpStatusError,
  OverloadedError,
  PeerExitedError,
  RedirectRefusedError,
  SessionLostError,
  SpawnError,
  TimeoutError,
] as const;

/** The exit code and the line for an error. */
export function describeFailure(given: unknown): Failure {
  // What Node and Bun say of it, and what Deno says of such a name.
  const isGone = given instanceof Error && /\buv_cwd$|^File name or path .* is not valid UTF-8$/s.test(given.message);
  const error = isGone ? new UsageError(goneFolder) : given;
  const line = oneLine(error instanceof Error ? messageOf(error) : String(error));
  return { exitCode: exitCodeOf(error), line: shortened(line) };
}

/** A long line loses its middle: the start says what broke, the end says why (a traceback's last line), or what to do. */
function shortened(line: string): string {
  const half = longestLine / 2;
  return line.length > longestLine ? `${line.slice(0, half)} … ${line.slice(-half)}` : line;
}

/** The exit code of an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof InterruptedError) return error.exitCode;
  if (error instanceof UsageError || error instanceof InvalidParamsError || error instanceof TypeError) {
    return exitCodes.usage;
  }
  if (error instanceof OutputError) return exitCodes.toolFailed;
  if (error instanceof DeadlineError) return exitCodes.unreachable;
  if (
    error instanceof UnauthorizedError || error instanceof AuthorizationRequiredError ||
    error instanceof AuthorizationError
  ) {
    return exitCodes.authorization;
  }
  if (error instanceof OutcomeUnknownError) {
    return error.cause instanceof McpError ? exitCodeOf(error.cause) : exitCodes.unreachable;
  }
  return unreachable.some((Class) => error instanceof Class) ? exitCodes.unreachable : exitCodes.protocol;
}

/** The message, in the words of the command line, and what to do where the message does not say it itself. */
function messageOf(error: Error): string {
  const server = error instanceof McpError && error.server !== undefined ? ` from "${error.server}"` : "";
  if (error instanceof TimeoutError) {
    return `No answer${server} within ${error.milliseconds} ms: check that it is an MCP server, or give it longer with --timeout`;
  }
  // What a program would be told to raise is no option of the command.
  if (error instanceof LimitExceededError) {
    const seen = named(error.message.replace(/: raise it$/, ""), error);
    const ran = error.method === "tools/call" && error.delivery !== "not-sent" ? ", and the tool may have run" : "";
    return `${seen}: the command takes no more${ran}; ask for less`;
  }
  if (error instanceof RpcError) {
    const where = error.server === undefined ? "The server" : `"${error.server}"`;
    const advice = refusedAdvice(error);
    return `${where} refused ${error.method ?? "the request"} (${error.rpcCode}): ${error.message}${advice}`;
  }
  const advice = adviceFor(error);
  const message = error.message.trimEnd().replace(/, expected JSON or events:$/, ", expected JSON or events");
  return advice === "" ? message : `${named(message, error)}: ${advice}`;
}

/** With the server, where the message does not name it. */
function named(message: string, error: Error): string {
  const server = error instanceof McpError ? error.server : undefined;
  return server === undefined || message.includes(server) ? message : `"${server}": ${message}`;
}

function refusedAdvice({ method = "", rpcCode }: RpcError): string {
  if (rpcCode === -32601) return "; causeway probe shows what it speaks";
  return rpcCode === -32602 && /^tasks\/(get|cancel|result|update)$/.test(method)
    ? "; causeway tasks list <target> shows those that it has"
    : "";
}

function adviceFor(error: Error): string {
  const isRefused = error instanceof UnauthorizedError || error instanceof HttpStatusError;
  // What servers say to a name that is not theirs (403, or 421 in Python): no credentials help there, and no other path.
  if (isRefused && /\ballowedHosts\b|invalid host/i.test(error.message)) {
    return "use a name or an address that the server knows, or let those who run it allow this one";
  }
  if (error instanceof UnauthorizedError) {
    return error.status === 403
      ? "check that the credentials allow it"
      : "these credentials are wrong or have expired; renew those of --header, or of the config";
  }
  if (error instanceof ProtocolViolationError && /^The message is no|expected JSON or events/.test(error.message)) {
    return "check that this is the URL of an MCP server";
  }
  if (error instanceof HttpStatusError) {
    return error.status < 500 ? "check the path of the URL" : "try again later, or ask those who run it";
  }
  if (mayHaveRun(error)) return "the tool may have run: look before you call it again";
  // The runtimes differ in how much they tell; what is told already is not told twice.
  const isLost = error instanceof ConnectError || error instanceof ConnectionClosedError;
  if (isLost && !/: check |; (use|run) /.test(error.message)) {
    const [, scheme] = /"((?:https?|wss?):)\/\//.exec(error.message) ?? [];
    // Where somebody is, it may be that something else is spoken there.
    const isNobody = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|refused|resolve|lookup|dns/i.test(error.message);
    return `check the address, and that the server runs${scheme && !isNobody ? ` and speaks ${scheme}` : ""}`;
  }
  return "";
}

/** True when a call broke off after it was sent. */
function mayHaveRun(error: Error): boolean {
  if (error instanceof OutcomeUnknownError) return true;
  const brokeOff = error instanceof PeerExitedError || error instanceof ConnectionClosedError;
  return brokeOff && error.method === "tools/call" && error.delivery === "unknown";
}
