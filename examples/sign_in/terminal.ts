/**
 * A program with a person at the terminal: signs in with their browser, and calls a tool. The next time it needs no browser.
 *
 * @example Call a tool
 * ```sh
 * bun examples/sign_in/terminal.ts https://mcp.example.com/mcp search '{"query":"causeway"}'
 * ```
 *
 * @module
 */
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createOAuth } from "@causeway/mcp/auth";
import { authorizeInBrowser, type BrowserSignInOptions, connect, createFileStore } from "@causeway/mcp/local";

/** What a test has otherwise. */
export interface World extends BrowserSignInOptions {
  /** Where sign-ins are kept. */
  readonly folder?: string;
  /** Where the browser comes back to. */
  readonly port?: number;
}

/**
 * Calls a tool; without a name, lists what there is.
 *
 * @param words The server's URL, the tool, its arguments as JSON.
 * @returns What to print.
 */
export async function run(words: readonly string[], world: World = {}): Promise<string> {
  const [server, tool, args = "{}"] = words;
  if (server === undefined) throw new TypeError("expected the URL of a server");
  const { folder = join(homedir(), ".config", "causeway-example"), port = 8085, ...browser } = world;
  const auth = createOAuth({
    redirectUri: `http://127.0.0.1:${port}/callback`,
    clientMetadata: { client_name: "An example of Causeway" },
    store: createFileStore(folder),
    authorize: authorizeInBrowser(browser),
  });
  await using client = await connect(server, { auth });
  if (tool === undefined) return (await client.listTools()).tools.map(({ name }) => name).join("\n");
  const { content, isError } = await client.callTool(tool, JSON.parse(args));
  if (isError) process.exitCode = 1;
  return JSON.stringify(content, null, 2);
}

if (import.meta.main) console.log(await run(process.argv.slice(2)));
