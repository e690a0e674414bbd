import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { readHubConfig } from "../../../src/hub/config/mod.ts";
import type { ReadConfig, ReadOptions } from "../../../src/hub/config/mod.ts";
import { samples } from "./samples.ts";

const environment = {
  GITHUB_TOKEN: "ghp-github",
  API_KEY: "key-of-api",
  CLIENT_ID: "client-id",
  CLIENT_SECRET: "client-secret",
  AUTH_TOKEN: "windsurf-token",
  HOME: "/home/ada",
};

function read(name: string, options: Partial<ReadOptions> = {}): ReadConfig {
  return readHubConfig(samples[name] ?? "", { environment, source: name, folder: "/work/app", ...options });
}

/** What is said, without the name of the file. */
function lines({ problems }: ReadConfig): string[] {
  return problems.map(({ message }) => message.slice(message.indexOf(": ") + 2));
}

describe("configs as they are written", () => {
  test("Claude Desktop", () => {
    const config = read("Claude Desktop");
    assertEquals(config.problems, []);
    assertEquals(config.servers, {
      filesystem: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/notes"],
        env: {},
        secrets: [],
      },
      sqlite: {
        command: "uvx",
        args: ["mcp-server-sqlite", "--db-path", "/home/ada/a b.db"],
        env: { LOG: "1" },
        secrets: [],
      },
    });
  });

  test("Claude Code: HTTP, HTTP+SSE and programs, with variables and sign-in", () => {
    const config = read("Claude Code");
    assertEquals(config.problems, []);
    assertEquals(Object.keys(config.servers), ["github", "linear", "local"]);
    assertEquals(config.servers.github, {
      url: "https://api.example.com/mcp/",
      headers: { Authorization: "Bearer ghp-github" },
      timeout: 60_000,
      timeouts: { headers: 60_000, idle: 60_000, total: 300_000 },
      secrets: ["ghp-github", "Bearer ghp-github"],
    });
    assertEquals(config.servers.linear?.signIn, { type: "oauth", clientId: "abc", callbackPort: 8080 });
  });

  test("Claude Code: a variable that is missing leaves out that server alone", () => {
    const config = read("Claude Code", { environment: {} });
    assertEquals(Object.keys(config.servers), ["linear", "local"]);
    assertEquals(config.names, ["github", "linear", "local"]);
    assertEquals(config.problems, [{
      severity: "error",
      code: "variable",
      source: "Claude Code",
      server: "github",
      field: "headers.Authorization",
      message: "Claude Code: mcpServers.github.headers.Authorization: the environment variable " +
        '"GITHUB_TOKEN" is not set: set it, or write "${GITHUB_TOKEN:-default}"',
    }]);
  });

  test("Cursor: places, and a client that is known", () => {
    const config = read("Cursor");
    assertEquals(lines(config), [
      'mcpServers.tools.envFile: it is not heeded here: put its variables into "env", or set them before',
    ]);
    const { tools, remote } = config.servers;
    assert(tools && "command" in tools && remote);
    assertEquals([tools.args, tools.env], [["/work/app/tools/mcp_server.py"], { API_KEY: "key-of-api" }]);
    assertEquals(tools.secrets, ["key-of-api"]);
    assertEquals(remote.signIn, {
      type: "oauth",
      clientId: "client-id",
      clientSecret: "client-secret",
      scopes: ["read", "write"],
    });
    assertEquals(remote.secrets, ["client-id", "client-secret"]);
  });

  test("VS Code: inputs are asked for first", () => {
    const before = read("VS Code");
    assertEquals(Object.keys(before.servers), ["github", "sandboxed"]);
    assertEquals(before.inputs, [
      { id: "api-key", type: "promptString", description: "The key", password: true },
      { id: "region", type: "pickString", description: "Where", password: false, default: "eu", options: ["eu", "us"] },
      { id: "branch", type: "command", password: false, command: "git.branch" },
    ]);
    assertEquals(lines(before), [
      'servers.perplexity.env.KEY: the input "api-key" was not answered: give its value',
      "servers.sandboxed.sandboxEnabled: it is not heeded here: nothing is sandboxed here",
    ]);
    const { servers } = read("VS Code", { inputs: { "api-key": "secret-answer", region: "us" } });
    const { perplexity, sandboxed } = servers;
    assert(perplexity && "command" in perplexity && sandboxed && "command" in sandboxed);
    assertEquals(perplexity.env, { KEY: "secret-answer", REGION: "us" });
    assertEquals(perplexity.secrets, ["secret-answer", "us"]);
    assertEquals(sandboxed.cwd, "/work/app/sub");
    assertEquals(Object.keys(read("VS Code, old settings").servers), ["time"]);
  });

  test("Windsurf: who is switched off is not asked for variables", () => {
    const config = read("Windsurf");
    assertEquals(config.problems.map(({ severity, server }) => [severity, server]), [["warning", "off"]]);
    assertEquals(config.servers, {
      figma: {
        url: "https://mcp.example.com/mcp",
        headers: { API_KEY: "Bearer windsurf-token" },
        tools: { deny: ["delete"] },
        secrets: ["windsurf-token", "Bearer windsurf-token"],
      },
    });
    const off = read("Windsurf", { environment: { ...environment, MISSING: "there-now" } }).servers.off;
    assertEquals([off?.disabled, off?.secrets], [true, ["there-now"]]);
  });

  test("Gemini CLI: its filters, its trust, its way of signing in", () => {
    const config = read("Gemini CLI");
    assertEquals(lines(config), [
      'mcpServers.python.env.DB: "$DB_URL" stays as it is: write "${DB_URL}" for the variable',
      'mcpServers.google.authProviderType: it is not heeded here: use "auth" or "headers"',
    ]);
    const { python, streaming, oauth } = config.servers;
    assert(python && "command" in python && streaming && "url" in streaming);
    assertEquals(python.cwd, "/work/app/./server");
    assertEquals([python.tools, python.approved], [{ allow: ["safe", "read"], deny: ["read"] }, true]);
    assertEquals(python.timeouts, { headers: 600_000, idle: 600_000, total: 600_000 });
    assertEquals([streaming.url, streaming.headers], ["https://api.example.com/mcp", { "X-Key": "k" }]);
    assertEquals(oauth?.signIn, { type: "oauth", redirectUri: "http://localhost:7777/x", scopes: ["a"] });
  });

  test("Zed: both ways to name a program, and what an extension brings", () => {
    const config = read("Zed");
    assertEquals(lines(config), [
      "context_servers.extension: an extension of Zed brings it along: it cannot be used from here",
    ]);
    assertEquals(config.servers, {
      new: { command: "npx", args: ["-y", "server"], env: {}, secrets: [] },
      old: { command: "/usr/bin/server", args: ["run"], env: { A: "1" }, secrets: [] },
      remote: {
        url: "https://api.example.com/mcp",
        headers: { Authorization: "Bearer literal-token" },
        secrets: ["Bearer literal-token", "literal-token"],
      },
    });
  });

  test("Cline, Roo and Copilot", () => {
    const cline = read("Cline and Roo");
    assertEquals(lines(cline), ["mcpServers.a.timeout: 60 is taken for seconds: milliseconds would be 60000"]);
    assertEquals(cline.servers.a?.timeout, 60_000);
    assertEquals(cline.servers.a?.timeouts, { headers: 60_000, idle: 60_000, total: 300_000 });
    assertEquals([cline.servers.a?.approved, cline.servers.b?.approved], [["read"], true]);
    const copilot = read("Copilot");
    assertEquals(copilot.problems, []);
    assertEquals([copilot.servers.a?.tools, copilot.servers.b?.tools], [{ allow: ["*"] }, { allow: ["read", "list"] }]);
  });

  test("Causeway: every field of ours", () => {
    const config = read("Causeway");
    assertEquals(lines(config), []);
    assertEquals(config.names, ["everything", "socket"]);
    assertEquals(config.servers.everything, {
      url: "https://api.example.com/mcp",
      headers: { Authorization: "Bearer ghp-github" },
      timeout: 10_000,
      timeouts: { headers: 10_000, idle: 10_000, total: 300_000 },
      maxRetries: 5,
      retryDelay: 250.5,
      concurrency: 8,
      tools: { allow: ["read_*", "write"], deny: ["read_secret"] },
      idempotent: ["write"],
      verdict: { era: "legacy" },
      pins: { write: "sha256:" + "0123456789abcdef".repeat(4) },
      secrets: ["ghp-github"],
    });
    assertEquals(config.servers.socket?.signIn, { type: "none" });
  });
});

describe("reading a config", () => {
  test("servers stand in their order, and one may be read alone", () => {
    const given = { mcpServers: { b: { command: "b" }, a: { url: "htp://x" }, c: { command: "c" } } };
    assertEquals(Object.keys(readHubConfig(given, { environment }).servers), ["b", "c"]);
    const { servers, names, problems } = readHubConfig(given, { environment, only: "c" });
    assertEquals([Object.keys(servers), names, problems], [["c"], ["b", "a", "c"], []]);
  });

  test("names of objects in JavaScript are names like others", () => {
    const text = '{ "mcpServers": { "constructor": { "command": "a" }, "toString": { "url": "htp://x" } } }';
    const { servers, names } = readHubConfig(text, { environment });
    assertEquals([Object.keys(servers), names], [["constructor"], ["constructor", "toString"]]);
  });

  test("headers that the protocol writes itself are left out, others stay", () => {
    const headers = {
      "content-type": "application/json",
      Accept: "*/*",
      "Mcp-Session-Id": "1",
      "Accept-Language": "de",
    };
    const { servers } = readHubConfig({ mcpServers: { a: { url: "https://example.com", headers } } }, { environment });
    assertEquals(servers.a, { url: "https://example.com", headers: { "Accept-Language": "de" }, secrets: ["1"] });
  });

  test("loopback needs no encryption", () => {
    const urls = ["http://localhost:1/mcp", "http://127.0.0.1/mcp", "ws://[::1]:8/mcp", "http://a.localhost/"];
    for (const url of urls) assertEquals(readHubConfig({ mcpServers: { a: { url } } }, { environment }).problems, []);
  });

  test("a folder of Windows is joined with backslashes, one that is whole stays", () => {
    const cwd = (path: string, folder: string): unknown => {
      const given = { mcpServers: { a: { command: "x", cwd: path } } };
      const { a } = readHubConfig(given, { environment, folder, platform: "windows" }).servers;
      return a && "command" in a && a.cwd;
    };
    assertEquals(cwd("sub", "C:\\work"), "C:\\work\\sub");
    assertEquals(cwd("D:\\x", "C:\\work"), "D:\\x");
    assertEquals(cwd("/x", "/work/"), "/x");
    assertEquals(cwd("x", "/work/"), "/work/x");
  });
});
