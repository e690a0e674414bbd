/**
 * Elicitation: a server asks the user (since 2025-06-18).
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json_rpc.ts";

/** A value to choose from, with a name for people. */
export type TitledValue = { const: string; title: string };

/** A field of an elicitation form: a primitive, or a choice of some texts (`array`). */
export interface ElicitationField extends JsonObject {
  /** What kind of value the user gives; `array` is a choice of several texts (since 2025-11-25). */
  type: "string" | "number" | "integer" | "boolean" | "array";
  /** The label of the field. */
  title?: string;
  /** Help for filling it in. */
  description?: string;
  /** What the field holds at first (all types since 2025-11-25, before only booleans). */
  default?: JsonValue;
  /** `string`: the least number of characters. */
  minLength?: number;
  /** `string`: the greatest number of characters. */
  maxLength?: number;
  /** `string`: what the text has to look like. */
  format?: "email" | "uri" | "date" | "date-time";
  /** `number` and `integer`: the least value. */
  minimum?: number;
  /** `number` and `integer`: the greatest value. */
  maximum?: number;
  /** One of these texts; `enumNames` (legacy) names them for people. */
  enum?: string[];
  /** Names for the texts of `enum`, in their order. */
  enumNames?: string[];
  /** One of these, with names. */
  oneOf?: TitledValue[];
  /** `array`: which texts may be chosen. */
  items?: { type?: "string"; enum?: string[]; anyOf?: TitledValue[] };
  /** `array`: how many texts have to be chosen. */
  minItems?: number;
  /** `array`: how many texts may be chosen. */
  maxItems?: number;
}

/** The server asks the user for data (`form`) or to visit a page (`url`). */
export interface ElicitRequest extends JsonObject {
  /** How the user is asked (`url` since 2025-11-25). Default: `form`. */
  mode?: "form" | "url";
  /** What the user is told: what is wanted, and why. Untrusted. */
  message: string;
  /** `form`: an object schema with primitive properties. */
  requestedSchema?: { type: "object"; properties: Record<string, ElicitationField>; required?: string[] };
  /** `url`: where the user should go. Never fetched, never opened by this library. */
  url?: string;
  /** `url` in 2025-11-25: names this elicitation in the completion notice. */
  elicitationId?: string;
}

/** The user's answer: yes with data, an explicit no, or dismissed. */
export interface ElicitResult extends JsonObject {
  /** What the user did; with `url`, `accept` says only that the page may be visited. */
  action: "accept" | "decline" | "cancel";
  /** `form` and `accept`: the values, by the names of the fields. */
  content?: JsonObject;
}
