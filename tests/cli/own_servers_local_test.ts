import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { serversOfConfigs } from "../../src/cli/serve/servers.ts";
import { growth } from "../support/clocks/growth.ts";
import { TestWorld } from "./auth/world.ts";
import { assertFailure, inPlace, program } from "./support.ts";
import type { Run } from "./support.ts";

describe("causeway servers remove, enable, disable and import", () => {
  const text =
    '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "sh" /* it */ }, // first\n    "b": { "url": "https://b/" }\n  }\n}\n';

  test("change one server, and keep comments", async () => {
    await inPlace({ "app/causeway.json": text }, async ({ run, root }) => {
      const path = join(root, "app", "causeway.json");
      assertEquals((await run("servers", "disable", "a", "--here")).out, `Disabled a in ${path}\n`);
      assertStringIncludes((await run("servers", "list")).out, "  a  sh (disabled)\n");
      assertEquals((await run("servers", "enable", "a", "--here", "--json")).code, 0);
      assertEquals((await run("servers", "remove", "b", "--here")).out, `Removed b from ${path}\n`);
      const left = readFileSync(path, "utf8");
      assertEquals(left, '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "sh" /* it */ } // first\n  }\n}\n');
    });
  });

  test("a server that is used, or not, is written as it was", async () => {
    const entry = [
      '    "a": {',
      "      // why",
      '      "command": "sh", "args": ["-c", "x"],',
      '      "timeout": 1.5e3, // long',
      '      "enabled": false',
      "    }",
    ];
    const text = ["{", '  "mcpServers": {', ...entry, "  }", "}", ""].join("\r\n");
    await inPlace({ "app/causeway.json": text }, async ({ run, root }) => {
      const read = (): string => readFileSync(join(root, "app", "causeway.json"), "utf8");
      const set = async (verb: string): Promise<string> => ((await run("servers", verb, "a", "--here")).err + read());
      const enabled = text.replace('1.5e3, // long\r\n      "enabled": false', "1.5e3 // long");
      const disabled = text.replace('"enabled": false', '"disabled": true');
      assertEquals(await set("enable"), enabled);
      assertEquals(await set("disable"), disabled);
      assertEquals(await set("disable"), disabled);
      assertEquals(await set("enable"), enabled);
      assertEquals(await set("enable"), enabled);
    });
  });

  for (const path of ["servers", "mcp.servers", "context_servers"]) {
    test(`servers that stand in "${path}" stay, and others come beside them`, async () => {
      const config = (servers: object): object =>
        path.split(".").reduceRight<object>((inner, name) => ({ [name]: inner }), servers);
      const a = { url: "https://a.example/mcp" };
      await inPlace({ "app/causeway.json": JSON.stringify(config({ a })) }, async ({ run, json, root }) => {
        const file = join(root, "app", "causeway.json");
        const added = await run("servers", "add", "b", "https://b.example/mcp", "--here", "--unchecked");
        assertEquals([added.code, added.err], [0, ""]);
        assertEquals(json(file) as object, config({ a, b: { url: "https://b.example/mcp" } }));
        assertEquals((await run("servers", "disable", "a", "--here")).err, "");
        assertEquals((await run("servers", "remove", "b", "--here")).err, "");
        assertEquals(json(file) as object, config({ a: { ...a, disabled: true } }));
      });
    });
  }

  test("a program in the way that Zed once wrote it is imported with its folder", async () => {
    const old = {
      command: { path: "./server.sh", args: ["$${workspaceFolder}"], env: { AT: "${workspaceFolder}/x" } },
    };
    const text = JSON.stringify({ context_servers: { old } });
    await inPlace({ "app/.zed/settings.json": text, "app/server.sh": "" }, async ({ run, own, json, root }) => {
      assertMatch((await run("servers", "import", "old")).out, /^Imported old from /);
      const app = join(root, "app");
      const command = { ...old.command, env: { AT: `${app}/x` } };
      assertEquals(json(own).mcpServers.old, { command, cwd: app });
    });
  });

  test("what an editor would ask for is imported as its variable", async () => {
    const inputs = [
      { id: "host", type: "promptString", default: "docs.example" },
      { id: "api-key", type: "promptString", password: true },
      { id: "odd", type: "promptString", default: "a}b" },
    ];
    const servers = {
      docs: { url: "https://${input:host}/mcp" },
      keyed: { url: "https://${input:host}/mcp", headers: { "x-key": "${input:api-key}" } },
      odd: { command: "sh", args: ["${input:odd}"] },
    };
    const files = { "app/.vscode/mcp.json": JSON.stringify({ inputs, servers }) };
    await inPlace(files, async ({ run, own, json, root }) => {
      const first = await run("servers", "import", "--all");
      assertMatch(first.err, /left out "keyed": it cannot be used as it is in .*\n.*left out "odd": it cannot/);
      assertEquals(json(own).mcpServers, { docs: { url: "https://${CAUSEWAY_INPUT_HOST:-docs.example}/mcp" } });
      rmSync(join(root, "app", ".vscode"), { recursive: true });
      assertStringIncludes((await run("servers", "list")).out, "  docs  https://docs.example/mcp\n");
    });
    await inPlace(files, async ({ run, own, json }) => {
      assertMatch((await run("servers", "import", "keyed")).out, /^Imported keyed from /);
      assertEquals(json(own).mcpServers.keyed?.headers, { "x-key": "${CAUSEWAY_INPUT_API_KEY}" });
    }, { CAUSEWAY_INPUT_API_KEY: "k3y" });
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

describe("a config of very many servers", () => {
  const servers = (count: number): Record<string, object> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, { command: "sh", args: [`${at}`] }]));
  const many = (count: number, more: object = {}): string =>
    JSON.stringify({ mcpServers: { ...servers(count), ...more } });

  test("is read once by who reads all of them, and as it is read one by one", async () => {
    await inPlace({ "app/500.json": many(500), "app/2000.json": many(2_000) }, async ({ root }) => {
      const wanted = { timeout: undefined, world: new TestWorld() };
      const reading = await growth(500, async (count) => {
        const path = join(root, "app", `${count}.json`);
        const one = await serversOfConfigs([path], { ...wanted, names: ["s9"] });
        return async () => {
          const found = await serversOfConfigs([path], { ...wanted, names: undefined });
          assertEquals([found.size, JSON.stringify(found.get("s9"))], [count, JSON.stringify(one.get("s9"))]);
        };
      });
      assertLess(reading, 10);
    });
  });

  test("says of each what is wrong with it, also where that is more than is kept of one file", async () => {
    const wrong = Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`bad${at}`, { command: `\${NO_${at}}` }]));
    await inPlace({ "app/mcp.json": many(2, wrong) }, async ({ run }) => {
      const { code, out, err } = await run("servers", "list");
      assertEquals([code, out.split("\n").filter((line) => line.endsWith("cannot be used")).length], [0, 250]);
      for (let at = 0; at < 250; at++) assertStringIncludes(err, `NO_${at}`);
    });
  });

  test("is imported in one go, and a file that would be too large to be read is not written", async () => {
    const files = { "app/.mcp.json": many(1_500), "app/causeway.json": '{\n  // mine\n  "mcpServers": {}\n}\n' };
    await inPlace(files, async ({ root, run }) => {
      const here = join(root, "app", "causeway.json");
      const { code, out, err } = await run("servers", "import", "--all", "--here");
      assertEquals([code, out.split("\n").length, err], [0, 1_501, ""]);
      const before = readFileSync(here, "utf8");
      assertStringIncludes(before, "{\n  // mine\n");
      assertEquals(JSON.parse(before.replace("// mine", "")).mcpServers, servers(1_500));
      writeFileSync(
        join(root, "app", ".mcp.json"),
        JSON.stringify({ mcpServers: { big: { command: "x".repeat(1_000_000) } } }),
      );
      assertFailure(
        await run("servers", "import", "big", "--here"),
        2,
        /Cannot write ".*": it would be larger than 1 MiB/,
      );
      assertEquals(readFileSync(here, "utf8"), before);
    });
  });
});
