/**
 * What a route reads of a request.
 *
 * @module
 */
import type { JsonSchema } from "../../protocol/types.ts";

/** One parameter of a query. */
export interface QueryParameter {
  /** What it is for. */
  readonly description: string;
  /** A text, or a whole number within bounds. */
  readonly schema: {
    readonly type: "string" | "integer";
    readonly minimum?: number;
    readonly maximum?: number;
    readonly maxLength?: number;
    readonly enum?: readonly string[];
  };
}

/** What a route reads of a request. */
export interface RouteInput {
  /** Parameters of its query: others are refused. Undefined: the query is its own business. */
  readonly query?: Readonly<Record<string, QueryParameter>> | undefined;
  /** The JSON Schema of its body, an object; undefined: it reads none. */
  readonly body?: JsonSchema | undefined;
}
