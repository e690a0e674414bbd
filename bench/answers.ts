/**
 * What the bench server says, in both eras and on both bindings. Replies are text from the start, and the large ones are
 * made once, so that the server costs next to nothing beside the client that is measured.
 */
import process from "node:process";

/** A request or notification, as far as the server looks at it. */
export interface Incoming {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: {
      readonly text?: string;
      readonly mebibytes?: number;
      readonly count?: number;
    };
    readonly protocolVersion?: string;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

/** Messages as JSON texts, the response last; nothing for a notification or a call that hangs. */
export type Answer = readonly string[] | "hang" | undefined;

const modernRevision = "2026-07-28";
const legacyRevision = "2025-11-25";
const serverInfo = `{"name":"bench","version":"1.0.0"}`;
const capabilities = `{"tools":{}}`;
const fresh = `"ttlMs":0,"cacheScope":"private","resultType":"complete"`;

/** Answers one message. `accepts` says which eras this server pretends to know. */
export function answer(message: Incoming, accepts: string): Answer {
  const { id, method, params } = message;
  if (id === undefined) return undefined;
  const modern = params?._meta?.["io.modelcontextprotocol/protocolVersion"] !== undefined;
  if (modern && accepts === "legacy") {
    return [failure(id, -32601, "Method not found")];
  }
  switch (method) {
    case "tools/call":
      return answerCall(id, params ?? {}, modern);
    case "tools/list":
      return [success(id, `{"tools":${tools()}${modern ? "," + fresh : ""}}`)];
    case "server/discover":
      return [
        success(
          id,
          `{"supportedVersions":["${modernRevision}"],"capabilities":${capabilities},${fresh},"_meta":{"io.modelcontextprotocol/serverInfo":${serverInfo}}}`,
        ),
      ];
    case "initialize": {
      if (accepts === "modern") {
        return [failure(id, -32601, "Method not found")];
      }
      const version = params?.protocolVersion === modernRevision ? legacyRevision : params?.protocolVersion;
      return [
        success(
          id,
          `{"protocolVersion":${JSON.stringify(version)},"capabilities":${capabilities},"serverInfo":${serverInfo}}`,
        ),
      ];
    }
    case "ping":
      return [success(id, "{}")];
    default:
      return [failure(id, -32601, "Method not found")];
  }
}

function answerCall(id: string | number, params: NonNullable<Incoming["params"]>, modern: boolean): Answer {
  const { name, arguments: args = {} } = params;
  const end = modern ? `,"resultType":"complete"}` : "}";
  const text = JSON.stringify(args.text ?? "");
  switch (name) {
    case "echo":
      return [success(id, `{"content":[{"type":"text","text":${text}}]${end}`)];
    case "typed":
      return [
        success(
          id,
          `{"content":[{"type":"text","text":${text}}],"structuredContent":{"text":${text},"length":5,"tags":["a","b"]}${end}`,
        ),
      ];
    case "big":
      return [success(id, `{"content":[{"type":"text","text":"${bigText(args.mebibytes ?? 1)}"}]${end}`)];
    case "progress": {
      const token = JSON.stringify(params._meta?.["progressToken"]);
      const count = args.count ?? 1_000;
      return [...notices(token, count), success(id, `{"content":[{"type":"text","text":"${count}"}]${end}`)];
    }
    case "pid":
      return [success(id, `{"content":[{"type":"text","text":"${process.pid}"}]${end}`)];
    case "hang":
      return "hang";
    default:
      return [failure(id, -32602, `Unknown tool: ${name}`)];
  }
}

function success(id: string | number, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

function failure(id: string | number, code: number, message: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":${code},"message":${JSON.stringify(message)}}}`;
}

function* notices(token: string, count: number): Iterable<string> {
  for (let index = 1; index <= count; index++) {
    yield `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":${index},"total":${count}}}`;
  }
}

const bigTexts = new Map<number, string>();

/** So many MiB of plain text. */
function bigText(mebibytes: number): string {
  const kept = bigTexts.get(mebibytes);
  if (kept !== undefined) return kept;
  const sentence = "The quick brown fox jumps over the lazy dog, and then it does so again. ";
  const size = mebibytes * 2 ** 20;
  const made = sentence.repeat(Math.ceil(size / sentence.length)).slice(0, size);
  bigTexts.set(mebibytes, made);
  return made;
}

let listed: string | undefined;

/** Two hundred tools with schemas as they are found in the wild, about 100 KB; the first ones are those that work. */
function tools(): string {
  if (listed !== undefined) return listed;
  const text = { type: "object", properties: { text: { type: "string" } } };
  const output = {
    type: "object",
    properties: {
      text: { type: "string" },
      length: { type: "integer", minimum: 0 },
      tags: { type: "array", items: { type: "string", maxLength: 64 } },
    },
    required: ["text", "length"],
    additionalProperties: false,
  };
  const working = ["echo", "typed", "big", "progress", "pid", "hang"].map((name) => ({
    name,
    description: `The tool ${name} of the bench`,
    inputSchema: text,
    ...(name === "typed" ? { outputSchema: output } : {}),
  }));
  const others = Array.from({ length: 200 - working.length }, (_, index) => ({
    name: `list_items_${index}`,
    title: `List items ${index}`,
    description: `Lists the items of collection ${index}, newest first, with paging and a filter over their fields`,
    inputSchema: {
      type: "object",
      properties: {
        owner: { type: "string", description: "Whose items" },
        state: {
          type: "string",
          enum: ["open", "closed", "all"],
          default: "open",
        },
        page: { type: "integer", minimum: 1, maximum: 1_000 },
        filter: {
          type: "object",
          properties: { label: { type: "array", items: { type: "string" } } },
        },
      },
      required: ["owner"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }));
  return (listed = JSON.stringify([...working, ...others]));
}
