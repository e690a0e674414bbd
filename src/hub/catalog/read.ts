/**
 * Reads a catalog that was stored.
 *
 * @module
 */
import { isSnapshot } from "../../client/snapshot.ts";
import { isObject, isTextOrMissing } from "../../protocol/json_rpc.ts";
import { checkLimit, defaultLimits, fillIn } from "../../protocol/limits.ts";
import type { Limits } from "../../protocol/limits.ts";
import { checkShape } from "../../protocol/shapes/all.ts";
import { checkTool } from "../../protocol/shapes/tool.ts";
import type { Catalog, CatalogServer } from "../seam.ts";

/** The most servers of a stored catalog, and the most characters of a server's name. */
const most = { servers: 1_000, name: 256 };

/** Where a stored catalog has its lists, and what the protocol calls them. */
const lists = [
  ["resources", "resources/list", "resources"],
  ["templates", "resources/templates/list", "resourceTemplates"],
  ["prompts", "prompts/list", "prompts"],
] as const;

/**
 * Looks at a stored catalog, field by field.
 *
 * @param json What `JSON.parse` gave of it. What is not a field of a catalog is left out of servers; tools, resources and
 * prompts are kept as they are.
 * @param limits `tools` and `items` bound the lists of a server.
 * @returns A catalog for the option `catalog` of a hub, and for `createCatalogView(catalog.servers)`.
 * @throws {TypeError} When it is none: the message names the field.
 * @throws {LimitExceededError} When one server has more tools or items than `limits`.
 *
 * @example Taking a catalog out of a store
 * ```ts
 * import { createCatalogView } from "@causeway/mcp/hub";
 * import { readCatalog } from "@causeway/mcp/hub";
 *
 * const stored = '{"kind":"causeway.catalog","version":1,"servers":[]}';
 * const view = createCatalogView(readCatalog(JSON.parse(stored)).servers);
 * if (view.tools().length > 0) throw new Error("there should be none");
 * ```
 */
export function readCatalog(json: unknown, limits?: Partial<Limits>): Catalog {
  if (!isObject(json) || json.kind !== "causeway.catalog") throw wrong('"kind" is not "causeway.catalog"');
  if (json.version !== 1) throw wrong('"version" is not 1: it was stored by another version of this library');
  const { servers } = json;
  if (!Array.isArray(servers) || servers.length > most.servers) {
    throw wrong(`"servers" is not an array of at most ${most.servers}`);
  }
  const all = fillIn(defaultLimits, limits);
  const names = new Set<string>();
  return {
    kind: "causeway.catalog",
    version: 1,
    servers: servers.map((server: unknown, at) => readServer(server, `servers[${at}]`, { names, limits: all })),
  };
}

function readServer(
  server: unknown,
  path: string,
  { names, limits }: { names: Set<string>; limits: Limits },
): CatalogServer {
  if (!isObject(server)) throw wrong(`"${path}" is not an object`);
  const { name, listedAt, instructions, capabilities, snapshot } = server;
  const expect = (field: string, isRight: boolean, expected: string): void => {
    if (!isRight) throw wrong(`"${path}.${field}" is not ${expected}`);
  };
  const isName = typeof name === "string" && name.length > 0 && name.length <= most.name;
  expect("name", isName && !names.has(name), `a text of 1 to ${most.name} characters that no other server has`);
  names.add(String(name));
  expect("listedAt", Number.isFinite(listedAt), "a number");
  expect("instructions", isTextOrMissing(instructions), "a text");
  expect("capabilities", capabilities === undefined || isObject(capabilities), "an object");
  expect("snapshot", snapshot === undefined || isSnapshot(snapshot), "a snapshot");
  const snapshotTools = isSnapshot(snapshot) ? snapshot.tools : [];
  checkTools(server.tools, `${path}.tools`, limits);
  checkTools(snapshotTools, `${path}.snapshot.tools`, limits);
  for (const [field, method, key] of lists) {
    const items = server[field];
    if (Array.isArray(items)) checkLimit("items", limits.items, items.length);
    const problem = checkShape(method, { [key]: items });
    if (problem) throw wrong(problem.replace(`"${key}`, () => `"${path}.${field}`));
  }
  const { tools, resources, templates, prompts } = server;
  const known = { name, listedAt, tools, resources, templates, prompts, instructions, capabilities, snapshot };
  for (const field of ["instructions", "capabilities", "snapshot"] as const) {
    if (known[field] === undefined) delete known[field];
  }
  // Each field was looked at above.
  return known as unknown as CatalogServer;
}

function checkTools(tools: unknown, path: string, limits: Limits): void {
  if (!Array.isArray(tools)) throw wrong(`"${path}" is not an array`);
  checkLimit("tools", limits.tools, tools.length);
  for (const [at, tool] of tools.entries()) {
    if (!isObject(tool)) throw wrong(`"${path}[${at}]" is not an object`);
    const problem = checkTool(tool);
    if (problem) throw wrong(`"${path}[${at}].${problem.slice(1)}`);
  }
}

function wrong(what: string): TypeError {
  return new TypeError(`Cannot read the catalog: ${what}`);
}
