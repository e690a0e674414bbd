/** The world of protected servers, served on this machine, and the command as a person uses it there. */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveHttp } from "../../../src/entry/local.ts";
import { createWorld } from "../../auth/world/world.ts";
import type { World } from "../../auth/world/world.ts";
import { causeway } from "../support.ts";
import type { Run, RunOptions } from "../support.ts";

/** A world with its addresses, and a folder for what the command keeps. */
export interface ServedWorld extends AsyncDisposable {
  readonly world: World;
  /** The MCP server. */
  readonly url: string;
  readonly issuer: string;
  /** Where the command keeps sign-ins. */
  readonly folder: string;
  /** Runs the command with this folder; `answer` hears each text of its standard error. */
  run(
    words: readonly string[],
    answer?: (text: string, child: ChildProcess) => void,
    options?: RunOptions,
  ): Promise<Run>;
  /** Runs `causeway login`, and goes where it sends the person. */
  login(...words: string[]): Promise<Run>;
}

/**
 * Serves a resource and an authorization server, each on a port of its own.
 *
 * @param isOne The resource is the authorization server.
 */
export async function serveWorld(isOne: boolean = false): Promise<ServedWorld> {
  let world: World | undefined;
  const answer = async (request: Request): Promise<Response> => {
    const { method, headers, url } = request;
    const body = await request.text();
    if (!world) return new Response("not yet", { status: 503 });
    return await world.fetch(url, { method, headers, ...(body !== "" && { body }), redirect: "manual" });
  };
  const resource = await serveHttp(answer, { port: 0 });
  const server = await serveHttp(answer, { port: 0 });
  const [url, issuer] = [`${resource.url}/mcp`, isOne ? resource.url : server.url];
  const made = world = await createWorld({ url, issuer });
  const folder = mkdtempSync(join(tmpdir(), "causeway-home-"));
  const run: ServedWorld["run"] = (words, answer, options = {}) =>
    causeway(words, {
      ...options,
      env: { CAUSEWAY_HOME: folder, ...options.env },
      started: (child) => child.stderr?.on("data", (text: unknown) => answer?.(String(text), child)),
    });
  return {
    world: made,
    url,
    issuer,
    folder,
    run,
    login: (...words) => run(["login", url, "--no-open", ...words], (text) => void visit(made, text)),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true });
      await resource.close();
      await server.close();
    },
  };
}

/** Goes to the page that is named in a text, and comes back to the command. */
async function visit(world: World, text: string): Promise<void> {
  const page = /open this page:\n(\S+)\n/.exec(text)?.[1];
  if (page !== undefined) await (await fetch(await world.person.follow(page))).text();
}
