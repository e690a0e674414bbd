import { describe, test } from "node:test";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { serveHttp } from "../../../src/entry/local.ts";
import { causeway, inPlace } from "../support.ts";

/** Runs a command in a folder whose config has two servers that want a sign-in, one of them as a client that is known there. */
async function told(words: (url: string) => readonly string[]): Promise<{ code: number | null; err: string }> {
  const refuse = () => Promise.resolve(new Response("no", { status: 401, headers: { "www-authenticate": "Bearer" } }));
  await using host = await serveHttp(Object.assign(refuse, { close() {} }), { port: 0 });
  const url = `${host.url}/mcp`;
  const files = {
    "app/mcp.json": JSON.stringify({ mcpServers: { wiki: { url }, docs: { url, oauth: { clientId: "c" } } } }),
  };
  let ended = { code: null as number | null, err: "" };
  await inPlace(files, async ({ run }) => {
    const { code, err } = await run(...words(url));
    ended = { code, err: err.replaceAll(url, "<url>") };
  });
  return ended;
}

const headers = ', or put credentials into the "headers" of its config';

describe("a server that wants a sign-in, among several", () => {
  test("is told of with how to sign in, by the command that serves it", async () => {
    for (const [words, config] of [[["serve"], ""], [["serve", "mcp.json"], " --config mcp.json"]] as const) {
      const { err } = await told(() => words);
      // In the order in which they answered.
      assertEquals(err.trim().split("\n").sort(), [
        `causeway: "docs": Sign in first: causeway login docs${config}${headers}`,
        `causeway: "wiki": Sign in first: causeway login <url>${headers}`,
      ]);
    }
    const header = "send credentials with --header 'Authorization: Bearer …'";
    assertEquals(await told((url) => ["bridge", url]), {
      code: 3,
      err: `causeway: Sign in first: causeway login <url>, or ${header}\n`,
    });
    const { err } = await told((url) => ["bridge", url, "--header", "Authorization: Bearer wrong"]);
    assertEquals(/these credentials are wrong/.test(err) && !/login/.test(err), true, err);
  });

  test("is told of so by what uses it, too", async () => {
    for (
      const [words, without] of [[["search", "pages"], "not searched: "], [
        ["run", "call wiki.read"],
        "without ",
      ]] as const
    ) {
      const { code, err } = await told(() => words);
      if (words[0] === "search") assertEquals(code, 3);
      assertEquals(err.split("\n").slice(0, 2), [
        `causeway: ${without}"wiki": Sign in first: causeway login <url>${headers}`,
        `causeway: ${without}"docs": Sign in first: causeway login docs${headers}`,
      ]);
    }
  });

  test("is told of with what it wrote to its standard error, where it is a program that waits", async () => {
    // Links to sign in are long, and more is said behind them.
    const more = `&scope=${"a".repeat(450)}`;
    const args = [
      "-c",
      `echo 'Sign in at https://a.test/in?response_type=code&state=s1 with t0ken-of-mine${more}' >&2; cat > /dev/null; :`,
    ];
    const waits = { command: "sh", args, env: { KEY: "t0ken-of-mine" }, timeout: 4_000 };
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers: { waits } }) }, async ({ run }) => {
      const commands = [["search", "pages"], ["run", "say done"], ["bridge", "waits"], ["tools", "waits"]];
      // By the time of its config, or by that of the whole command.
      const bounded = commands.slice(0, 2).map((words) => [...words, "--timeout", "3s"]);
      const ended = await Promise.all([...commands, ...bounded].map((words) => run(...words)));
      for (const { err } of ended) {
        const words = "Sign in at https://a.test/in?response_type=code&state=s1 with [redacted]";
        assertMatch(err, /within \d+ ms: /);
        assertStringIncludes(err, `; its standard error ends with: ${words}`);
      }
      assertMatch(ended.at(-1)?.err ?? "", /^causeway: without "waits": .*\ncauseway: Not done within 3000 ms: .*\n$/);
    });
  });

  test("is told of with the link of each time that it was started: the one before leads nowhere", async () => {
    const waits = {
      command: "sh",
      args: ["-c", 'echo "https://a.test/?n=$$" >&2; cat > /dev/null; :'],
      timeout: 1_500,
    };
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers: { waits } }) }, async ({ root }) => {
      let said = "";
      await causeway(["serve"], {
        cwd: `${root}/app`,
        keepsInput: true,
        started: ({ stderr, stdin }) =>
          stderr?.on("data", (text: string) => {
            said += text;
            if (linksOf(said).length > 1) stdin?.end();
          }),
      });
      const links = linksOf(said);
      assertEquals([links.length > 1, new Set(links).size], [true, links.length], said);
    });
  });
});

function linksOf(text: string): string[] {
  return text.match(/n=\d+/g) ?? [];
}
