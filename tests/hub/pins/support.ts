/** A hub of one server whose tools a test changes, and which counts what reaches the server. */
import type { CatalogTool, HubEvent, HubLike, QualifiedName } from "../../../src/hub/seam.ts";
import type { CallToolResult, Tool } from "../../../src/protocol/types.ts";
import { assert } from "@std/assert";

const absent = (): never => {
  throw new Error("not here");
};

/** A hub as far as pins need one. */
export class PlayedHub implements HubLike {
  /** What reached a server: `server.tool`. */
  readonly calls: string[] = [];
  readonly #servers = new Map<string, readonly Tool[]>();
  #tools: readonly CatalogTool[] = [];
  /** What `events` gives. */
  queue: HubEvent[] = [];

  constructor(tools: readonly Tool[] = [], server = "shop") {
    this.list(tools, server);
  }

  /** The tools of a server, from now on; undefined: it is removed. */
  list(tools: readonly Tool[] | undefined, server = "shop"): void {
    if (tools) this.#servers.set(server, structuredClone(tools));
    else this.#servers.delete(server);
    this.#tools = [...this.#servers].flatMap(([name, own]) =>
      own.map((tool) => ({ server: name, name: tool.name, qualifiedName: `${name}__${tool.name}`, tool }))
    );
  }

  tools(): readonly CatalogTool[] {
    return this.#tools;
  }

  findTool(name: QualifiedName): CatalogTool | undefined {
    return this.#tools.find((found) =>
      typeof name === "string"
        ? found.qualifiedName === name || `${found.server}.${found.name}` === name
        : found.server === name.server && found.name === name.name
    );
  }

  callTool(name: QualifiedName): Promise<CallToolResult> {
    this.calls.push(typeof name === "string" ? name : `${name.server}.${name.name}`);
    return Promise.resolve({ content: [{ type: "text", text: "done" }] });
  }

  async *events(): AsyncIterable<HubEvent> {
    yield* this.queue;
    await Promise.resolve();
  }

  resources(): [] {
    return [];
  }

  templates(): [] {
    return [];
  }

  prompts(): [] {
    return [];
  }

  status(): [] {
    return [];
  }

  readResource(): never {
    return absent();
  }

  getPrompt(): never {
    return absent();
  }

  complete(): never {
    return absent();
  }

  catalog(): never {
    return absent();
  }
}

/** A tool with all that a model sees. */
export const send: Tool = {
  name: "send",
  title: "Send mail",
  description: "Sends a mail to one person",
  inputSchema: {
    type: "object",
    properties: { to: { type: "string", description: "Whom", "x-mcp-header": "To" }, text: { type: "string" } },
    required: ["to"],
  },
  outputSchema: { type: "object", properties: { id: { type: "integer" } } },
  annotations: { title: "Send", readOnlyHint: false, destructiveHint: true },
};

/** The text of a refusal. */
export function refusalOf(result: CallToolResult): string {
  const [first] = result.content;
  assert(result.isError === true && first?.type === "text", JSON.stringify(result));
  return first.text;
}
