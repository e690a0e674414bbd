/** A world for programs of pages: hosts that answer in this process, and the programs of npm that are installed here. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { createHandler, type HandlerOptions, type Servable } from "../../src/server/mod.ts";
import { root } from "../programs.ts";

/** Whatever answers the requests to one host. */
export type Host = (request: Request) => Response | Promise<Response>;

/** Puts `hosts` in the network's place for the rest of this process: a request to any other host of a name is refused. */
export function standIn(hosts: Readonly<Record<string, Host>>): void {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { hostname } = new URL(request.url);
    const host = hosts[hostname];
    if (host) return await host(request);
    if (hostname === "127.0.0.1" || hostname === "localhost") return await real(request);
    throw new TypeError(`no stand-in answers for ${hostname}`);
  };
}

/** A host that is an MCP server at that name. */
export function serverAt(name: string, server: Servable, options: HandlerOptions = {}): Record<string, Host> {
  return { [name]: createHandler(server, { allowedHosts: [name], ...options }) };
}

/** Lets `npx -y <package>` start what is in node_modules, from a folder that comes first on PATH. */
export function standInForNpx(): void {
  const bin = join(process.cwd(), "bin");
  mkdirSync(bin);
  const packages = join(root, "node_modules", "@modelcontextprotocol");
  const flags = "Deno" in globalThis ? "run -A --quiet --no-check" : "";
  const program = `#!/bin/sh
shift
name=$(basename "$1")
shift
exec ${JSON.stringify(process.execPath)} ${flags} ${packages}/$name/dist/index.js "$@"
`;
  writeFileSync(join(bin, "npx"), program);
  chmodSync(join(bin, "npx"), 0o755);
  process.env["PATH"] = `${bin}${delimiter}${process.env["PATH"]}`;
}

/** Throws what is wrong, unless it is right. */
export function expect(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`The program should have ${what}`);
}
