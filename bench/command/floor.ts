/** The least that a call can take: a server is started, greeted and called by hand, and ends by itself. */
import { spawn } from "node:child_process";
import type { BenchServer } from "./contestants.ts";

/** Milliseconds since the server was started. */
export interface ServerLife {
  /** Until it has answered `initialize`. */
  readonly greeted: number;
  /** Until it has answered the call. */
  readonly called: number;
  /** Until it is gone, its input closed as soon as it had answered. */
  readonly gone: number;
}

/**
 * Lives through one life of a server.
 *
 * @throws {Error} When it does not answer as it should.
 */
export function liveOnce({ command, tool, args, says }: BenchServer): Promise<ServerLife> {
  const [program = "", ...rest] = command;
  const began = performance.now();
  const since = (): number => performance.now() - began;
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { stdio: ["pipe", "pipe", "ignore"] });
    const send = (message: object): void => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    };
    let text = "";
    let greeted = NaN;
    let called = NaN;
    const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
    child.stdin.on("error", () => {});
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const { id } = JSON.parse(line);
        if (id === 1) {
          greeted = since();
          send({ method: "notifications/initialized" });
          send({ id: 2, method: "tools/call", params: { name: tool, arguments: args } });
        } else if (id === 2) {
          called = line.includes(says) ? since() : NaN;
          child.stdin.end();
        }
      }
    });
    child.once("error", reject);
    child.once("exit", () => {
      clearTimeout(timer);
      if (Number.isFinite(greeted + called)) resolve({ greeted, called, gone: since() });
      else reject(new Error(`The server ${JSON.stringify(command.join(" "))} did not answer a call made by hand`));
    });
    send({ id: 1, method: "initialize", params: hello });
  });
}

const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } };
