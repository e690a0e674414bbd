/**
 * A hub with somebody who hears what goes over its connections.
 *
 * @module
 */
import { connect } from "../../entry/local.ts";
import type { Hub } from "../../hub/hub.ts";
import { createOpenHub } from "../../hub/open_hub.ts";
import type { OpenHub } from "../../hub/open_hub.ts";
import type { OpenHubOptions } from "../../hub/options.ts";
import type { ServerConfig } from "../../hub/seam.ts";
import type { CommandLine } from "../command_line.ts";
import { hearWire } from "./hear.ts";
import { childPorts, runtimePorts } from "./ports.ts";
import { tapTransport } from "./tap.ts";
import type { HearWire } from "./tap.ts";
import { connectTapped } from "./tapped.ts";

/** Loads what opens hubs whose programs end with this one, also when it is interrupted twice. */
export async function loadBoundHub(): Promise<OpenHub> {
  const { spawn } = await childPorts();
  return createOpenHub((target, given) => connect(target, { ...given, spawn }));
}

/**
 * A hub without servers yet. Where somebody wants to hear of the wire, each message is told of with the name of its server.
 *
 * @param servers Those that will be added. Each has a `redact` of its own.
 * @throws {UsageError} When the recording cannot be begun.
 */
export async function openHeardHub(
  line: CommandLine,
  servers: ReadonlyMap<string, ServerConfig>,
  options: OpenHubOptions = {},
): Promise<Hub> {
  // Whoever takes secrets out of a server's texts says whose they are.
  const names = new Map(Array.from(servers, ([name, { redact }]) => [redact, name]));
  const redactors = new Map(Array.from(servers, ([name, { redact }]) => [name, redact]));
  const hear = hearWire(line, (text, server = "") => redactors.get(server)?.(text) ?? text);
  if (!hear) return await (await loadBoundHub())({}, options);
  const ports = await runtimePorts();
  const begin = performance.now();
  return await createOpenHub(async (target, given) => {
    const server = names.get(given.redact);
    // The time runs from one beginning for all.
    const tell: HearWire = (wire) => hear({ at: Math.round(performance.now() - begin), server, ...without(wire) });
    if (typeof target === "object" && "send" in target) return await connect(tapTransport(target, tell), given);
    const place = typeof target === "object" && "target" in target ? target.target : target;
    return await connectTapped(place, given, { hear: tell, ports, connect });
  })({}, options);
}

function without<Line extends { readonly at: number }>({ at: _, ...rest }: Line): Omit<Line, "at"> {
  return rest;
}
