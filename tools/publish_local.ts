/**
 * `bun tools/run.ts publish_local`: publishes the package with `deno publish` to a registry of its own on loopback, then
 * imports every export from there in a fresh Deno, as a user of JSR does. Nothing leaves the machine.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProcess } from "./process.ts";
import { denoPath, root } from "./programs.ts";
import { startRegistry } from "./publish/registry.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
}

/** Publishes, imports each export, and prints `N passed, N failed`. */
export async function main(): Promise<number> {
  const deno = denoPath();
  if (deno === undefined) {
    console.error("Publishing needs Deno: its package is not installed and there is no deno on PATH");
    return 1;
  }
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  const registry = await startRegistry();
  const folder = mkdtempSync(join(tmpdir(), "causeway-publish-"));
  const env = { JSR_URL: registry.url, DENO_DIR: join(folder, "deno") };
  try {
    const command = [deno, "publish", "--allow-dirty", "--token", "local", "--no-provenance"];
    const published = await runProcess(command, { env });
    if (published.code !== 0) {
      console.log(`deno publish ended with exit code ${published.code}:\n${published.output}`);
      console.log("0 passed, 1 failed");
      return 1;
    }
    const { files, bytes } = registry.published();
    console.log(`published ${manifest.name}@${manifest.version}: ${files.length} files, ${bytes} bytes`);
    const strangers = files.filter((file) => /(^|\/)(tests|tools|bench|node_modules)\//.test(file));
    for (const file of strangers) console.log(`FAILED: ${file} does not belong into the package`);
    let failed = strangers.length;
    for (const name of Object.keys(manifest.exports)) {
      if (!await importExport(deno, `jsr:${manifest.name}@${manifest.version}${name.slice(1)}`, { folder, env })) {
        failed++;
      }
    }
    const total = 1 + strangers.length + Object.keys(manifest.exports).length;
    console.log(`${total - failed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function importExport(
  deno: string,
  specifier: string,
  { folder, env }: { folder: string; env: Readonly<Record<string, string>> },
): Promise<boolean> {
  const program = join(folder, "program.ts");
  writeFileSync(
    program,
    `import * as door from ${JSON.stringify(specifier)};\nconsole.log(Object.keys(door).length);\n`,
  );
  const command = [deno, "run", "--check", "-A", "--quiet", "--no-lock", "--no-config", program];
  const ended = await runProcess(command, { cwd: folder, env });
  const names = Number(ended.standardOutput.trim());
  const fine = ended.code === 0 && names > 0;
  console.log(
    fine ? `imported ${specifier}: ${names} names` : `FAILED: ${specifier} does not import:\n${ended.output}`,
  );
  return fine;
}
