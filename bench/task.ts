/** What a process of the bench is told, what it works with, and what it answers. */
import type { BenchClient, BenchEra, BenchTarget } from "./clients/client.ts";

/** What one process is to measure. */
export interface CellTask {
  readonly cell: string;
  /** How often, where a cell repeats something. */
  readonly count: number;
  /** The HTTP server, as `http://127.0.0.1:port`. */
  readonly origin: string;
  /** How to start the stdio server. */
  readonly server: readonly string[];
  /** The file of a library, for the cell that imports one. */
  readonly library?: string;
  /** The program of workerd and a Worker for it, for the cell that starts one. */
  readonly workerd?: string;
  readonly worker?: string;
  /** When this process was started, in milliseconds since 1970 with fractions. */
  readonly spawned: number;
}

/** Figures by name: `wall` and `cpu` are microseconds per call. */
export type Figures = Readonly<Record<string, number>>;

/** What a cell works with. */
export interface CellContext {
  readonly task: CellTask;
  readonly create: () => BenchClient;
  /** A new client, connected, with the tools listed. */
  ready(target: BenchTarget): Promise<BenchClient>;
  http(era: BenchEra, reply?: "json" | "sse", path?: string): BenchTarget;
  stdio(era: BenchEra, accepts?: string): BenchTarget;
}
