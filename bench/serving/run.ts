/** The serving bench: our server beside a bare route and the official SDK's, each in a process of its own. */
import { spawn } from "node:child_process";
import { startWorker } from "../cells/isolate.ts";
import { type LoadFigures, loadHttp, loadPipe, type LoadTimes } from "./load.ts";
import type { ServingEra } from "./messages.ts";
import { buildServing, buildServingWorker, type ServerName, sizeOfServer, type WorkerName } from "./programs.ts";
import { openStreams } from "./streams.ts";

/** What the serving bench works with. */
export interface ServingOptions {
  /** The program of Bun, which runs the servers. */
  readonly bun: string;
  /** The program of workerd, where it is installed. */
  readonly workerd: string | undefined;
  /** Where bundles are kept. */
  readonly folder: string;
  /** Fewer and shorter rounds. */
  readonly quick: boolean;
  /** Keeps the cells whose name has one of these in it: `http`, `stdio`, `streams`, `isolate`. Default: all. */
  readonly only: readonly string[];
}

/** Figures of one cell, round by round. */
export interface LoadRow extends LoadFigures {
  readonly cell: "http" | "stdio";
  readonly era: ServingEra;
  readonly server: ServerName;
  readonly round: number;
}

/** The least of all starts of one Worker, in milliseconds by the clock and of CPU. */
export interface IsolateStart {
  /** From the start of workerd to the first reply. */
  readonly first: StartTimes;
  /** What each isolate is of a start with `crowd` of them. */
  readonly each: StartTimes;
}

/** CPU is NaN where the system does not tell. */
export interface StartTimes {
  readonly start: number;
  readonly cpu: number;
}

/** Isolates in one process: what one of them costs is larger than the noise of a process's start then. */
export const crowd = 16;

/** All figures. */
export interface ServingFigures {
  readonly loads: readonly LoadRow[];
  /** MiB that many open streams take. */
  readonly streams: { readonly count: number; readonly mib: number | undefined } | undefined;
  /** The starts of Workers; none when they were not measured. */
  readonly isolates: Readonly<Partial<Record<WorkerName, IsolateStart>>>;
  /** Bytes, minified and gzipped. */
  readonly sizes: { readonly worker: number; readonly whole: number };
}

type Job = Omit<LoadRow, keyof LoadFigures | "round">;

const jobs: readonly Job[] = [
  { cell: "http", era: "modern", server: "bare" },
  { cell: "http", era: "modern", server: "hono" },
  { cell: "http", era: "modern", server: "ours" },
  { cell: "http", era: "modern", server: "sdk" },
  { cell: "http", era: "legacy", server: "ours" },
  { cell: "http", era: "legacy", server: "sdk" },
  { cell: "stdio", era: "modern", server: "bare" },
  { cell: "stdio", era: "modern", server: "ours" },
  { cell: "stdio", era: "modern", server: "sdk" },
  { cell: "stdio", era: "legacy", server: "ours" },
  { cell: "stdio", era: "legacy", server: "sdk" },
];

/** Measures everything; each other round runs the servers backwards. */
export async function measureServing(options: ServingOptions): Promise<ServingFigures> {
  const { quick, folder, only } = options;
  const wanted = (cell: string) => only.length === 0 || only.some((part) => cell.includes(part));
  const programs = new Map<ServerName, string>();
  for (const { server } of jobs) {
    if (!programs.has(server)) programs.set(server, await buildServing(server, folder));
  }
  const sizes = {
    worker: (await buildServingWorker("toolInHono", folder)).bytes,
    whole: await sizeOfServer(folder),
  };
  // Bun compiles what it runs for two to three seconds under load.
  const times: LoadTimes = { warm: 3_000, measured: quick ? 1_000 : 2_000 };
  const loads: LoadRow[] = [];
  for (let round = 0; round < (quick ? 2 : 5); round++) {
    const turn = jobs.filter(({ cell, era }) => wanted(`${cell}_${era}`));
    for (const job of round % 2 === 0 ? turn : turn.reverse()) {
      console.error(`serving, round ${round + 1}: ${job.server} ${job.cell} ${job.era}`);
      loads.push({ ...job, round, ...await load(job, programs.get(job.server) ?? "", options.bun, times) });
    }
  }
  const streams = wanted("streams") ? await measureStreams(options.bun, programs.get("ours") ?? "") : undefined;
  const isolates = wanted("isolate") ? await measureIsolates(options) : {};
  return { loads, streams, isolates, sizes };
}

async function load(job: Job, program: string, bun: string, times: LoadTimes): Promise<LoadFigures> {
  if (job.cell === "http") {
    return await withServer(bun, program, (port, pid) => loadHttp(port, pid, job.era, times));
  }
  const child = spawn(bun, [program, "stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    return await loadPipe(child, job.era, times);
  } finally {
    child.kill("SIGKILL");
  }
}

/** Starts an HTTP server, and ends it in any case. */
async function withServer<Value>(
  bun: string,
  program: string,
  use: (port: number, pid: number) => Promise<Value>,
): Promise<Value> {
  const child = spawn(bun, [program, "http"], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const port = await new Promise<number>((resolve, reject) => {
      child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(Number(text)));
      child.once("error", reject).once("exit", (code) => reject(new Error(`A server ended with exit code ${code}`)));
    });
    return await use(port, child.pid ?? 0);
  } finally {
    child.kill("SIGKILL");
  }
}

async function measureStreams(bun: string, program: string): Promise<ServingFigures["streams"]> {
  const count = 1_000;
  return { count, mib: await withServer(bun, program, (port, pid) => openStreams(port, pid, count)) };
}

/** Starts each Worker again and again, in turn, alone and in a crowd: noise only adds, and it comes and goes. */
async function measureIsolates({ workerd, folder, quick }: ServingOptions): Promise<ServingFigures["isolates"]> {
  if (workerd === undefined) return {};
  const names: readonly WorkerName[] = ["empty", "hono", "tool", "toolInHono", "whole", "runner"];
  const workers: { name: WorkerName; path: string }[] = [];
  for (const name of names) workers.push({ name, path: (await buildServingWorker(name, folder)).path });
  const least: Partial<Record<WorkerName, IsolateStart>> = {};
  for (let round = 0; round < (quick ? 12 : 24); round++) {
    if (round % 4 === 0) console.error(`serving, round ${round + 1}: isolates`);
    for (const { name, path } of workers.reverse()) {
      const alone = [await startWorker(workerd, path), await startWorker(workerd, path)];
      const many = await startWorker(workerd, path, crowd);
      const { [name]: before } = least;
      least[name] = {
        first: leastOf([...alone, ...before ? [before.first] : []]),
        each: leastOf([{ start: many.start / crowd, cpu: many.cpu / crowd }, ...before ? [before.each] : []]),
      };
    }
  }
  return least;
}

function leastOf(times: readonly StartTimes[]): StartTimes {
  return { start: Math.min(...times.map(({ start }) => start)), cpu: Math.min(...times.map(({ cpu }) => cpu)) };
}
