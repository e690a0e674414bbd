import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { configLocations, discoverConfigs } from "../../../src/hub/config/mod.ts";
import type { DiscoverOptions, Discovery } from "../../../src/hub/config/mod.ts";
import { pathOf, workspaceOf } from "../../../src/hub/config/locations.ts";
import { samples } from "./samples.ts";

type Files = Readonly<Record<string, string | Error>>;

const linux = { folder: "/work/app", home: "/home/ada", platform: "linux", environment: {} } as const;

function discover(files: Files, options: Partial<DiscoverOptions> = {}): Promise<Discovery> {
  return discoverConfigs({
    ...linux,
    read: (path) => {
      const file = Object.hasOwn(files, path) ? files[path] : undefined;
      return file instanceof Error ? Promise.reject(file) : Promise.resolve(file);
    },
    ...options,
  });
}

function config(...names: string[]): string {
  return JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])) });
}

describe("where configs are", () => {
  test("on each system", () => {
    const pathsOf = (platform: "mac" | "linux" | "windows", home: string, folder: string): string[] =>
      configLocations.map((location) => pathOf(location, { platform, home, folder, environment: {} }) ?? "");
    const mac = pathsOf("mac", "/Users/ada", "/w");
    assert(mac.includes("/Users/ada/Library/Application Support/Claude/claude_desktop_config.json"));
    assert(mac.includes("/Users/ada/Library/Application Support/Code/User/mcp.json"));
    assert(mac.includes("/Users/ada/.config/zed/settings.json"));
    const windows = pathsOf("windows", "C:\\Users\\Ada", "D:\\w\\");
    assertEquals(windows.filter((path) => path.includes("/")), []);
    assert(windows.includes("C:\\Users\\Ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json"));
    assert(windows.includes("C:\\Users\\Ada\\.codeium\\windsurf\\mcp_config.json"));
    assert(windows.includes("D:\\w\\.vscode\\mcp.json"));
    assertEquals(pathsOf("linux", "/home/ada", "/w").slice(0, 5), [
      "/w/causeway.json",
      "/w/mcp.json",
      "/home/ada/.claude.json",
      "/w/.mcp.json",
      "/w/.cursor/mcp.json",
    ]);
  });

  test("variables move them; what is relative does not", () => {
    const path = (client: string, environment: Record<string, string>): string | undefined => {
      const location = configLocations.find((found) => found.client === client && found.scope === "user");
      return location && pathOf(location, { ...linux, environment });
    };
    assertEquals(path("Zed", { XDG_CONFIG_HOME: "/etc/ada/" }), "/etc/ada/zed/settings.json");
    assertEquals(path("Zed", { XDG_CONFIG_HOME: "here" }), "/home/ada/.config/zed/settings.json");
    assertEquals(path("Causeway", {}), "/home/ada/.config/causeway/causeway.json");
    assertEquals(path("Causeway", { CAUSEWAY_HOME: "/c" }), "/c/causeway.json");
    assertEquals(path("Claude Code", { CLAUDE_CONFIG_DIR: "/k" }), "/k/.claude.json");
  });

  test("the folder that a file is about", () => {
    const cases = [["/w/mcp.json", "/w"], ["/w/.vscode/mcp.json", "/w"], ["/mcp.json", "/"], [
      "C:\\w\\.cursor\\mcp.json",
      "C:\\w",
    ]];
    for (const [path = "", folder = ""] of cases) assertEquals(workspaceOf(path), folder);
  });
});

describe("discovery", () => {
  test("every editor's file is found and understood", async () => {
    const files = {
      "/work/app/causeway.json": samples.Causeway ?? "",
      "/work/app/.mcp.json": samples["Claude Code"] ?? "",
      "/work/app/.cursor/mcp.json": samples.Cursor ?? "",
      "/work/app/.vscode/mcp.json": samples["VS Code"] ?? "",
      "/work/app/.zed/settings.json": samples.Zed ?? "",
      "/home/ada/.claude.json": samples["Claude Code, own file"] ?? "",
      "/home/ada/.config/Claude/claude_desktop_config.json": samples["Claude Desktop"] ?? "",
      "/home/ada/.codeium/windsurf/mcp_config.json": samples.Windsurf ?? "",
      "/home/ada/.gemini/settings.json": samples["Gemini CLI"] ?? "",
      "/home/ada/.config/zed/settings.json": '{ "theme": "One" }',
    };
    const { files: found, problems } = await discover(files, { environment: { GITHUB_TOKEN: "ghp-github" } });
    assertEquals(found.map(({ client, scope, names }) => [client, scope, names.length]), [
      ["Causeway", "workspace", 2],
      ["Claude Code", "workspace", 2],
      ["Claude Code", "workspace", 3],
      ["Cursor", "workspace", 2],
      ["VS Code", "workspace", 3],
      ["Zed", "workspace", 4],
      ["Claude Code", "user", 1],
      ["Claude Desktop", "user", 2],
      ["Windsurf", "user", 2],
      ["Gemini CLI", "user", 4],
    ]);
    assertEquals(problems.filter(({ source }) => !Object.hasOwn(files, source)), []);
    const missing = problems.filter(({ code }) => code === "variable").map(({ source, server }) => [source, server]);
    assertEquals(missing.slice(0, 2), [["/work/app/.cursor/mcp.json", "tools"], [
      "/work/app/.cursor/mcp.json",
      "remote",
    ]]);
  });

  test("the first file that defines a name decides, and the others are named", async () => {
    const { servers } = await discover({
      "/work/app/.mcp.json": config("github", "db"),
      "/work/app/.vscode/mcp.json": JSON.stringify({ servers: { github: { command: "of-code" } } }),
      "/home/ada/.claude.json": samples["Claude Code, own file"] ?? "",
      "/home/ada/.cursor/mcp.json": config("github", "mine"),
    });
    assertEquals(servers.map(({ name, origin, shadows }) => [name, origin.path, shadows.map(({ path }) => path)]), [
      ["github", "/home/ada/.claude.json", [
        "/work/app/.mcp.json",
        "/work/app/.vscode/mcp.json",
        "/home/ada/.cursor/mcp.json",
      ]],
      ["db", "/home/ada/.claude.json", ["/work/app/.mcp.json"]],
      ["memory", "/home/ada/.claude.json", []],
      ["mine", "/home/ada/.cursor/mcp.json", []],
    ]);
    const [github] = servers;
    assert(github?.server && "command" in github.server);
    assertEquals([github.server.command, github.origin.scope], ["gh-mcp", "workspace"]);
  });

  test("a server that cannot be used still hides those behind it", async () => {
    const { servers, problems } = await discover({
      "/work/app/mcp.json": '{ "mcpServers": { "a": { "url": "htp://x" } } }',
      "/home/ada/.cursor/mcp.json": config("a"),
    });
    assertEquals(servers.map(({ name, server, shadows }) => [name, server, shadows.length]), [["a", undefined, 1]]);
    assertEquals(problems.map(({ message }) => message), [
      '/work/app/mcp.json: mcpServers.a.url: "htp://x" is no URL that can be connected to: expected https:, http:, wss: or ws:',
    ]);
  });

  test("what cannot be read is told once, and the rest goes on", async () => {
    const { servers, problems, files } = await discover({
      "/work/app/mcp.json": new Error("you may not read it:\u001b[31m\ncheck"),
      "/home/ada/.claude.json": new Error("it is a folder"),
      "/work/app/.cursor/mcp.json": "{ servers",
      "/home/ada/.cursor/mcp.json": config("a"),
    });
    assertEquals(problems.map(({ message, severity }) => [severity, message]), [
      ["error", "/work/app/mcp.json: it cannot be read: you may not read it: [31m check"],
      ["error", "/home/ada/.claude.json: it cannot be read: it is a folder"],
      ["error", '/work/app/.cursor/mcp.json:1:3: found "s": expected a name in double quotes, or "}"'],
    ]);
    assertEquals(servers.map(({ name }) => name), ["a"]);
    assertEquals(files.map(({ path }) => path), [
      "/work/app/mcp.json",
      "/work/app/.cursor/mcp.json",
      "/home/ada/.cursor/mcp.json",
    ]);
  });

  test("settings without servers are no fault; a file that is for servers has to have some", async () => {
    const { problems } = await discover({
      "/home/ada/.gemini/settings.json": "{}",
      "/work/app/.zed/settings.json": "[]",
      "/work/app/.mcp.json": "{}",
    });
    assertEquals(problems.map(({ message }) => message), [
      '/work/app/.mcp.json: it has no servers: expected { "mcpServers": { "<name>": { … } } }',
      '/work/app/.zed/settings.json: expected { "mcpServers": { "<name>": { … } } }, found a list',
    ]);
  });

  test("each file is asked for once, with a bound; a reader that gives more is not believed", async () => {
    const asked: [string, number][] = [];
    const options = {
      maxBytes: 100,
      read: (path: string, most: number) => {
        asked.push([path, most]);
        return Promise.resolve(path.endsWith("/mcp.json") ? " ".repeat(101) : undefined);
      },
    };
    const { problems } = await discover({}, options);
    assertEquals(new Set(asked.map(([path]) => path)).size, asked.length);
    assertEquals(new Set(asked.map(([, most]) => most)), new Set([100]));
    assertEquals(problems[0]?.message, "/work/app/mcp.json: it cannot be read: it has more than 100 bytes");
  });

  test("a folder of Windows is found whatever its case and slashes", async () => {
    const projects = { "C:/Work/App": { mcpServers: { a: { command: "x" } } }, __proto__: { mcpServers: {} } };
    const { servers } = await discover({ "C:\\Users\\Ada\\.claude.json": JSON.stringify({ projects }) }, {
      folder: "c:\\work\\app\\",
      home: "C:\\Users\\Ada",
      platform: "windows",
    });
    assertEquals(servers.map(({ name, origin }) => [name, origin.scope]), [["a", "workspace"]]);
  });

  test("what Claude Code keeps for other folders does not count, nor does the person's own count as the folder's", async () => {
    const own = { mcpServers: { mine: { command: "x" } } };
    const of = (name: string) => ({ mcpServers: { [name]: { command: "x" } } });
    const projects = { "/": of("root"), "/work/other": of("other"), "/Work/App": of("case"), "/work/app/in": of("in") };
    const find = async (more: object) => {
      const file = JSON.stringify({ ...own, projects: { ...projects, ...more } });
      const { files, servers } = await discover({ "/home/ada/.claude.json": file });
      return [files.length, servers.map(({ name, origin }) => [name, origin.scope])];
    };
    assertEquals(await find({}), [1, [["mine", "user"]]]);
    assertEquals(await find({ "/work/app": of("here") }), [2, [["here", "workspace"], ["mine", "user"]]]);
    assertEquals(await find({ "/work/app": {} }), [1, [["mine", "user"]]]);
  });

  test("names of objects in JavaScript are names like others", async () => {
    const { servers } = await discover({ "/work/app/mcp.json": config("constructor", "toString") });
    assertEquals(servers.map(({ name, server }) => [name, server !== undefined]), [["constructor", true], [
      "toString",
      true,
    ]]);
  });
});
