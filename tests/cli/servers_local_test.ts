import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { CommandLine } from "../../src/cli/command_line.ts";
import { anchor } from "../../src/cli/config/anchor.ts";
import { openOwn, saveServers } from "../../src/cli/config/own.ts";
import { UsageError } from "../../src/cli/failure.ts";
import type { JsonObject } from "../../src/protocol/json_rpc.ts";
import { assertFailure, causeway } from "./support.ts";
import type { Run } from "./support.ts";

const secret = "s3cret-of-the-test";

/** A folder with these files, and the command in it, with a home of its own. */
async function inFolder(
  files: Readonly<Record<string, unknown>>,
  use: (root: string, run: (...words: string[]) => Promise<Run>) => void | Promise<void>,
): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "causeway-servers-")));
  try {
    for (const [path, content] of Object.entries({ "app/.keep": "", "home/.keep": "", ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
    }
    const home = join(root, "home");
    const env = {
      ...{ HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: join(home, ".config"), CLAUDE_CONFIG_DIR: home },
      ...{ CAUSEWAY_HOME: join(home, "causeway"), TEST_SECRET: secret },
    };
    await use(root, (...words) => causeway(words, { cwd: join(root, "app"), env }));
  } finally {
    rmSync(root, { recursive: true });
  }
}

describe("what is relative to a folder, in a config of another one", () => {
  test("gets that folder as cwd, wherever its path stands; what names nothing there does not", async () => {
    await inFolder({ "app/data.json": {}, "app/run": "", "app/lib/a.py": "" }, (root) => {
      const [from, to] = [join(root, "app"), join(root, "home")];
      const cwdOf = (entry: JsonObject): unknown => anchor({ command: "sh", ...entry }, from, to).cwd;
      for (
        const entry of [
          ...[{ args: ["data.json"] }, { args: ["--file=./data.json"] }, { command: "./run" }, { cwd: "." }],
          ...[{ env: { DATA: "./data.json" } }, { args: ["-y"], env: { MODE: "fast", DATA: "data.json" } }],
          ...[{ env: { PYTHONPATH: ["./other", "./lib"].join(delimiter) } }, { args: ["json:./data.json?mode=ro"] }],
          ...[{ args: ["--db=json:data.json"] }, { env: { URL: "file:lib/a.py#top" } }, {
            env: { URL: "json:///data.json" },
          }],
          ...[{ env: { PYTHONPATH: ["lib", "${PYTHONPATH}"].join(delimiter) } }],
        ]
      ) assertEquals(cwdOf(entry), from, JSON.stringify(entry));
      for (
        const entry of [
          ...[{}, { args: ["other.json", "-y", "--file=other.json", "--", ""] }, { command: "run" }],
          ...[{ args: [join(from, "data.json")] }, { args: ["${HOME}/../app/run"] }, {
            env: { MODE: "fast", NONE: "" },
          }],
          ...[{ args: ["https://lib/a.py", "a:b", ":"], env: { PATH: ["/usr/bin", "/bin"].join(delimiter) } }],
        ]
      ) assertEquals(cwdOf(entry), undefined, JSON.stringify(entry));
      assertEquals(cwdOf({ args: ["data.json"], cwd: "${HOME}" }), "${HOME}");
      assertEquals(anchor({ url: "https://a/", env: { DATA: "data.json" } }, from, to).cwd, undefined);
      const named = { command: "sh", args: ["${workspaceFolderBasename}", ["${workspaceFolder}"]], timeout: 5 };
      assertEquals(anchor(named, from, to), { ...named, args: ["app", [from]] });
      assertEquals(anchor(named, from, join(from, ".")), named);
    });
  });
});

describe("a config that cannot be written", () => {
  const places = {
    here: [{ options: { here: "" } }, "leave --here out to use your own config"],
    given: [{ config: "causeway.json" }, "correct --config"],
    own: [{}, "set CAUSEWAY_HOME to a folder of yours"],
  } as const;
  for (const [name, [line, advice]] of Object.entries(places)) {
    test(`is told with what helps: ${name}`, { skip: process.platform === "win32" }, async () => {
      const own = await openOwn({ words: [], json: false, ...line } as unknown as CommandLine);
      const path = "/dev/null/app/causeway.json";
      const error = await assertRejects(
        () => saveServers({ ...own, path, text: undefined }, new Map([["x", {}]])),
        UsageError,
      );
      assertEquals(error.message, `Cannot write "${path}": a part of the path is a file; ${advice}`);
    });
  }
});

describe("causeway servers list", () => {
  const mcpServers = {
    docs: { url: `https://docs.example/mcp?key=\${TEST_SECRET}`, headers: { "x-key": secret } },
    files: { command: "npx", args: ["-y", "files", "--token", "${TEST_SECRET}"], env: { KEY: secret } },
    off: { command: "sh", disabled: true },
    broken: { url: "nothing" },
  };

  test("names, places and what cannot be used; no secret", async () => {
    await inFolder({ "app/mcp.json": { mcpServers } }, async (root, run) => {
      const { code, out, err } = await run("servers", "list");
      assertEquals(
        [code, out],
        [
          0,
          `${join(root, "app", "mcp.json")}\n` +
          "  docs    https://docs.example/mcp\n" +
          "  files   npx -y files --token [redacted]\n" +
          "  off     sh (disabled)\n" +
          "  broken  cannot be used\n",
        ],
      );
      assertMatch(err, /^causeway: mcp\.json: mcpServers\.broken\.url: .*\n$/);
      const json = await run("servers", "list", "--json");
      const { path, servers } = JSON.parse(json.out);
      assertEquals([json.code, path], [0, join(root, "app", "mcp.json")]);
      assertEquals(servers.slice(0, 3), [
        { name: "docs", url: "https://docs.example/mcp" },
        { name: "files", command: "npx", args: ["-y", "files", "--token", "[redacted]"] },
        { name: "off", command: "sh", args: [], disabled: true },
      ]);
      assertEquals([servers[3].name, /broken\.url/.test(servers[3].problem)], ["broken", true]);
      assertEquals([out, err, json.out, json.err].some((text) => text.includes(secret)), false);
    });
  });

  test("of the config that is named; none is told", async () => {
    const files = { "app/other.json": { servers: {} }, "home/x.json": { servers: { a: { command: "a" } } } };
    await inFolder(files, async (root, run) => {
      const empty = await run("servers", "list", "--config", "other.json");
      assertEquals(empty, {
        code: 0,
        out: `${join(root, "app", "other.json")}\n`,
        err: 'causeway: "other.json" has no servers\n',
      });
      const named = await run("servers", "list", "--config", "../home/x.json");
      assertEquals([named.out, named.err], [`${join(root, "home", "x.json")}\n  a  a\n`, ""]);
      assertFailure(
        await run("servers", "list"),
        2,
        /There is no config \.\/causeway\.json, .*: causeway servers add makes one, --config names one/,
      );
    });
  });
});

describe("causeway servers discover", () => {
  const files = {
    "app/.mcp.json": { mcpServers: { docs: { url: "https://docs.example/mcp" }, broken: {} } },
    "app/.vscode/mcp.json": {
      servers: { docs: { command: "old" }, code: { command: "sh", args: ["${TEST_SECRET}"] } },
    },
    "home/.cursor/mcp.json": { mcpServers: { docs: { command: "older" }, mine: { url: "https://mine.example/" } } },
  };

  test("files, the most important first: what counts, and what it hides", async () => {
    await inFolder(files, async (root, run) => {
      const [claude, code, cursor] = Object.keys(files).map((path) => join(root, path)) as [string, string, string];
      const found = await run("servers", "discover");
      assertEquals(
        [found.code, found.out],
        [
          0,
          `${claude}  Claude Code, of this folder\n` +
          `  docs    https://docs.example/mcp  counts before ${code}, ${cursor}\n` +
          "  broken  cannot be used\n" +
          `\n${code}  VS Code, of this folder\n` +
          `  docs  does not count: ${claude} comes first\n` +
          "  code  sh [redacted]\n" +
          `\n${cursor}  Cursor, your own\n` +
          `  docs  does not count: ${claude} comes first\n` +
          "  mine  https://mine.example/\n",
        ],
      );
      assert(found.err.includes(`${claude}: mcpServers.broken: `), found.err);
      const json = await run("servers", "discover", "--json");
      const { files: told, servers, problems } = JSON.parse(json.out);
      assertEquals(told[0], {
        client: "Claude Code",
        scope: "workspace",
        path: claude,
        servers: ["docs", "broken"],
      });
      assertEquals(servers[0], {
        ...{ name: "docs", client: "Claude Code", scope: "workspace", path: claude, url: "https://docs.example/mcp" },
        shadows: [
          { client: "VS Code", scope: "workspace", path: code },
          { client: "Cursor", scope: "user", path: cursor },
        ],
      });
      assertEquals(servers.map(({ name }: { name: string }) => name), ["docs", "broken", "code", "mine"]);
      assertEquals([problems[0].path, problems[0].server, problems[0].severity], [claude, "broken", "error"]);
      assertEquals([found, json].some(({ out, err }) => (out + err).includes(secret)), false);
    });
  });

  test("nothing anywhere is no failure", async () => {
    await inFolder({}, async (_root, run) => {
      assertEquals(await run("servers", "discover"), {
        code: 0,
        out: "",
        err: "causeway: no editor or assistant has servers here\n",
      });
      assertEquals(JSON.parse((await run("servers", "discover", "--json")).out), {
        files: [],
        servers: [],
        problems: [],
      });
    });
  });

  test("bad input is one line, with 2", async () => {
    const cases: [string[], RegExp][] = [
      [[], /It is not said what about the servers: write causeway servers list, .* or import/],
      [["lst"], /Unknown "lst" \(did you mean "list"\?\): write causeway servers list/],
      [["__proto__"], /Unknown "__proto__": write/],
      [["list", "more"], /Unexpected "more" after "list": leave it out/],
      [["discover", "--config", "x.json"], /Cannot use --config with discover: it looks for files itself/],
      [["list", "--header", "A: b"], /--header belongs to causeway tools, call, .* others/],
    ];
    for (const [words, says] of cases) assertFailure(await causeway(["servers", ...words]), 2, says);
  });
});
