/**
 * A connection with somebody who hears what goes over it.
 *
 * @module
 */
import type { Client } from "../../client/mod.ts";
import type { Connect } from "../../entry/connect.ts";
import type { ConnectOptions } from "../../entry/targets.ts";
import type { StdioCommand } from "../../transport/stdio.ts";
import type { RuntimePorts } from "./ports.ts";
import { tapTransport } from "./tap.ts";
import type { HearWire } from "./tap.ts";
import { makeTransport } from "./transports.ts";

/** Who hears, and what connects. */
export interface Tapped {
  readonly hear: HearWire;
  readonly ports: RuntimePorts;
  readonly connect: Connect;
}

/** The same as `connect`, and each message is told of. */
export async function connectTapped(
  target: string | StdioCommand,
  { auth, ...options }: ConnectOptions,
  { hear, ports, connect }: Tapped,
): Promise<Client> {
  const { transport, fallback } = makeTransport(target, { ...options, auth }, ports);
  return await connect(tapTransport(transport, hear), {
    ...options,
    ...(fallback && { fallback: () => tapTransport(fallback(), hear) }),
  });
}
