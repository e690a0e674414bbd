/**
 * `causeway replay <file> [server]`: a server over stdin and stdout that answers as the recorded one did.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { readText } from "../../read.ts";
import { writeOut } from "../../terminal.ts";
import { createReplay } from "../../wire/replay.ts";
import { exactWords } from "../talk/common.ts";

/** Serves until its client is gone, or it is interrupted. */
export async function replay(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [, server] = line.words;
  const [file = ""] = exactWords(line, server === undefined ? ["file"] : ["file", "server"]);
  const text = await readText(file, `the recording "${file}"`);
  if (text === undefined) {
    throw new UsageError(
      `Cannot read the recording "${file}": there is no such file; causeway record ${file} <command …> makes one`,
    );
  }
  const answer = createReplay(text, file, server);
  const lines = createInterface({ input: process.stdin, terminal: false });
  const stop = (): void => lines.close();
  signal.addEventListener("abort", stop);
  for await (const text of lines) {
    const message = parse(text);
    if (isObject(message)) { for (const said of answer(message)) await writeOut(`${JSON.stringify(said)}\n`); }
  }
  signal.removeEventListener("abort", stop);
  signal.throwIfAborted();
  return exitCodes.ok;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
