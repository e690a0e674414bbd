/** What the command says of a server that is reached in plain text, on a terminal and elsewhere: it says it once. */
import { networkInterfaces } from "node:os";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { serveHttp } from "../../src/entry/local.ts";
import { createHandler, McpServer } from "../../src/server/mod.ts";
import { withClient } from "../../src/cli/session/session.ts";
import { inPlace } from "./support.ts";

const addresses = Object.values(networkInterfaces()).flat();
const address = addresses.find((one) => one?.family === "IPv4" && !one.internal)?.address;
const skip = address === undefined ? "this machine has no address but its own" : false;
const line = { command: "tools", words: [], json: false, headers: {} } as const;
const none = { timeout: undefined, config: undefined, args: undefined };

/** Connects, and gives what came to the standard error. */
async function said(url: string, isTTY: boolean): Promise<string[]> {
  const { stderr } = process;
  const was = { write: stderr.write, isTTY: stderr.isTTY };
  const texts: string[] = [];
  const write = (text: string, done: () => void): boolean => {
    texts.push(text);
    done();
    return true;
  };
  try {
    Object.assign(stderr, { write, isTTY });
    const use = () => Promise.resolve(0);
    await withClient(url, { ...line, ...none }, { signal: new AbortController().signal, use });
  } finally {
    Object.assign(stderr, was);
  }
  return texts;
}

describe("a server that is reached without encryption", { concurrency: false }, () => {
  test("is warned of once, and this machine is not", { skip }, async () => {
    const server = new McpServer({ name: "open", version: "1.0.0" });
    await using host = await serveHttp(createHandler(server, { allowedHosts: "*" }), { port: 0, hostname: "0.0.0.0" });
    for (const isTTY of [true, false]) {
      const texts = await said(`http://${address}:${host.port}/mcp`, isTTY);
      assertEquals(texts.length, 1, texts.join());
      assertMatch(texts[0] ?? "", /^causeway: .*without encryption/);
      assertEquals(await said(`http://127.0.0.1:${host.port}/mcp`, isTTY), []);
    }
  });

  test("is warned of also where it is one of several", { skip }, async () => {
    const server = new McpServer({ name: "open", version: "1.0.0" });
    await using host = await serveHttp(createHandler(server, { allowedHosts: "*" }), { port: 0, hostname: "0.0.0.0" });
    const open = { url: `http://${address}:${host.port}/mcp` };
    const mcpServers = { open, off: { ...open, disabled: true }, here: { url: `http://127.0.0.1:${host.port}/mcp` } };
    const warning = `causeway: warning: "${address}" is reached without encryption; use https:\n`;
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers }) }, async ({ run }) => {
      for (const words of [["serve"], ["bridge", open.url], ["run", "say done"]]) {
        const { code, err } = await run(...words);
        assertEquals([code, err], [0, warning], words.join(" "));
      }
    });
  });
});
