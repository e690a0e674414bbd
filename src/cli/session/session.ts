/**
 * From a target on the command line to a connected client, and back to nothing.
 *
 * What is read here is little, so that a local server is started at once: the client is loaded while the server boots.
 *
 * @module
 */
import type { CommandLine } from "../command_line.ts";
import { withDeadline } from "../deadline.ts";
import { resolveTarget } from "../target/target.ts";
import type { Destination } from "../target/target.ts";
import { hearWire } from "../wire/hear.ts";
import { EarlyChild } from "./early_child.ts";
import { headStart } from "./head_start.ts";
import { redactorFor } from "./redactor.ts";
import type { Session } from "./seam.ts";

export type { Session } from "./seam.ts";

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
  return await withDeadline(given.signal, line.timeout, async (signal) => {
    const { target } = destination;
    const redactor = redactorFor(destination);
    const redact = (text: string): string => redactor.redact(text);
    // A recording that cannot be begun is told before anything is started.
    const heard = hearWire(line, redact);
    const { name: server } = given;
    const hear: typeof heard = server === undefined || !heard ? heard : (wire) => heard({ ...wire, server });
    signal.throwIfAborted();
    await using child = typeof target === "string"
      ? undefined
      : headStart.take(target) ?? await EarlyChild.start(target);
    const { useConnection } = await import("./connection.ts");
    return await useConnection(destination, line, { ...given, signal, redact, hear, child });
  });
}
