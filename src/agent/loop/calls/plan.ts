/**
 * From the calls that a model wants to what would be sent: found, checked, and bound to what a person is shown.
 *
 * @module
 */
import { readArguments, unknownTool } from "../../../hub/models/call/call.ts";
import { canonicalJson } from "../../../hub/pins/canonical.ts";
import { definitionOf, hiddenIn, stepTo } from "../../../hub/pins/definition.ts";
import { findHidden } from "../../../hub/pins/hidden.ts";
import type { CatalogTool } from "../../../hub/seam.ts";
import { discoveryNames } from "../../../hub/search/discovery_tools.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { Tool } from "../../../protocol/types.ts";
import { sha256 } from "../../../protocol/web_crypto.ts";
import type { LanguageModelToolCall } from "../../model/seam.ts";
import type { ObservationOutcome, ProposedCall } from "../seam.ts";
import type { ToolChecks } from "./observation.ts";
import type { OwnTools } from "./own_tools.ts";
import type { CallPolicy, Consent } from "./policy.ts";

const mostHidden = 50;

/** A call that can be made. Plain JSON: it is kept in journals. */
export interface SoundCall {
  readonly proposal: ProposedCall;
  readonly consent: Consent;
  /** Whether it may be made again after a crash. */
  readonly repeatable: boolean;
}

/** A call that cannot be made, and what the model is told. */
export interface RefusedCall {
  readonly refusal: {
    readonly id: string;
    readonly name: string;
    readonly server: string;
    readonly tool: string;
    readonly argumentsHash: string;
    readonly text: string;
    readonly outcome: ObservationOutcome;
  };
}

/** A call that a model wants, as it was looked at. */
export type PlannedCall = SoundCall | RefusedCall;

/** What planning needs. */
export interface PlanParts {
  readonly hub: OwnTools;
  readonly policy: CallPolicy;
  readonly checks: ToolChecks;
}

/** Looks at the calls of a model. */
export class Planner {
  readonly #parts: PlanParts;
  readonly #hashes = new WeakMap<Tool, Promise<string | undefined>>();

  constructor(parts: PlanParts) {
    this.#parts = parts;
  }

  /** What would be sent for a call. */
  async plan(call: LanguageModelToolCall, signal: AbortSignal): Promise<PlannedCall> {
    const { hub, policy, checks } = this.#parts;
    const read = readArguments(call.arguments);
    const found = typeof read === "string" ? undefined : this.#target(call.name, read.args);
    const tool = found?.tool ?? hub.findTool(call.name);
    if (!tool) return await refused(call, unknownTool(hub, call.name), "not_called");
    if (typeof read === "string" || !found) {
      return await refused(call, `Cannot call "${call.name}": ${read}`, "tool_error", tool);
    }
    const { args } = found;
    const text = canonical(args);
    const wrong = text === undefined
      ? "they hold a number that is too large, or are nested too deeply"
      : checks.wrongArguments(tool.tool, args);
    if (text === undefined || wrong) {
      return await refused(call, `Cannot call "${found.name}": wrong arguments: ${wrong}`, "tool_error", tool);
    }
    const toolHash = await this.hashOf(tool);
    if (toolHash === undefined) {
      const why = "its definition holds a number that is too large, or is nested too deeply";
      return await refused(call, `"${found.name}" cannot be called: ${why}`, "not_called", tool);
    }
    const hidden = hiddenParts(tool, args);
    const annotations = tool.tool.annotations as JsonObject | undefined;
    const proposal: ProposedCall = {
      id: call.id,
      server: tool.server,
      tool: tool.name,
      name: found.name,
      arguments: args,
      argumentsHash: await sha256(text),
      toolHash,
      ...(hidden.length > 0 && { hidden }),
      ...(annotations && { annotations }),
    };
    return { proposal, consent: await policy.consent(tool, args, signal), repeatable: policy.isRepeatable(tool) };
  }

  /** The SHA-256 of a tool's definition; undefined where it cannot be written. */
  hashOf({ tool }: CatalogTool): Promise<string | undefined> {
    let hash = this.#hashes.get(tool);
    if (!hash) {
      hash = Promise.resolve().then(() => sha256(canonicalJson(definitionOf(tool)))).catch(() => undefined);
      this.#hashes.set(tool, hash);
    }
    return hash;
  }

  /** What is really called: behind `call_tool` of progressive discovery is another one, and that is what a person is asked about. */
  #target(name: string, args: JsonObject): { tool: CatalogTool; name: string; args: JsonObject } | undefined {
    const { hub } = this.#parts;
    const tool = hub.findTool(name);
    if (!tool) return undefined;
    const { name: inner, arguments: innerArgs = {} } = args;
    if (tool.server === "" && tool.name === discoveryNames.call && !hub.isOwn(tool) && typeof inner === "string") {
      const found = hub.findTool(inner);
      if (found && found.server !== "" && isObject(innerArgs)) {
        return { tool: found, name: found.qualifiedName, args: innerArgs as JsonObject };
      }
    }
    return { tool, name: tool.qualifiedName, args };
  }
}

/** Arguments as they are hashed; undefined where JSON cannot hold them. */
function canonical(args: JsonObject): string | undefined {
  try {
    return canonicalJson(args);
  } catch {
    return undefined;
  }
}

/** A call that cannot be made, with what the model is told. */
export async function refused(
  { id, name, arguments: given }: LanguageModelToolCall,
  text: string,
  outcome: ObservationOutcome,
  tool?: CatalogTool,
): Promise<RefusedCall> {
  const argumentsHash = await sha256(typeof given === "string" ? given : JSON.stringify(given));
  return { refusal: { id, name, server: tool?.server ?? "", tool: tool?.name ?? name, argumentsHash, text, outcome } };
}

/** What no screen shows, in the definition and in the arguments: each with its place. */
function hiddenParts({ tool }: CatalogTool, args: JsonObject): string[] {
  const found = hiddenIn(tool).map(({ path, codePoints }) => `tool.${path}: ${Object.keys(codePoints).join(" ")}`);
  const walk = (value: unknown, path: string): void => {
    if (found.length >= mostHidden) return;
    if (typeof value === "string") {
      const { count, codePoints } = findHidden(value);
      if (count > 0) found.push(`${path}: ${Object.keys(codePoints).join(" ")}`);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        const step = stepTo(path, Array.isArray(value) ? Number(name) : name);
        if (findHidden(name).count > 0) found.push(`${step}: in the name`);
        walk(inner, step);
      }
    }
  };
  walk(args, "arguments");
  return found.slice(0, mostHidden);
}
