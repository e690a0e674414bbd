import type { ChildProcess } from "node:child_process";
import { lstatSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertRejects } from "@std/assert";
import { UsageError } from "../../src/cli/failure.ts";
import { systemWorld } from "../../src/cli/auth/world.ts";
import { checkFolder, writeResultFile } from "../../src/cli/read.ts";
import { freePort } from "../support/free_port.ts";
import { assertFailure, causeway, peer, type RunOptions } from "./support.ts";

type Case = readonly [words: string[], code: number, says: RegExp, options?: RunOptions];

/** Runs the cases a few at a time: they share two cores with the other runtimes. */
async function checkAll(cases: readonly Case[]): Promise<void> {
  const entries = cases.values();
  await Promise.all([1, 2, 3].map(async () => {
    for (const [words, code, says, options] of entries) assertFailure(await causeway(words, options), code, says);
  }));
}

test("a folder that may not be looked at is not told as one that is gone", async () => {
  const { cwd } = process;
  const { CAUSEWAY_HOME } = process.env;
  try {
    // As where those around it are closed to this user, or Deno may write alone.
    process.cwd = () => {
      throw Object.assign(new Error("no"), { code: "EACCES" });
    };
    await checkFolder("sub");
    process.cwd = () => join(tmpdir(), "causeway-gone");
    await assertRejects(() => checkFolder("sub"), UsageError, "is not there any more");
    // Nor are sign-ins looked for in another folder.
    process.env.CAUSEWAY_HOME = "sub";
    await assertRejects(
      async () => await systemWorld.openStore().get("any"),
      UsageError,
      "is not there any more",
    );
    await checkFolder(tmpdir());
  } finally {
    process.cwd = cwd;
    if (CAUSEWAY_HOME === undefined) delete process.env.CAUSEWAY_HOME;
    else process.env.CAUSEWAY_HOME = CAUSEWAY_HOME;
  }
});

test("a link to where nothing can be written stays", async () => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
  const link = join(folder, "tools.ts");
  try {
    symlinkSync(join(folder, "not-mounted", "tools.ts"), link);
    await assertRejects(() => writeResultFile(link, "text"), UsageError, "its folder is not there");
    assert(lstatSync(link).isSymbolicLink());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// Each kind of mistake once, from the outside; their variants are in usage_local_test.ts.
describe("causeway: bad input is one line and an exit code", () => {
  test("what the user wrote: 2", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
    const file = join(folder, "not.json");
    writeFileSync(file, "{ servers");
    try {
      await checkAll([
        [[], 2, /A command is missing: use causeway tools <target>/],
        [["tools", "x", "--jsno"], 2, /Unknown option "--jsno" \(did you mean "--json"\?\)/],
        [["tools", "ftp://localhost/mcp"], 2, /Unknown scheme "ftp:" in "ftp:\/\/localhost\/mcp": use https:/],
        [["tools", "http://"], 2, /Cannot read the URL "http:\/\/": write it like/],
        [
          ["tools", "x", "--config", file],
          2,
          /Cannot use the config: .*not\.json:1:3: found "s": expected a name in double quotes/,
        ],
        [["call", "sh", "echo", `@${file}`], 2, /Cannot read the file ".*not\.json": it is not JSON .*; correct it/],
        [["call", "sh", "echo", "-"], 2, /Cannot read the standard input: it is not JSON/, { input: "{oops" }],
        [
          ["call", peer("modern"), "ecko", "text=a"],
          2,
          /Unknown tool "ecko" .*did you mean "echo"\?\): causeway tools lists/,
        ],
        [["call", peer("legacy"), "echo", "txt=a"], 2, /"echo" do not fit: "text" is missing; there is no "txt"/],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a standard input that never ends is waited for no longer than --timeout says: 4", async () => {
    const started = (child: ChildProcess): void => {
      const timer = setTimeout(() => child.stdin?.end(), 18_000);
      child.on("close", () => clearTimeout(timer));
    };
    const options = { keepsInput: true, started };
    const late = /Not done within 300 ms/;
    const words = [["call", "x", "echo"], ["prompt", "x", "greet"], ["tasks", "detach", "x", "job"], ["run"]];
    await checkAll(words.map((command) => [[...command, "-", "--timeout", "300ms"], 4, late, options] as const));
  });

  test("the standard input is read once: 2", async () => {
    const options = { input: '{"text": "a"}' };
    await checkAll([
      [["call", peer("modern"), "echo", "-", "-"], 2, /Cannot read the standard input twice: write - once/, options],
    ]);
  });

  test("programs and addresses where nothing answers: 4", async () => {
    const port = await freePort();
    const nobody = new RegExp(`127\\.0\\.0\\.1:${port}.*: .`);
    await checkAll([
      [["tools", "causeway-no-such-program"], 4, /"causeway-no-such-program": .*PATH.*nor is there a config/],
      [["tools", "sh -c 'echo one >&2; echo two >&2; exit 3'"], 4, /"sh" ended with exit code 3 .*: one two/],
      [["tools", "sleep 30", "--timeout", "300ms"], 4, /Not done within 300 ms: .* raise --timeout/],
      [["tools", `http://127.0.0.1:${port}/mcp`], 4, nobody],
      [["tools", `ws://127.0.0.1:${port}/mcp`], 4, nobody],
      [["tools", "http://nowhere.invalid/mcp"], 4, /nowhere\.invalid.*: check the address/],
    ]);
  });

  test("servers that refuse or talk nonsense: 3, 4 and 5", async () => {
    const statuses: Record<string, number> = { "/401": 401, "/403": 403, "/404": 404 };
    const server = createServer((request, response) => {
      request.resume();
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
        [
          ["tools", at("/401")],
          3,
          /Sign in first: causeway login http:.*\/401, or send credentials with --header 'Authorization/,
        ],
        [["tools", at("/403"), "--header", "Authorization: Bearer secret-token"], 3, /\/403".*: check that the cred/],
        [["tools", at("/404")], 4, /\/404".* 404: .*: check the path of the URL/],
        [["tools", at("/page")], 5, /\/page".* text\/html,/],
        [["call", peer("modern"), "crash"], 5, /refused tools\/call \(-32603\): the server broke/],
        [["call", peer("modern"), "bad_output"], 5, /"bad_output".*sum/],
      ]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
