/**
 * From the result of a tool to what the agent sees of it.
 *
 * @module
 */
import type { Clock } from "../../../ports.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { CallToolResult, Tool } from "../../../protocol/types.ts";
import type { SchemaValidator, ValidateFunction } from "../../../protocol/validation.ts";
import type { HubLike } from "../../../hub/seam.ts";
import type { Observation, ObservationOutcome } from "../seam.ts";

/** What a call came to, before it is an observation. */
export interface CallOutcome {
  readonly outcome: ObservationOutcome;
  readonly result: CallToolResult;
  readonly validation?: Observation["validation"] | undefined;
}

/** What is observed: the call, as far as it is known. */
export type Observed = Pick<Observation, "id" | "step" | "server" | "tool" | "name" | "argumentsHash"> & {
  readonly toolHash?: string | undefined;
};

/** A result that says why there is none. */
export function said(text: string, outcome: ObservationOutcome): CallOutcome {
  return { outcome, result: { content: [{ type: "text", text }], isError: true } };
}

/** Checks what tools take and give against their schemas, each made ready once. */
export class ToolChecks {
  readonly #validator: SchemaValidator;
  readonly #made = new WeakMap<JsonObject, ValidateFunction | undefined>();

  constructor(validator: SchemaValidator) {
    this.#validator = validator;
  }

  /** What is wrong with arguments, in words; undefined when they fit, or their schema cannot be used: then the server judges. */
  wrongArguments({ inputSchema }: Tool, args: JsonObject): string | undefined {
    const validation = this.#check(inputSchema)?.(args);
    if (!validation || validation.valid) return undefined;
    return validation.issues.slice(0, 5).map(({ path, message }) => `"${path || "/"}" ${message}`).join("; ");
  }

  /**
   * Takes a result in. One that does not fit the tool's own schema is not given on: what the server said of itself does not hold.
   */
  judge(tool: Tool, result: CallToolResult): CallOutcome {
    const { outputSchema } = tool;
    if (result.isError) return { outcome: "tool_error", result };
    const { structuredContent } = result;
    if (!outputSchema || structuredContent === undefined) return { outcome: "ok", result };
    const validation = this.#check(outputSchema)?.(structuredContent);
    if (!validation) return { outcome: "ok", result };
    if (validation.valid) {
      return { outcome: "ok", result, validation: validation.unchecked?.length ? "unchecked" : "validated" };
    }
    const [issue] = validation.issues;
    const where = `structuredContent${issue?.path ?? ""}`;
    return said(
      `The result does not fit the output schema of the tool, so it is not shown: "${where}" ${issue?.message}`,
      "tool_error",
    );
  }

  #check(schema: JsonObject): ValidateFunction | undefined {
    if (this.#made.has(schema)) return this.#made.get(schema);
    let check: ValidateFunction | undefined;
    try {
      check = this.#validator(schema);
    } catch {
      // A schema that cannot be used proves nothing.
    }
    this.#made.set(schema, check);
    return check;
  }
}

/** Makes observations: each is what happened once, with where it came from. */
export class Observer {
  readonly #hub: HubLike;
  readonly #clock: Clock;
  /** Who the servers say they are: found once in a run. */
  readonly #infos = new Map<string, Observation["provenance"]["serverInfo"]>();

  constructor(hub: HubLike, clock: Clock) {
    this.#hub = hub;
    this.#clock = clock;
  }

  /**
   * What the agent sees of a call.
   *
   * @param at When it was called, in milliseconds since 1970.
   */
  observe(
    { toolHash, ...observed }: Observed,
    { outcome, result, validation = "unchecked" }: CallOutcome,
    at?: number,
  ): Observation {
    const now = this.#clock.now();
    const serverInfo = observed.server === "" ? undefined : this.#info(observed.server);
    return {
      ...observed,
      at: at ?? now,
      took: now - (at ?? now),
      outcome,
      validation,
      provenance: { ...(serverInfo && { serverInfo }), ...(toolHash !== undefined && { toolHash }) },
      size: new TextEncoder().encode(JSON.stringify(result)).length,
      result,
    };
  }

  #info(server: string): Observation["provenance"]["serverInfo"] {
    const found = this.#infos.get(server);
    if (found) return found;
    const known = this.#hub.catalog().servers.find(({ name }) => name === server)?.snapshot?.verdict?.info?.server;
    const info = known && { name: String(known.name), version: String(known.version) };
    this.#infos.set(server, info);
    return info;
  }
}
