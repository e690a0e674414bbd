import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assert } from "@std/assert";
import { assertFailure, causeway, peer, type RunOptions } from "./support.ts";

type Case = readonly [words: string[], code: number, says: RegExp, options?: RunOptions];

/** Runs the cases a few at a time: they share two cores with the other runtimes. */
async function checkAll(cases: readonly Case[]): Promise<void> {
  const entries = cases.values();
  await Promise.all([1, 2, 3].map(async () => {
    for (const [words, code, says, options] of entries) assertFailure(await causeway(words, options), code, says);
  }));
}

describe("causeway: bad input", () => {
  test("commands and options that are wrong: 2", () =>
    checkAll([
      [[], 2, /A command is missing: use causeway tools <target>/],
      [["tols", "x"], 2, /Unknown command "tols" \(did you mean "tools"\?\)/],
      [["list-tools", "x"], 2, /did you mean "tools"\?/],
      [["tools"], 2, /The target is missing: write/],
      [["call", "x"], 2, /The tool is missing: write/],
      [["tools", "bun", "server.ts"], 2, /Unexpected "server\.ts" after the target: put .* quotes/],
      [["tools", "x", "--jsno"], 2, /Unknown option "--jsno" \(did you mean "--json"\?\)/],
      [["tools", "x", "--timeout"], 2, /"--timeout" needs a value/],
      [["tools", "x", "--timeout", "soon"], 2, /Cannot read --timeout "soon": write seconds/],
      [["tools", "x", "--json=yes"], 2, /"--json" takes no value/],
      [["tools", "http://localhost", "--header", "secret"], 2, /Cannot read a --header: write it like 'Name: value'/],
    ]));

  test("targets that are none: 2", () =>
    checkAll([
      [["tools", "ftp://example.com/mcp"], 2, /Unknown scheme "ftp:" in "ftp:\/\/example\.com\/mcp": use https:/],
      [["tools", "http://"], 2, /Cannot read the URL "http:\/\/": write it like/],
      [["tools", "http://me:secret@localhost/mcp"], 2, /Cannot use "http:\/\/localhost\/mcp" with a user name/],
      [["tools", "localhost:3000/mcp"], 2, /write "http:\/\/localhost:3000\/mcp"/],
      [["tools", ""], 2, /The target is empty: give a URL/],
      [["tools", "sh -c 'exit"], 2, /it ends in an open '; close the quotes/],
      [["tools", "sh", "--header", "A: b"], 2, /a program has no headers/],
    ]));

  test("config files that are none: 2", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const servers = {
      github: { url: "https://${CAUSEWAY_UNSET}/" },
      odd: { args: ["x"] },
      mixed: { command: "x", env: { A: 1 } },
    };
    const config = file("config.json", JSON.stringify({ mcpServers: servers }));
    const where = ["--config", config];
    try {
      await checkAll([
        [
          ["tools", "x", "--config", join(folder, "none.json")],
          2,
          /Cannot read the config ".*none\.json": there is no such file; correct --config/,
        ],
        [
          ["tools", "x", "--config", file("not.json", "{ servers")],
          2,
          /Cannot read the config ".*not\.json": it is not JSON/,
        ],
        [["tools", "x", "--config", file("list.json", "[1]")], 2, /Cannot use the config ".*list\.json": expected/],
        [["tools", "gihtub", ...where], 2, /Unknown server "gihtub" in ".*" \(did you mean "github"\?\)/],
        [["tools", "github", ...where], 2, /the environment variable "CAUSEWAY_UNSET" is not set; set it/],
        [["tools", "odd", ...where], 2, /Cannot use "odd" of ".*": it has neither a "command" nor a "url"/],
        [["tools", "mixed", ...where], 2, /"env" has to hold texts/],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("tools and arguments that are wrong: 2", () => {
    const call = ["call", peer("modern")];
    return checkAll([
      [[...call, "ecko", "text=a"], 2, /Unknown tool "ecko" at ".*" \(did you mean "echo"\?\): causeway tools lists/],
      [
        [...call, "echo", "txt=a"],
        2,
        /"echo" do not fit: "text" is missing; there is no "txt" \(did you mean "text"\?\)/,
      ],
      [[...call, "add", "a=one", "b=2"], 2, /"add" do not fit: "a" must be of the type number/],
      [[...call, "echo", "text:=1"], 2, /"echo" do not fit: "text" must be of the type string/],
      [[...call, "echo", "hello"], 2, /Cannot read the argument "hello": write key=value/],
      [[...call, "echo", "text=1", "text=2"], 2, /"text" is given twice/],
      [[...call, "echo", "--args", "[1]"], 2, /Cannot use --args as arguments: expected a JSON object/],
      [
        [...call, "echo", "@/no/such/file.json"],
        2,
        /Cannot read the file "\/no\/such\/file\.json": there is no such file/,
      ],
      [[...call, "echo", "-"], 2, /Cannot read the standard input: it is not JSON/, { input: "{oops" }],
    ]);
  });

  test("programs and servers that cannot be reached: 4", () =>
    checkAll([
      [
        ["tools", "causeway-no-such-program"],
        4,
        /there is no such program on the PATH; install it.*nor is there a config/,
      ],
      [
        ["tools", "causeway-no-such-program --flag"],
        4,
        /there is no such program on the PATH; install it, or give its full path\n/,
      ],
      [["tools", "/no/such/file --flag"], 4, /Cannot start "\/no\/such\/file": there is no such file/],
      [
        ["tools", "sh -c 'echo one >&2; echo two >&2; exit 3'"],
        4,
        /"sh" ended with exit code 3 before it answered anything; .*: one two/,
      ],
      [["tools", "sleep 30", "--timeout", "300ms"], 4, /Not done within 300 ms: .* raise --timeout/],
      [["tools", "http://127.0.0.1:39999/mcp"], 4, /http:\/\/127\.0\.0\.1:39999\/mcp/],
      [["tools", "http://nowhere.invalid/mcp"], 4, /http:\/\/nowhere\.invalid\/mcp/],
      [["tools", "ws://127.0.0.1:39999/mcp"], 4, /Cannot open "ws:\/\/127\.0\.0\.1:39999\/mcp"/],
    ]));

  test("servers that refuse or talk nonsense: 3, 4 and 5", async () => {
    const statuses: Record<string, number> = { "/401": 401, "/403": 403, "/404": 404 };
    const server = createServer((request, response) => {
      request.resume();
      if (request.url === "/silent") return;
      response.statusCode = statuses[request.url ?? ""] ?? 200;
      response.setHeader("content-type", "text/html");
      response.end("<h1>\u001b[31mHello</h1>\nand more");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    assert(typeof address === "object" && address !== null);
    const at = (path: string): string => `http://127.0.0.1:${address.port}${path}`;
    try {
      await checkAll([
        [["tools", at("/401")], 3, /\/401".*: send credentials with --header 'Authorization/],
        [
          ["tools", at("/403"), "--header", "Authorization: Bearer secret-token"],
          3,
          /\/403".*: check that the credentials/,
        ],
        [["tools", at("/404")], 4, /answered 404: .*: check the path of the URL/],
        [["tools", at("/page")], 5, /expected JSON or an event stream, got "text\/html": <h1>Hello<\/h1> and more/],
        [["tools", at("/silent"), "--timeout", "0.3"], 4, /Not done within 300 ms/],
        [["call", peer("modern"), "crash"], 5, /refused tools\/call \(-32603\): the server broke/],
        [["call", peer("modern"), "bad_output"], 5, /Cannot use the result of the tool "bad_output"/],
      ]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
