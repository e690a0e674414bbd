/**
 * One server of a config, asked whether it works.
 *
 * @module
 */
import type { Client } from "../../../client/mod.ts";
import type { CommandLine } from "../../command_line.ts";
import { describeFailure, exitCodes, InterruptedError } from "../../failure.ts";
import { withDestination } from "../../session/session.ts";
import { resolveTarget } from "../../target/target.ts";

/** How it is. */
export interface Examined {
  readonly name: string;
  readonly ok: boolean;
  /** What a command that uses it would exit with. */
  readonly exitCode: number;
  /** What it has, or what is wrong. */
  readonly says: string;
  /** Until it was connected and listed. */
  readonly milliseconds: number;
}

const longest = 15_000;

/** Connects to it and lists its tools. It rejects only when it is interrupted. */
export async function examine(name: string, line: CommandLine, signal: AbortSignal): Promise<Examined> {
  const begin = performance.now();
  const since = (): number => Math.round(performance.now() - begin);
  try {
    const destination = await resolveTarget(name, { config: line.config, headers: {} });
    if (destination.entry?.server.disabled) {
      return { name, ok: true, exitCode: exitCodes.ok, says: "disabled", milliseconds: since() };
    }
    let says = "";
    await withDestination(destination, { ...line, timeout: line.timeout ?? longest }, {
      signal,
      isSilent: true,
      name,
      async use(client, signal) {
        says = await describe(client, signal);
        return exitCodes.ok;
      },
    });
    return { name, ok: true, exitCode: exitCodes.ok, says, milliseconds: since() };
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    const { exitCode, line: says } = describeFailure(error);
    return { name, ok: false, exitCode, says, milliseconds: since() };
  }
}

async function describe(client: Client, signal: AbortSignal): Promise<string> {
  const { tools: hasTools, resources, prompts } = client.info?.capabilities ?? {};
  const { tools, rejected = [] } = hasTools ? await client.listTools({ signal }) : { tools: [] };
  const counts = [
    `${tools.length} ${tools.length === 1 ? "tool" : "tools"}`,
    ...(rejected.length > 0 ? [`${rejected.length} left out`] : []),
    ...(resources ? ["resources"] : []),
    ...(prompts ? ["prompts"] : []),
  ];
  return `${client.revision ?? ""}: ${counts.join(", ")}`;
}
