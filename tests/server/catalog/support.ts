import { assert, assertEquals } from "@std/assert";
import { McpServer } from "../../../src/server/mod.ts";
import type { RequestContext, ServerOptions, StandardSchema } from "../../../src/server/mod.ts";
import { RpcError } from "../../../src/protocol/errors.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/json_rpc.ts";

/** A server to register things at. */
export function newServer(options: ServerOptions = {}): McpServer {
  return new McpServer({ name: "tested", version: "1.2.3" }, options);
}

/** The context of a request that nobody calls off. */
export function context(fields: Partial<RequestContext> = {}): RequestContext {
  const absent = (): never => {
    throw new Error("not here");
  };
  return {
    signal: new AbortController().signal,
    auth: undefined,
    client: undefined,
    era: "modern",
    revision: "2026-07-28",
    meta: {},
    progress: absent,
    log: absent,
    elicit: absent,
    sample: absent,
    roots: absent,
    can: () => false,
    ...fields,
  };
}

/** Runs a method, as an era does. */
export async function run(server: McpServer, method: string, params: JsonObject = {}): Promise<JsonObject> {
  const running = server.methods.run(method, params, context());
  assert(running, `"${method}" is a method here`);
  return await running;
}

/** Calls a tool. */
export function call(server: McpServer, name: string, args?: JsonValue): Promise<JsonObject> {
  return run(server, "tools/call", args === undefined ? { name } : { name, arguments: args });
}

/** A server with one tool without arguments that returns this; its result. */
export function returning(value: unknown): Promise<JsonObject> {
  const server = newServer();
  server.tool("tool", {}, () => value as string);
  return call(server, "tool");
}

/** The text of a result's only block. */
export function textOf(result: JsonObject): string {
  const { content } = result;
  assert(Array.isArray(content) && content.length === 1, JSON.stringify(result));
  return String((content[0] as JsonObject).text);
}

/** The text of a result that says that a tool failed. */
export function failure(result: JsonObject): string {
  assertEquals([result.isError, result.structuredContent], [true, undefined]);
  return textOf(result);
}

/** What a method is refused with: the message, after its code was found to be -32602. */
export async function refusal(running: Promise<unknown>): Promise<{ message: string; data: JsonValue | undefined }> {
  try {
    await running;
  } catch (error) {
    assert(error instanceof RpcError, String(error));
    assertEquals(error.rpcCode, -32602);
    return { message: error.message, data: error.data };
  }
  throw new Error("expected a refusal");
}

/** A tiny library with Standard Schema: an object of numbers. */
export function numbers<Key extends string>(
  keys: readonly Key[],
  options: { isSlow?: boolean; jsonSchema?: boolean } = {},
): StandardSchema<Record<Key, number>> {
  const validate = (value: unknown) => {
    const issues = keys.flatMap((key) => {
      const found: unknown = (value as Record<string, unknown> | null)?.[key];
      return typeof found === "number" ? [] : [{ message: "Expected a number", path: [key] }];
    });
    return issues.length ? { issues } : {
      value: Object.fromEntries(keys.map((key): [string, number] => [key, (value as never)[key]])) as Record<
        Key,
        number
      >,
    };
  };
  const listed = (options: { target: string }) => ({
    $comment: options.target,
    properties: Object.fromEntries(keys.map((key) => [key, { type: "number" }])),
  });
  return {
    "~standard": {
      version: 1,
      vendor: "tests",
      validate: options.isSlow ? (value) => Promise.resolve().then(() => validate(value)) : validate,
      jsonSchema: options.jsonSchema ? { input: listed, output: listed } : undefined,
    },
  };
}
