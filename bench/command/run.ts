/** The bench of the command: how fast it starts, and what a call costs over the life of the server alone, beside its peers. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProcess, startProcess } from "../../tools/process.ts";
import { root } from "../../tools/programs.ts";
import { buildPackage } from "../../tools/publish/package.ts";
import { buildServing } from "../serving/programs.ts";
import { type Argv, type BenchServer, type Contestant, contestants } from "./contestants.ts";
import { liveOnce, type ServerLife } from "./floor.ts";

/** What the bench works with. */
export interface CommandBenchOptions {
  readonly bun: string;
  readonly deno: string | undefined;
  /** The newest one. */
  readonly node: string | undefined;
  /** Where bundles are kept. */
  readonly folder: string;
  /** Fewer rounds. */
  readonly quick: boolean;
  /** Keeps the parts whose name has one of these in it: `help`, `everything`, `tiny`. Default: all. */
  readonly only: readonly string[];
}

/** What is measured. */
export type Part = "help" | BenchServer["name"];

/** One command, once. */
export interface CommandRow {
  readonly part: Part;
  readonly name: string;
  readonly isOurs: boolean;
  readonly round: number;
  /** From its start to its end, in milliseconds; undefined when it failed. */
  readonly took: number | undefined;
  /** From its start until what it should say is there. */
  readonly shown?: number | undefined;
  readonly failure?: string;
}

/** A server alone, once. */
export interface LifeRow extends ServerLife {
  readonly part: BenchServer["name"];
  readonly round: number;
}

/** All figures. */
export interface CommandFigures {
  readonly rows: readonly CommandRow[];
  readonly lives: readonly LifeRow[];
  /** What has to be said of some of the peers. */
  readonly notes: readonly string[];
}

/** How a process is started: a folder and a home where nobody has kept anything. */
interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Measures everything.
 *
 * @throws {Error} When a command of ours does not do what it should, or a server does not.
 */
export async function measureCommand(options: CommandBenchOptions): Promise<CommandFigures> {
  const { folder, quick, only } = options;
  const isWanted = (part: Part): boolean => only.length === 0 || only.some((name) => part.includes(name));
  // Inside the repository, so that it finds what the package depends on.
  const built = join(folder, "command_package");
  await buildPackage(built);
  const servers = (await benchServers(options)).filter(({ name }) => isWanted(name));
  const all = contestants({ ...options, folder: built });
  const cwd = mkdtempSync(join(tmpdir(), "causeway-bench-command-"));
  try {
    const home = join(cwd, "home");
    mkdirSync(home);
    const env = { HOME: home, XDG_CONFIG_HOME: home, CAUSEWAY_HOME: join(home, "causeway"), MCPC_HOME_DIR: home };
    const config = writeConfig(cwd, servers);
    const rows: CommandRow[] = [];
    const lives: LifeRow[] = [];
    for (let round = 0; round < (quick ? 3 : 9); round++) {
      console.error(`command, round ${round + 1}`);
      const turn = round % 2 === 0 ? all : [...all].reverse();
      if (isWanted("help")) {
        for (const one of turn) rows.push(await measure(one, "help", [one.help], { round, cwd, env }));
      }
      for (const server of servers) {
        lives.push({ part: server.name, round, ...await liveOnce(server) });
        for (const one of turn) {
          rows.push(await measure(one, server, one.call(server, config), { round, cwd, env }));
        }
      }
    }
    const notes = all.flatMap(({ name, note }) => note === undefined ? [] : `${name}: ${note}`);
    return { rows, lives, notes };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** The official server that has everything, on Node; and one tool of ours that does nothing, on Bun. */
async function benchServers({ bun, node, folder }: CommandBenchOptions): Promise<BenchServer[]> {
  const official = join(root, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js");
  const tiny = await buildServing("ours", folder);
  const servers: BenchServer[] = [
    { name: "tiny", command: [bun, tiny, "stdio"], tool: "noop", args: {}, says: "ok" },
  ];
  if (node !== undefined) {
    servers.unshift({
      ...{ name: "everything", command: [node, official], tool: "echo", args: { message: "hi" }, says: "Echo: hi" },
    });
  }
  return servers;
}

/** The servers, for those who take them from a config. */
function writeConfig(folder: string, servers: readonly BenchServer[]): string {
  const entries = servers.map(({ name, command: [command, ...args] }) => [name, { command, args }]);
  const path = join(folder, "servers.json");
  writeFileSync(path, JSON.stringify({ mcpServers: Object.fromEntries(entries) }));
  return path;
}

async function measure(
  { name, isOurs }: Contestant,
  what: "help" | BenchServer,
  steps: readonly Argv[],
  { round, ...place }: Place & { readonly round: number },
): Promise<CommandRow> {
  const part = what === "help" ? what : what.name;
  let took = 0;
  let shown: number | undefined;
  let output = "";
  const says = what === "help" ? undefined : what.says;
  for (const step of steps) {
    const ended = await timed(step, place, says);
    if (ended.shown !== undefined) shown = took + ended.shown;
    took += ended.took;
    output += ended.output;
    if (ended.code !== 0) output += ` (exit code ${ended.code})`;
  }
  const isGood = !/\(exit code/.test(output) && (what === "help" ? output.length > 100 : output.includes(what.says));
  if (isGood) return { part, name, isOurs, round, took, shown };
  const failure = output.trim().slice(-300);
  if (isOurs) throw new Error(`${name} failed at ${part}: ${failure}`);
  console.error(`${name} failed at ${part}: ${failure}`);
  return { part, name, isOurs, round, took: undefined, failure };
}

/** Runs a program to its end. What it leaves behind with its output in hand is not waited for. */
function timed(
  command: Argv,
  { cwd, env }: Place,
  says: string | undefined,
): Promise<{
  readonly took: number;
  readonly shown: number | undefined;
  readonly output: string;
  readonly code: number | null;
}> {
  const began = performance.now();
  const child = startProcess(command, { cwd, env });
  return new Promise((resolve, reject) => {
    let output = "";
    let shown: number | undefined;
    let ended: { took: number; code: number | null } | undefined;
    const timer = setTimeout(() => endProcess(child), 60_000);
    const settle = (): void => {
      clearTimeout(timer);
      if (ended) resolve({ ...ended, shown, output });
    };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (says !== undefined && output.includes(says)) shown ??= performance.now() - began;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => output += text);
    child.once("error", reject);
    child.once("close", settle);
    child.once("exit", (code) => {
      ended = { took: performance.now() - began, code };
      setTimeout(settle, 1_000).unref();
    });
  });
}
