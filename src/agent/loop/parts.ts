/**
 * The options of an agent, checked and filled in.
 *
 * @module
 */
import { systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import type { Relay } from "../../hub/gateway/mod.ts";
import { createSchemaValidator } from "../../protocol/json_schema/mod.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Root } from "../../protocol/types.ts";
import type { SchemaValidator } from "../../protocol/validation.ts";
import type { LanguageModel } from "../model/seam.ts";
import { ToolChecks } from "./calls/observation.ts";
import { OwnTools } from "./calls/own_tools.ts";
import { Planner } from "./calls/plan.ts";
import { CallPolicy } from "./calls/policy.ts";
import type { AgentOptions } from "./options.ts";
import { toJsonSchema } from "./schemas.ts";
import { readSampling, type SamplingRules } from "./turns/sampling.ts";

/** What all runs of one agent share. */
export interface AgentParts {
  readonly model: LanguageModel;
  readonly hub: OwnTools;
  readonly relay: Relay | undefined;
  readonly validator: SchemaValidator;
  readonly checks: ToolChecks;
  readonly planner: Planner;
  readonly sampling: SamplingRules;
  readonly roots: readonly Root[];
  readonly onUnknown: "ask" | "tell" | "fail";
  readonly steps: number;
  readonly tokens: number;
  readonly maxParallel: number;
  readonly contextTokens: number;
  /** What an output has to fit where the task does not say. */
  readonly output: JsonObject | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly options: AgentOptions;
}

/**
 * Reads the options of an agent.
 *
 * @throws {TypeError} When one makes no sense.
 * @throws {RangeError} When one is no number of its kind.
 */
export function readParts(options: AgentOptions): AgentParts {
  const { model, hub, tools = [], roots = [], onUnknown = "ask", clock = systemClock, random = systemRandom } = options;
  if (typeof model?.stream !== "function") throw new TypeError('Cannot make an agent: "model" has no "stream"');
  if (hub !== undefined && typeof hub?.callTool !== "function") {
    throw new TypeError('Cannot make an agent: "hub" has no "callTool"');
  }
  // What others call it.
  if ("maxSteps" in options && options.maxSteps != null && options.steps === undefined) {
    throw new TypeError('Cannot make an agent: "steps" is missing, expected it, not "maxSteps"');
  }
  if (onUnknown !== "ask" && onUnknown !== "tell" && onUnknown !== "fail") {
    throw new TypeError(`"onUnknown" is ${JSON.stringify(onUnknown)}, expected "ask", "tell" or "fail"`);
  }
  for (const [name, list] of Object.entries({ tools, roots })) {
    if (!Array.isArray(list)) throw new TypeError(`Cannot make an agent: "${name}" is no list`);
  }
  if (typeof (options.instructions ?? "") !== "string") {
    throw new TypeError('Cannot make an agent: "instructions" is no text');
  }
  const wrong = roots.find(({ uri }) => !uri.startsWith("file://"));
  if (wrong) throw new TypeError(`Cannot tell the root "${wrong.uri}": expected a file:// URI`);
  for (const name of ["timeout", "callTimeout", "questionTimeout", "maxOutputTokens"] as const) {
    if (options[name] !== undefined) amount(name, options[name]);
  }
  const { temperature = 0 } = options;
  if (!(typeof temperature === "number" && temperature >= 0 && temperature <= 2)) {
    throw new RangeError(`Cannot make an agent: "temperature" is ${temperature}, expected a number from 0 to 2`);
  }
  const validator = createSchemaValidator();
  const own = new OwnTools(hub, tools, clock);
  const checks = new ToolChecks(validator);
  const policy = new CallPolicy(options, own);
  return {
    model,
    hub: own,
    relay: options.relay,
    validator,
    checks,
    planner: new Planner({ hub: own, policy, checks }),
    sampling: readSampling(options.sampling),
    roots,
    onUnknown,
    steps: Math.floor(amount("steps", options.steps ?? 20)),
    tokens: amount("tokens", options.tokens ?? Infinity),
    maxParallel: Math.floor(amount("maxParallel", options.maxParallel ?? 8)),
    contextTokens: amount("contextTokens", options.contextTokens ?? model.maxInputTokens ?? Infinity),
    output: options.output ? toJsonSchema("the agent", "output", options.output) : undefined,
    clock,
    random,
    options,
  };
}

function amount(name: string, value: number): number {
  if (typeof value === "number" && value >= 1) return value;
  throw new RangeError(`Cannot make an agent: "${name}" is ${value}, expected a number of 1 or more`);
}
