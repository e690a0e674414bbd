/**
 * How texts and bytes get out of this process, one after the other, on each runtime.
 *
 * @module
 */
import process from "node:process";

/** The standard output or error, as Deno has them. */
interface DenoOutput {
  write(bytes: Uint8Array): Promise<number>;
}

/** Where something is written to. */
export type StreamName = "stdout" | "stderr";

/** Resolves when all of it is out; rejects when it cannot be written, as when the reader goes away before the end. */
export async function writeAll(name: StreamName, chunk: string | Uint8Array): Promise<void> {
  const stream = process[name];
  // It is told by the promise. Without a listener it would end the program.
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore);
  const { Deno } = globalThis as { readonly Deno?: Readonly<Record<StreamName, DenoOutput>> };
  if (!Deno || !isHeldUpBy(name)) {
    await new Promise<void>((resolve, reject) => stream.write(chunk, (error) => error ? reject(error) : resolve()));
    return;
  }
  let rest = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
  while (rest.length > 0) rest = rest.subarray(await Deno[name].write(rest));
}

/**
 * Whether on Deno another way is to be taken: its own streams hold the whole program up until a reader has taken everything, and
 * no signal is heard meanwhile. On a terminal, where lines of the one are erased for those of the other, they stay in step so.
 */
export function isHeldUpBy(name: StreamName): boolean {
  const stream = process[name];
  if (!("Deno" in globalThis) || (name === "stderr" && stream.isTTY)) return false;
  // Who has put something else in its place gets it.
  return stream.write === Object.getPrototypeOf(stream).write;
}

function ignore(): void {}
