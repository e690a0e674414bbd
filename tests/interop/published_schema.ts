/**
 * The published JSON Schemas of the protocol, as judges of what a client sends. They are data beside the repository.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createSchemaValidator } from "../../src/protocol/json_schema/mod.ts";
import type { JsonSchema, ValidateFunction } from "../../mod.ts";
import { isJsonObject, type JsonObject, objectAt } from "../servers/core/wire.ts";

/** A revision whose schema is published in this form. */
export type PublishedRevision = "2025-11-25" | "2026-07-28";

const file = (revision: PublishedRevision) =>
  fileURLToPath(new URL(`../../../shared/spec/schema-${revision}.json`, import.meta.url));

/** Why there is nothing to judge by; false when there is. */
export const skip: string | false = existsSync(file("2025-11-25")) && existsSync(file("2026-07-28"))
  ? false
  : `the published schemas are not at ${file("2026-07-28")}`;

/** Judges messages by one revision's schema. */
export interface Judge {
  /** The methods of all requests and notifications that a client may send. */
  readonly methods: readonly string[];
  /** What is wrong with a client's message; undefined when it fits. */
  wrong(message: JsonObject): string | undefined;
}

/** Methods of extensions, which the schema does not know: their requests have to be well-formed all the same. */
const extensionMethods = /^tasks\//;

/**
 * Reads a revision's schema.
 *
 * @param closed Takes no field that the schema does not name, also where it leaves a type open by saying nothing.
 */
export function publishedSchema(revision: PublishedRevision, closed: boolean): Judge {
  const schema: { $defs: Record<string, JsonObject> } = JSON.parse(readFileSync(file(revision), "utf8"));
  if (closed) closeTypes(schema.$defs);
  const address = `https://schema.test/${revision}`;
  const validator = createSchemaValidator({
    schemas: { [address]: schema as unknown as JsonSchema },
    bytes: 1_000_000,
    subschemas: 20_000,
  });
  const ready = new Map<string, ValidateFunction>();
  const issue = (name: string, value: unknown): string | undefined => {
    const check = ready.get(name) ?? validator({ $ref: `${address}#/$defs/${name}` });
    ready.set(name, check);
    const result = check(value);
    if (result.unchecked) return `${name}: not checked: ${JSON.stringify(result.unchecked)}`;
    return result.valid ? undefined : `${name}: ${result.issues.map((at) => `${at.path} ${at.message}`).join("; ")}`;
  };
  const requests = byMethod(schema.$defs, "ClientRequest");
  const notifications = byMethod(schema.$defs, "ClientNotification");
  /** What a client's answer has to be, is told by what is in it. */
  const wrongAnswer = (message: JsonObject): string | undefined => {
    if (message.error !== undefined) return issue("JSONRPCErrorResponse", message);
    if (revision === "2026-07-28") return "no client answers requests in this revision";
    const result = objectAt(message, "result");
    const kinds = { roots: "ListRootsResult", action: "ElicitResult", role: "CreateMessageResult" };
    const kind = Object.entries(kinds).find(([key]) => key in result)?.[1];
    if (kind === undefined && Object.keys(result).length > 0) return "an answer of no known kind";
    return issue("JSONRPCResultResponse", message) ?? issue(kind ?? "EmptyResult", result);
  };
  return {
    methods: [...requests.keys(), ...notifications.keys()],
    wrong(message) {
      const { id, method } = message;
      if (typeof method !== "string") return wrongAnswer(message);
      const known = (id === undefined ? notifications : requests).get(method);
      if (known !== undefined) return issue(known, message);
      if (!extensionMethods.test(method)) return `${method}: a client does not send this`;
      return issue("JSONRPCRequest", message) ?? issue("RequestParams", withoutExtension(message));
    },
  };
}

function withoutExtension({ params }: JsonObject): JsonObject {
  return isJsonObject(params) ? { _meta: params._meta ?? null } : {};
}

/** The names of a union's members by their method. */
function byMethod(definitions: Record<string, JsonObject>, union: string): Map<string, string> {
  const { anyOf = [{ $ref: `#/$defs/${union}` }] } = definitions[union] as { anyOf?: { $ref: string }[] };
  return new Map(anyOf.map(({ $ref }) => {
    const name = $ref.slice("#/$defs/".length);
    const properties = objectAt(definitions[name] ?? {}, "properties");
    return [String(objectAt(properties, "method").const), name];
  }));
}

/** What may have further fields by the specification's word stays open: `_meta`, and the names of capabilities. */
function closeTypes(definitions: Record<string, JsonObject>): void {
  for (const [name, definition] of Object.entries(definitions)) {
    if (name.endsWith("MetaObject")) continue;
    close(definition);
    if (name === "ClientCapabilities") delete definition.additionalProperties;
  }
}

function close(schema: unknown): void {
  if (Array.isArray(schema)) schema.forEach(close);
  if (!isJsonObject(schema)) return;
  if (isJsonObject(schema.properties) && schema.additionalProperties === undefined) schema.additionalProperties = false;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties" && isJsonObject(value)) Object.values(value).forEach(close);
    else close(value);
  }
}
