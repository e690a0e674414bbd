/**
 * `causeway probe <target>`: what a server speaks, revision by revision, and how long each takes to begin.
 *
 * @module
 */
import type { AuthWorld } from "../../auth/oauth.ts";
import { findSignIn, withAdvice } from "../../auth/use.ts";
import type { CommandLine } from "../../command_line.ts";
import { withDeadline } from "../../deadline.ts";
import { exitCodes } from "../../failure.ts";
import { redactorFor } from "../../session/redactor.ts";
import { resolveTarget } from "../../target/target.ts";
import { createSpinner, terminalWidth, writeError, writeOut } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";
import { columns } from "../../text/table.ts";
import { hearWire } from "../../wire/hear.ts";
import { runtimePorts } from "../../wire/ports.ts";
import { tapTransport } from "../../wire/tap.ts";
import { makeTransport } from "../../wire/transports.ts";
import type { MadeTransport } from "../../wire/transports.ts";
import { exactWords } from "../talk/common.ts";
import { probeRevision, probes } from "./revisions.ts";
import type { Probed } from "./revisions.ts";

const longest = 10_000;

/** Asks, tells, and answers the exit code: 5 when it speaks none of them. */
export async function probe(line: CommandLine, given: AbortSignal, world: AuthWorld): Promise<number> {
  const [target = ""] = exactWords(line, ["target"]);
  const destination = await resolveTarget(target, line);
  return await withDeadline(given, line.timeout, async (signal) => {
    const used = await findSignIn(world, destination);
    const redactor = redactorFor(destination);
    const redact = (text: string): string => redactor.redact(text);
    const ports = await runtimePorts();
    const options = {
      headers: destination.headers,
      redact,
      timeouts: { close: 1_000 },
      ...(used && { auth: used.oauth }),
    };
    const hear = hearWire(line, redact);
    const make = (): MadeTransport => {
      const { transport, fallback } = makeTransport(destination.target, options, ports);
      if (!hear) return { transport, ...(fallback && { fallback }) };
      return {
        transport: tapTransport(transport, hear),
        ...(fallback && { fallback: () => tapTransport(fallback(), hear) }),
      };
    };
    const found: Probed[] = [];
    for (const one of probes(destination.target)) {
      const spinner = createSpinner(`asks for ${one.name}`);
      const probed = await probeRevision(one, make(), { signal, longest }).finally(() => spinner.clear());
      signal.throwIfAborted();
      found.push(probed);
      // Where nobody is, nobody speaks another revision.
      if (probed.failure && found.length === 1) throw await withAdvice(probed.failure, destination, used);
    }
    const server = found.find(({ server }) => server)?.server;
    const revisions = found.map(({ failure: _, server: _server, ...rest }) => rest);
    await writeOut(line.json ? plainJson({ server, revisions }) + "\n" : asText(found));
    if (server) await writeError(`causeway: ${oneLine(server)}\n`);
    if (found.some(({ spoken }) => spoken)) return exitCodes.ok;
    await writeError(
      "causeway: it speaks no revision of MCP: check that this is the URL, or the program, of a server\n",
    );
    return exitCodes.protocol;
  });
}

function asText(found: readonly Probed[]): string {
  const rows = found.map(({ name, spoken, milliseconds, says }) => [
    name,
    spoken ? "yes" : "no",
    `${milliseconds} ms`,
    oneLine(says ?? ""),
  ]);
  return columns(rows, terminalWidth(), { wrapsLast: true });
}
