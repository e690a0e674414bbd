/** The load of the serving bench: 32 calls in flight, over keep-alive sockets or one pipe, for a fixed time. */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { call, head, initialize, initialized, type ServingEra } from "./messages.ts";

/** What a server did under load: calls per second, and microseconds of its CPU time per call where they can be read. */
export interface LoadFigures {
  readonly rate: number;
  readonly cpu: number | undefined;
}

/** How long the server is warmed up and measured, in milliseconds. A busy machine warms up for longer, up to three times. */
export interface LoadTimes {
  readonly warm: number;
  readonly measured: number;
}

const inFlight = 32;
const firstId = 10_000_000;
/** Calls after which the compiler of the runtime has done what it will do. */
const warmCalls = 40_000;

/** CPU time of a process so far in microseconds, user and system; undefined where there is no `/proc`. */
export function cpuOf(pid: number): number | undefined {
  try {
    const [, , ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, "x x").split(" ");
    // Fields 14 and 15, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch {
    return undefined;
  }
}

/** Calls over HTTP. */
export async function loadHttp(port: number, pid: number, era: ServingEra, times: LoadTimes): Promise<LoadFigures> {
  const session = era === "legacy" ? await openSession(port) : undefined;
  const begin = head(era, call(era, firstId), "tools/call", session);
  const run = new Run(pid, times, (id) => begin + call(era, id));
  const sockets = Array.from({ length: inFlight }, () => talk(port, run));
  try {
    return await run.figures;
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Calls over the pipes of a child. */
export async function loadPipe(child: ChildProcess, era: ServingEra, times: LoadTimes): Promise<LoadFigures> {
  const { stdin, stdout, pid = 0 } = child;
  if (!stdin || !stdout) throw new Error("The server has no pipes");
  stdin.on("error", () => {});
  let take: (line: string) => void = () => {};
  let rest = "";
  stdout.setEncoding("latin1").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
  if (era === "legacy") {
    const opened = new Promise<void>((resolve) => take = () => resolve());
    stdin.write(initialize + "\n");
    await opened;
    stdin.write(initialized + "\n");
  }
  const run = new Run(pid, times, (id) => call(era, id) + "\n");
  // What is asked for in one turn is written at once, as a client would.
  let waiting = "";
  const ask = (): void => {
    if (waiting === "") queueMicrotask(() => (stdin.write(waiting), waiting = ""));
    waiting += run.next();
  };
  child.once("exit", () => run.fail("the server ended"));
  take = (line) => run.took(line.includes(`"text":"ok"`), line) && ask();
  for (let index = 0; index < inFlight; index++) ask();
  return await run.figures;
}

/** Counts calls: first those that warm up, then those that are measured. */
class Run {
  readonly figures: Promise<LoadFigures>;
  readonly #pid: number;
  readonly #times: LoadTimes;
  readonly #begin: string;
  readonly #end: string;
  #resolve: (figures: LoadFigures) => void = () => {};
  #reject: (reason: Error) => void = () => {};
  #id = firstId;
  #count = 0;
  #started = performance.now();
  #cpu: number | undefined;
  #warm = false;
  #over = false;

  constructor(pid: number, times: LoadTimes, write: (id: number) => string) {
    this.#pid = pid;
    this.#times = times;
    // Writing JSON for each call would cost more than some servers do.
    const [begin = "", end = ""] = write(firstId).split(String(firstId));
    this.#begin = begin;
    this.#end = end;
    this.figures = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The next call's text. */
  next(): string {
    return this.#begin + this.#id++ + this.#end;
  }

  /** Counts an answer; true when another call is wanted. */
  took(sound: boolean, text: string): boolean {
    if (this.#over) return false;
    if (!sound) return this.fail(text.slice(0, 600));
    this.#count++;
    const now = performance.now();
    const passed = now - this.#started;
    const { warm, measured } = this.#times;
    if (passed < (this.#warm ? measured : this.#count < warmCalls ? 3 * warm : warm)) return true;
    const cpu = cpuOf(this.#pid);
    if (this.#warm) {
      this.#over = true;
      const spent = cpu !== undefined && this.#cpu !== undefined ? (cpu - this.#cpu) / this.#count : undefined;
      this.#resolve({ rate: this.#count / passed * 1_000, cpu: spent });
    }
    this.#warm = true;
    this.#count = 0;
    this.#started = now;
    this.#cpu = cpu;
    return !this.#over;
  }

  /** Gives it up. */
  fail(reason: string): false {
    this.#over = true;
    this.#reject(new Error(`The server does not answer as it should: ${reason}`));
    return false;
  }
}

/** One socket: one call after the other. */
function talk(port: number, run: Run): Socket {
  const socket = connect(port, "127.0.0.1", () => void socket.write(run.next()));
  let text = "";
  socket.setNoDelay(true).setEncoding("latin1").on("data", (chunk: string | Uint8Array) => {
    text = text === "" ? String(chunk) : text + chunk;
    if (!isWhole(text)) return;
    const sound = text.startsWith("HTTP/1.1 200") && text.includes(`"text":"ok"`);
    if (run.took(sound, text)) socket.write(run.next());
    text = "";
  });
  socket.on("error", (error) => run.fail(error.message)).on("close", () => run.fail("a socket was closed"));
  return socket;
}

/** Whether a reply has come to its end: by its length, or by its last chunk. */
export function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  return length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= end + 4 + Number(length);
}

/** Opens a legacy session; undefined at a server that keeps none. */
async function openSession(port: number): Promise<string | undefined> {
  const send = (body: string, session: string | null) =>
    fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session !== null && { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
      },
      body,
    });
  const opened = await send(initialize, null);
  await opened.text();
  const session = opened.headers.get("mcp-session-id");
  if (session === null) return undefined;
  await (await send(initialized, session)).text();
  return session;
}
