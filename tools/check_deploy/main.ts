/** `bun tools/run.ts check_deploy`: what `wrangler deploy` would upload for each Worker, without uploading it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProcess } from "../process.ts";
import { nodePath, root } from "../programs.ts";

const configs = [
  ...["wrangler.toml", "workers/server.toml", "workers/client.toml", "workers/workflow.toml"],
  ...["examples/worker/wrangler.toml", "examples/sign_in/worker.toml"],
] as const;

/** Prints the size of each upload, and answers 1 when one cannot be made. */
export async function main(): Promise<number> {
  const node = nodePath();
  if (node === undefined) {
    console.error("Wrangler needs Node: there is no node on PATH");
    return 1;
  }
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  let failed = false;
  for (const config of configs) {
    const outdir = await mkdtemp(join(tmpdir(), "causeway-deploy-"));
    try {
      const command = [node, wrangler, "deploy", "--dry-run", "--config", config, "--outdir", outdir];
      const { code, output } = await runProcess(command, { timeout: 120_000 });
      const [upload] = /Total Upload: .*/.exec(output) ?? [];
      const isSound = code === 0 && upload !== undefined;
      console.log(isSound ? `${config.padEnd(32)}${upload}` : `${config} FAILED\n${output}`);
      failed ||= !isSound;
    } finally {
      await rm(outdir, { recursive: true, force: true });
    }
  }
  return failed ? 1 : 0;
}
