/**
 * A hub with somebody who hears what goes over its connections.
 *
 * @module
 */
import { Redactor } from "../../egress/redact.ts";
import { readUrl } from "../../egress/url.ts";
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
  return await (await loadHeardHub(line, servers))({}, options);
}

/**
 * Loads what opens such a hub. Of a server that is added later and is none of these, its place is told.
 *
 * @throws {UsageError} When the recording cannot be begun.
 */
export async function loadHeardHub(line: CommandLine, servers: ReadonlyMap<string, ServerConfig>): Promise<OpenHub> {
  // Whoever takes secrets out of a server's texts says whose they are.
  const names = new Map(Array.from(servers, ([name, { redact }]) => [redact, name]));
  const added = new Map<string, Redactor>();
  const hear = hearWire(line, (text, server = "") => {
    const shown = servers.get(server)?.redact?.(text) ?? text;
    return added.get(server)?.redact(shown) ?? shown;
  });
  if (!hear) return await loadBoundHub();
  const ports = await runtimePorts();
  const begin = performance.now();
  return await createOpenHub(async (target, given) => {
    const place = typeof target === "object" && "target" in target ? target.target : target;
    const name = given.redact && names.get(given.redact);
    const server = name ?? placeName(place);
    if (name === undefined) {
      const redactor = added.get(server) ?? new Redactor();
      added.set(server, redactor);
      for (const value of Object.values(given.headers ?? {})) {
        for (const part of [value, ...value.split(" ")]) redactor.add(part);
      }
    }
    // The time runs from one beginning for all.
    const tell: HearWire = (wire) => hear({ at: Math.round(performance.now() - begin), server, ...without(wire) });
    if (typeof place === "object" && "send" in place) return await connect(tapTransport(place, tell), given);
    return await connectTapped(place, given, { hear: tell, ports, connect });
  });
}

/** What there is to say of a server that no config has. */
function placeName(place: string | object): string {
  if (typeof place === "string") return readUrl(place)?.host ?? "";
  return "command" in place && typeof place.command === "string" ? place.command : "";
}

function without<Line extends { readonly at: number }>({ at: _, ...rest }: Line): Omit<Line, "at"> {
  return rest;
}
