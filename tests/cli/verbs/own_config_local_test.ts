import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { readOwn, saveServer } from "../../../src/cli/config/own.ts";
import { resolveTarget } from "../../../src/cli/target/target.ts";
import { assertFailure, causeway, peer, program, quote } from "../support.ts";
import type { Run } from "../support.ts";

interface Place {
  readonly root: string;
  readonly own: string;
  run(...words: string[]): Promise<Run>;
  json(path: string): { mcpServers: Record<string, Record<string, unknown>> };
}

/** A folder of a project and a person's own, with these files. */
async function inPlace(files: Readonly<Record<string, string>>, use: (place: Place) => Promise<void>): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "causeway-own-")));
  try {
    for (const [path, text] of Object.entries({ "app/.keep": "", "home/.keep": "", ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const home = join(root, "home");
    const env = {
      ...{ HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: join(home, ".config"), CLAUDE_CONFIG_DIR: home },
      ...{ CAUSEWAY_HOME: join(home, "causeway"), TEST_NAME: "filled" },
    };
    await use({
      root,
      own: join(home, "causeway", "causeway.json"),
      run: (...words) => causeway(words, { cwd: join(root, "app"), env }),
      json: (path) => JSON.parse(readFileSync(path, "utf8")),
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}

describe("a server of a config", () => {
  test("is not asked what it speaks where the config says so", async () => {
    const [command, ...args] = [...program("tests/servers/stdio_server.ts"), "exit-on-probe"];
    const [asked, told] = [{ command, args }, { command, args, era: "legacy" }];
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers: { asked, told } }) }, async ({ run }) => {
      for (const [name, count] of [["asked", 1], ["told", 0]] as const) {
        const { code, out, err } = await run("tools", name, "--verbose");
        assertEquals([code, out.includes("echo")], [0, true], err);
        assertEquals(err.split('"server/discover"').length - 1, count, err);
      }
    });
  });

  test("has the headers of the command line in the place of its own, in whatever letters they are written", async () => {
    const headers = { Authorization: "Bearer of-the-config", "X-Other": "kept" };
    const config = JSON.stringify({ mcpServers: { web: { url: "https://localhost/mcp", headers } } });
    await inPlace({ "app/mcp.json": config }, async ({ root }) => {
      const found = await resolveTarget("web", {
        config: join(root, "app", "mcp.json"),
        headers: { authorization: "Bearer of-mine" },
      });
      assertEquals(found.headers, { "X-Other": "kept", authorization: "Bearer of-mine" });
    });
  });

  test("its own time bounds calls, and --timeout comes before it", async () => {
    const [command, ...args] = program("tests/servers/stdio_server.ts");
    const config = JSON.stringify({ mcpServers: { lazy: { command, args, timeout: 3_000 } } });
    await inPlace({ "app/mcp.json": config }, async ({ run }) => {
      const [own, told] = await Promise.all([
        run("call", "lazy", "slow"),
        run("call", "lazy", "slow", "--timeout", "5"),
      ]);
      assertFailure(own, 4, /No answer .*within 3000 ms: .*--timeout/);
      assertFailure(told, 4, /ithin 5000 ms: /);
    });
  });

  test("tools that its config leaves out are told to who names the server: tools, call, tasks detach", async () => {
    const [command, ...args] = program("tests/servers/stdio_server.ts");
    const tools = { allow: ["echo", "add", "job*"], deny: ["add"] };
    const mcpServers = { some: { command, args: [...args, "modern"], tools }, all: { command, args } };
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers }) }, async ({ run }) => {
      const listed = await run("tools", "some", "--json");
      const names = JSON.parse(listed.out).tools.map(({ name }: { name: string }) => name);
      assertEquals([listed.code, names.includes("add"), names.includes("echo")], [0, true, true]);
      assertMatch(
        listed.err,
        /^causeway: its config leaves these out for serve, bridge, run, search and start: .*"add"/,
      );
      assertEquals(/"echo"|"job"/.test(listed.err), false, listed.err);
      const why = 'causeway: warning: its config leaves out the tool "add"; it is called since you name it\n';
      const called = await run("call", "some", "add", "a=1", "b=2");
      assertEquals([called.code, called.err], [0, why]);
      assertMatch(called.out, /3/);
      assertStringIncludes((await run("tasks", "detach", "some", "add", "a=1", "b=2")).err, why);
      assertEquals((await run("call", "some", "echo", "text=hi")).err, "");
      assertEquals((await run("tools", "all")).err, "");
    });
  });

  test("what VS Code would ask for is a variable here, and a value that is missing says which", async () => {
    const [command, ...args] = program("tests/servers/stdio_server.ts");
    const config = JSON.stringify({
      inputs: [{ id: "the-era", type: "promptString", description: "Which era", password: true }],
      servers: { asking: { type: "stdio", command, args: [...args, "${input:the-era}"] } },
    });
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "causeway-inputs-")));
    const path = join(folder, "mcp.json");
    const words = ["call", "asking", "echo", "text=hello", "--config", path];
    try {
      writeFileSync(path, config);
      const [missing, given] = await Promise.all([
        causeway(words),
        causeway(words, { env: { CAUSEWAY_INPUT_THE_ERA: "modern" } }),
      ]);
      assertFailure(missing, 2, /the input "the-era" was not answered: .*CAUSEWAY_INPUT_THE_ERA/);
      assertEquals(given, { code: 0, out: "hello\n", err: "" });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("causeway servers add", () => {
  test("asks the server first, writes it for this user alone, and it can be used by its name", async () => {
    await inPlace({}, async ({ own, run, json }) => {
      const added = await run("servers", "add", "one", `KEY=\${TEST_NAME} ${peer("modern")}`);
      assertEquals([added.code, added.err], [0, ""]);
      assertMatch(added.out, /^Added one to .*causeway\.json: \d+ tools, 2026-07-28\n$/);
      assertEquals(json(own).mcpServers.one?.env, { KEY: "${TEST_NAME}" });
      assertEquals(statSync(own).mode & 0o777, 0o600);
      assertEquals(readdirSync(dirname(own)), ["causeway.json"]);
      assertEquals((await run("call", "one", "echo", "text=hello")).out, "hello\n");
      assertStringIncludes((await run("servers", "list")).out, "\n  one  ");
      assertFailure(
        await run("servers", "add", "one", peer("modern")),
        2,
        /"one" is in ".*" already: take another name/,
      );
    });
  });

  test("what is relative to this folder means the same in another one; what is copied from a folder's config, too", async () => {
    const config = JSON.stringify({
      servers: {
        inside: { command: "sh", args: ["${workspaceFolder}/start.sh"] },
        beside: { command: "sh", args: ["start.sh"], cwd: "." },
        plain: { command: "sh", args: ["start.sh"] },
        elsewhere: { command: "npx", args: ["-y", "server"] },
      },
    });
    const start = `exec ${peer("modern")}\n`;
    await inPlace({ "app/start.sh": start, "app/.vscode/mcp.json": config }, async ({ root, own, run, json }) => {
      assertEquals((await run("servers", "add", "mine", "sh ./start.sh")).err, "");
      assertEquals((await run("servers", "import", "--all")).err, "");
      const servers = json(own).mcpServers;
      const app = join(root, "app");
      assertEquals(servers.mine, { command: "sh", args: ["./start.sh"], cwd: app });
      assertEquals(servers.inside, { command: "sh", args: [join(app, "start.sh")] });
      assertEquals([servers.beside?.cwd, servers.plain?.cwd, servers.elsewhere?.cwd], [app, app, undefined]);
      for (const name of ["mine", "inside", "beside", "plain"]) {
        const { code, out, err } = await run("call", name, "echo", "text=hello", "--config", own);
        assertEquals([code, out, err], [0, "hello\n", ""], name);
      }
      assertEquals((await run("servers", "add", "here", "sh ./start.sh", "--here")).err, "");
      assertEquals(json(join(app, "causeway.json")).mcpServers.here, { command: "sh", args: ["./start.sh"] });
    });
  });

  test("of several that are added at the same moment none is lost without a word", () =>
    inPlace({}, async ({ own, json }) => {
      const names = ["a", "b", "c", "d"];
      const kept = await readOwn(own, "try again");
      const added = await Promise.allSettled(names.map((name) => saveServer(kept, name, { command: name })));
      const told = names.filter((_, at) => added[at]?.status === "fulfilled");
      assertEquals([told.length, Object.keys(json(own).mcpServers)], [1, told]);
      const reasons = added.flatMap((one) => one.status === "rejected" ? [String(one.reason)] : []);
      for (const reason of reasons) assertStringIncludes(reason, "somebody else has changed it meanwhile; try again");
      assertEquals([reasons.length, readdirSync(dirname(own))], [3, ["causeway.json"]]);
    }));

  test("one that does not answer is not saved, unless nobody is to ask", async () => {
    await inPlace({}, async ({ own, run, root, json }) => {
      assertFailure(await run("servers", "add", "bad", "causeway-no-such-program"), 4, /causeway-no-such-program/);
      assertEquals(existsSync(own), false);
      const added = await run("servers", "add", "bad", "causeway-no-such-program", "--unchecked", "--here");
      assertEquals([added.code, added.err], [0, ""]);
      assertEquals(json(join(root, "app", "causeway.json")).mcpServers, {
        bad: { command: "causeway-no-such-program", args: [] },
      });
    });
  });

  test("what a variable brought along is not shown by a program that fails", async () => {
    await inPlace({}, async ({ run }) => {
      const script = "echo got $0 >&2; exit 3";
      const failed = await run("servers", "add", "bad", `sh -c ${quote(script)} \${TEST_NAME}`);
      assertFailure(failed, 4, /got \[redacted\]/);
      assertEquals(failed.err.includes("filled"), false, failed.err);
    });
  });

  test("headers are kept as they are written, and never shown", async () => {
    await inPlace({}, async ({ own, run, json }) => {
      const words = ["servers", "add", "web", "https://localhost/mcp", "--unchecked", "--header"];
      assertEquals((await run(...words, "Authorization: Bearer ${TEST_NAME}")).code, 0);
      assertEquals(json(own).mcpServers.web, {
        url: "https://localhost/mcp",
        headers: { Authorization: "Bearer ${TEST_NAME}" },
      });
      assertEquals((await run("servers", "list")).out.includes("filled"), false);
    });
  });

  test("bad input is one line, with 2", async () => {
    await inPlace({ "app/mcp.json": '{ "mcpServers": {} }' }, async ({ run }) => {
      const cases: [string[], RegExp][] = [
        [["add"], /The name is missing: write causeway servers add <name> <target>/],
        [["add", "x"], /The target is missing/],
        [["add", "a b", "sh"], /Cannot use the name "a b": use letters/],
        [["add", "x", "sh", "-c"], /Unknown option "-c"/],
        [["add", "x", "sh", "more"], /Unexpected "more" after the target: put a command with spaces into quotes/],
        [["add", "x", "sh", "--config", "mcp.json"], /Cannot write "mcp\.json": only files named causeway\.json/],
        [["add", "x", "sh", "--config", "causeway.json", "--here"], /Cannot use --here with --config/],
        [["remove"], /The name is missing: write causeway servers remove <name>/],
        [["remove", "x"], /Unknown server "x" in ".*causeway\.json"/],
        [["import"], /It is not said which: name them, or add --all/],
        [["import", "x"], /Unknown server "x"/],
      ];
      for (const [words, says] of cases) assertFailure(await run("servers", ...words), 2, says);
    });
  });
});

describe("causeway servers remove, enable, disable and import", () => {
  const text =
    '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "sh" }, // first\n    "b": { "url": "https://b/" }\n  }\n}\n';

  test("change one server, and keep comments", async () => {
    await inPlace({ "app/causeway.json": text }, async ({ run, root }) => {
      const path = join(root, "app", "causeway.json");
      assertEquals((await run("servers", "disable", "a", "--here")).out, `Disabled a in ${path}\n`);
      assertStringIncludes((await run("servers", "list")).out, "  a  sh (disabled)\n");
      assertEquals((await run("servers", "enable", "a", "--here", "--json")).code, 0);
      assertEquals((await run("servers", "remove", "b", "--here")).out, `Removed b from ${path}\n`);
      const left = readFileSync(path, "utf8");
      assertEquals(
        left,
        '{\n  // mine\n  "mcpServers": {\n    "a": {\n      "command": "sh"\n    } // first\n  }\n}\n',
      );
    });
  });

  test("files of others are only read; what they define is imported as it is written", async () => {
    const others =
      '{ "mcpServers": { "docs": { "url": "https://docs.example/mcp", "headers": { "x-key": "${TEST_NAME}" } }, "bad": {} } }';
    await inPlace({ "app/.mcp.json": others }, async ({ run, own, json }) => {
      assertFailure(
        await run("servers", "remove", "docs"),
        2,
        /"docs" is in "\.mcp\.json", which is only read: change it there/,
      );
      const imported = await run("servers", "import", "--all");
      assertEquals([imported.code, /^Imported docs from .*\.mcp\.json\n$/.test(imported.out)], [0, true]);
      assertMatch(imported.err, /^causeway: left out "bad": it cannot be used as it is in/);
      assertEquals(json(own).mcpServers, {
        docs: { url: "https://docs.example/mcp", headers: { "x-key": "${TEST_NAME}" } },
      });
      const again = await run("servers", "import", "docs");
      assertEquals([again.code, again.out], [0, ""]);
      assertMatch(
        again.err,
        /left out "docs": it is in ".*" already; --replace takes the other\n.*nothing was imported\n$/,
      );
    });
  });

  test("what is in the own config already can be taken anew from who else defines it", async () => {
    const config = (arg: string): string => `{ "mcpServers": { "x": { "command": "sh", "args": ["${arg}"] } } }`;
    const files = {
      "app/causeway.json": config("folder"),
      "app/.mcp.json": config("other"),
      "home/causeway/causeway.json": config("own"),
      "home/.claude.json": config("editor"),
    };
    await inPlace(files, async ({ root, run, own, json }) => {
      const here = join(root, "app", "causeway.json");
      const left = await run("servers", "import", "x", "--here");
      assertEquals([left.code, left.out], [0, ""]);
      assertMatch(left.err, /left out "x": it is in ".*" already; --replace takes the other\n/);
      const taken = await run("servers", "import", "x", "--here", "--replace");
      assertEquals(taken.out, `Imported x from ${join(root, "app", ".mcp.json")}\n`);
      assertEquals(json(here).mcpServers.x?.args, ["other"]);
      for (const name of [".mcp.json", "causeway.json"]) rmSync(join(root, "app", name));
      const anew = await run("servers", "import", "x", "--replace");
      assertEquals(anew.out, `Imported x from ${join(root, "home", ".claude.json")}\n`);
      assertEquals(json(own).mcpServers.x?.args, ["editor"]);
    });
  });

  test("a server of another config of our own is told with the option that names it", async () => {
    const config = (name: string): string => `{ "mcpServers": { "${name}": { "command": "sh" } } }`;
    const files = {
      "app/causeway.json": config("here"),
      "home/causeway/causeway.json": config("own"),
      "causeway.json": config("given"),
    };
    await inPlace(files, async ({ run }) => {
      const remove = (...words: string[]): Promise<Run> => run("servers", "remove", ...words);
      assertFailure(await remove("here"), 2, /"here" is in "causeway\.json": add --here\n/);
      assertFailure(await remove("own", "--here"), 2, /"own" is in ".*causeway\.json": leave --here out\n/);
      const given = ["--config", "../causeway.json"];
      assertFailure(await remove("own", ...given), 2, /"own" is in ".*causeway\.json": leave --config out\n/);
      const other = /"here" is in "causeway\.json": write --here in the place of --config\n/;
      assertFailure(await remove("here", ...given), 2, other);
    });
  });

  test("the first file that has a name counts, and what is wrong behind it does not matter", async () => {
    const [first, second] = ["one", "two"].map((text) =>
      `{ "mcpServers": { "x": { "command": "sh", "args": ["${text}"] } } }`
    );
    const files = {
      "app/causeway.json": first ?? "",
      "app/mcp.json": second ?? "",
      "home/causeway/causeway.json": "{ broken",
    };
    await inPlace(files, async ({ run, root }) => {
      assertFailure(await run("tools", "x"), 4, /"sh" ended with exit code .*one/);
      assertFailure(await run("servers", "list"), 2, /Cannot use the config: .*causeway\.json:1:3: /);
      rmSync(join(root, "home", "causeway", "causeway.json"));
      const { code, out } = await run("servers", "list");
      assertEquals(code, 0);
      assertMatch(
        out,
        /app\/causeway\.json\n {2}x {2}sh one\n\n.*mcp\.json\n {2}x {2}does not count: .*causeway\.json comes first\n$/,
      );
      const { path, more } = JSON.parse((await run("servers", "list", "--json")).out);
      assertEquals([path, more[0].servers[0].shadowedBy], [join(root, "app", "causeway.json"), path]);
    });
  });

  test("what takes the servers of the config takes those of all files, of two with one name the first", async () => {
    const [command = "", ...args] = program("tests/servers/stdio_server.ts");
    const dead = { command: "causeway-no-such-program" };
    const config = (mcpServers: object) => JSON.stringify({ mcpServers });
    const files = {
      "app/causeway.json": config({ one: { command, args } }),
      "app/mcp.json": config({ one: dead, two: { command, args } }),
      "home/causeway/causeway.json": config({ two: dead, own: { command, args } }),
    };
    await inPlace(files, async ({ run }) => {
      const [searched, chosen, called] = await Promise.all([
        run("search", "adds numbers", "--limit", "9"),
        run("search", "adds numbers", "--servers", "own", "--limit", "1"),
        run("run", "call own.echo text=hello", "--yes"),
      ]);
      assertEquals([searched.code, searched.err], [0, ""]);
      const names = searched.out.split("\n").map((line) => line.split(".")[0]).filter((name) => name !== "");
      assertEquals([...new Set(names)].sort(), ["one", "own", "two"]);
      assertMatch(chosen.out, /^own\./);
      assertEquals([called.code, called.out], [0, "hello\n"]);
    });
  });

  test("a config that is broken is not touched", async () => {
    await inPlace({ "app/causeway.json": '{ "mcpServers": { "a": { }, "a": { } } }' }, async ({ run, root }) => {
      assertFailure(await run("servers", "remove", "a", "--here"), 2, /change it by hand/);
      assertStringIncludes(readFileSync(join(root, "app", "causeway.json"), "utf8"), '"a": { }, "a"');
    });
  });
});
