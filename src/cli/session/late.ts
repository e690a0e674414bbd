/**
 * What programs say to people that are no servers yet, or never.
 *
 * @module
 */
import { PeerExitedError, TimeoutError } from "../../protocol/errors.ts";
import { DeadlineError, describeFailure } from "../failure.ts";
import { firstLine } from "../text/plain.ts";

/** How much of what a program wrote to its standard error is shown: a link to sign in may be long, and is not the last word. */
const shownWords = 800;

/** A program that waits for something, such as a person who signs in, says so on its standard error. */
export function lateError(error: unknown, words: string): unknown {
  const said = words.trim().slice(-shownWords);
  if (said === "" || !isLate(error)) return error;
  return new DeadlineError(`${describeFailure(error).line}; its standard error ends with: ${said}`, { cause: error });
}

/** Whether it took too long: by its own time, or by that of the command. */
function isLate(error: unknown): boolean {
  return error instanceof TimeoutError || error instanceof DeadlineError;
}

/** A program that talks to people, and not as a server, says so in its output. */
export function strayError(error: unknown, line: string | undefined): unknown {
  if (line === undefined) return error;
  const said = `its output began with ${JSON.stringify(firstLine(line, 80))}, which is no MCP message`;
  if (isLate(error)) return new DeadlineError(`${describeFailure(error).line}; ${said}`, { cause: error });
  return error instanceof PeerExitedError ? new PeerExitedError(`${error.message}; ${said}`, { cause: error }) : error;
}
