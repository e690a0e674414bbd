/** The command `causeway`, as package managers start it. */
import { join } from "node:path";
import process from "node:process";
import { npmPath } from "../programs.ts";
import { readDenoManifest } from "../publish/manifest.ts";
import { installing, type Workshop } from "./npm_project.ts";

/** Runs the installed command with `npx` on Node and with `bunx` on Bun: its version, and a call to the project's server. */
export async function proveCommand(workshop: Workshop, project: string): Promise<void> {
  const { checks, bun, node, newestNode, folder } = workshop;
  const npx = npmPath("npx");
  const linked = join(project, "node_modules", ".bin", "causeway");
  const starts: Readonly<Record<string, readonly (string | undefined)[]>> = {
    "npx, Node": [npx, "--no-install", "causeway"],
    "newest Node": [newestNode, linked],
    "bunx, Bun": [bun, "x", "--no-install", "--bun", "causeway"],
  };
  for (const [label, start] of Object.entries(starts)) {
    const command = start.filter((word) => word !== undefined);
    const runtime = label.endsWith("Bun") ? bun : node;
    if (command.length < start.length || runtime === undefined || process.platform === "win32") {
      checks.skip(`the command: ${label}`, "it is not on this machine");
      continue;
    }
    await checks.check(`the command: ${label}`, async () => {
      const { cwd, env } = installing(workshop, project);
      const options = { cwd, env: { ...env, CAUSEWAY_HOME: join(folder, "home") } };
      const shown = (await checks.run([...command, "--version"], options)).standardOutput.trim();
      if (shown !== `causeway ${readDenoManifest().version}`) throw new Error(`it says ${JSON.stringify(shown)}`);
      const target = `'${runtime}' '${join(project, "server.mjs")}'`;
      const called = await checks.run([...command, "call", target, "add", "a=2", "b=3"], options);
      if (called.standardOutput.trim() !== "5") {
        throw new Error(`the call says ${JSON.stringify(called.standardOutput)}`);
      }
      return `${shown}, one call`;
    });
  }
}
