/**
 * A program that serves the fake peers on its standard input and output, on Bun, Deno and (transpiled) Node.
 *
 *     bun tests/servers/stdio_server.ts [modern | legacy | both | silent-probe | exit-on-probe] [--option=value …]
 *
 * Options: `--revision=2025-06-18`, `--keep=0` (no ledger, for a bench), `--extra-tools=200`, `--page-size=10`,
 * `--name=peer`. It ends when its input ends.
 *
 * @module
 */
import process from "node:process";
import { createLineSplitter, createPipeServer, type PipeOptions } from "./pipe.ts";

const [mode = "both", ...flags] = process.argv.slice(2);
const modes: Record<string, Pick<PipeOptions, "era" | "probe">> = {
  modern: { era: "modern" },
  legacy: { era: "legacy" },
  both: { era: "both" },
  "silent-probe": { era: "legacy", probe: "silent" },
  "exit-on-probe": { era: "legacy", probe: "exit" },
};
const chosen = modes[mode];
if (chosen === undefined) {
  process.stderr.write(`Unknown mode "${mode}": choose one of ${Object.keys(modes).join(", ")}\n`);
  process.exit(2);
}

let pending = "";
const server = createPipeServer({
  ...chosen,
  ...optionsOf(flags),
  send(text) {
    if (pending === "") queueMicrotask(flush);
    pending += text + "\n";
  },
  exit() {
    process.stderr.write("unexpected request before initialize\n");
    process.exit(1);
  },
});
const split = createLineSplitter((line) => server.receive(line));
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => split(chunk));
process.stdin.on("end", () => {
  server.close();
  process.stdout.write("", () => process.exit(0)); // after all that is still to be written
});

function flush(): void {
  const text = pending;
  pending = "";
  process.stdout.write(text);
}

function optionsOf(texts: string[]): Partial<PipeOptions> {
  const options: Partial<PipeOptions> = {};
  for (const text of texts) {
    const [key, value = ""] = text.split("=", 2);
    if (key === "--revision") options.revision = value;
    else if (key === "--keep") options.keep = Number(value);
    else if (key === "--extra-tools") options.extraTools = Number(value);
    else if (key === "--page-size") options.pageSize = Number(value);
    else if (key === "--name") options.name = value;
    else {
      process.stderr.write(`Unknown option "${text}"\n`);
      process.exit(2);
    }
  }
  return options;
}
