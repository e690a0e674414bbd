/**
 * Runs a bundle of tests in workerd: `workerd_host.ts <bundle> <report> <file>…`. It is a process of its own, so that
 * `tools/test.ts` can end it whatever happens inside.
 */
import { Miniflare, type WorkerOptions } from "miniflare";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

const [bundle = "", report = "", ...files] = process.argv.slice(2);
const settings = new URL("workerd_options.ts", import.meta.url);
const extra: { options?: Partial<WorkerOptions> } = existsSync(settings) ? await import(settings.href) : {};
const miniflare = new Miniflare({
  compatibilityDate: "2026-05-03",
  compatibilityFlags: ["nodejs_compat", "enable_request_signal"],
  ...extra.options,
  modules: [{ type: "ESModule", path: bundle, contents: readFileSync(bundle, "utf8") }],
  bindings: { CAUSEWAY_TEST_SERVER: process.env["CAUSEWAY_TEST_SERVER"] ?? "", ...extra.options?.bindings },
});
await miniflare.ready;
for (const file of files) await runFile(file);
await miniflare.dispose();
process.exit(0);

/** Asks the Worker for one file's tests and appends the lines to the report as they come. */
async function runFile(file: string): Promise<void> {
  try {
    const response = await miniflare.dispatchFetch(`http://tests/?file=${encodeURIComponent(file)}`);
    if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`);
    const lines = createInterface({ input: Readable.from(response.body ?? []) });
    let last = performance.now();
    for await (const line of lines) {
      const now = performance.now();
      appendFileSync(report, `${JSON.stringify({ ...JSON.parse(line), milliseconds: now - last })}\n`);
      last = now;
    }
  } catch (error) {
    const detail = `workerd broke off: ${error instanceof Error ? error.message : String(error)}`;
    appendFileSync(report, `\n${JSON.stringify({ name: "the file as a whole", file, status: "failed", detail })}\n`);
  }
}
