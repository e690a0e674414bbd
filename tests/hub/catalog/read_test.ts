/** A stored catalog is looked at before it is used. */
import { describe, test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { createCatalogView } from "../../../src/hub/catalog/catalog.ts";
import { readCatalog } from "../../../src/hub/catalog/read.ts";
import { LimitExceededError } from "../../../src/protocol/errors.ts";
import { serverOf } from "./support.ts";

const whole = serverOf("a", ["x"], {
  resources: [{ uri: "memo://1", name: "one" }],
  templates: [{ uriTemplate: "memo://{id}", name: "all" }],
  prompts: [{ name: "ask", arguments: [{ name: "what" }] }],
  instructions: "Be kind",
  capabilities: { tools: {} },
  snapshot: { kind: "causeway.snapshot", version: 1, target: "https://example.com/mcp", tools: [] },
});

/** A catalog with one server, some fields of which are others. */
const stored = (fields: object): unknown => ({
  kind: "causeway.catalog",
  version: 1,
  servers: [{ ...serverOf("a"), ...fields }],
});

describe("a stored catalog", () => {
  test("comes back as it was", () => {
    const catalog = createCatalogView([whole, serverOf("b")]).toJSON();
    assertEquals(readCatalog(JSON.parse(JSON.stringify(catalog))), catalog);
  });

  const broken: [what: string, json: unknown, says: string][] = [
    ["nothing", undefined, '"kind" is not "causeway.catalog"'],
    ["a text", "{}", '"kind" is not "causeway.catalog"'],
    ["another version", { kind: "causeway.catalog", version: 2, servers: [] }, '"version" is not 1'],
    ["no servers", { kind: "causeway.catalog", version: 1 }, '"servers" is not an array of at most 1000'],
    [
      "too many servers",
      { kind: "causeway.catalog", version: 1, servers: Array(1_001).fill(null) },
      '"servers" is not an array of at most 1000',
    ],
    ["no server", { kind: "causeway.catalog", version: 1, servers: [null] }, '"servers[0]" is not an object'],
    [
      "one name twice",
      { kind: "causeway.catalog", version: 1, servers: [serverOf("a"), serverOf("a")] },
      '"servers[1].name" is not a text of 1 to 256 characters that no other server has',
    ],
    ["no name", stored({ name: "" }), '"servers[0].name" is not a text'],
    ["a long name", stored({ name: "x".repeat(257) }), '"servers[0].name" is not a text'],
    ["no time", stored({ listedAt: "now" }), '"servers[0].listedAt" is not a number'],
    ["no tools", stored({ tools: {} }), '"servers[0].tools" is not an array'],
    ["a tool that is none", stored({ tools: [7] }), '"servers[0].tools[0]" is not an object'],
    [
      "a tool without a schema",
      stored({ tools: [{ name: "x" }] }),
      '"servers[0].tools[0].inputSchema" is missing: expected an object',
    ],
    ["no resources", stored({ resources: undefined }), '"servers[0].resources" is missing: expected an array'],
    ["a resource", stored({ resources: [{ name: "x" }] }), '"servers[0].resources[0].uri" is missing'],
    ["a template", stored({ templates: [{ name: "x" }] }), '"servers[0].templates[0].uriTemplate" is missing'],
    ["a prompt", stored({ prompts: [{ name: "x", arguments: [{}] }] }), '"servers[0].prompts[0].arguments[0].name"'],
    ["instructions", stored({ instructions: 1 }), '"servers[0].instructions" is not a text'],
    ["capabilities", stored({ capabilities: [] }), '"servers[0].capabilities" is not an object'],
    ["a snapshot", stored({ snapshot: { kind: "other" } }), '"servers[0].snapshot" is not a snapshot'],
    [
      "a tool of a snapshot",
      stored({ snapshot: { ...whole.snapshot, tools: [{}] } }),
      '"servers[0].snapshot.tools[0].name" is missing',
    ],
  ];
  for (const [what, json, says] of broken) {
    test(`with ${what} wrong is refused, by field`, () => {
      const error = assertThrows(() => readCatalog(json), TypeError);
      assert(error.message.startsWith(`Cannot read the catalog: ${says}`), error.message);
    });
  }

  test("with too much in it is refused", () => {
    const tools = ["x", "y", "z"];
    assertThrows(() => readCatalog(stored(serverOf("a", tools)), { tools: 2 }), LimitExceededError, "limits.tools");
    const prompts = tools.map((name) => ({ name }));
    assertThrows(() => readCatalog(stored({ prompts }), { items: 2 }), LimitExceededError, "limits.items");
  });

  test("with names of prototypes is data, and touches none", () => {
    const json = JSON.parse(
      `{"kind":"causeway.catalog","version":1,"__proto__":{"polluted":1},"servers":[{"name":"__proto__","listedAt":0,
        "tools":[{"name":"constructor","inputSchema":{"__proto__":{"polluted":1}}}],"resources":[],"templates":[],
        "prompts":[],"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}]}`,
    );
    const { servers } = readCatalog(json);
    assertEquals(Object.keys(servers[0] ?? {}).sort(), [
      "listedAt",
      "name",
      "prompts",
      "resources",
      "templates",
      "tools",
    ]);
    assertEquals(createCatalogView(servers).findTool("__proto__.constructor")?.server, "__proto__");
    assertEquals(Object.getPrototypeOf(servers[0]), Object.prototype);
    assertEquals(({} as { polluted?: number }).polluted, undefined);
  });

  test("of anything at all is a catalog that can be used, or a clear error", () => {
    const value = fc.jsonValue();
    const field = fc.constantFrom("name", "listedAt", "tools", "resources", "templates", "prompts", "snapshot");
    fc.assert(fc.property(field, value, (name, other) => {
      const json = stored({ [name]: other });
      try {
        const view = createCatalogView(readCatalog(json).servers);
        for (const tool of view.tools()) assertEquals(view.findTool(tool.qualifiedName), tool);
        view.prompts();
      } catch (error) {
        assert(error instanceof TypeError && error.message.startsWith("Cannot read the catalog"), String(error));
      }
    }));
  });
});
