/** What the tests cannot say: milliseconds and megabytes, on each runtime, with the server in another process. */
import type { Measured } from "../../tests/faults/support/measure.ts";
import { runProcess } from "../process.ts";
import { bunPath, denoPath, nodePath, packagesInstalled, scriptCommand } from "../programs.ts";
import { loaderUrl } from "../test/node.ts";
import type { RuntimeName } from "../test/results.ts";

/** How one of the six shapes of a gigabyte ended on one runtime. */
export interface Bound {
  readonly runtime: RuntimeName;
  readonly shape: string;
  readonly ends: string;
  /** The option that the error names, or an empty text. */
  readonly option: string;
  /** Milliseconds. */
  readonly took: number;
  /** Bytes by which the process grew at most. */
  readonly grown: number;
}

/** The measured faults of one runtime. */
export interface Latency {
  readonly runtime: RuntimeName;
  readonly measured: readonly Measured[];
}

/** The six shapes; a gigabyte each, but for the nodes, which have to fit into one message to be counted at all. */
export const shapes: readonly (readonly [shape: string, query: string])[] = [
  ["endless-line", ""],
  ["endless-event", ""],
  ["huge-json", "&size=1073741824"],
  ["gzip-bomb", ""],
  ["error-body-endless", ""],
  ["node-bomb", "&size=6000000"],
];

/** The largest growth that is allowed, in bytes. */
export const mostGrowth: number = 80 * 2 ** 20;

/** What stands before the program of a runtime; undefined when it is not here. `heap` caps the heap where it can. */
function commandOf(runtime: RuntimeName, compiled: string, heap: boolean): readonly string[] | undefined {
  switch (runtime) {
    case "bun": {
      const bun = bunPath();
      return bun === undefined ? undefined : [bun];
    }
    case "deno": {
      const deno = denoPath();
      const flags = heap ? ["--v8-flags=--max-old-space-size=256"] : [];
      return deno === undefined ? undefined : [deno, "run", "-A", "--no-check", ...flags];
    }
    case "node": {
      const node = nodePath();
      const flags = heap ? ["--max-old-space-size=256"] : [];
      return node === undefined ? undefined : [node, ...flags, `--import=${loaderUrl(compiled)}`];
    }
    case "workerd":
      return packagesInstalled() ? scriptCommand() : undefined;
  }
}

/** Measures how soon broken calls are told; undefined when the runtime is not here. */
export async function measureLatency(
  runtime: RuntimeName,
  options: { base: string; compiled: string; times: number },
): Promise<Latency | undefined> {
  const { base, compiled, times } = options;
  const command = commandOf(runtime, compiled, false);
  if (command === undefined) return undefined;
  const program = runtime === "workerd"
    ? ["tests/faults/hosts/workerd.ts", "measure", base, String(times)]
    : ["tests/faults/hosts/measure.ts", base, String(times)];
  return { runtime, measured: await run<Measured[]>([...command, ...program]) };
}

/** Offers a gigabyte in one shape and measures; undefined when the runtime is not here. */
export async function measureBound(
  runtime: RuntimeName,
  shape: readonly [string, string],
  options: { base: string; compiled: string },
): Promise<Bound | undefined> {
  const command = commandOf(runtime, options.compiled, true);
  if (command === undefined) return undefined;
  const [name, query] = shape;
  const url = `${options.base}/hostile@${crypto.randomUUID()}/${name}/modern/mcp?times=1${query}`;
  const program = runtime === "workerd"
    ? ["tests/faults/hosts/workerd.ts", "bound", url, `${options.base}/modern/mcp`]
    : ["tests/faults/hosts/bound.ts", url];
  return { runtime, shape: name, ...await run<Omit<Bound, "runtime" | "shape">>([...command, ...program]) };
}

/** True when it was refused as it should be. The error's body is cut short and told as the status that it came with. */
export function isRefused({ shape, ends, option, grown }: Bound): boolean {
  const wanted = shape === "error-body-endless"
    ? ends === "OutcomeUnknownError"
    : ends === "LimitExceededError" && option === (shape === "node-bomb" ? "limits.jsonNodes" : "limits.messageBytes");
  return wanted && grown <= mostGrowth;
}

/** Runs a program that prints one line of JSON. */
async function run<Value>(command: readonly string[]): Promise<Value> {
  const { code, output, standardOutput } = await runProcess(command, { timeout: 120_000 });
  const line = standardOutput.trim().split("\n").at(-1) ?? "";
  if (code !== 0 || !/^[[{]/.test(line)) {
    throw new Error(`${command.join(" ")} ended with ${code}:\n${output.split("\n").slice(-20).join("\n")}`);
  }
  return JSON.parse(line); // its own program wrote it
}
