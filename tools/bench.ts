/**
 * `bun run bench`: our client against the floor and its peers on one server, each cell in fresh processes whose order is
 * turned round by round, with the verdict on each target. `--quick` for a minute's look, `--full` for a million calls in
 * memory, `--only <cell, runtime or client, …>` narrows it, `--strict` makes a missed target a failure. `--serving` measures
 * our server alone, `--hub` a hub's catalog and search, `--runs` durable runs, `--runner` the runner under workerd, `--command` the
 * command's start; a run without `--only` and `--quick` does these in the end.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import {
  buildLibrary,
  buildProgram,
  buildServer,
  buildWorker,
  type ClientName,
  type LibraryName,
} from "../bench/build.ts";
import type { Runtime } from "../bench/clients/client.ts";
import { writeCommandReport } from "../bench/command/report.ts";
import { measureCommand } from "../bench/command/run.ts";
import { writeHubReport } from "../bench/hub/report.ts";
import { writeRunnerReport } from "../bench/runner/report.ts";
import { measureRunner } from "../bench/runner/run.ts";
import { writeRunsReport } from "../bench/runs/report.ts";
import { measureDurableRuns } from "../bench/runs/run.ts";
import { newerNodePath, newestNodePath } from "./test/newer_node.ts";
import { measureHub } from "../bench/hub/run.ts";
import { planCells, type PlannedCell } from "../bench/plan.ts";
import { writeReport } from "../bench/report.ts";
import { Results, type Sample } from "../bench/results.ts";
import { writeServingReport } from "../bench/serving/report.ts";
import { measureServing } from "../bench/serving/run.ts";
import type { CellTask, Figures } from "../bench/task.ts";
import { endProcess, runProcess, startProcess } from "./process.ts";
import { bunPath, denoPath, nodePath, root, workerdPath } from "./programs.ts";

const folder = join(root, ".cache", "bench");
const runtimeNames: readonly Runtime[] = ["bun", "deno", "node"];
const libraryOf: Readonly<Partial<Record<ClientName, LibraryName>>> = {
  ours: "./client",
  sdk: "sdk",
  ai: "ai",
};
/** What lets a program call the collector. */
const collectors: Readonly<Record<string, readonly string[]>> = {
  node: ["--expose-gc"],
  deno: ["--v8-flags=--expose-gc"],
};

/** One process to start. */
interface Job {
  readonly runtime: Runtime;
  readonly client: ClientName;
  readonly cell: PlannedCell;
  readonly round: number;
}

/** What the jobs have in common. */
interface Stage {
  readonly origin: string;
  readonly server: readonly string[];
  readonly programs: ReadonlyMap<string, string>;
  readonly libraries: ReadonlyMap<LibraryName, string>;
  readonly workers: ReadonlyMap<ClientName, string>;
  readonly commands: Readonly<Partial<Record<Runtime, readonly string[]>>>;
}

/** Runs the bench and prints its table; 1 when a process of ours failed or, with `--strict`, a target was missed. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      quick: { type: "boolean", default: false },
      full: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
      serving: { type: "boolean", default: false },
      hub: { type: "boolean", default: false },
      runs: { type: "boolean", default: false },
      runner: { type: "boolean", default: false },
      command: { type: "boolean", default: false },
      only: { type: "string", default: "" },
    },
  });
  const bun = bunPath();
  if (bun === undefined) {
    console.error("The bench needs Bun: it runs the server and installs the peers");
    return 1;
  }
  mkdirSync(folder, { recursive: true });
  if (values.serving) return await runServing(bun, values);
  if (values.hub) return await runHub(bun, values);
  if (values.runs) return await runRuns(bun, values);
  if (values.runner) return await runRunner(bun, values);
  if (values.command) return await runCommand(bun, values);
  if (!(await installPeers(bun))) return 1;
  const started = performance.now();
  const commands = findRuntimes(bun);
  const jobs = narrow(listJobs(planCells(values), Object.keys(commands) as Runtime[]), values.only);
  if (jobs.length === 0) {
    console.error(`Nothing is called ${JSON.stringify(values.only)}: name cells, runtimes or clients`);
    return 2;
  }
  const samples = await runAll(jobs, commands, bun);
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  writeFileSync(join(folder, "last.json"), JSON.stringify(samples, undefined, 1));
  const runtimes = runtimeNames.filter((name) => jobs.some(({ runtime }) => runtime === name));
  const code = conclude(new Results(samples), runtimes, { strict: values.strict, seconds });
  if (values.only || values.quick) return code;
  const others = [await runServing(bun, values), await runHub(bun, values), await runRuns(bun, values)];
  return Math.max(code, ...others, await runRunner(bun, values), await runCommand(bun, values));
}

/** Measures our server; 1 when, with `--strict`, a target was missed. */
async function runServing(
  bun: string,
  { quick, strict, only }: { quick: boolean; strict: boolean; only: string },
): Promise<number> {
  const parts = only.split(",").filter(Boolean);
  const figures = await measureServing({ bun, workerd: workerdPath(), folder, quick, only: parts });
  writeFileSync(join(folder, "serving.json"), JSON.stringify(figures, undefined, 1));
  const { text, met, missed } = writeServingReport(figures);
  console.log(`${text}\n${met} targets met, ${missed} missed`);
  return strict && missed > 0 ? 1 : 0;
}

/** Measures a hub's catalog and search; 1 when, with `--strict`, a target was missed. */
async function runHub(bun: string, { quick, strict }: { quick: boolean; strict: boolean }): Promise<number> {
  const samples = await measureHub({ commands: collecting(findRuntimes(bun)), folder, quick });
  writeFileSync(join(folder, "hub.json"), JSON.stringify(samples, undefined, 1));
  const { text, met, missed } = writeHubReport(samples);
  console.log(`${text}\n${met} targets met, ${missed} missed`);
  return strict && missed > 0 ? 1 : 0;
}

/** Measures durable runs; 1 when, with `--strict`, a target was missed. */
async function runRuns(bun: string, { quick, strict }: { quick: boolean; strict: boolean }): Promise<number> {
  const node = await newerNodePath();
  const { node: _older, ...others } = findRuntimes(bun);
  const commands = collecting(node === undefined ? others : { ...others, node: [node, "--no-warnings"] });
  const samples = await measureDurableRuns({ commands, folder, hasObject: existsSync(workerdPath()), quick });
  writeFileSync(join(folder, "runs.json"), JSON.stringify(samples, undefined, 1));
  const { text, met, missed } = writeRunsReport(samples);
  console.log(`${text}\n${met} targets met, ${missed} missed`);
  return strict && missed > 0 ? 1 : 0;
}

/** Measures the runner under workerd; 1 when, with `--strict`, a target was missed. */
async function runRunner(
  bun: string,
  { quick, strict, only }: { quick: boolean; strict: boolean; only: string },
): Promise<number> {
  const workerd = workerdPath();
  if (workerd === undefined) {
    console.log("skipped: the runner (workerd is not installed)");
    return 0;
  }
  const figures = await measureRunner({ bun, workerd, folder, quick, only: only.split(",").filter(Boolean) });
  writeFileSync(join(folder, "runner.json"), JSON.stringify(figures, undefined, 1));
  const { text, met, missed } = writeRunnerReport(figures);
  console.log(`${text}\n${met} targets met, ${missed} missed`);
  return strict && missed > 0 ? 1 : 0;
}

/** Measures the command beside its peers; 1 when, with `--strict`, a target was missed. */
async function runCommand(
  bun: string,
  { quick, strict, only }: { quick: boolean; strict: boolean; only: string },
): Promise<number> {
  if (!(await installPeers(bun))) return 1;
  const node = await newestNodePath();
  if (node === undefined) console.log("skipped: what runs on the newest Node (it cannot be fetched)");
  const parts = only.split(",").filter(Boolean);
  const figures = await measureCommand({ bun, deno: denoPath(), node, folder, quick, only: parts });
  writeFileSync(join(folder, "command.json"), JSON.stringify(figures, undefined, 1));
  const { text, met, missed } = writeCommandReport(figures);
  console.log(`${text}\n${met} targets met, ${missed} missed`);
  return strict && missed > 0 ? 1 : 0;
}

/** The commands, with the collector callable. */
function collecting(commands: Stage["commands"]): Stage["commands"] {
  return Object.fromEntries(
    Object.entries(commands).map(([runtime, command]) => [runtime, [...command, ...collectors[runtime] ?? []]]),
  );
}

/** Starts the server, builds the programs and runs every job; the server is ended in any case. */
async function runAll(jobs: readonly Job[], commands: Stage["commands"], bun: string): Promise<Sample[]> {
  const program = await buildServer(folder);
  const server = startProcess([bun, program, "http"]);
  try {
    const origin = `http://127.0.0.1:${await firstLine(server)}`;
    return await runJobs(jobs, { origin, server: [bun, program, "stdio"], commands, ...await build(jobs) });
  } finally {
    endProcess(server);
  }
}

async function installPeers(bun: string): Promise<boolean> {
  const cwd = join(root, "bench");
  if (["@ai-sdk/mcp", "mcporter"].every((peer) => existsSync(join(cwd, "node_modules", peer)))) return true;
  console.error("Installing the peers of bench/bun.lockb …");
  const { code, output } = await runProcess([bun, "install", "--frozen-lockfile"], { cwd, timeout: 300_000 });
  if (code !== 0) console.error(output);
  return code === 0;
}

function findRuntimes(bun: string): Stage["commands"] {
  const deno = denoPath();
  const node = nodePath();
  for (
    const [name, path] of [
      ["Deno", deno],
      ["Node", node],
    ] as const
  ) {
    if (path === undefined) {
      console.log(`skipped: ${name} (it is not installed)`);
    }
  }
  return {
    bun: [bun],
    ...(deno !== undefined && { deno: [deno, "run", "-A", "--no-check", "--quiet"] }),
    ...(node !== undefined && { node: [node] }),
  };
}

/** Round by round; each round runs the clients of a cell one after the other, and every other round runs all backwards. */
function listJobs(cells: readonly PlannedCell[], runtimes: readonly Runtime[]): Job[] {
  const rounds = Math.max(...cells.map(({ rounds }) => rounds));
  return Array.from({ length: rounds }, (_, round) => {
    const jobs = runtimes.flatMap((runtime) =>
      cells
        .filter((cell) => round < cell.rounds && (cell.only ?? runtime) === runtime)
        .flatMap((cell) => clientsOf(cell, round).map((client) => ({ runtime, client, cell, round })))
    );
    return round % 2 === 0 ? jobs : jobs.reverse();
  }).flat();
}

/** The peers sit the third and the fifth round out: the time is better spent on the ratio to the floor. */
function clientsOf({ clients }: PlannedCell, round: number): readonly ClientName[] {
  const all = round === 0 || round % 2 === 1;
  return all ? clients : clients.filter((client) => client === "floor" || client === "ours");
}

/** Keeps what every kind of the given names asks for: `bun,http_json` is one cell in one runtime. */
function narrow(jobs: readonly Job[], only: string): Job[] {
  const names = only.split(",").filter(Boolean);
  const known = (values: readonly string[]) => names.filter((name) => values.includes(name));
  const runtimes = known(runtimeNames);
  const clients = known(["floor", "ours", "sdk", "ai"]);
  const cells = names.filter((name) => !runtimes.includes(name) && !clients.includes(name));
  const fits = (wanted: readonly string[], name: string) => wanted.length === 0 || wanted.includes(name);
  return jobs.filter(
    ({ runtime, client, cell }) =>
      fits(runtimes, runtime) &&
      fits(clients, client) &&
      (cells.length === 0 || cells.some((part) => cell.name.includes(part))),
  );
}

async function build(jobs: readonly Job[]): Promise<Pick<Stage, "programs" | "libraries" | "workers">> {
  const programs = new Map<string, string>();
  for (const { runtime, client } of jobs) {
    const key = `${runtime} ${client}`;
    if (!programs.has(key)) {
      programs.set(key, await buildProgram(client, runtime, folder));
    }
  }
  const workers = new Map<ClientName, string>();
  for (const { client, cell } of jobs) {
    if (cell.name === "isolate" && !workers.has(client)) workers.set(client, await buildWorker(client, folder));
  }
  const libraries = new Map<LibraryName, string>();
  const sizes: string[] = [];
  for (const library of ["./client", "mod.ts", "sdk", "ai"] as const) {
    const { path, bytes } = await buildLibrary(library, folder);
    libraries.set(library, path);
    sizes.push(`${library} ${bytes.toLocaleString("en")}`);
  }
  console.log(`Bundles to connect over HTTP, minified and gzipped, in bytes: ${sizes.join(" · ")}`);
  return { programs, libraries, workers };
}

async function runJobs(jobs: readonly Job[], stage: Stage): Promise<Sample[]> {
  const samples: Sample[] = [];
  let shown = "";
  for (const [index, job] of jobs.entries()) {
    const now = `round ${job.round + 1}, ${job.runtime}`;
    if (now !== shown) {
      console.error(`${now}: process ${index + 1} of ${jobs.length}`);
    }
    shown = now;
    samples.push(await runJob(job, stage));
  }
  return samples;
}

async function runJob({ runtime, client, cell, round }: Job, stage: Stage): Promise<Sample> {
  const [command = "", ...flags] = stage.commands[runtime] ?? [];
  const program = stage.programs.get(`${runtime} ${client}`) ?? "";
  const library = cell.name === "import" ? stage.libraries.get(libraryOf[client] ?? "mod.ts") : undefined;
  const task: CellTask = {
    cell: cell.name,
    count: cell.count[runtime],
    origin: stage.origin,
    server: stage.server,
    spawned: performance.timeOrigin + performance.now(),
    ...(library !== undefined && { library }),
    ...(cell.name === "isolate" && { workerd: workerdPath(), worker: stage.workers.get(client) ?? "" }),
  };
  const extra = cell.name === "heap" ? collectors[runtime] ?? [] : [];
  const ended = await runProcess([command, ...flags, ...extra, program, JSON.stringify(task)], { timeout: 120_000 });
  const sample = { runtime, cell: cell.name, client, round };
  const figures = ended.code === 0 ? readFigures(ended.standardOutput) : undefined;
  if (figures !== undefined) return { ...sample, figures };
  const reason = ended.timedOut ? "killed after 120 s" : (ended.output.match(/.*\w*Error.*/)?.[0] ?? ended.output);
  const failure = reason.trim().slice(0, 300);
  console.error(`${runtime} ${client} ${cell.name} failed: ${failure}`);
  return { ...sample, figures: {}, failure };
}

function readFigures(output: string): Figures | undefined {
  const line = output.split("\n").findLast((line) => line.startsWith("{"));
  return line === undefined ? undefined : JSON.parse(line);
}

function conclude(
  results: Results,
  runtimes: readonly Runtime[],
  options: { strict: boolean; seconds: string },
): number {
  const { text, met, missed } = writeReport(results, runtimes);
  console.log(text);
  const failed = results.samples.filter(({ failure }) => failure !== undefined);
  const load = loadavg()[0]?.toFixed(1);
  console.log(
    `\nMedians; ÷ is the median of the ratios inside each round. "met +": the stretch goal too. "–": not measured.`,
  );
  console.log(`On Node ours uses the Fetch over node:http; the floor and the peers use its fetch.`);
  console.log(
    `${met} targets met, ${missed} missed, ${failed.length} of ${results.samples.length} processes failed (${options.seconds} s, load ${load} in the end)`,
  );
  if (failed.some(({ client }) => client === "ours" || client === "floor")) {
    return 1;
  }
  return options.strict && missed > 0 ? 1 : 0;
}

function firstLine(child: ReturnType<typeof startProcess>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => process.stderr.write(chunk));
    child.once("exit", (code) => reject(new Error(`the server ended with exit code ${code}`)));
  });
}
