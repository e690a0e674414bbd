import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { readHubConfig } from "../../../src/hub/config/mod.ts";
import type { ReadConfig } from "../../../src/hub/config/mod.ts";
import { noInput, noJson, noServer, noShape, warned } from "./broken_cases.ts";

const environment = { TOKN: "geheim" };
const inputs = { color: "geheim" };

function read(given: string | object): ReadConfig {
  return readHubConfig(given, { source: "mcp.json", environment, inputs });
}

/** The worst of what is said about a config: one line each, and never a value. */
function worst({ problems }: ReadConfig): string | undefined {
  for (const { message, source } of problems) {
    assertEquals(source, "mcp.json");
    assert(!/geheim|[\r\n]/.test(message), message);
  }
  return (problems.find(({ severity }) => severity === "error") ?? problems[0])?.message;
}

describe("broken configs: one line with file, server, field and what to do", () => {
  test("there are enough of them", () => {
    assert([noJson, noShape, noInput, noServer].flat().length >= 90);
  });

  test("what is no JSON has a line and a column, and gives no servers", () => {
    for (const [given, line] of noJson) {
      const config = read(String(given));
      assertEquals(config.problems.map(({ message }) => message), [line]);
      assertEquals([config.problems[0]?.code, config.servers], ["json", {}]);
    }
  });

  test("shapes, and names of servers", () => {
    for (const [given, line] of noShape) {
      const config = read(String(given));
      assertEquals(config.problems.map(({ message }) => message), [line]);
      assertEquals(config.problems[0]?.severity, "error");
      assertEquals(Object.keys(config.servers), line.includes("GitHub") ? ["GitHub"] : [], line);
    }
  });

  test("a server that is wrong is left out alone, and says which field it is", () => {
    for (const [entry, line] of noServer) {
      const config = read({ mcpServers: { before: { command: "x" }, s: entry, after: { url: "https://localhost" } } });
      assertEquals(worst(config), "mcp.json: mcpServers.s" + line);
      assertEquals(Object.keys(config.servers), ["before", "after"], line);
      assertEquals(config.names, ["before", "s", "after"]);
      const [problem] = config.problems.filter(({ severity }) => severity === "error");
      assertEquals(problem?.server, "s");
      assertEquals(problem?.field, /^\.(.*?): /.exec(line)?.[1], line);
    }
  });

  test("inputs", () => {
    for (const [given, line] of noInput) assertEquals(worst(read(Object(given))), line);
  });

  test("what should be looked at leaves nothing out", () => {
    for (const [given, line] of warned) {
      const config = read(typeof given === "string" ? given : Object(given));
      assertEquals(config.problems.map(({ message }) => message), [line]);
      assertEquals(config.problems[0]?.severity, "warning");
      assertEquals(Object.keys(config.servers), line.includes(".enabled:") ? [] : ["s"], line);
    }
  });

  test("one line each, and 200 of them at most", () => {
    const servers = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`s${index}`, { url: "htp://x" }]));
    const { problems } = readHubConfig({ mcpServers: { ...servers, good: { command: "x" } } }, { environment });
    assertEquals(problems.length, 201);
    assertEquals(problems.at(-1)?.message, "config: 300 more problems: correct these first");
    assertEquals(problems.at(-1)?.severity, "error");
  });
});
