/** A hub that has a catalog and remembers what was called. */
import { createCatalogView } from "../../../src/hub/catalog/catalog.ts";
import type { CatalogServer, HubLike } from "../../../src/hub/seam.ts";
import { toolOf } from "../catalog/support.ts";

/** The hub, its calls, and a way to change what its servers have. */
export interface PlayedHub extends HubLike {
  readonly calls: unknown[][];
  change(server: CatalogServer): void;
}

/** Answers each verb with the verb's name, and keeps what it was given. */
export function playHub(servers: readonly CatalogServer[]): PlayedHub {
  let view = createCatalogView(servers);
  const calls: unknown[][] = [];
  const played = <Result>(verb: string, result: Result) => (...given: unknown[]): Promise<Result> => {
    calls.push([verb, ...given]);
    return Promise.resolve(result);
  };
  return {
    calls,
    change: (server) => {
      view = view.with(server);
    },
    tools: () => view.tools(),
    resources: () => view.resources(),
    templates: () => view.templates(),
    prompts: () => view.prompts(),
    findTool: (name) => view.findTool(name),
    callTool: played("callTool", { content: [{ type: "text", text: "called" }] }),
    readResource: played("readResource", { contents: [] }),
    getPrompt: played("getPrompt", { messages: [] }),
    complete: played("complete", { completion: { values: ["completed"] } }),
    status: () => [],
    async *events() {
      yield { type: "added", server: "a" };
    },
    catalog: () => view.toJSON(),
  };
}

/** A server with so many tools, `tool_0` and on. */
export function manyTools(count: number): CatalogServer["tools"] {
  return Array.from({ length: count }, (_, at) => toolOf(`tool_${at}`, { description: `Does thing ${at}` }));
}
