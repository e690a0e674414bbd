import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { serverUrl } from "../support/server_url.ts";
import { causeway, peer, program } from "./support.ts";

/** Runs with a folder that is gone afterwards. */
async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("causeway: help", () => {
  test("--help and --version go to the standard output, with 0", async () => {
    const [help, version] = await Promise.all([causeway(["--help"]), causeway(["tools", "-v"])]);
    assertEquals([help.code, help.err, version.code, version.err], [0, "", 0, ""]);
    assertStringIncludes(help.out, "causeway call <target> <tool>");
    assertMatch(version.out, /^causeway \d+\.\d+\.\d+\n$/);
  });
});

describe("causeway tools", () => {
  test("lists names, titles, descriptions and arguments; optional ones have a question mark", async () => {
    const { code, out, err } = await causeway(["tools", peer("modern")]);
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, "echo  Echo: Gives back the text\n    text  string\n");
    assertStringIncludes(out, "    count          integer\n    milliseconds?  integer\n");
  });

  test("--json prints exactly the MCP object, of either era", async () => {
    const runs = await Promise.all(["modern", "legacy"].map((era) => causeway(["tools", peer(era), "--json"])));
    for (const { code, out, err } of runs) {
      assertEquals([code, err], [0, ""]);
      const { tools, rejected, truncated } = JSON.parse(out);
      assertEquals([tools[0].name, rejected, truncated], ["echo", undefined, undefined]);
    }
  });

  test("over HTTP and WebSocket, with a header", async (context) => {
    const url = serverUrl();
    if (url === undefined) return context.skip("tools/test.ts starts the server that this needs");
    const [http, socket] = await Promise.all([
      causeway(["tools", `${url}/modern@cli/mcp`, "--header", "X-Test: 1"]),
      causeway(["call", `${url.replace("http", "ws")}/ws@cli/modern`, "echo", "text=over a socket"]),
    ]);
    assertEquals([http.code, http.err], [0, ""]);
    assertStringIncludes(http.out, "echo  Echo");
    assertEquals(socket, { code: 0, out: "over a socket\n", err: "" });
  });
});

describe("causeway call", () => {
  test("key=value is read by the schema, key:=json as it is", async () => {
    const words = ["region=5", "count=5", "dry=true", 'tenant={"id":"a"}', 'note:="n"'];
    const { code, out, err } = await causeway(["call", peer("modern"), "header_tool", ...words]);
    assertEquals([code, err], [0, ""]);
    assertEquals(JSON.parse(out), { region: "5", count: 5, dry: true, tenant: { id: "a" }, note: "n" });
  });

  test("whole objects: a file, the standard input, --args, and an argument", async () => {
    await inFolder(async (folder) => {
      const file = join(folder, "arguments.json");
      writeFileSync(file, '\uFEFF{"text":"a file"}');
      const call = (words: string[], input?: string) =>
        causeway(["call", peer("modern"), "echo", ...words], input === undefined ? {} : { input });
      const runs = await Promise.all([
        call([`@${file}`]),
        call(["-"], '{"text":"the input"}'),
        call(["--args", '{"text":"an option"}']),
        call(['{"text":"no"}', "text=the last word"]),
      ]);
      assertEquals(runs.map(({ out }) => out), ["a file\n", "the input\n", "an option\n", "the last word\n"]);
      assertEquals(runs.map(({ code, err }) => [code, err]), runs.map(() => [0, ""]));
    });
  });

  test("--json prints exactly the MCP object", async () => {
    const { code, out } = await causeway(["call", peer("legacy"), "add", "a=1", "b=2.5", "--json"]);
    assertEquals(code, 0);
    assertEquals(JSON.parse(out), {
      content: [{ type: "text", text: '{"sum":3.5}' }],
      structuredContent: { sum: 3.5 },
    });
  });

  test("a tool that failed: its result on the standard output, and 1", async () => {
    const { code, out, err } = await causeway(["call", peer("modern"), "fail", "message=out of paper"]);
    assertEquals([code, out], [1, "out of paper\n"]);
    assertEquals(err, 'causeway: the tool "fail" failed: its result says why\n');
  });

  test("what a server asks is declined when nobody sits at a terminal", async () => {
    const { code, out } = await causeway(["call", peer("modern"), "ask"]);
    assertEquals([code, out], [1, "the user said decline\n"]);
  });

  test("control characters of a server do not reach the terminal; --json escapes them", async () => {
    const text = "\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u009b1m \u202eback\u0000\rwards";
    const args = JSON.stringify({ text });
    const [plain, json] = await Promise.all([
      causeway(["call", peer("modern"), "echo", "--args", args]),
      causeway(["call", peer("modern"), "echo", "--json", "--args", args]),
    ]);
    assertEquals(plain.out, "red  1m backwards\n");
    assert(!/[\p{Cc}\u202e]/u.test(json.out.replaceAll("\n", "")));
    assertEquals(JSON.parse(json.out).content[0].text, text);
  });

  test("five megabytes come through whole", async () => {
    const { code, out } = await causeway(["call", peer("modern"), "big", "bytes=5000000"]);
    assertEquals([code, out.length], [0, 5_000_001]);
  });
});

describe("causeway: config files", () => {
  test("names from --config and from ./mcp.json, with variables filled in", async () => {
    await inFolder(async (folder) => {
      const [command = "", ...args] = program("tests/servers/stdio_server.ts");
      const entry = {
        command,
        args: [...args, "${CAUSEWAY_TEST_ERA}", "--name=${CAUSEWAY_TEST_NAME:-peer}"],
        cwd: "sub",
      };
      const given = join(folder, "given.json");
      mkdirSync(join(folder, "sub"));
      writeFileSync(given, JSON.stringify({ servers: { one: entry } }));
      writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { two: entry } }));
      const env = { CAUSEWAY_TEST_ERA: "modern" };
      const runs = await Promise.all([
        causeway(["call", "one", "echo", "text=1", "--config", given], { env }),
        causeway(["call", "two", "echo", "text=2"], { env, cwd: folder }),
      ]);
      assertEquals(runs, [{ code: 0, out: "1\n", err: "" }, { code: 0, out: "2\n", err: "" }]);
    });
  });

  test("what should be looked at in the server that is used is said once, and nothing of the others", async () => {
    await inFolder(async (folder) => {
      const [command = "", ...args] = program("tests/servers/stdio_server.ts");
      const servers = { one: { command, args: [...args, "modern"], enviroment: {} }, two: { comand: "x" } };
      writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: servers }));
      assertEquals(await causeway(["call", "one", "echo", "text=1"], { cwd: folder }), {
        code: 0,
        out: "1\n",
        err:
          'causeway: warning: mcp.json: mcpServers.one.enviroment: unknown field (did you mean "env"?): correct its name or take it out\n',
      });
      const { code, err } = await causeway(["tools", "two"], { cwd: folder });
      assertEquals([code, err], [
        2,
        'causeway: mcp.json: mcpServers.two: it has neither a "command" nor a "url" ' +
        '(did you mean "command" where it says "comand"?): write one of them\n',
      ]);
    });
  });

  test("a server gets the variables before its command, and no others of the user", async () => {
    const script = "echo $CAUSEWAY_GIVEN-$CAUSEWAY_SECRET- >&2; exit 3";
    const { err } = await causeway(["tools", `CAUSEWAY_GIVEN=a sh -c '${script}'`], {
      env: { CAUSEWAY_SECRET: "hidden" },
    });
    assertMatch(err, /standard error ends with: a--\n$/);
  });

  test("of a long traceback, the end is told, which says what is wrong", async () => {
    const script = "seq -s/ 600 >&2; echo No module named shop >&2; exit 1";
    const { code, err } = await causeway(["tools", `sh -c '${script}'`]);
    assertMatch(err, /^causeway: "sh" ended with exit code 1 before it .* … .*600 No module named shop\n$/);
    assertEquals([code, err.length < 1_100], [4, true]);
  });
});
