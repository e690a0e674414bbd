/** The load of the runner's bench: one request after the other, or some in flight, over keep-alive sockets. */
import { connect, type Socket } from "node:net";
import { cpuOf, isWhole } from "../serving/load.ts";
import { median } from "../results.ts";
import { apiKey } from "./workerd.ts";

/** One kind of request, as bytes on the wire, and what a good answer has in it. */
export interface Asked {
  readonly text: string;
  readonly expected: string;
}

/** What a Worker did under load. Milliseconds of the median request alone; requests per second and CPU µs of each with some in flight. */
export interface RunnerLoad {
  readonly alone: number;
  readonly rate: number;
  readonly cpu: number | undefined;
}

const inFlight = 16;

/** Makes a request with JSON. */
export function asked(path: string, body: object, expected: string, headers: readonly string[] = []): Asked {
  const text = JSON.stringify(body);
  const lines = [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    ...headers,
    `Authorization: Bearer ${apiKey}`,
    `Content-Length: ${text.length}`,
  ];
  return { text: `${lines.join("\r\n")}\r\n\r\n${text}`, expected };
}

/** Asks one after the other for so many milliseconds; answers the milliseconds of each. */
export async function askAlone(port: number, request: Asked, milliseconds: number): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + milliseconds;
  let began = performance.now();
  await talk(port, request, () => {
    const now = performance.now();
    times.push(now - began);
    began = now;
    return now < until;
  });
  return times;
}

/** Asks with some in flight for so many milliseconds. */
export async function askMany(
  { port, pid }: { readonly port: number; readonly pid: number },
  request: Asked,
  milliseconds: number,
): Promise<Pick<RunnerLoad, "rate" | "cpu">> {
  let count = 0;
  const before = cpuOf(pid);
  const began = performance.now();
  const until = began + milliseconds;
  await Promise.all(Array.from({ length: inFlight }, () =>
    talk(port, request, () => {
      count++;
      return performance.now() < until;
    })));
  const passed = performance.now() - began;
  const after = cpuOf(pid);
  const cpu = before === undefined || after === undefined ? undefined : (after - before) / count;
  return { rate: count / passed * 1_000, cpu };
}

/** Both, after a while in which the compiler does its work. */
export async function load(
  served: { readonly port: number; readonly pid: number },
  request: Asked,
  milliseconds: number,
): Promise<RunnerLoad> {
  await askMany(served, request, milliseconds / 2);
  const alone = median(await askAlone(served.port, request, milliseconds)) ?? NaN;
  return { alone, ...await askMany(served, request, milliseconds) };
}

/** One socket: one request after the other, as long as `took` says. */
function talk(port: number, { text: request, expected }: Asked, took: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket: Socket = connect(port, "127.0.0.1", () => void socket.write(request));
    socket.setNoDelay(true).setEncoding("latin1").on("data", (chunk: string | Uint8Array) => {
      text = text === "" ? String(chunk) : text + chunk;
      if (!isWhole(text)) return;
      if (!text.startsWith("HTTP/1.1 200") || !text.includes(expected)) {
        socket.destroy();
        return reject(new Error(`The Worker does not answer as it should: ${text.slice(0, 800)}`));
      }
      text = "";
      if (took()) socket.write(request);
      else {
        resolve();
        socket.destroy();
      }
    });
    socket.on("error", reject).on("close", () => reject(new Error("A socket was closed")));
  });
}
