/**
 * `causeway read <target> <uri>`: reads a resource.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import process from "node:process";
import { InvalidParamsError } from "../../../protocol/mod.ts";
import type { ReadResourceResult } from "../../../protocol/mod.ts";
import { type CommandLine, optionOf } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { writeResultFile } from "../../read.ts";
import { withClient } from "../../session/session.ts";
import { createProgressLine, writeBytes, writeError, writeOut } from "../../terminal.ts";
import { oneLine, plain, plainJson } from "../../text/plain.ts";
import { exactWords } from "./common.ts";

/** Reads it, and answers the exit code. */
export async function readResource(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [target = "", uri = ""] = exactWords(line, ["target", "uri"]);
  const file = optionOf(line, "output");
  return await withClient(target, line, {
    signal,
    async use(client, signal) {
      const progress = createProgressLine();
      const result = await client.readResource(uri, { signal, onProgress: (sign) => progress.show(sign) })
        .finally(() => progress.clear())
        .catch((error: unknown) => {
          throw notThere(error, uri, client.label);
        });
      if (file !== undefined) await save(result, file);
      else if (line.json) await writeOut(plainJson(result) + "\n");
      else await show(result);
      return exitCodes.ok;
    },
  });
}

/** What is said of a resource that a server does not have. */
function notThere(error: unknown, uri: string, label: string): unknown {
  if (!(error instanceof InvalidParamsError)) return error;
  return new UsageError(
    `Cannot read "${uri}" of "${oneLine(label)}": ${error.message}: causeway resources lists what it has`,
  );
}

/** Into a pipe or a file go its very bytes; a terminal gets text that cannot steer it. */
async function show({ contents }: ReadResourceResult): Promise<void> {
  const isTerminal = process.stdout.isTTY === true;
  for (const content of contents) {
    if (!isTerminal) await writeBytes(bytesOf(content));
    else if (typeof content.text === "string") await writeOut(plain(content.text).replace(/\n?$/, "\n"));
    else {
      const { uri, mimeType = "bytes" } = content;
      await writeOut(
        `[${oneLine(uri)} ${oneLine(mimeType)}, ${bytesOf(content).length} bytes: --output <file> keeps them]\n`,
      );
    }
  }
}

async function save({ contents }: ReadResourceResult, file: string): Promise<void> {
  const bytes = Buffer.concat(contents.map(bytesOf));
  await writeResultFile(file, bytes);
  await writeError(`causeway: wrote ${bytes.length} bytes to ${oneLine(file)}\n`);
}

/** Some servers say null where they have no text. */
function bytesOf({ text, blob }: ReadResourceResult["contents"][number]): Uint8Array {
  return typeof text === "string" ? Buffer.from(text, "utf8") : Buffer.from(blob ?? "", "base64");
}
