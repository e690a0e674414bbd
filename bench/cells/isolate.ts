/** The cell that starts a Worker: what a library costs in workerd before the first reply. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import process from "node:process";
import type { CellTask, Figures } from "../task.ts";

/**
 * Starts workerd again and again; `start` is the least time from its start to the first reply, in milliseconds, and `cpu`
 * the least CPU time that it took until then, where the system tells (Linux).
 */
export async function startIsolates(
  { workerd, worker, count }: CellTask,
): Promise<Figures> {
  if (workerd === undefined || worker === undefined) {
    throw new Error("workerd is not installed");
  }
  let start = Infinity;
  let cpu = Infinity;
  for (let round = 0; round < count; round++) {
    const one = await startWorker(workerd, worker);
    start = Math.min(start, one.start);
    cpu = Math.min(cpu, one.cpu);
  }
  return Number.isFinite(cpu) ? { start, cpu } : { start };
}

/** `isolates` services of the same Worker: workerd starts them one after the other, before it listens. */
function configOf(worker: string, isolates: number): string {
  const services = Array.from({ length: isolates }, (_, index) =>
    `(name = "worker${index}", worker = (
    modules = [(name = "main", esModule = embed ${JSON.stringify(worker)})],
    compatibilityDate = "2026-04-01",
  ))`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [${services.join(", ")}],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker0")],
);`;
}

/**
 * Starts workerd once, with one or more isolates of a Worker.
 *
 * @returns Milliseconds from the start of the process to the first reply of its first isolate, by the clock and by the
 * CPU that it took (NaN where the system does not tell).
 */
export async function startWorker(
  workerd: string,
  worker: string,
  isolates = 1,
): Promise<{ start: number; cpu: number }> {
  const config = `${worker}.${isolates}.capnp`;
  writeFileSync(config, configOf(basename(worker), isolates));
  const started = performance.now();
  const child = spawn(workerd, ["serve", "--control-fd=3", config], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let complaint = "";
  child.stderr?.setEncoding("utf8").on(
    "data",
    (text: string) => complaint += text,
  );
  try {
    const port = await new Promise<string>((resolve, reject) => {
      let told = "";
      child.stdio[3]?.on("data", (bytes: Uint8Array) => {
        told += new TextDecoder().decode(bytes);
        const found = /"port":(\d+)/.exec(told)?.[1];
        if (found !== undefined) resolve(found);
      });
      void exited.then(() => reject(new Error(`workerd ended: ${complaint}`)));
    });
    const response = await fetch(`http://127.0.0.1:${port}`);
    if (await response.text() !== "ok") {
      throw new Error(`the Worker answered ${response.status}`);
    }
    return { start: performance.now() - started, cpu: cpuOf(child.pid ?? 0) };
  } finally {
    if (child.pid !== undefined && child.exitCode === null) {
      process.kill(child.pid, "SIGKILL");
    }
    await exited;
  }
}

/** Milliseconds that the threads of a process have run. */
function cpuOf(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]));
    return times.reduce((sum, time) => sum + time, 0) / 1e6;
  } catch {
    return NaN;
  }
}
