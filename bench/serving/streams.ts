/** The memory of many open streams of changes. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { head, listen } from "./messages.ts";

const settle = 1_000;

/**
 * Opens streams at a server and keeps them open for a moment.
 *
 * @returns By how much its resident memory has grown, in MiB; undefined where there is no `/proc`.
 */
export async function openStreams(port: number, pid: number, count: number): Promise<number | undefined> {
  // The first few load what is loaded once.
  const first = await openSome(port, 10);
  await pause(settle);
  const before = residentOf(pid);
  const sockets = await openSome(port, count);
  await pause(settle);
  const after = residentOf(pid);
  for (const socket of [...first, ...sockets]) socket.destroy();
  return before === undefined || after === undefined ? undefined : after - before;
}

async function openSome(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let open = 0; open < count; open += 50) {
    const some = Array.from({ length: Math.min(50, count - open) }, () => openOne(port));
    sockets.push(...await Promise.all(some));
  }
  return sockets;
}

/** Resolves when the server has said that it listens. */
function openOne(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let text = "";
    const request = head("modern", listen, "subscriptions/listen") + listen;
    const socket = connect(port, "127.0.0.1", () => void socket.write(request));
    socket.setEncoding("latin1").on("data", (chunk: string | Uint8Array) => {
      text = (text + chunk).slice(-2_000);
      if (text.includes("subscriptions/acknowledged")) resolve(socket);
    });
    socket.on("error", reject).on("close", () => reject(new Error(`A stream was closed: ${text}`)));
  });
}

function residentOf(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024;
  } catch {
    return undefined;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
