/** Who takes part in the bench of the command, and how each of them is asked for the same. */
import { join } from "node:path";
import process from "node:process";
import { root } from "../../tools/programs.ts";

/** A local server, and the call that is made. */
export interface BenchServer {
  readonly name: "everything" | "tiny";
  readonly command: readonly string[];
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
  /** What a good answer has in it. */
  readonly says: string;
}

/** A command line, as one program of an operating system. */
export type Argv = readonly string[];

/** One command on one runtime. */
export interface Contestant {
  readonly name: string;
  readonly isOurs: boolean;
  /** Shows its help. */
  readonly help: Argv;
  /** One call in a process of its own; where there is no such thing, what does the same, one after the other. */
  call(server: BenchServer, config: string): readonly Argv[];
  /** What has to be said of its figures. */
  readonly note?: string;
}

/** What they run on; what is undefined is not there. */
export interface Programs {
  readonly bun: string;
  readonly deno: string | undefined;
  /** The newest one, for ours and for the peers, which are made for it. */
  readonly node: string | undefined;
  /** Our package as npm gets it. */
  readonly folder: string;
}

/** Everybody that can run here. */
export function contestants({ bun, deno, node, folder }: Programs): Contestant[] {
  const source = join(root, "src", "cli", "main.ts");
  const modules = join(root, "bench", "node_modules");
  return [
    ours("causeway, Bun", [bun, source]),
    ...(deno === undefined ? [] : [ours("causeway, Deno", [deno, "run", "-A", "--no-check", "--quiet", source])]),
    ...(node === undefined ? [] : [
      ours("causeway, Node", [node, join(folder, "src", "cli", "main.js")]),
      mcporter([node, join(modules, "mcporter", "dist", "cli.js")]),
      inspector([
        node,
        join(modules, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"),
      ]),
      mcpc([node, join(modules, "@apify", "mcpc", "bin", "mcpc")]),
    ]),
  ];
}

/** A command line as one word, for those who split it like a shell. */
export function oneWord(command: Argv): string {
  return command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}

function ours(name: string, start: Argv): Contestant {
  return {
    name,
    isOurs: true,
    help: [...start, "--help"],
    call: (server) => [[...start, "call", oneWord(server.command), server.tool, ...pairs(server)]],
  };
}

function mcporter(start: Argv): Contestant {
  return {
    name: "mcporter",
    isOurs: false,
    help: [...start, "--help"],
    call: (server) => [[...start, "call", "--stdio", oneWord(server.command), server.tool, ...pairs(server)]],
  };
}

function inspector(start: Argv): Contestant {
  return {
    name: "Inspector's CLI",
    isOurs: false,
    help: [...start, "--help"],
    call: (server) => [[
      ...[...start, "--cli", ...server.command, "--method", "tools/call", "--tool-name", server.tool],
      ...pairs(server).flatMap((pair) => ["--tool-arg", pair]),
    ]],
    note: "its help is that of the launcher alone",
  };
}

function mcpc(start: Argv): Contestant {
  const session = `@bench${process.pid}`;
  return {
    name: "@apify/mcpc",
    isOurs: false,
    help: [...start, "--help"],
    call: (server, config) => [
      [...start, "connect", `${config}:${server.name}`, session],
      [...start, session, "tools-call", server.tool, ...pairs(server).map((pair) => pair.replace("=", ":="))],
      [...start, "close", session],
    ],
    note: "has no call of one command: connect, tools-call and close are added",
  };
}

function pairs({ args }: BenchServer): string[] {
  return Object.entries(args).map(([key, value]) => `${key}=${value}`);
}
