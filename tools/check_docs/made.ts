/** What a page says that a command has written, for blocks that import it: `made=tools.ts`. */
import { join } from "node:path";
import { runProcess } from "../process.ts";
import { root } from "../programs.ts";

/** Writes `tools.ts` into a folder, by `causeway types` of the official example server; gives what went wrong, if so. */
export async function makeTools(folder: string, script: readonly string[]): Promise<string | undefined> {
  const server = join(root, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js");
  const target = [...script, server].map((word) => `"${word}"`).join(" ");
  const command = [
    ...script,
    join(root, "src", "cli", "main.ts"),
    "types",
    target,
    "--output",
    join(folder, "tools.ts"),
  ];
  const { code, output } = await runProcess(command, { timeout: 60_000 });
  return code === 0 ? undefined : output;
}
